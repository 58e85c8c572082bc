/** Devices with their credentials and assignment (`rest-api.md` 5.1 to 5.3). */
import type { Clock, Random } from '../model/clock.ts'
import type { Device, DeviceCredentials, DeviceProfile, Page, PageQuery } from '../model/entities.ts'
import type { EntityId } from '../model/entity-id.ts'
import { isMillraceError } from '../model/errors.ts'
import { stringifyJson, type JsonObject } from '../model/json.ts'
import type { Metadata } from '../model/message.ts'
import type { KnownMessageType } from '../model/message-type.ts'
import type { Principal } from '../model/principal.ts'
import type { DeviceIdentity } from '../engine/device/gateway.ts'
import type { ChangeFeed } from '../engine/subscriptions/change.ts'
import type { Statement } from '../storage/entities/database.ts'
import type { EntityStore } from '../storage/entities/entity-store.ts'
import type { CommitDoubts } from './commit-doubts.ts'
import { attemptedOn, attemptedSave, type AuditedAction } from './audit/audit-log.ts'
import type { Changes } from './changes.ts'
import type { Cleanup } from './cleanup.ts'
import { checkCredentials, newAccessToken } from './device-credentials.ts'
import { newDeviceProfile } from './device-profiles.ts'
import { deviceCredentialsJson, deviceJson } from './entity-json.ts'
import { itemNotFound, ServiceErrors } from './errors.ts'
import type { customers } from './entities/customer.ts'
import type { EntityService } from './entities/entity-service.ts'
import { linkQueueOf } from './message-route.ts'
import { checkName, checkText } from './names.ts'
import type { DeviceDraft, DeviceInfo, DevicePageFilter, DeviceService } from './services.ts'

export interface DeviceServiceParts {
  readonly entities: EntityStore
  readonly customers: Pick<EntityService<typeof customers.columns>, 'findAnywhere'>
  readonly changes: Changes
  readonly feed: ChangeFeed
  readonly doubts: CommitDoubts
  readonly cleanup: Cleanup
  readonly clock: Clock
  readonly random: Random
  /** Forgets cached attributes of a device that is gone. */
  readonly forgetAttributes: (entityId: string) => void
}

type CredentialsDraft = Parameters<DeviceService['saveCredentialsByUser']>[1]

/** A save starts again when another one came between its reads and its commit, at most so often. */
const MAX_TRIES = 5

export class StoredDevices implements DeviceService {
  private readonly parts: DeviceServiceParts
  private readonly entities: EntityStore

  constructor(parts: DeviceServiceParts) {
    this.parts = parts
    this.entities = parts.entities
  }

  async find(tenantId: string, deviceId: string): Promise<Device | undefined> {
    return this.findInfo(tenantId, deviceId)
  }

  findAnywhere(deviceId: string): Promise<Device | undefined> {
    return this.entities.devices.findAnywhere(deviceId)
  }

  findByName(tenantId: string, name: string): Promise<Device | undefined> {
    return this.entities.devices.findByName(tenantId, name)
  }

  async findInfo(tenantId: string, deviceId: string): Promise<DeviceInfo | undefined> {
    const device = await this.entities.devices.findAnywhere(deviceId)
    return device?.tenantId === tenantId ? device : undefined
  }

  findByIds(tenantId: string, ids: readonly string[]): Promise<readonly Device[]> {
    return this.entities.devices.findByIds(tenantId, ids)
  }

  page(tenantId: string, filter: DevicePageFilter, page: PageQuery): Promise<Page<Device>> {
    return this.entities.devices.page(tenantId, filter, page, false)
  }

  pageInfos(tenantId: string, filter: DevicePageFilter, page: PageQuery): Promise<Page<DeviceInfo>> {
    return this.entities.devices.page(tenantId, filter, page, true)
  }

  findByAccessTokens(tokens: readonly string[]): Promise<ReadonlyMap<string, DeviceIdentity>> {
    return this.entities.deviceCredentials.findDevices('ACCESS_TOKEN', tokens)
  }

  findCredentialsChanged(since: number, limit: number): Promise<readonly string[]> {
    return this.entities.credentialChanges.since(since, limit)
  }

