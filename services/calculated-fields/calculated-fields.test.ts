import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { entityId, type EntityId } from '../../model/entity-id.ts'
import { assets } from '../entities/asset.ts'
import { customers } from '../entities/customer.ts'
import { devices } from '../entities/device.ts'
import { openTestPlatform, type TestPlatform } from '../testkit.ts'
import type { CalculatedFieldDraft, CalculatedFields } from './calculated-fields.ts'

const reading = { t: { refEntityKey: { key: 'x', type: 'TS_LATEST' } } }
const PAGE = { page: 0, pageSize: 10, sortProperty: 'name' }

describe('calculated fields', () => {
  let platform: TestPlatform
  let service: CalculatedFields
  let entity: EntityId

  before(async () => {
    platform = await openTestPlatform()
    service = platform.services.calculatedFields
    const asset = await platform.services.declared.of(assets).saveByUser(platform.tenant, { name: 'hall' })
    entity = entityId('ASSET', asset.id)
  })
  after(() => platform.close())

  const draftOf = (name: string, members: Partial<CalculatedFieldDraft> = {}): CalculatedFieldDraft => ({
    entityId: entity,
    name,
    type: 'SIMPLE',
    configuration: {
      type: 'SIMPLE',
      arguments: reading,
      expression: 't + 1',
      output: { type: 'TIME_SERIES', name: 'y' },
    },
    ...members,
  })
  const save = (draft: CalculatedFieldDraft) => service.saveByUser(platform.tenant, draft)

  test('are as many on an entity, with as many arguments, as the profile allows', async () => {
    const made = []
    for (let number = 0; number < 5; number++) made.push(await save(draftOf(`field ${number}`)))
    await assert.rejects(save(draftOf('one more')), { code: 'calculated-field.TOO_MANY_FIELDS' })
    const expression = { type: 'TBEL', expression: 'return t > 1;' }
    const configuration = {
      type: 'ALARM',
      arguments: reading,
      createRules: { MAJOR: { condition: { type: 'SIMPLE', expression } } },
    }
    const rule = await save(draftOf('a rule beside them', { type: 'ALARM', configuration }))
    await assert.rejects(save(draftOf('one more')), { code: 'calculated-field.TOO_MANY_FIELDS' })
    await service.deleteByUser(platform.tenant, rule.id)
    await save(draftOf('other name', { id: made[0]?.id }))
    const many = Object.fromEntries(Array.from({ length: 11 }, (_, number) => [`a${number}`, reading.t]))
    const draft = draftOf('other name', { id: made[0]?.id })
    const wide = { ...draft, configuration: { ...(draft.configuration as object), arguments: many } }
    await assert.rejects(save(wide), { code: 'calculated-field.TOO_MANY_ARGUMENTS' })
    const names = await service.pageOfNames(platform.tenant, 'SIMPLE', PAGE)
    assert.deepEqual(names.data, ['field 1', 'field 2', 'field 3', 'field 4', 'other name'])
    for (const { id } of made) await service.deleteByUser(platform.tenant, id)
  })

  test('are of one name and type on an entity, and of the type that their configuration has', async () => {
    const { id } = await save(draftOf('a'))
    await assert.rejects(save(draftOf('a')), { code: 'calculated-field.NAME_TAKEN' })
    await assert.rejects(save(draftOf('b', { type: 'SCRIPT' })), { code: 'calculated-field.INVALID' })
    const onUser = draftOf('b', { entityId: entityId('USER', platform.tenant.userId) })
    await assert.rejects(save(onUser), { code: 'calculated-field.ENTITY_TYPE' })
    await assert.rejects(service.getRule(id), { code: 'calculated-field.NOT_A_RULE' })
  })

  test('go with their entity', async () => {
    const asset = await platform.services.declared.of(assets).saveByUser(platform.tenant, { name: 'other hall' })
    const { id } = await save(draftOf('a', { entityId: entityId('ASSET', asset.id) }))
    const found = await service.page(platform.tenant, { entityIds: [asset.id] }, PAGE)
    assert.deepEqual([...(await service.namesOf(platform.tenant, found.data)).values()], ['other hall'])
    await platform.services.declared.of(assets).deleteByUser(platform.tenant, asset.id)
    await assert.rejects(service.get(id), { status: 404 })
  })

  test('keep what they read of others from being deleted, until they read it no more', async () => {
    const { tenant, services } = platform
    const hall = await services.declared.of(assets).saveByUser(tenant, { name: 'with a field' })
    const device = await services.devices.saveByUser(tenant, { name: 'read by it' })
    const customer = await services.declared.of(customers).saveByUser(tenant, { title: 'read by it' })
    const { configuration } = draftOf('a')
    const readings = Object.entries({ own: hall.id, device: device.id, customer: customer.id }).map(([name, id]) => {
      const entityType = name === 'own' ? 'ASSET' : name.toUpperCase()
      return [name, { refEntityId: { entityType, id }, refEntityKey: reading.t.refEntityKey }] as const
    })
    const reads = { ...(configuration as object), arguments: Object.fromEntries(readings) }
    const onHall = draftOf('a', { entityId: entityId('ASSET', hall.id), configuration: reads })
    const { id } = await save(onHall)
    const deletions = [
      ['device', () => services.declared.of(devices).deleteByUser(tenant, device.id), 'has entity views or is'],
      ['customer', () => services.declared.of(customers).deleteByUser(tenant, customer.id), 'is'],
    ] as const
    for (const [what, deleting, how] of deletions) {
      const message = `Can't delete ${what} that ${how} referenced in calculated fields!`
      await assert.rejects(deleting, { status: 400, message })
    }
    await save({ ...onHall, id, configuration: configuration ?? null })
    for (const [, deleting] of deletions) await deleting()
    await save({ ...onHall, id, configuration: { ...reads, arguments: Object.fromEntries(readings.slice(0, 1)) } })
    await services.declared.of(assets).deleteByUser(tenant, hall.id)
    await assert.rejects(service.get(id), { status: 404 })
  })

  test('have their scripts tried out within the limits of all scripts', () => {
    const single = { type: 'SINGLE_VALUE', ts: 7, value: 41 } as const
    const run = (expression: string) => service.test(platform.tenant, { expression, arguments: { t: single } })
    assert.deepEqual(run('return {"a": t + 1};'), { output: '{"a":42}', error: '' })
    assert.deepEqual(run('return ctx.args.t.ts + ctx.latestTs;'), { output: '14', error: '' })
    assert.equal(run('t = 1; return t')['output'], '1')
    for (const bad of ['return t.b.c;', 'return (', 'while (true) {}']) {
      const { output, error } = run(bad)
      assert.equal(output, '', bad)
      assert.notEqual(error, '', bad)
    }
    const reserved = { expression: '1', arguments: { ctx: single } }
    assert.throws(() => service.test(platform.tenant, reserved), { code: 'calculated-field.ARGUMENT_RESERVED' })
  })
})
