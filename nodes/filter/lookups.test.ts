/** Filters that look something up: profiles, alarms, relations. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { currentConfiguration } from '../../engine/rulechain/configuration.ts'
import type { NodeDefinition } from '../../engine/rulechain/node.ts'
import { entityId } from '../../model/entity-id.ts'
import type { JsonObject } from '../../model/json.ts'
import { createNode, runNode, testContext, testMessage } from '../testkit.ts'
import type { MessageDraft, TestContext } from '../testkit.ts'
import { alarmStatusFilter } from './alarm-status-filter.ts'
import { checkRelationPresence } from './check-relation-presence.ts'
import { assetProfileSwitch, deviceProfileSwitch } from './profile-switch.ts'

const DEVICE = testMessage({ data: '{}' }).originator
const ASSET = entityId('ASSET', '77777777-7777-4777-8777-777777777777')
const OTHER = entityId('ASSET', '66666666-6666-4666-8666-666666666666')

async function relation(
  definition: NodeDefinition,
  configuration: JsonObject,
  context: TestContext,
  draft: MessageDraft = { data: '{}' },
): Promise<string | undefined> {
  const [result] = await runNode(await createNode(definition, configuration, context), testMessage(draft))
  return result?.emissions[0]?.relations[0]
}

test('a profile switch emits the name of the profile', async () => {
  const context = testContext()
  context.fakes.entities.add({ id: DEVICE, name: 'd', type: 'Thermo 2' }, { id: ASSET, name: 'a', type: 'Big Pump' })
  const asset = { data: 'no JSON', originatorType: 'ASSET', originatorId: ASSET.id } as const
  assert.equal(await relation(deviceProfileSwitch, {}, context), 'Thermo 2')
  assert.equal(await relation(assetProfileSwitch, { version: 0 }, context, asset), 'Big Pump')
  assert.equal(await relation(deviceProfileSwitch, {}, context, asset), 'Failure')
  assert.equal(await relation(assetProfileSwitch, {}, context), 'Failure')
  assert.equal(await relation(deviceProfileSwitch, {}, testContext()), 'Failure')
})

test('the status of an alarm is the present one', async () => {
  const context = testContext()
  const { alarm } = await context.fakes.alarms.raise({ originator: DEVICE, type: 'hot', severity: 'MAJOR' })
  const data = `{"id":{"entityType":"ALARM","id":"${alarm.id}"},"status":"CLEARED_ACK"}`
  const active = { alarmStatusList: ['ACTIVE_UNACK'] }
  assert.equal(await relation(alarmStatusFilter, active, context, { data }), 'True')
  await context.fakes.alarms.end(DEVICE, 'hot')
  assert.equal(await relation(alarmStatusFilter, active, context, { data }), 'False')
  assert.equal(await relation(alarmStatusFilter, { alarmStatusList: [] }, context, { data }), 'False')
  for (const wrong of ['[1]', '{"temperature":1}', '{"id":"x"}', data.replace(alarm.id, DEVICE.id)]) {
    assert.equal(await relation(alarmStatusFilter, active, context, { data: wrong }), 'Failure', wrong)
  }
  await assert.rejects(createNode(alarmStatusFilter, { alarmStatusList: ['OPEN'] }), /alarmStatusList/)
})

test('a relation is looked for in its direction, to one entity or to any', async () => {
  const context = testContext()
  context.fakes.relations.held.push(
    { from: DEVICE, to: ASSET, type: 'Contains' },
    { from: OTHER, to: DEVICE, type: 'Manages' },
  )
  context.fakes.entities.add({ id: ASSET, name: 'a' }, { id: OTHER, name: 'o' })
  const to = (entity: typeof ASSET) => ({ checkForSingleEntity: true, entityType: 'ASSET', entityId: entity.id })
  for (const [configuration, expected] of [
    [{ direction: 'FROM', relationType: 'Contains' }, 'True'],
    [{ direction: 'TO', relationType: 'Contains' }, 'False'],
    [{ direction: 'TO', relationType: 'Manages' }, 'True'],
    [{ direction: 'FROM', relationType: 'Contains', ...to(ASSET) }, 'True'],
    [{ direction: 'FROM', relationType: 'Contains', ...to(OTHER) }, 'False'],
    [{ direction: 'TO', relationType: 'Manages', ...to(OTHER) }, 'True'],
    [{ direction: 'TO', relationType: 'Contains', ...to(ASSET) }, 'False'],
  ] as const) {
    assert.equal(await relation(checkRelationPresence, configuration, context), expected, JSON.stringify(configuration))
  }
})

test('the one entity must be there, and be the tenant’s own', async () => {
  const context = testContext()
  const single = { direction: 'FROM', relationType: 'Contains', checkForSingleEntity: true }
  const ofAsset = { ...single, entityType: 'ASSET', entityId: ASSET.id }
  await assert.rejects(createNode(checkRelationPresence, ofAsset, context), /entityId: the tenant has no ASSET/)
  // Nobody asks for it where any entity will do.
  await createNode(checkRelationPresence, { ...ofAsset, checkForSingleEntity: false }, context)
  // Nodes can not look alarms up.
  await createNode(checkRelationPresence, { ...ofAsset, entityType: 'ALARM' }, context)
  context.fakes.entities.add({ id: ASSET, name: 'a' })
  assert.equal(await relation(checkRelationPresence, ofAsset, context), 'False')
})

test('one entity must be named; old files say the direction from its other side', async () => {
  const single = { direction: 'FROM', relationType: 'Contains', checkForSingleEntity: true }
  for (const wrong of [{}, { entityType: 'ASSET' }, { entityType: 'PUMP', entityId: ASSET.id }]) {
    await assert.rejects(createNode(checkRelationPresence, { ...single, ...wrong }), /entityType|entityId/)
  }
  const stored = { configuration: single, configurationVersion: 0 }
  assert.deepEqual(currentConfiguration(checkRelationPresence, stored).configuration, { ...single, direction: 'TO' })
})
