/** Nodes as they stand in a chain, and the relation by which a reading of a thermometer leaves each. */
import { entityId, type EntityId } from '../../model/entity-id.ts'
import type { CapabilitySources } from '../../engine/rulechain/capabilities.ts'
import type { NodeEntity } from '../../engine/rulechain/capabilities/entities.ts'
import type { NodeDefinition } from '../../engine/rulechain/node.ts'
import type { JsonObject } from '../../model/json.ts'
import type { Attribute } from '../../model/value.ts'
import { log } from '../../nodes/action/log.ts'
import { saveTimeSeries } from '../../nodes/action/save-time-series.ts'
import { customerAttributes } from '../../nodes/enrichment/customer-attributes.ts'
import { originatorAttributes } from '../../nodes/enrichment/originator-attributes.ts'
import { originatorFields } from '../../nodes/enrichment/originator-fields.ts'
import { relatedEntityData } from '../../nodes/enrichment/related-entity-data.ts'
import { tenantAttributes } from '../../nodes/enrichment/tenant-attributes.ts'
import { checkFieldsPresence } from '../../nodes/filter/check-fields-presence.ts'
import { checkRelationPresence } from '../../nodes/filter/check-relation-presence.ts'
import { entityTypeFilter } from '../../nodes/filter/entity-type-filter.ts'
import { entityTypeSwitch } from '../../nodes/filter/entity-type-switch.ts'
import { messageTypeFilter } from '../../nodes/filter/message-type-filter.ts'
import { messageTypeSwitch } from '../../nodes/filter/message-type-switch.ts'
import { deviceProfileSwitch } from '../../nodes/filter/profile-switch.ts'
import { scriptFilter } from '../../nodes/filter/script-filter.ts'
import { scriptSwitch } from '../../nodes/filter/script-switch.ts'
import { copyKeys } from '../../nodes/transform/copy-keys.ts'
import { deleteKeys } from '../../nodes/transform/delete-keys.ts'
import { renameKeys } from '../../nodes/transform/rename-keys.ts'
import { scriptTransformation } from '../../nodes/transform/script-transformation.ts'
import { scriptDefaults } from '../../nodes/script-configuration.ts'
import { DEVICES, type NodeDraft } from './road.ts'

export interface Step {
  readonly node: NodeDraft
  readonly relation: string
}

const FILTER = 'return msg.temperature == null || (msg.temperature >= -40 && msg.temperature <= 2000);'
const SWITCH = "return msg.temperature > 2000 ? ['hot'] : ['cold'];"
const TRANSFORMATION =
  "msg.fahrenheit = msg.temperature * 1.8 + 32; metadata.unit = 'F'; return {msg: msg, metadata: metadata, msgType: msgType};"

const js = (body: string) => ({ ...scriptDefaults(body), scriptLang: 'JS' })

/** Without a change a node's defaults hold. */
type Row = readonly [definition: NodeDefinition, relation: string, change?: JsonObject]

const STEPS: readonly Row[] = [
  [messageTypeSwitch, 'Post telemetry'],
  [messageTypeFilter, 'True', { messageTypes: ['POST_TELEMETRY_REQUEST'] }],
  [entityTypeFilter, 'True', { originatorTypes: ['DEVICE'] }],
  [entityTypeSwitch, 'Device'],
  [deviceProfileSwitch, 'thermometers'],
  [checkFieldsPresence, 'True', { messageNames: ['temperature'], metadataNames: ['deviceName'], checkAllKeys: true }],
  [checkRelationPresence, 'True', { checkForSingleEntity: false, relationType: 'Contains', direction: 'FROM' }],
  [scriptFilter, 'True', scriptDefaults(FILTER)],
  [scriptSwitch, 'cold', scriptDefaults(SWITCH)],
  [originatorFields, 'Success'],
  [originatorAttributes, 'Success', { serverAttributeNames: ['limit'], fetchTo: 'METADATA' }],
  [tenantAttributes, 'Success', { dataMapping: { limit: 'tenantLimit' } }],
  [customerAttributes, 'Success', { dataMapping: { limit: 'customerLimit' } }],
  [relatedEntityData, 'Success', { dataMapping: { limit: 'hallLimit' } }],
  [copyKeys, 'Success', { copyFrom: 'DATA', keys: ['humidity'] }],
  // There and back, so that the next one of its kind finds something too.
  [renameKeys, 'Success', { renameIn: 'METADATA', renameKeysMapping: { deviceName: 'name', name: 'deviceName' } }],
  [deleteKeys, 'Success', { deleteFrom: 'METADATA', keys: ['humidity'] }],
  [scriptTransformation, 'Success', scriptDefaults(TRANSFORMATION)],
  [log, 'Success', scriptDefaults("return 'temperature ' + msg.temperature;")],
  [saveTimeSeries, 'Success'],
]

