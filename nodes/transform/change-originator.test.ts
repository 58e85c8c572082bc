import assert from 'node:assert/strict'
import { test } from 'node:test'
import { entityId } from '../../model/entity-id.ts'
import type { JsonObject } from '../../model/json.ts'
import { TENANT_ID, createNode, runNode, testContext, testMessage } from '../testkit.ts'
import type { MessageDraft } from '../testkit.ts'
import { changeOriginator } from './change-originator.ts'

const DEVICE = testMessage({ data: '{}' }).originator
const ASSET = entityId('ASSET', '77777777-7777-4777-8777-777777777777')
const CUSTOMER = entityId('CUSTOMER', '88888888-8888-4888-8888-888888888888')
const USER = entityId('USER', '99999999-9999-4999-8999-999999999999')

async function run(configuration: JsonObject, draft: Partial<MessageDraft> = {}) {
  const context = testContext()
  const { alarms, entities, relations } = context.fakes
  entities.add({ id: DEVICE, name: 'device', customerId: CUSTOMER.id }, { id: ASSET, name: 'A-north' })
  entities.add({ id: USER, name: 'user@example.org' })
  relations.held.push({ from: DEVICE, to: ASSET, type: 'Contains' })
  await alarms.raise({ originator: ASSET, type: 'hot', severity: 'MAJOR' })
  const message = testMessage({ data: '{"place":"north"}', ...draft })
  const [result] = await runNode(await createNode(changeOriginator, configuration, context), message)
  const [out] = result?.emissions ?? []
  const { originator, customerId, id } = out?.message ?? message
  assert.equal(id, message.id)
  return { relation: out?.relations[0], originator, customerId, error: result?.error?.message }
}

test('each source gives the new originator', async () => {
  const relationsQuery = { direction: 'FROM', maxLevel: 1, filters: [{ relationType: 'Contains' }] }
  const alarm = { originatorType: 'ALARM', originatorId: '77777777-7777-4777-8777-000000000001' } as const
  for (const [configuration, expected, draft] of [
    [{ originatorSource: 'TENANT', relationsQuery: null }, entityId('TENANT', TENANT_ID), {}],
    [{ originatorSource: 'CUSTOMER' }, CUSTOMER, {}],
    [{ originatorSource: 'CUSTOMER' }, CUSTOMER, { originatorType: 'CUSTOMER', originatorId: CUSTOMER.id }],
    [{ originatorSource: 'RELATED', relationsQuery }, ASSET, {}],
    [{ originatorSource: 'ALARM_ORIGINATOR' }, ASSET, alarm],
    [{ originatorSource: 'ENTITY', entityType: 'ASSET', entityNamePattern: 'A-$[place]' }, ASSET, {}],
    [
      { originatorSource: 'ENTITY', entityType: 'USER', entityNamePattern: '${to}' },
      USER,
      { metadata: { to: 'user@example.org' } },
    ],
  ] as const) {
    const { relation, originator } = await run(configuration, draft)
    assert.deepEqual([relation, originator], ['Success', expected], JSON.stringify(configuration))
  }
  assert.equal((await run({ originatorSource: 'CUSTOMER' })).customerId, CUSTOMER.id)
  assert.equal((await run({ originatorSource: 'TENANT' })).customerId, undefined)
})

test('what is not found fails, and the message stays whose it was', async () => {
  const relationsQuery = { direction: 'TO', maxLevel: 1, filters: [] }
  for (const [configuration, draft] of [
    [{ originatorSource: 'CUSTOMER' }, { originatorType: 'ASSET', originatorId: ASSET.id }],
    [{ originatorSource: 'RELATED', relationsQuery }, {}],
    [{ originatorSource: 'ALARM_ORIGINATOR' }, { originatorType: 'ALARM' }],
    [{ originatorSource: 'ENTITY', entityType: 'ASSET', entityNamePattern: 'A-south' }, {}],
    [{ originatorSource: 'ENTITY', entityType: 'DEVICE', entityNamePattern: 'A-north' }, {}],
  ] as const) {
    const { relation, originator, error } = await run(configuration, draft)
    assert.equal(relation, 'Failure', JSON.stringify(configuration))
    assert.deepEqual(originator, testMessage({ data: '', ...draft }).originator)
    assert.match(error ?? '', /new originator/)
  }
})

test('a source without what it needs is refused', async () => {
  for (const [configuration, field] of [
    [{ originatorSource: 'RELATED', relationsQuery: null }, /relationsQuery/],
    [{ originatorSource: 'ENTITY', entityType: 'CUSTOMER', entityNamePattern: 'x' }, /entityType/],
    [{ originatorSource: 'ENTITY', entityType: 'DEVICE', entityNamePattern: '' }, /entityNamePattern/],
    [{ originatorSource: 'OWNER' }, /originatorSource/],
  ] as const) {
    await assert.rejects(createNode(changeOriginator, configuration), field)
  }
})
