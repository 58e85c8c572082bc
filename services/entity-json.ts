/**
 * Records in the form in which the REST API shows them and rule-engine messages carry them (`rest-api.md` 3.3, 5, 8, 11):
 * ids as objects, no customer as the null id.
 */
import type { Device, DeviceCredentials, DeviceProfile, Queue, RuleChain } from '../model/entities.ts'
import { NULL_UUID, type EntityType } from '../model/entity-id.ts'
import type { JsonObject, JsonValue } from '../model/json.ts'

export function idJson(entityType: EntityType, id: string): JsonObject
export function idJson(entityType: EntityType, id: string | null): JsonObject | null
export function idJson(entityType: EntityType, id: string | null): JsonObject | null {
  return id === null ? null : { entityType, id }
}

export function deviceJson(device: Device): JsonObject {
  return {
    id: idJson('DEVICE', device.id),
    createdTime: device.createdTime,
    tenantId: idJson('TENANT', device.tenantId),
    customerId: idJson('CUSTOMER', device.customerId ?? NULL_UUID),
    name: device.name,
    type: device.type,
    label: device.label,
    deviceProfileId: idJson('DEVICE_PROFILE', device.deviceProfileId),
    firmwareId: null,
    softwareId: null,
    externalId: null,
    version: device.version,
    additionalInfo: device.additionalInfo,
    deviceData: device.deviceData,
  }
}

export function deviceCredentialsJson(credentials: DeviceCredentials): JsonObject {
  return {
    id: { id: credentials.id },
    createdTime: credentials.createdTime,
    deviceId: idJson('DEVICE', credentials.deviceId),
    credentialsType: credentials.credentialsType,
    credentialsId: credentials.credentialsId,
    credentialsValue: credentials.credentialsValue,
    version: credentials.version,
  }
}

/** The provisioning key, which the reference repeats at the top of the profile. */
function provisionKey(profile: DeviceProfile): JsonValue {
  const configuration = profile.profileData['provisionConfiguration']
  const isObject = configuration !== null && typeof configuration === 'object' && 'provisionDeviceKey' in configuration
  return isObject ? (configuration.provisionDeviceKey ?? null) : null
}

export function deviceProfileJson(profile: DeviceProfile): JsonObject {
  return {
    id: idJson('DEVICE_PROFILE', profile.id),
    createdTime: profile.createdTime,
    tenantId: idJson('TENANT', profile.tenantId),
    name: profile.name,
    description: profile.description,
    image: null,
    default: profile.isDefault,
    type: profile.type,
    transportType: profile.transportType,
    provisionType: profile.provisionType,
    provisionDeviceKey: provisionKey(profile),
    defaultRuleChainId: idJson('RULE_CHAIN', profile.defaultRuleChainId),
    defaultEdgeRuleChainId: null,
    defaultDashboardId: null,
    defaultQueueName: profile.defaultQueueName,
    firmwareId: null,
    softwareId: null,
    externalId: null,
    version: profile.version,
    profileData: profile.profileData,
  }
}

export function ruleChainJson(chain: RuleChain): JsonObject {
  return {
    id: idJson('RULE_CHAIN', chain.id),
    createdTime: chain.createdTime,
    tenantId: idJson('TENANT', chain.tenantId),
    name: chain.name,
    type: chain.type,
    firstRuleNodeId: idJson('RULE_NODE', chain.firstRuleNodeId),
    root: chain.root,
    debugMode: chain.debugMode,
    externalId: null,
    version: chain.version,
    configuration: chain.configuration,
    additionalInfo: chain.additionalInfo,
  }
}

/** The contact fields that clients expect on customers and tenants; nobody can fill them yet. */
export const NO_CONTACT: Readonly<Record<string, JsonValue>> = {
  country: null,
  state: null,
  city: null,
  address: null,
  address2: null,
  zip: null,
  phone: null,
  email: null,
}

export function queueJson(queue: Queue): JsonObject {
  return {
    id: idJson('QUEUE', queue.id),
    createdTime: queue.createdTime,
    tenantId: idJson('TENANT', queue.tenantId),
    name: queue.name,
    topic: queue.topic,
    pollInterval: queue.pollInterval,
    partitions: queue.partitions,
    consumerPerPartition: queue.consumerPerPartition,
    packProcessingTimeout: queue.packProcessingTimeout,
    submitStrategy: { ...queue.submitStrategy },
    processingStrategy: { ...queue.processingStrategy },
    version: queue.version,
    additionalInfo: queue.additionalInfo,
  }
}
