import assert from 'node:assert/strict'
import { test } from 'node:test'
import { entityId } from '../../model/entity-id.ts'
import { createNode, runNode, testContext, testMessage, TENANT_ID, type TestContext } from '../testkit.ts'
import type { RuleNodeDefinition } from '../define-node.ts'
import type { JsonObject } from '../../model/json.ts'
import { assignToCustomer } from './assign-to-customer.ts'
import { copyToView } from './copy-to-view.ts'
import { createRelation } from './create-relation.ts'
import { deleteAttributes } from './delete-attributes.ts'
import { deleteRelation } from './delete-relation.ts'
import { deviceState } from './device-state.ts'
import { unassignFromCustomer } from './unassign-from-customer.ts'

const DEVICE = entityId('DEVICE', '55555555-5555-4555-8555-555555555555')
const ROOM = entityId('ASSET', '66666666-6666-4666-8666-666666666666')
const ACME = entityId('CUSTOMER', '77777777-7777-4777-8777-777777777777')
const BOARD = entityId('DASHBOARD', '88888888-8888-4888-8888-888888888888')

function world(): TestContext {
  const context = testContext()
  context.fakes.entities.add(
    { id: DEVICE, name: 'T1', type: 'thermometer' },
    { id: ROOM, name: 'R1', type: 'room' },
    { id: ACME, name: 'Acme' },
    { id: BOARD, name: 'Board' },
  )
  return context
}

async function run(
  definition: RuleNodeDefinition,
  configuration: JsonObject,
  context: TestContext,
  draft: Partial<Parameters<typeof testMessage>[0]> = {},
) {
  const node = await createNode(definition, configuration, context)
  const [result] = await runNode(node, testMessage({ data: '{}', ...draft }))
  assert.ok(result)
  const [emission] = result.emissions
  return { relation: emission?.relations[0], message: emission?.message, reason: result.error?.message, ...result }
}

test('the originator is assigned to the customer that the message names', async () => {
  const context = world()
  const { relation } = await run(assignToCustomer, { customerNamePattern: '$[who]' }, context, {
    data: '{"who":"Acme"}',
  })
  assert.equal(relation, 'Success')
  assert.deepEqual(context.fakes.entities.assigned, [[DEVICE.id, ACME.id]])
})

test('a device is taken from whoever has it, a dashboard only from the named customer', async () => {
  const context = world()
  await run(unassignFromCustomer, { customerNamePattern: '' }, context)
  const board = { originatorType: 'DASHBOARD' as const, originatorId: BOARD.id }
  await run(unassignFromCustomer, { customerNamePattern: 'Acme' }, context, board)
  assert.deepEqual(context.fakes.entities.unassigned, [DEVICE.id, BOARD.id])
  const { reason } = await run(unassignFromCustomer, { customerNamePattern: 'Nobody' }, context, board)
  assert.equal(reason, "Customer with the name 'Nobody' doesn't exist")
})

test('a relation is made in either direction, once, and the message may go on as the other end', async () => {
  const context = world()
  const base = { relationType: 'Contains', entityType: 'ASSET', entityNamePattern: '${room}' }
  const metadata = { room: 'R1' }
  await run(createRelation, { ...base, direction: 'TO' }, context, { metadata })
  await run(createRelation, { ...base, direction: 'TO' }, context, { metadata })
  const changed = { ...base, direction: 'FROM', changeOriginatorToRelatedEntity: true }
  const { message } = await run(createRelation, changed, context, { metadata })
  assert.deepEqual(context.fakes.relations.held, [
    { from: ROOM, to: DEVICE, type: 'Contains' },
    { from: DEVICE, to: ROOM, type: 'Contains' },
  ])
  assert.deepEqual(message?.originator, ROOM)
})

test('present relations of that type and direction go before the new one comes', async () => {
  const context = world()
  const other = entityId('ASSET', '99999999-9999-4999-8999-999999999999')
  context.fakes.relations.held.push(
    { from: DEVICE, to: other, type: 'Contains' },
    { from: DEVICE, to: other, type: 'Manages' },
  )
  const configuration = { direction: 'FROM', relationType: 'Contains', entityType: 'ASSET', entityNamePattern: 'R1' }
  await run(createRelation, { ...configuration, removeCurrentRelations: true }, context)
  assert.deepEqual(context.fakes.relations.held, [
    { from: DEVICE, to: other, type: 'Manages' },
    { from: DEVICE, to: ROOM, type: 'Contains' },
  ])
})

test('the relation that is to be stays where present ones go: it never was away', async () => {
  const context = world()
  const kept = { from: DEVICE, to: ROOM, type: 'Contains' }
  context.fakes.relations.held.push(kept)
  const configuration = { direction: 'FROM', relationType: 'Contains', entityType: 'ASSET', entityNamePattern: 'R1' }
  await run(createRelation, { ...configuration, removeCurrentRelations: true }, context)
  assert.equal(context.fakes.relations.held.length, 1)
  assert.equal(context.fakes.relations.held[0], kept)
})

test('relations that are made and deleted behind results say of which calculated fields', async () => {
  const context = world()
  const message = testMessage({ data: '{}' }).with({ calculatedFieldIds: ['f'] })
  const configuration = { direction: 'FROM', relationType: 'Contains', entityType: 'ASSET', entityNamePattern: 'R1' }
  const nodes = [
    [createRelation, configuration],
    [deleteRelation, { ...configuration, deleteForSingleEntity: true }],
    [createRelation, configuration],
    [deleteRelation, { ...configuration, deleteForSingleEntity: false }],
  ] as const
  for (const [definition, own] of nodes) await runNode(await createNode(definition, own, context), message)
  assert.deepEqual(context.fakes.relations.behind, [['f'], ['f'], ['f'], ['f']])
})

