import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { dashboards } from '../entities/dashboard.ts'
import { users } from '../entities/user.ts'
import { openTestPlatform, principalFrom, type TestPlatform } from '../testkit.ts'
import { MobileSessions } from './mobile-sessions.ts'
import { MAX_SETTINGS_LENGTH, settingsTypeOf } from './user-settings.ts'

let platform: TestPlatform

before(async () => {
  platform = await openTestPlatform()
})
after(() => platform.close())

test('members are merged, a name with dots reaches inside, others stay', async () => {
  const { services, tenant, customer } = platform
  const { settings } = services.people
  assert.deepEqual(await settings.find(tenant, 'GENERAL'), {})
  await settings.replace(tenant, 'GENERAL', { theme: 'dark', nested: { a: 1, b: [1, 2] } })
  await settings.merge(tenant, 'GENERAL', { nested: { c: 3 }, x: null })
  await settings.merge(tenant, 'GENERAL', { 'nested.a': 5, 'deep.er': true })
  const merged = { theme: 'dark', nested: { c: 3, a: 5 }, x: null, deep: { er: true } }
  assert.deepEqual(await settings.find(tenant, 'GENERAL'), merged)
  await settings.remove(tenant, 'GENERAL', ['nested.c', 'theme', 'not.there', 'x.y'])
  assert.deepEqual(await settings.find(tenant, 'GENERAL'), { nested: { a: 5 }, x: null, deep: { er: true } })
  assert.deepEqual(await settings.find(tenant, 'QUICK_LINKS'), {})
  assert.deepEqual(await settings.find(customer, 'GENERAL'), {})
})

test('a name that objects have of themselves is a member as any other', async () => {
  const { services, tenant } = platform
  const { settings } = services.people
  await settings.merge(tenant, 'DOC_LINKS', { '__proto__.polluted': 1, 'constructor.prototype.polluted': 1 })
  assert.equal(({} as Record<string, unknown>)['polluted'], undefined)
  await settings.remove(tenant, 'DOC_LINKS', ['toString.call'])
})

test('changes at once are all there', async () => {
  const { services, tenant } = platform
  const { settings } = services.people
  await Promise.all(['a', 'b', 'c'].map((name) => settings.merge(tenant, 'GETTING_STARTED', { [name]: true })))
  assert.deepEqual(await settings.find(tenant, 'GETTING_STARTED'), { a: true, b: true, c: true })
})

test('settings are bounded', async () => {
  const { services, tenant } = platform
  const long = { text: 'x'.repeat(MAX_SETTINGS_LENGTH) }
  await assert.rejects(services.people.settings.merge(tenant, 'DASHBOARDS', long), { status: 400 })
  assert.deepEqual(await services.people.settings.find(tenant, 'DASHBOARDS'), {})
})

test('types are named in any letter case; those of the platform itself can not be named', () => {
  assert.equal(settingsTypeOf('quick_links'), 'QUICK_LINKS')
  assert.throws(() => settingsTypeOf('nope'), { message: 'Settings type "nope" is not supported!' })
  assert.throws(() => settingsTypeOf('mobile'), { status: 400 })
})

test('visited dashboards come newest first, with the titles of now, without those that are gone', async () => {
  const { services, tenant, customer, clock } = platform
  const { visitedDashboards } = services.people
  const service = services.declared.of(dashboards)
  const first = await service.saveByUser(tenant, { title: 'First' })
  const second = await service.saveByUser(tenant, { title: 'Second' })
  await visitedDashboards.report(tenant, first.id, 'VISIT')
  clock.time += 1000
  await visitedDashboards.report(tenant, second.id, 'VISIT')
  await visitedDashboards.report(tenant, first.id, 'STAR')
  await service.saveByUser(tenant, { id: first.id, title: 'Renamed' })
  assert.deepEqual(await visitedDashboards.list(tenant), {
    last: [
      { id: second.id, title: 'Second', starred: false, lastVisited: clock.time },
      { id: first.id, title: 'Renamed', starred: true, lastVisited: clock.time - 1000 },
    ],
    starred: [{ id: first.id, title: 'Renamed', starredAt: clock.time }],
  })
  await service.deleteByUser(tenant, second.id)
  const shown = await visitedDashboards.report(tenant, first.id, 'UNSTAR')
  assert.deepEqual(shown['starred'], [])
  assert.equal((shown['last'] as unknown[]).length, 1)
  assert.deepEqual(await visitedDashboards.list(customer), { last: [], starred: [] })
})

test('sessions of mobile apps are kept by their token, the first of too many is forgotten', async () => {
  const { services, tenant } = platform
  const sessions = new MobileSessions(services.people.settings)
  assert.equal(await sessions.find(tenant, 'token 0'), undefined)
  for (let index = 0; index < 21; index++) await sessions.save(tenant, `token ${index}`, index)
  assert.equal(await sessions.find(tenant, 'token 0'), undefined)
  assert.deepEqual(await sessions.find(tenant, 'token 20'), { fcmTokenTimestamp: 20 })
  await sessions.remove(tenant, 'token 20')
  assert.equal(await sessions.find(tenant, 'token 20'), undefined)
})

test('they go with the user', async () => {
  const { services, tenant, entities } = platform
  const draft = { email: 'goes@example.org', authority: 'TENANT_ADMIN' } as const
  const user = await services.declared.of(users).saveByUser(tenant, draft)
  const found = await entities.users.find(user.id)
  assert.ok(found !== undefined)
  await services.people.settings.replace(principalFrom(found), 'GENERAL', { a: 1 })
  await services.declared.of(users).deleteByUser(tenant, user.id)
  assert.deepEqual(await services.people.settings.find(principalFrom(found), 'GENERAL'), {})
  assert.equal(await entities.users.credentials(user.id), undefined)
})