  findIdentity(deviceId: string): Promise<DeviceIdentity | undefined> {
    return this.entities.deviceCredentials.findDeviceById(deviceId)
  }

  findActive(after: string, limit: number): Promise<readonly string[]> {
    return this.entities.devices.findActive(after, limit)
  }

  saveByUser(principal: Principal, draft: DeviceDraft, accessToken?: string): Promise<Device> {
    const { id, name, type = null, label = null } = draft
    const tried = () => attemptedSave('DEVICE', id, name, { name, type, label })
    return this.parts.changes.attempt(principal, tried, () => this.save(principal, draft, accessToken))
  }

  private async save(principal: Principal, draft: DeviceDraft, accessToken?: string): Promise<Device> {
    checkName('Device', 'name', draft.name)
    checkText('label', draft.label)
    checkText('type', draft.type)
    if (draft.id === undefined) return retried(() => this.create(principal, draft, accessToken))
    const { id } = draft
    return this.changeDevice(principal, id, draft.version, async (before) => {
      const { profile, statements } = await this.profileFor(before.tenantId, draft, before)
      const device: Device = {
        ...before,
        version: before.version + 1,
        name: draft.name,
        type: profile.name,
        label: draft.label ?? null,
        deviceProfileId: profile.id,
        deviceData: draft.deviceData ?? before.deviceData,
        additionalInfo: draft.additionalInfo ?? null,
      }
      return { device, statements, type: 'ENTITY_UPDATED', metadata: {} }
    })
  }

  deleteByUser(principal: Principal, deviceId: string): Promise<void> {
    const tried = () => attemptedOn('DELETED', { entityType: 'DEVICE', id: deviceId })
    return this.parts.changes.attempt(principal, tried, () => this.remove(principal, deviceId))
  }

  private async remove(principal: Principal, deviceId: string): Promise<void> {
    const before = await this.required(principal, deviceId)
    const originator: EntityId = { entityType: 'DEVICE', id: deviceId }
    const { cleanups, credentialChanges, devices } = this.entities
    const gone = [cleanups.note(deviceId), ...credentialChanges.note(deviceId, this.parts.clock.now())]
    const steps = [...devices.delete(before), ...this.entities.deleteAttached(deviceId), ...gone]
    await this.commit(principal, before, steps, 'ENTITY_DELETED', {})
    this.parts.forgetAttributes(deviceId)
    this.parts.feed.publish({ kind: 'entity-deleted', entity: originator, tenantId: before.tenantId })
    await this.parts.cleanup.run(deviceId)
  }

  async credentials(tenantId: string, deviceId: string): Promise<DeviceCredentials | undefined> {
    const credentials = await this.entities.deviceCredentials.findByDevice(deviceId)
    return credentials?.tenantId === tenantId ? credentials : undefined
  }

  saveCredentialsByUser(principal: Principal, draft: CredentialsDraft): Promise<DeviceCredentials> {
    const tried = () => attemptedOn('CREDENTIALS_UPDATED', { entityType: 'DEVICE', id: draft.deviceId })
    return this.parts.changes.attempt(principal, tried, () => this.saveCredentials(principal, draft))
  }

  private async saveCredentials(principal: Principal, draft: CredentialsDraft): Promise<DeviceCredentials> {
    const device = await this.required(principal, draft.deviceId)
    checkCredentials(draft)
    const before = await this.entities.deviceCredentials.findByDevice(draft.deviceId)
    if (before === undefined || (draft.id !== undefined && draft.id !== before.id))
      throw ServiceErrors.CREDENTIALS_UNKNOWN()
    if (draft.version !== undefined && draft.version !== before.version) {
      throw ServiceErrors.VERSION_CONFLICT({ entity: 'Device credentials' })
    }
    const credentials: DeviceCredentials = {
      ...before,
      version: before.version + 1,
      credentialsType: draft.credentialsType,
      credentialsId: draft.credentialsId,
      credentialsValue: draft.credentialsValue ?? null,
    }
    const { credentialChanges, deviceCredentials } = this.entities
    const noted = credentialChanges.note(device.id, this.parts.clock.now())
    const audited = await this.parts.changes.auditedAction(principal, credentialsUpdated(device, credentials))
    const commit = this.entities.write([...deviceCredentials.update(credentials), ...noted, audited])
    await this.parts.doubts.watch(commit, () => this.publishChanged(device.id, true))
    this.publishChanged(device.id, true)
    return credentials
  }

