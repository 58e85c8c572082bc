/** Records that the contract writes: each complete, with an id of its own. */
import { randomUUID } from 'node:crypto'
import type { DeviceCredentials, Page, PageQuery, Queue, RuleChain, RuleNode } from '../../model/entities.ts'
import { NULL_UUID } from '../../model/entity-id.ts'
import type { Attribute } from '../../model/value.ts'
import { customers, type Customer } from '../../services/entities/customer.ts'
import {
  deviceProfiles,
  insertionOfProfile,
  newDeviceProfile,
  type DeviceProfile,
} from '../../services/entities/device-profile.ts'
import { devices, type Device } from '../../services/entities/device.ts'
import { tenants, type Tenant } from '../../services/entities/tenant.ts'
import { recordWith, rowsOf } from '../../services/entities/rows.ts'
import type { Statement } from './database.ts'
import type { EntityStore } from './entity-store.ts'

/** One promise of the contract, held against a fresh store. */
export type Check = (sentence: string, run: (store: EntityStore) => Promise<void>) => void

export interface Household {
  readonly tenant: Tenant
  readonly customer: Customer
  readonly profile: DeviceProfile
}

export async function household(store: EntityStore): Promise<Household> {
  const record = () => ({ id: randomUUID(), createdTime: 1_700_000_000_000, version: 1 })
  const tenant = recordWith(tenants, { ...record(), tenantId: NULL_UUID }, { title: `Tenant ${randomUUID()}` })
  const members = { title: 'Customer', additionalInfo: { isPublic: true } }
  const customer = recordWith(customers, { ...record(), tenantId: tenant.id }, members)
  const { id, createdTime } = record()
  const profile = newDeviceProfile({ id, createdTime, tenantId: tenant.id, name: 'default', default: true })
  await store.write([
    rowsOf(tenants, store).insert(tenants.rowOf(tenant)),
    rowsOf(customers, store).insert(customers.rowOf(customer)),
    insertionOfProfile(store, profile),
  ])
  return { tenant, customer, profile }
}

export function deviceOf(tenant: Tenant, profile: DeviceProfile, name: string): Device {
  const identity = { id: randomUUID(), createdTime: 1_700_000_000_000, version: 1, tenantId: tenant.id }
  return recordWith(devices, identity, { deviceProfileId: profile.id, name, type: profile.name, deviceData: {} })
}

export function insertionOf(store: EntityStore, device: Device): Statement {
  return rowsOf(devices, store).insert(devices.rowOf(device))
}

export async function findDevice(store: EntityStore, id: string): Promise<Device | undefined> {
  const row = await rowsOf(devices, store).find([{ column: 'id', is: id }])
  return row && devices.recordOf(row)
}

const SORT = { name: 'name', createdTime: 'created_time' }

export async function pageOfDevices(store: EntityStore, tenantId: string, query: PageQuery): Promise<Page<Device>> {
  const where = [{ column: 'tenant_id', is: tenantId }]
  const page = await rowsOf(devices, store).page({ where, sort: SORT, search: ['name'], query })
  return { ...page, data: page.data.map((row) => devices.recordOf(row)) }
}

export function tokenOf(device: Device, token: string): DeviceCredentials {
  const { tenantId, id: deviceId } = device
  const record = { id: randomUUID(), createdTime: 1, version: 1, tenantId, deviceId }
  return { ...record, credentialsType: 'ACCESS_TOKEN', credentialsId: token, credentialsValue: null }
}

export function userOf(tenant: Tenant, email: string) {
  const record = { id: randomUUID(), createdTime: 1, version: 1, tenantId: tenant.id, customerId: null, email }
  const names = { firstName: 'Ada', lastName: null, phone: null, additionalInfo: null }
  return { ...record, authority: 'TENANT_ADMIN' as const, ...names }
}

export function chainOf(tenant: Tenant, name: string, root: boolean): RuleChain {
  const record = { id: randomUUID(), createdTime: 1, version: 1, tenantId: tenant.id, name, root }
  return { ...record, type: 'CORE', firstRuleNodeId: null, debugMode: false, configuration: null, additionalInfo: null }
}

export function nodeOf(chain: RuleChain, name: string): RuleNode {
  return {
    id: randomUUID(),
    createdTime: 1,
    ruleChainId: chain.id,
    type: 'test.Node',
    name,
    debugSettings: null,
    singletonMode: true,
    queueName: null,
    configurationVersion: 3,
    configuration: { threshold: 20, scriptLang: 'TBEL' },
    additionalInfo: { layoutX: 1 },
    disabledReason: name === 'c' ? 'Unknown node type' : null,
  }
}

export function attribute(entityId: string, key: string, value: number, sequence: number) {
  const written: Attribute = { key, type: 'LONG', value, lastUpdateTs: 1 }
  return { entityId, scope: 'CLIENT_SCOPE' as const, attribute: written, sequence }
}

export function queueOf(tenantId: string, name: string): Queue {
  return {
    id: randomUUID(),
    createdTime: 1_700_000_000_000,
    version: 1,
    tenantId,
    name,
    topic: `tb_rule_engine.${name}`,
    pollInterval: 25,
    partitions: 10,
    consumerPerPartition: true,
    packProcessingTimeout: 2000,
    submitStrategy: { type: 'BURST', batchSize: 1000 },
    processingStrategy: {
      type: 'SKIP_ALL_FAILURES',
      retries: 3,
      failurePercentage: 0.5,
      pauseBetweenRetries: 3,
      maxPauseBetweenRetries: 3,
    },
    additionalInfo: null,
  }
}

export function profileInsertion(store: EntityStore, profile: DeviceProfile): Statement {
  return insertionOfProfile(store, profile)
}

export function profileUpdate(store: EntityStore, profile: DeviceProfile): Statement {
  return rowsOf(deviceProfiles, store).update(deviceProfiles.rowOf(profile))
}

export function profileDeletion(store: EntityStore, profile: DeviceProfile): Statement {
  return rowsOf(deviceProfiles, store).delete(profile)
}