/** Script nodes in JavaScript run on the pool, whose sandboxes are other processes. */
const JAVASCRIPT: readonly Row[] = [
  [scriptFilter, 'True', js(FILTER)],
  [scriptSwitch, 'cold', js(SWITCH)],
  [scriptTransformation, 'Success', js(TRANSFORMATION)],
]

export const steps: readonly Step[] = STEPS.map(stepOf)
/** Twenty that look at the message, log and save it: filters and switches twice. */
export const routing: readonly Step[] = [...steps.slice(0, 9), ...steps.slice(0, 9), ...steps.slice(-2)]
export const javaScriptSteps: readonly Step[] = JAVASCRIPT.map(stepOf)

function stepOf([{ type, name, category, configurationVersion, defaultConfiguration }, relation, change]: Row): Step {
  const configuration = { ...defaultConfiguration, ...change }
  const shown = name === 'script' ? `script (${category.toLowerCase()})` : name
  return { node: { type, name: shown, configurationVersion, configuration }, relation }
}

const CUSTOMER = entityId('CUSTOMER', '60000000-0000-4000-8000-000000000001')
const PROFILE = entityId('DEVICE_PROFILE', '70000000-0000-4000-8000-000000000001')
const HALL = entityId('ASSET', '80000000-0000-4000-8000-000000000001')
const thermometer = (id: EntityId, name: string): NodeEntity => ({
  ...{ id, createdTime: 0, name, type: 'thermometers', label: null, additionalInfo: null },
  ...{ customerId: CUSTOMER.id, owner: CUSTOMER, profile: { id: PROFILE, name: 'thermometers' } },
  json: { name, type: 'thermometers' },
})
const SHOWN = new Map(DEVICES.map((id, index) => [id.id, thermometer(id, `Thermometer ${index}`)]))
/** Of all types, as an entity has them. */
const HELD: readonly Attribute[] = [
  { key: 'active', type: 'BOOLEAN', value: true, lastUpdateTs: 0 },
  { key: 'offset', type: 'DOUBLE', value: 0.5, lastUpdateTs: 0 },
  { key: 'model', type: 'STRING', value: 'T 1000', lastUpdateTs: 0 },
  { key: 'limit', type: 'LONG', value: 20, lastUpdateTs: 0 },
]

/** A platform that has all at hand, as its caches do. */
export const knowing: CapabilitySources = {
  alarms: () => ({ find: nothing, findActive: nothing, createOrUpdate: nothing, clear: nothing }),
  entities: () => ({
    find: ({ id }) => SHOWN.get(id),
    findByName: nothing,
    findOrCreate: nothing,
    assignToCustomer: nothing,
    unassignFromCustomer: nothing,
    credentialsOf: nothing,
  }),
  attributes: () => ({
    save: nothing,
    find: (_entity, _scope, keys) => HELD.filter(({ key }) => keys.includes(key)),
    delete: nothing,
  }),
  history: () => ({ latest: nothing, series: nothing }),
  relations: () => ({
    exists: () => true,
    list: (from) => [{ from, to: HALL, type: 'Contains' }],
    find: () => [HALL],
    relatedDevices: nothing,
    create: nothing,
    delete: nothing,
  }),
}

function nothing(): Promise<never> {
  return Promise.reject(new Error('no node of the benchmark asks for this'))
}