test('a relation to the tenant needs no name; without a type of the end it fails', async () => {
  const context = world()
  const configuration = { direction: 'FROM', relationType: 'Belongs', entityType: 'TENANT' }
  await run(createRelation, configuration, context)
  assert.deepEqual(context.fakes.relations.held, [{ from: DEVICE, to: entityId('TENANT', TENANT_ID), type: 'Belongs' }])
})

test('a node of relations that lacks the type of the other end, or has one that is none, does not start', async () => {
  const base = { direction: 'FROM', relationType: 'x' }
  for (const entityType of [null, 'ALARM']) {
    await assert.rejects(createNode(createRelation, { ...base, entityType }), /entityType/)
    const single = { ...base, entityType, deleteForSingleEntity: true }
    await assert.rejects(createNode(deleteRelation, single), /entityType/)
    await createNode(deleteRelation, { ...single, deleteForSingleEntity: false })
  }
})

test('one relation is deleted, or all of the type', async () => {
  const context = world()
  const { held } = context.fakes.relations
  held.push({ from: DEVICE, to: ROOM, type: 'Contains' }, { from: DEVICE, to: ACME, type: 'Contains' })
  const base = { direction: 'FROM', relationType: 'Contains', entityType: 'ASSET', entityNamePattern: 'R1' }
  await run(deleteRelation, { ...base, deleteForSingleEntity: true }, context)
  assert.deepEqual(held, [{ from: DEVICE, to: ACME, type: 'Contains' }])
  await run(deleteRelation, { ...base, deleteForSingleEntity: false }, context)
  assert.deepEqual(held, [])
})

test('an old file told the direction from the other end, where it has the old member', () => {
  const old = { direction: 'FROM', relationType: 'Contains', entityCacheExpiration: 300 }
  assert.deepEqual(createRelation.upgrade?.(old, 0), { direction: 'TO', relationType: 'Contains' })
  assert.deepEqual(deleteRelation.upgrade?.({ direction: 'FROM' }, 0), { direction: 'FROM' })
})

test('attributes are deleted in the scope of the metadata, once each; the device hears only where it should', async () => {
  const context = world()
  const configuration = {
    scope: 'SERVER_SCOPE',
    keys: ['a', '$[key]', ' ', 'a', 'a '],
    sendAttributesDeletedNotification: true,
  }
  await run(deleteAttributes, configuration, context, { data: '{"key":"b"}', metadata: { scope: 'SHARED_SCOPE' } })
  await run(deleteAttributes, { scope: 'SHARED_SCOPE', keys: ['c'] }, context, { metadata: { notifyDevice: 'true' } })
  assert.deepEqual(
    context.fakes.attributes.deletes.map(({ scope, keys, notifyDevice }) => [scope, keys, notifyDevice]),
    [
      ['SHARED_SCOPE', ['a', 'b', 'a '], false],
      ['SHARED_SCOPE', ['c'], true],
    ],
  )
  const [told, ...more] = context.enqueued
  assert.equal(more.length, 0)
  assert.equal(told?.type, 'ATTRIBUTES_DELETED')
  assert.equal(told?.data, '{"attributes":["a","b","a "]}')
  assert.deepEqual(told?.metadata, { ruleNodeId: context.ruleNodeId, scope: 'SHARED_SCOPE' })
})

test('a device says how it is at most once a second', async () => {
  const context = world()
  const node = await createNode(deviceState, { event: 'DISCONNECT_EVENT' }, context)
  const message = testMessage({ data: '{}', metadata: { ts: '1000' } })
  const results = await runNode(node, message, message)
  assert.deepEqual(
    results.map(({ emissions }) => emissions[0]?.relations[0]),
    ['Success', 'Rate limited'],
  )
  assert.deepEqual(context.fakes.deviceState.reports, [[DEVICE.id, 'disconnect', 1000]])
})

test('views that count now get what they expose, and a message each', async () => {
  const context = world()
  const view = (id: string, change: { startTimeMs?: number; endTimeMs?: number } = {}) => ({
    ...{ id: entityId('ENTITY_VIEW', id), source: DEVICE, startTimeMs: 0, endTimeMs: 0, timeseries: [] },
    attributes: { cs: [], ss: ['a'], sh: [] },
    ...change,
  })
  context.fakes.views.held.push(view('v1'), view('v2', { endTimeMs: 1 }))
  const draft = { type: 'ATTRIBUTES_UPDATED', data: '{"a":1,"b":2}', metadata: { scope: 'SERVER_SCOPE' } }
  const { emissions } = await run(copyToView, {}, context, draft)
  assert.deepEqual(
    emissions.map(({ message }) => message.originator.id),
    ['v1'],
  )
  assert.notEqual(emissions[0]?.message.id, testMessage(draft).id)
  assert.deepEqual(
    context.attributeSaves.map(({ entity, entries }) => [entity.id, entries.map(({ key }) => key)]),
    [['v1', ['a']]],
  )
  const gone = {
    type: 'ATTRIBUTES_DELETED',
    data: '{"attributes":["a","b","a "]}',
    metadata: { scope: 'SERVER_SCOPE' },
  }
  await run(copyToView, {}, context, gone)
  assert.deepEqual(
    context.fakes.attributes.deletes.map(({ entity, keys }) => [entity.id, keys]),
    [['v1', ['a']]],
  )
  const other = { ...gone, data: '{"attributes":["b"]}' }
  assert.deepEqual((await run(copyToView, {}, context, other)).emissions, [])
  const { reason } = await run(copyToView, {}, context, { ...gone, metadata: { deviceName: 'T1' } })
  assert.match(reason ?? '', /scope is missing/)
})
