/** Nodes that add what an entity says of itself: fields, contact details, credentials. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { currentConfiguration } from '../../engine/rulechain/configuration.ts'
import type { NodeDefinition } from '../../engine/rulechain/node.ts'
import { entityId } from '../../model/entity-id.ts'
import type { JsonObject } from '../../model/json.ts'
import { createNode, runNode, testContext, testMessage } from '../testkit.ts'
import type { MessageDraft } from '../testkit.ts'
import { customerDetails } from './customer-details.ts'
import { deviceCredentials } from './device-credentials.ts'
import { originatorFields } from './originator-fields.ts'
import { tenantDetails } from './tenant-details.ts'

const DEVICE = testMessage({ data: '{}' }).originator
const CUSTOMER = entityId('CUSTOMER', '88888888-8888-4888-8888-888888888888')

const DEVICE_JSON = {
  id: { ...DEVICE },
  name: 'boiler',
  label: null,
  createdTime: 5,
  ownedBy: [{ entityType: 'CUSTOMER', id: CUSTOMER.id }],
  additionalInfo: { description: '', gateway: true },
}

async function run(
  definition: NodeDefinition,
  configuration: JsonObject,
  change: { readonly draft?: MessageDraft; readonly customerId?: string; readonly value?: string } = {},
) {
  const context = testContext()
  context.fakes.entities.add({
    id: DEVICE,
    name: 'boiler',
    json: DEVICE_JSON,
    ...(change.customerId === undefined ? {} : { customerId: change.customerId }),
    credentials: {
      credentialsType: change.value === undefined ? 'ACCESS_TOKEN' : 'MQTT_BASIC',
      credentialsId: 'token',
      credentialsValue: change.value ?? null,
    },
  })
  context.fakes.entities.add({
    id: CUSTOMER,
    name: 'Acme',
    json: { title: 'Acme', country: 'France', email: null },
    additionalInfo: { description: 'about' },
  })
  const draft = change.draft ?? { data: '{"a":1}' }
  const [result] = await runNode(await createNode(definition, configuration, context), testMessage(draft))
  const [out] = result?.emissions ?? []
  return { relation: out?.relations[0], data: out?.message.data, metadata: out?.message.metadata, error: result?.error }
}

test('fields go by their paths, as text; unknown ones are left out', async () => {
  const dataMapping = {
    name: '$[a]_name',
    label: 'l',
    createdTime: 'c',
    id: 'id',
    'additionalInfo.gateway': 'g',
    'additionalInfo.description': 'd',
    ownedBy: 'o',
    'name.first': 'x',
    constructor: 'y',
  }
  const found = { '1_name': 'boiler', c: '5', id: DEVICE.id, g: 'true', o: `["${CUSTOMER.id}"]` }
  const kept = await run(originatorFields, { fetchTo: 'METADATA', dataMapping, ignoreNullStrings: false })
  assert.deepEqual(kept.metadata, { ...found, l: 'null', d: '' })
  const ignored = await run(originatorFields, { fetchTo: 'METADATA', dataMapping, ignoreNullStrings: true })
  assert.deepEqual(ignored.metadata, found)
  const data = await run(originatorFields, { fetchTo: 'DATA', dataMapping: { createdTime: 'c' } })
  assert.equal(data.data, '{"a":1,"c":"5"}')
})

test('fields of what is gone or has none fail', async () => {
  const configuration = { fetchTo: 'METADATA', dataMapping: { name: 'n' } }
  for (const draft of [
    { data: '{}', originatorId: CUSTOMER.id },
    { data: '{}', originatorType: 'ALARM' },
    { data: '{}', originatorType: 'DASHBOARD' },
  ] as const) {
    assert.equal((await run(originatorFields, configuration, { draft })).relation, 'Failure')
  }
  await assert.rejects(createNode(originatorFields, { fetchTo: 'DATA', dataMapping: {} }), /dataMapping/)
})

test('details of the customer that are there', async () => {
  const detailsList = ['ID', 'TITLE', 'COUNTRY', 'EMAIL', 'PHONE', 'ADDITIONAL_INFO']
  const assigned = await run(customerDetails, { fetchTo: 'METADATA', detailsList }, { customerId: CUSTOMER.id })
  assert.deepEqual(assigned.metadata, {
    customer_id: CUSTOMER.id,
    customer_title: 'Acme',
    customer_country: 'France',
    customer_additionalInfo: 'about',
  })
  const unassigned = await run(customerDetails, { fetchTo: 'DATA', detailsList })
  assert.match(unassigned.error?.message ?? '', /not assigned/)
})

test('details of the tenant, into the body too', async () => {
  const found = await run(tenantDetails, { fetchTo: 'DATA', detailsList: ['ID', 'ADDRESS2'] })
  assert.equal(found.data, '{"a":1,"tenant_id":"11111111-1111-4111-8111-111111111111"}')
  for (const definition of [customerDetails, tenantDetails]) {
    await assert.rejects(createNode(definition, { fetchTo: 'DATA', detailsList: [] }), /detailsList/)
    await assert.rejects(createNode(definition, { fetchTo: 'DATA', detailsList: ['NAME'] }), /detailsList/)
  }
})

test('credentials are a token, or JSON', async () => {
  const token = await run(deviceCredentials, { fetchTo: 'METADATA' })
  assert.deepEqual(token.metadata, { credentialsType: 'ACCESS_TOKEN', credentials: 'token' })
  const basic = await run(deviceCredentials, { fetchTo: 'DATA' }, { value: '{"userName":"u"}' })
  assert.equal(basic.data, '{"a":1,"credentialsType":"MQTT_BASIC","credentials":{"userName":"u"}}')
  const refused = await run(deviceCredentials, { fetchTo: 'DATA' }, { draft: { data: '[1]' } })
  assert.equal(refused.relation, 'Failure')
})

test('old configurations become those of now', () => {
  const upgraded = (definition: NodeDefinition, configuration: JsonObject) =>
    currentConfiguration(definition, { configuration, configurationVersion: 0 }).configuration
  assert.deepEqual(upgraded(originatorFields, { fieldsMapping: { a: 'b' }, ignoreNullStrings: true }), {
    ignoreNullStrings: true,
    dataMapping: { a: 'b' },
    fetchTo: 'METADATA',
  })
  for (const definition of [customerDetails, tenantDetails]) {
    const old = { addToMetadata: false, detailsList: ['ID'] }
    assert.deepEqual(upgraded(definition, old), { detailsList: ['ID'], fetchTo: 'DATA' })
  }
  assert.deepEqual(upgraded(deviceCredentials, { fetchToMetadata: true }), { fetchTo: 'METADATA' })
})
