/**
 * Records in the form in which the REST API shows them and rule-engine messages carry them (`rest-api.md` 3.3, 5, 8, 11):
 * ids as objects, no customer as the null id.
 */
import type { Customer, Device, RuleChain } from '../model/entities.ts'
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

export function customerJson(customer: Customer): JsonObject {
  return {
    id: idJson('CUSTOMER', customer.id),
    createdTime: customer.createdTime,
    ...NO_CONTACT,
    tenantId: idJson('TENANT', customer.tenantId),
    title: customer.title,
    name: customer.title,
    externalId: null,
    version: customer.version,
    additionalInfo: customer.additionalInfo,
  }
}
