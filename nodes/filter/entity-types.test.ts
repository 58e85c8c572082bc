import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ENTITY_TYPES } from '../../model/entity-id.ts'
import type { EntityType } from '../../model/entity-id.ts'
import { createNode, runNode, testMessage } from '../testkit.ts'
import { entityTypeFilter } from './entity-type-filter.ts'
import { entityTypeSwitch } from './entity-type-switch.ts'

test('the filter compares the type alone', async () => {
  const instance = await createNode(entityTypeFilter, { originatorTypes: ['TENANT', 'MOBILE_APP_BUNDLE'] })
  for (const originatorType of ENTITY_TYPES) {
    const isListed = originatorType === 'TENANT' || originatorType === 'MOBILE_APP_BUNDLE'
    const [result] = await runNode(instance, testMessage({ data: 'no JSON', originatorType }))
    assert.deepEqual(result?.emissions[0]?.relations, [isListed ? 'True' : 'False'])
  }
})

test('a type that nobody knows, or no list, is refused', async () => {
  for (const configuration of [{ originatorTypes: ['DEVICES'] }, { originatorTypes: null }, {}]) {
    await assert.rejects(createNode(entityTypeFilter, configuration), /originatorTypes/)
  }
})

test('the switch labels types as existing chains are linked', async () => {
  const instance = await createNode(entityTypeSwitch)
  const expected: Partial<Record<EntityType, string>> = {
    DEVICE: 'Device',
    ENTITY_VIEW: 'Entity View',
    RULE_CHAIN: 'Rule chain',
    DEVICE_PROFILE: 'Device profile',
    TB_RESOURCE: 'Resource',
    OTA_PACKAGE: 'Ota package',
    RPC: 'Rpc',
  }
  for (const originatorType of ENTITY_TYPES) {
    const [result] = await runNode(instance, testMessage({ data: '{}', originatorType }))
    const [label] = result?.emissions[0]?.relations ?? []
    if (originatorType in expected) assert.equal(label, expected[originatorType])
    assert.ok(label !== undefined && entityTypeSwitch.relations.includes(label), label)
  }
})
