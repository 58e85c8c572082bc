import assert from 'node:assert/strict'
import { afterEach, beforeEach, test } from 'node:test'
import { widgetTypes } from '../entities/widget-type.ts'
import { widgetsBundles } from '../entities/widgets-bundle.ts'
import { openTestPlatform, type TestPlatform } from '../testkit.ts'

let platform: TestPlatform
beforeEach(async () => {
  platform = await openTestPlatform()
})
afterEach(() => platform.close())

const widgets = () => platform.services.content.widgets
const typeOf = (fqn: string, more: object = {}) => ({ name: fqn, fqn, descriptor: { type: 'latest' }, ...more })
const PAGE = { page: 0, pageSize: 10 }

test('a taken name gets a number, and an own one of that name is replaced on request', async () => {
  const first = await widgets().saveType(platform.tenant, typeOf('card'), false)
  const second = await widgets().saveType(platform.tenant, typeOf('card'), false)
  assert.deepEqual([first.fqn, second.fqn], ['card', 'card2'])
  const again = await widgets().saveType(platform.tenant, typeOf('card', { name: 'new' }), true)
  assert.deepEqual([again.id, again.name, again.version], [first.id, 'new', 2])
  const made = await widgets().saveType(platform.tenant, { name: 'My Card!', descriptor: { type: 'static' } }, false)
  assert.equal(made.fqn, 'my_card_')
})

test('tenants and their customers read the system’s, and only the system changes them', async () => {
  const { access } = platform.services
  const system = await widgets().saveType(platform.systemAdministrator, typeOf('card'), false)
  const own = await widgets().saveType(platform.tenant, typeOf('card'), false)
  assert.equal((await widgets().findByFqn(platform.customer, 'system.card')).id, system.id)
  assert.equal((await widgets().findByFqn(platform.customer, 'tenant.card')).id, own.id)
  await assert.rejects(widgets().findByFqn(platform.tenant, 'system.none'), { status: 404 })
  await access.check(platform.customer, 'READ', { entityType: 'WIDGET_TYPE', id: system.id })
  await assert.rejects(access.check(platform.tenant, 'WRITE', { entityType: 'WIDGET_TYPE', id: system.id }), {
    status: 403,
  })
  await assert.rejects(access.check(platform.systemAdministrator, 'READ', { entityType: 'WIDGET_TYPE', id: own.id }), {
    status: 403,
  })
  const page = await widgets().typePage(platform.tenant, {}, PAGE)
  assert.equal(page.totalElements, 2)
  assert.equal((await widgets().typePage(platform.tenant, { tenantOnly: true }, PAGE)).totalElements, 1)
})

test('a bundle holds types in its order, and is found by what they say', async () => {
  const [one, two] = [
    await widgets().saveType(platform.tenant, typeOf('one', { description: 'shows a Needle' }), false),
    await widgets().saveType(platform.tenant, typeOf('two', { deprecated: true }), false),
  ]
  const bundle = await platform.services.declared.of(widgetsBundles).saveByUser(platform.tenant, { title: 'Mine' })
  await widgets().setContent(platform.tenant, bundle.id, [two.id, one.id, two.id])
  const fqns = async () => (await widgets().typesOf(platform.customer, bundle.id)).map(({ fqn }) => fqn)
  assert.deepEqual(await fqns(), ['two', 'one'])
  const found = (textSearch: string, fullSearch: boolean) =>
    widgets().bundlePage(platform.tenant, { fullSearch }, { ...PAGE, textSearch })
  assert.equal((await found('needle', false)).totalElements, 0)
  assert.equal((await found('needle', true)).totalElements, 1)
  const [info] = await widgets().infos(platform.tenant, [one])
  assert.deepEqual(info?.['bundles'], [{ id: { entityType: 'WIDGETS_BUNDLE', id: bundle.id }, name: 'Mine' }])
  await widgets().setContentByFqns(platform.tenant, bundle.id, ['tenant.one'])
  await platform.services.declared.of(widgetTypes).deleteByUser(platform.tenant, two.id)
  assert.deepEqual(await fqns(), ['one'])
  await assert.rejects(widgets().setContent(platform.tenant, bundle.id, [two.id]), { status: 400 })
})
