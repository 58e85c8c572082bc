import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { entityId, type EntityId } from '../../model/entity-id.ts'
import { assets } from '../entities/asset.ts'
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
