/**
 * Records in the form in which the REST API shows them and rule-engine messages carry them (`rest-api.md` 3.3, 5, 8, 11):
 * ids as objects, no customer as the null id.
 */
import type { DeviceCredentials, Queue, RuleChainGraph, RuleNode } from '../model/entities.ts'
import type { EntityType } from '../model/entity-id.ts'
import type { JsonObject, JsonValue } from '../model/json.ts'

export function idJson(entityType: EntityType, id: string): JsonObject
export function idJson(entityType: EntityType, id: string | null): JsonObject | null
export function idJson(entityType: EntityType, id: string | null): JsonObject | null {
  return id === null ? null : { entityType, id }
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

function ruleNodeJson(node: RuleNode): JsonObject {
  return {
    id: idJson('RULE_NODE', node.id),
    createdTime: node.createdTime,
    ruleChainId: idJson('RULE_CHAIN', node.ruleChainId),
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
export function graphJson(graph: RuleChainGraph): JsonObject {
  return {
    ruleChainId: idJson('RULE_CHAIN', graph.ruleChainId),
    version: graph.version,
    firstNodeIndex: graph.firstNodeIndex,
    nodes: graph.nodes.map(ruleNodeJson),
    connections: graph.connections.map(({ fromIndex, toIndex, type }) => ({ fromIndex, toIndex, type })),
    ruleChainConnections: [],
    ...(graph.notes === undefined || (Array.isArray(graph.notes) && graph.notes.length === 0)
      ? {}
      : { notes: graph.notes }),
  }
}