  assignToCustomerByUser(principal: Principal, deviceId: string, customerId: string | null): Promise<Device> {
    const action = customerId === null ? 'UNASSIGNED_FROM_CUSTOMER' : 'ASSIGNED_TO_CUSTOMER'
    const tried = () => attemptedOn(action, { entityType: 'DEVICE', id: deviceId })
    return this.parts.changes.attempt(principal, tried, () => this.assign(principal, deviceId, customerId))
  }

  private async assign(principal: Principal, deviceId: string, customerId: string | null): Promise<Device> {
    return this.changeDevice(principal, deviceId, undefined, async (before) => {
      const device: Device = { ...before, version: before.version + 1, customerId }
      if (customerId === null) {
        if (before.customerId === null) throw ServiceErrors.NOT_ASSIGNED()
        const title = (await this.parts.customers.findAnywhere(before.customerId))?.title ?? ''
        const metadata = { unassignedCustomerId: before.customerId, unassignedCustomerName: title }
        return { device, statements: [], type: 'ENTITY_UNASSIGNED', metadata }
      }
      const customer = await this.parts.customers.findAnywhere(customerId)
      if (customer?.tenantId !== before.tenantId) throw itemNotFound({ entityType: 'CUSTOMER', id: customerId })
      const metadata = { assignedCustomerId: customerId, assignedCustomerName: customer.title }
      return { device, statements: [], type: 'ENTITY_ASSIGNED', metadata }
    })
  }

  private async create(principal: Principal, draft: DeviceDraft, accessToken: string | undefined): Promise<Device> {
    const { tenantId } = principal
    if (tenantId === null) throw ServiceErrors.PERMISSION_DENIED()
    const { clock, random } = this.parts
    const { profile, statements } = await this.profileFor(tenantId, draft, undefined)
    const device: Device = {
      id: random.uuid(),
      createdTime: clock.now(),
      version: 1,
      tenantId,
      customerId: principal.customerId,
      deviceProfileId: profile.id,
      name: draft.name,
      type: profile.name,
      label: draft.label ?? null,
      deviceData: draft.deviceData ?? defaultDeviceData(profile),
      additionalInfo: draft.additionalInfo ?? null,
    }
    const credentials = newAccessToken(device, random.uuid(), accessToken)
    const { devices, deviceCredentials } = this.entities
    const steps = [...statements, ...devices.insert(device), ...deviceCredentials.insert(credentials)]
    await this.commit(principal, device, steps, 'ENTITY_CREATED', {}, profile)
    return device
  }

  private async changeDevice(
    principal: Principal,
    deviceId: string,
    version: number | undefined,
    change: (before: Device) => Promise<{
      readonly device: Device
      readonly statements: readonly Statement[]
      readonly type: KnownMessageType
      readonly metadata: Metadata
    }>,
  ): Promise<Device> {
    return retried(async () => {
      const before = await this.required(principal, deviceId)
      if (version !== undefined && version !== before.version)
        throw ServiceErrors.VERSION_CONFLICT({ entity: 'Device' })
      const { device, statements, type, metadata } = await change(before)
      await this.commit(principal, device, [...statements, ...this.entities.devices.update(device)], type, metadata)
      this.publishChanged(deviceId, false)
      return device
    })
  }

  private async required(principal: Principal, deviceId: string): Promise<Device> {
    const device = await this.entities.devices.findAnywhere(deviceId)
    if (device === undefined) throw itemNotFound({ entityType: 'DEVICE', id: deviceId })
    if (device.tenantId !== principal.tenantId) throw ServiceErrors.PERMISSION_DENIED()
    const { id, createdTime, version, tenantId, customerId, deviceProfileId, name, type, label } = device
    const { deviceData, additionalInfo } = device
    return {
      id,
      createdTime,
      version,
      tenantId,
      customerId,
      deviceProfileId,
      name,
      type,
      label,
      deviceData,
      additionalInfo,
    }
  }

