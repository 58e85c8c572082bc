/** Entities as JSON of the wire (`rest-api.md` 3.1, 3.3, 5, 8, 11, 12): nulls are written, no field is left out. */
import { NULL_UUID, type EntityType } from '../../model/entity-id.ts'
import type {
  Customer,
  Device,
  DeviceCredentials,
  DeviceProfile,
  Page,
  RuleChain,
  RuleChainGraph,
  RuleNode,
  Tenant,
  User,
} from '../../model/entities.ts'
import type { JsonObject, JsonValue } from '../../model/json.ts'
import type { DeviceInfo } from '../../services/services.ts'
import { isJsonObject } from './body.ts'

export function renderId(entityType: EntityType, id: string): JsonObject {
  return { entityType, id }
}

function optionalId(entityType: EntityType, id: string | null): JsonValue {
  return id === null ? null : renderId(entityType, id)
}

/** Unassigned is not null but the id that means "no entity". */
function customerIdOf(id: string | null): JsonObject {
  return renderId('CUSTOMER', id ?? NULL_UUID)
}

export function renderPage<Item>(page: Page<Item>, render: (item: Item) => JsonObject): JsonObject {
  const { totalPages, totalElements, hasNext } = page
  return { data: page.data.map(render), totalPages, totalElements, hasNext }
}

export function renderDevice(device: Device): JsonObject {
  return {
    id: renderId('DEVICE', device.id),
    createdTime: device.createdTime,
    tenantId: renderId('TENANT', device.tenantId),
    customerId: customerIdOf(device.customerId),
    name: device.name,
    type: device.type,
    label: device.label,
    deviceProfileId: renderId('DEVICE_PROFILE', device.deviceProfileId),
    firmwareId: null,
    softwareId: null,
    externalId: null,
    version: device.version,
    additionalInfo: device.additionalInfo,
    deviceData: device.deviceData,
  }
}

export function renderDeviceInfo(info: DeviceInfo, customerIsPublic: boolean): JsonObject {
  const { customerTitle, deviceProfileName, active } = info
  return { ...renderDevice(info), customerTitle, customerIsPublic, deviceProfileName, active }
}

export function renderCredentials(credentials: DeviceCredentials): JsonObject {
  return {
    id: { id: credentials.id },
    createdTime: credentials.createdTime,
    deviceId: renderId('DEVICE', credentials.deviceId),
    credentialsType: credentials.credentialsType,
    credentialsId: credentials.credentialsId,
    credentialsValue: credentials.credentialsValue,
    version: credentials.version,
  }
}

/** The provisioning key, which the reference repeats at the top of the profile. */
function provisionKey(profile: DeviceProfile): JsonValue {
  const configuration = profile.profileData['provisionConfiguration']
  return isJsonObject(configuration) ? (configuration['provisionDeviceKey'] ?? null) : null
}

export function renderDeviceProfile(profile: DeviceProfile): JsonObject {
  return {
    id: renderId('DEVICE_PROFILE', profile.id),
    createdTime: profile.createdTime,
    tenantId: renderId('TENANT', profile.tenantId),
    name: profile.name,
    description: profile.description,
    image: null,
    default: profile.isDefault,
    type: profile.type,
    transportType: profile.transportType,
    provisionType: profile.provisionType,
    provisionDeviceKey: provisionKey(profile),
    defaultRuleChainId: optionalId('RULE_CHAIN', profile.defaultRuleChainId),
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

export function renderDeviceProfileInfo(profile: DeviceProfile): JsonObject {
  return {
    id: renderId('DEVICE_PROFILE', profile.id),
    tenantId: renderId('TENANT', profile.tenantId),
    name: profile.name,
    image: null,
    defaultDashboardId: null,
    type: profile.type,
    transportType: profile.transportType,
  }
}

const NO_CONTACT: JsonObject = {
  country: null,
  state: null,
  city: null,
  address: null,
  address2: null,
  zip: null,
  phone: null,
  email: null,
}

export function renderCustomer(customer: Customer): JsonObject {
  return {
    id: renderId('CUSTOMER', customer.id),
    createdTime: customer.createdTime,
    tenantId: renderId('TENANT', customer.tenantId),
    title: customer.title,
    name: customer.title,
    ...NO_CONTACT,
    externalId: null,
    version: customer.version,
    additionalInfo: customer.additionalInfo,
  }
}

export function isPublicCustomer(customer: Customer | undefined): boolean {
  return isJsonObject(customer?.additionalInfo) && customer.additionalInfo['isPublic'] === true
}

export function renderTenant(tenant: Tenant): JsonObject {
  return {
    id: renderId('TENANT', tenant.id),
    createdTime: tenant.createdTime,
    title: tenant.title,
    name: tenant.title,
    region: null,
    tenantProfileId: null,
    ...NO_CONTACT,
    version: tenant.version,
    additionalInfo: tenant.additionalInfo,
  }
}

export function renderUser(user: User): JsonObject {
  return {
    id: renderId('USER', user.id),
    createdTime: user.createdTime,
    tenantId: renderId('TENANT', user.tenantId ?? NULL_UUID),
    customerId: customerIdOf(user.customerId),
    email: user.email,
    authority: user.authority,
    firstName: user.firstName,
    lastName: user.lastName,
    phone: user.phone,
    version: user.version,
    name: user.email,
    additionalInfo: user.additionalInfo,
  }
}

export function renderRuleChain(chain: RuleChain): JsonObject {
  return {
    id: renderId('RULE_CHAIN', chain.id),
    createdTime: chain.createdTime,
    tenantId: renderId('TENANT', chain.tenantId),
    name: chain.name,
    type: chain.type,
    firstRuleNodeId: optionalId('RULE_NODE', chain.firstRuleNodeId),
    root: chain.root,
    debugMode: chain.debugMode,
    externalId: null,
    version: chain.version,
    configuration: chain.configuration,
    additionalInfo: chain.additionalInfo,
  }
}

function renderRuleNode(node: RuleNode): JsonObject {
  return {
    id: renderId('RULE_NODE', node.id),
    createdTime: node.createdTime,
    ruleChainId: renderId('RULE_CHAIN', node.ruleChainId),
    type: node.type,
    name: node.name,
    debugSettings: node.debugSettings,
    singletonMode: node.singletonMode,
    queueName: node.queueName,
    configurationVersion: node.configurationVersion,
    configuration: node.configuration,
    externalId: null,
    additionalInfo: node.additionalInfo,
    ...(node.disabledReason === null ? {} : { disabledReason: node.disabledReason }),
  }
}

/** Lists where the reference writes null for "none": its own Python client refuses null there. */
export function renderGraph(graph: RuleChainGraph): JsonObject {
  return {
    ruleChainId: renderId('RULE_CHAIN', graph.ruleChainId),
    version: graph.version,
    firstNodeIndex: graph.firstNodeIndex,
    nodes: graph.nodes.map(renderRuleNode),
    connections: graph.connections.map(({ fromIndex, toIndex, type }) => ({ fromIndex, toIndex, type })),
    ruleChainConnections: [],
    ...(graph.notes === undefined || (Array.isArray(graph.notes) && graph.notes.length === 0)
      ? {}
      : { notes: graph.notes }),
  }
}
