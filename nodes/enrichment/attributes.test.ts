/** Nodes that add attributes and latest values: of the originator, a related device or entity, the customer, the tenant. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { currentConfiguration } from '../../engine/rulechain/configuration.ts'
import { entityId } from '../../model/entity-id.ts'
import type { JsonObject } from '../../model/json.ts'
import type { NodeDefinition } from '../../engine/rulechain/node.ts'
import { TENANT_ID, createNode, runNode, testContext, testMessage } from '../testkit.ts'
import type { MessageDraft, TestContext } from '../testkit.ts'
import { customerAttributes } from './customer-attributes.ts'
import { originatorAttributes } from './originator-attributes.ts'
import { relatedDeviceAttributes } from './related-device-attributes.ts'
import { relatedEntityData } from './related-entity-data.ts'
import { tenantAttributes } from './tenant-attributes.ts'

const DEVICE = testMessage({ data: '{}' }).originator
const OTHER = entityId('DEVICE', '66666666-6666-4666-8666-666666666666')
const ASSET = entityId('ASSET', '77777777-7777-4777-8777-777777777777')
const CUSTOMER = entityId('CUSTOMER', '88888888-8888-4888-8888-888888888888')
const TS = 1_700_000_000_000

function world(): TestContext {
  const context = testContext()
  const { attributes, entities, history, relations } = context.fakes
  for (const entity of [DEVICE, OTHER, ASSET, CUSTOMER, entityId('TENANT', TENANT_ID)]) {
    attributes.add(
      [
        { key: 'limit', type: 'DOUBLE', value: 42 },
        { key: 'name', type: 'STRING', value: entity.entityType },
        { key: 'geo', type: 'JSON', value: '{"lat":1.0}' },
      ],
      entity,
      'SERVER_SCOPE',
    )
    attributes.add([{ key: 'fw', type: 'LONG', value: 2 }], entity, 'SHARED_SCOPE')
    history.add(
      entity,
      { key: 'temp', type: 'DOUBLE', value: 21.5, ts: TS },
      { key: 'on', type: 'BOOLEAN', value: true, ts: TS },
    )
  }
  entities.add({ id: DEVICE, name: 'device', type: 'thermo', customerId: CUSTOMER.id })
  entities.add(
    { id: OTHER, name: 'other', type: 'thermo' },
    { id: ASSET, name: 'asset', json: { label: 'lab', id: { ...ASSET } } },
  )
  entities.add({ id: CUSTOMER, name: 'customer' })
  relations.held.push({ from: DEVICE, to: OTHER, type: 'Contains' }, { from: ASSET, to: DEVICE, type: 'Manages' })
  return context
}

async function run(definition: NodeDefinition, configuration: JsonObject, draft: MessageDraft = { data: '{"a":1.0}' }) {
  const [result] = await runNode(await createNode(definition, configuration, world()), testMessage(draft))
  const [out] = result?.emissions ?? []
  const error = result?.error ?? out?.error
  return {
    relation: out?.relations[0],
    data: out?.message.data,
    metadata: out?.message.metadata,
    error: error?.message,
  }
}

const names = {
  sharedAttributeNames: ['fw'],
  serverAttributeNames: ['limit', 'geo'],
  latestTsKeyNames: ['temp'],
  tellFailureIfAbsent: true,
}

test('attributes carry the prefix of their scope; text in the metadata, types in the body', async () => {
  const asMetadata = await run(originatorAttributes, { ...names, fetchTo: 'METADATA' })
  assert.deepEqual(asMetadata.metadata, { shared_fw: '2', ss_limit: '42.0', ss_geo: '{"lat":1.0}', temp: '21.5' })
  const asData = await run(originatorAttributes, { ...names, fetchTo: 'DATA', getLatestValueWithTs: true })
  assert.equal(
    asData.data,
    `{"a":1.0,"shared_fw":2,"ss_limit":42.0,"ss_geo":{"lat":1.0},"temp":{"ts":${TS},"value":21.5}}`,
  )
})

test('what is absent fails with all that was found, or is passed over', async () => {
  const asked = { fetchTo: 'METADATA', serverAttributeNames: ['limit', 'nope'], latestTsKeyNames: ['never'] }
  const failed = await run(originatorAttributes, { ...asked, tellFailureIfAbsent: true })
  assert.deepEqual([failed.relation, failed.metadata], ['Failure', { ss_limit: '42.0' }])
  assert.match(failed.error ?? '', /ss_nope, never/)
  const passed = await run(originatorAttributes, asked)
  assert.deepEqual([passed.relation, passed.metadata], ['Success', { ss_limit: '42.0' }])
})

test('names may hold patterns, and a body that is no object takes nothing', async () => {
  const configuration = { fetchTo: 'METADATA', serverAttributeNames: ['${which}'], latestTsKeyNames: ['$[key]'] }
  const found = await run(originatorAttributes, configuration, { data: '{"key":"on"}', metadata: { which: 'name' } })
  assert.deepEqual(found.metadata, { which: 'name', ss_name: 'DEVICE', on: 'true' })
  const refusing: readonly (readonly [NodeDefinition, JsonObject])[] = [
    [originatorAttributes, { serverAttributeNames: ['limit'] }],
    [tenantAttributes, { dataMapping: { limit: 'l' }, dataToFetch: 'ATTRIBUTES' }],
  ]
  for (const [definition, change] of refusing) {
    const refused = await run(definition, { ...change, fetchTo: 'DATA' }, { data: '[1]' })
    assert.deepEqual([refused.relation, refused.error], ['Failure', 'Msg data is not a JSON object'])
  }
})

test('a related device is found by relation and profile', async () => {
  const query = { direction: 'FROM', maxLevel: 1, relationType: 'Contains', deviceTypes: ['thermo'] }
  const found = await run(relatedDeviceAttributes, { ...names, fetchTo: 'METADATA', deviceRelationsQuery: query })
  assert.equal(found.metadata?.['ss_limit'], '42.0')
  for (const relationType of ['', null]) {
    const deviceRelationsQuery = { ...query, relationType }
    const any = await run(relatedDeviceAttributes, { ...names, fetchTo: 'METADATA', deviceRelationsQuery })
    assert.equal(any.metadata?.['ss_limit'], '42.0', `the relation type ${relationType}`)
  }
  for (const wrong of [
    { deviceTypes: ['pump'] },
    { deviceTypes: [] },
    { direction: 'TO' },
    { relationType: 'Manages' },
  ]) {
    const missed = await run(relatedDeviceAttributes, {
      ...names,
      fetchTo: 'METADATA',
      deviceRelationsQuery: { ...query, ...wrong },
    })
    assert.match(missed.error ?? '', /No device is related/)
  }
})

test('data of customer, tenant and related entity go under their new names', async () => {
  const relationsQuery = {
    direction: 'TO',
    maxLevel: 1,
    filters: [{ relationType: 'Manages', entityTypes: ['ASSET'] }],
  }
  for (const [definition, name, own] of [
    [customerAttributes, 'CUSTOMER', {}],
    [tenantAttributes, 'TENANT', {}],
    [relatedEntityData, 'ASSET', { relationsQuery }],
  ] as const) {
    const mapped = {
      dataMapping: { name: 'n', '$[key]': '${to}', none: 'x' },
      dataToFetch: 'ATTRIBUTES',
      ...own,
    }
    const draft = { data: '{"key":"limit"}', metadata: { to: 'l' } }
    const asMetadata = await run(definition, { ...mapped, fetchTo: 'METADATA' }, draft)
    assert.deepEqual(asMetadata.metadata, { to: 'l', n: name, l: '42.0' })
    const latest = { dataMapping: { temp: 't', none: 'x' }, dataToFetch: 'LATEST_TELEMETRY', ...own }
    assert.equal((await run(definition, { ...latest, fetchTo: 'DATA' })).data, '{"a":1.0,"t":21.5,"x":null}')
    assert.deepEqual((await run(definition, { ...latest, fetchTo: 'METADATA' })).metadata, { t: '21.5' })
    await assert.rejects(createNode(definition, { ...mapped, fetchTo: 'DATA', dataMapping: {} }), /dataMapping/)
  }
})

test('a device without a customer fails; a customer is its own', async () => {
  const configuration = { fetchTo: 'METADATA', dataMapping: { name: 'n' }, dataToFetch: 'ATTRIBUTES' }
  const unassigned = await run(customerAttributes, configuration, { data: '{}', originatorId: OTHER.id })
  assert.match(unassigned.error ?? '', /not assigned to any customer/)
  const own = await run(customerAttributes, configuration, {
    data: '{}',
    originatorType: 'CUSTOMER',
    originatorId: CUSTOMER.id,
  })
  assert.deepEqual(own.metadata, { n: 'CUSTOMER' })
  await assert.rejects(createNode(customerAttributes, { ...configuration, dataToFetch: 'FIELDS' }), /dataToFetch/)
})

test('fields of a related entity are text', async () => {
  const relationsQuery = { direction: 'TO', maxLevel: 1, filters: null }
  const dataMapping = { name: 'n', label: '${k}', id: 'id', nothing: 'x', 'id.deeper': 'y' }
  const found = await run(
    relatedEntityData,
    { fetchTo: 'METADATA', dataToFetch: 'FIELDS', dataMapping, relationsQuery },
    { data: '{}', metadata: { k: 'label' } },
  )
  assert.deepEqual(found.metadata, { k: 'label', n: 'asset', label: 'lab', id: ASSET.id })
})

test('a filter without a relation type lets every type through', async () => {
  for (const type of [{ relationType: null }, { relationType: '' }, {}]) {
    const relationsQuery = { direction: 'TO', maxLevel: 1, filters: [{ ...type, entityTypes: ['ASSET'] }] }
    const dataMapping = { name: 'n' }
    const found = await run(relatedEntityData, {
      fetchTo: 'METADATA',
      dataToFetch: 'FIELDS',
      dataMapping,
      relationsQuery,
    })
    assert.deepEqual(found.metadata, { n: 'asset' }, JSON.stringify(type))
  }
})

test('old configurations become those of now', () => {
  const upgraded = (definition: NodeDefinition, configuration: JsonObject) =>
    currentConfiguration(definition, { configuration, configurationVersion: 0 }).configuration
  assert.deepEqual(upgraded(originatorAttributes, { fetchToData: true, clientAttributeNames: [] }), {
    clientAttributeNames: [],
    fetchTo: 'DATA',
  })
  for (const said of [{}, { fetchToData: null }]) {
    const { fetchTo } = upgraded(originatorAttributes, { ...said, serverAttributeNames: ['a'] })
    assert.equal(fetchTo, 'METADATA')
  }
  for (const definition of [customerAttributes, tenantAttributes, relatedEntityData]) {
    const own = definition === relatedEntityData ? { relationsQuery: { direction: 'FROM', maxLevel: 1 } } : {}
    const old = { attrMapping: { a: 'b' }, telemetry: 'true', ...own }
    const expected = { ...own, dataMapping: { a: 'b' }, dataToFetch: 'LATEST_TELEMETRY', fetchTo: 'METADATA' }
    assert.deepEqual(upgraded(definition, old), expected)
    assert.deepEqual(upgraded(definition, { telemetry: false }), definition.defaultConfiguration)
  }
})