  /** The profile by id, by the type's name (made where there is none), else the one before or the default. */
  private async profileFor(
    tenantId: string,
    draft: DeviceDraft,
    before: Device | undefined,
  ): Promise<{ readonly profile: DeviceProfile; readonly statements: readonly Statement[] }> {
    const { deviceProfiles } = this.entities
    if (draft.deviceProfileId !== undefined) {
      const profile = await deviceProfiles.findAnywhere(draft.deviceProfileId)
      if (profile?.tenantId !== tenantId) throw ServiceErrors.PROFILE_UNKNOWN()
      return { profile, statements: [] }
    }
    if (draft.type !== undefined && draft.type !== '') {
      const named = await deviceProfiles.findByName(tenantId, draft.type)
      if (named !== undefined) return { profile: named, statements: [] }
      const record = { id: this.parts.random.uuid(), createdTime: this.parts.clock.now(), tenantId }
      const profile = newDeviceProfile({ ...record, name: draft.type, isDefault: false })
      return { profile, statements: deviceProfiles.insert(profile) }
    }
    const kept = before && (await deviceProfiles.findAnywhere(before.deviceProfileId))
    const profile = kept ?? (await deviceProfiles.findDefault(tenantId))
    if (profile === undefined) throw ServiceErrors.PROFILE_UNKNOWN()
    return { profile, statements: [] }
  }

  private async commit(
    principal: Principal,
    device: Device,
    statements: readonly Statement[],
    type: KnownMessageType,
    metadata: Metadata,
    profile?: DeviceProfile,
  ): Promise<void> {
    const { tenantId, customerId } = device
    const destination = await (profile === undefined
      ? this.entities.devices.destinationOf(device.id)
      : this.destinationOf(profile))
    const commit = this.parts.changes.commit(statements, {
      type,
      principal,
      tenantId,
      customerId,
      ...destination,
      originator: { entityType: 'DEVICE', id: device.id },
      metadata: { ...metadata, entityName: device.name, entityType: 'DEVICE' },
      data: stringifyJson(deviceJson(device)),
    })
    // A deleted device too: who looks again finds none.
    await this.parts.doubts.watch(commit, () => {
      this.parts.forgetAttributes(device.id)
      this.publishChanged(device.id, true)
    })
  }

  /** Where a device that is being made will send its messages. */
  private async destinationOf({ tenantId, defaultRuleChainId: ruleChainId, defaultQueueName: name }: DeviceProfile) {
    return { ruleChainId, queueName: await linkQueueOf(this.entities, tenantId, name) }
  }

  private publishChanged(deviceId: string, credentialsChanged: boolean): void {
    this.parts.feed.publish({
      kind: 'device-changed',
      entity: { entityType: 'DEVICE', id: deviceId },
      credentialsChanged,
    })
  }
}

function credentialsUpdated(device: Device, credentials: DeviceCredentials): AuditedAction {
  const data: JsonObject = { entityId: device.id, credentials: deviceCredentialsJson(credentials) }
  return {
    actionType: 'CREDENTIALS_UPDATED',
    entity: { entityType: 'DEVICE', id: device.id },
    entityName: device.name,
    customerId: device.customerId,
    actionData: stringifyJson(data),
  }
}

/** A save that named a version finds another one at its next try, and is refused then. */
async function retried<Value>(save: () => Promise<Value>): Promise<Value> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await save()
    } catch (error) {
      if (attempt === MAX_TRIES || !wasOvertaken(error)) throw error
    }
  }
}

/** The record changed meanwhile, or the profile of a new type was made meanwhile. */
function wasOvertaken(error: unknown): boolean {
  if (!isMillraceError(error)) return false
  if (error.code === 'entities.VERSION_CONFLICT') return true
  return error.code === 'entities.NAME_TAKEN' && error.fields['entity'] === 'Device profile'
}

function defaultDeviceData(profile: DeviceProfile): JsonObject {
  return { configuration: { type: 'DEFAULT' }, transportConfiguration: { type: profile.transportType } }
}
