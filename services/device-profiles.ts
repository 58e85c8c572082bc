/** Device profiles of a tenant (`rest-api.md` 5.4). */
import type { Clock, Random } from '../model/clock.ts'
import type { DeviceProfile, Page, PageQuery } from '../model/entities.ts'
import { stringifyJson, type JsonObject } from '../model/json.ts'
import type { KnownMessageType } from '../model/message-type.ts'
import type { Principal } from '../model/principal.ts'
import type { ChangeFeed } from '../engine/subscriptions/change.ts'
import type { Statement } from '../storage/entities/database.ts'
import type { EntityStore } from '../storage/entities/entity-store.ts'
import type { CommitDoubts } from './commit-doubts.ts'
import { attemptedOn, attemptedSave } from './audit/audit-log.ts'
import type { Changes } from './changes.ts'
import { deviceProfileJson } from './entity-json.ts'
import { itemNotFound, ServiceErrors } from './errors.ts'
import { checkName } from './names.ts'
import type { DeviceProfileDraft, DeviceProfileService } from './services.ts'

export interface DeviceProfileServiceParts {
  readonly entities: EntityStore
  readonly changes: Changes
  readonly feed: ChangeFeed
  readonly doubts: CommitDoubts
  readonly clock: Clock
  readonly random: Random
}

export class StoredDeviceProfiles implements DeviceProfileService {
  private readonly parts: DeviceProfileServiceParts
  private readonly entities: EntityStore

  constructor(parts: DeviceProfileServiceParts) {
    this.parts = parts
    this.entities = parts.entities
  }

  async find(tenantId: string, id: string): Promise<DeviceProfile | undefined> {
    const profile = await this.entities.deviceProfiles.findAnywhere(id)
    return profile?.tenantId === tenantId ? profile : undefined
  }

  async findDefault(tenantId: string): Promise<DeviceProfile> {
    const profile = await this.entities.deviceProfiles.findDefault(tenantId)
    if (profile === undefined) {
      throw ServiceErrors.ITEM_NOT_FOUND({
        typeName: 'Default device profile of tenant',
        id: tenantId,
        entityType: 'DEVICE_PROFILE',
      })
    }
    return profile
  }

  page(tenantId: string, page: PageQuery): Promise<Page<DeviceProfile>> {
    return this.entities.deviceProfiles.page(tenantId, page)
  }

  saveByUser(principal: Principal, draft: DeviceProfileDraft): Promise<DeviceProfile> {
    const { id, name } = draft
    const tried = () => attemptedSave('DEVICE_PROFILE', id, name, { name })
    return this.parts.changes.attempt(principal, tried, () => this.save(principal, draft))
  }

  private async save(principal: Principal, draft: DeviceProfileDraft): Promise<DeviceProfile> {
    checkDraft(draft)
    const before = draft.id === undefined ? undefined : await this.required(principal, draft.id)
    if (draft.version !== undefined && before !== undefined && draft.version !== before.version)
      throw ServiceErrors.VERSION_CONFLICT({ entity: 'Device profile' })
    // The default is made by its own call; a client that sends back what it read may keep the flag.
    if (draft.isDefault === true && before?.isDefault !== true) throw ServiceErrors.DEFAULT_PROFILE_EXISTS()
    const start = before ?? this.newProfile(principal, draft.name)
    const profile: DeviceProfile = {
      ...start,
      version: (before?.version ?? 0) + 1,
      name: draft.name,
      description: draft.description ?? null,
      defaultRuleChainId: draft.defaultRuleChainId ?? null,
      defaultQueueName: draft.defaultQueueName === '' ? null : (draft.defaultQueueName ?? null),
      profileData: draft.profileData ?? start.profileData,
    }
    await this.checkReferences(profile)
    const { deviceProfiles } = this.entities
    const steps = before === undefined ? deviceProfiles.insert(profile) : deviceProfiles.update(profile)
    await this.commit(principal, profile, steps, before === undefined ? 'ENTITY_CREATED' : 'ENTITY_UPDATED')
    if (before !== undefined) this.publishChanged(profile)
    return profile
  }

  async setDefaultByUser(principal: Principal, id: string): Promise<DeviceProfile> {
    const before = await this.required(principal, id)
    if (before.isDefault) return before
    const { deviceProfiles } = this.entities
    const former = await deviceProfiles.findDefault(before.tenantId)
    const profile: DeviceProfile = { ...before, version: before.version + 1, isDefault: true }
    const steps =
      former === undefined ? [] : deviceProfiles.update({ ...former, version: former.version + 1, isDefault: false })
    await this.commit(principal, profile, [...steps, ...deviceProfiles.update(profile)], 'ENTITY_UPDATED')
    return profile
  }

  deleteByUser(principal: Principal, id: string): Promise<void> {
    const tried = () => attemptedOn('DELETED', { entityType: 'DEVICE_PROFILE', id })
    return this.parts.changes.attempt(principal, tried, () => this.remove(principal, id))
  }

  private async remove(principal: Principal, id: string): Promise<void> {
    const profile = await this.required(principal, id)
    if (profile.isDefault) throw ServiceErrors.DEFAULT_PROFILE_DELETE()
    const { deviceProfiles } = this.entities
    if (await deviceProfiles.hasDevices(id)) throw ServiceErrors.PROFILE_REFERENCED()
    const steps = [...deviceProfiles.delete(profile), ...this.entities.deleteAttached(id)]
    await this.commit(principal, profile, steps, 'ENTITY_DELETED')
    this.parts.feed.publish({ kind: 'entity-deleted', entity: idOf(profile), tenantId: profile.tenantId })
  }

  private newProfile(principal: Principal, name: string): DeviceProfile {
    const { tenantId } = principal
    if (tenantId === null) throw ServiceErrors.PERMISSION_DENIED()
    const { random, clock } = this.parts
    return newDeviceProfile({ id: random.uuid(), createdTime: clock.now(), tenantId, name, isDefault: false })
  }

  private async checkReferences({ tenantId, defaultRuleChainId, defaultQueueName }: DeviceProfile): Promise<void> {
    if (defaultRuleChainId !== null) {
      const chain = await this.entities.ruleChains.findAnywhere(defaultRuleChainId)
      if (chain?.tenantId !== tenantId || chain.type !== 'CORE') throw ServiceErrors.PROFILE_CHAIN_UNKNOWN()
    }
    if (defaultQueueName !== null && (await this.entities.queues.findByName(tenantId, defaultQueueName)) === undefined)
      throw ServiceErrors.PROFILE_QUEUE_UNKNOWN()
  }

  private async required(principal: Principal, id: string): Promise<DeviceProfile> {
    const profile = await this.entities.deviceProfiles.findAnywhere(id)
    if (profile === undefined) throw itemNotFound({ entityType: 'DEVICE_PROFILE', id })
    if (profile.tenantId !== principal.tenantId) throw ServiceErrors.PERMISSION_DENIED()
    return profile
  }

  private async commit(
    principal: Principal,
    profile: DeviceProfile,
    statements: readonly Statement[],
    type: KnownMessageType,
  ): Promise<void> {
    const commit = this.parts.changes.commit(statements, {
      type,
      principal,
      tenantId: profile.tenantId,
      customerId: null,
      originator: idOf(profile),
      metadata: { entityName: profile.name, entityType: 'DEVICE_PROFILE' },
      data: stringifyJson(deviceProfileJson(profile)),
    })
    await this.parts.doubts.watch(commit, () => this.publishChanged(profile))
  }

  private publishChanged(profile: DeviceProfile): void {
    this.parts.feed.publish({ kind: 'device-changed', entity: idOf(profile), credentialsChanged: false })
  }
}

function idOf({ id }: DeviceProfile) {
  return { entityType: 'DEVICE_PROFILE', id } as const
}

function checkDraft({ name, transportType = 'DEFAULT', provisionType = 'DISABLED' }: DeviceProfileDraft): void {
  checkName('Device profile', 'name', name)
  if (transportType !== 'DEFAULT') throw ServiceErrors.PROFILE_TRANSPORT({ transportType })
  if (provisionType !== 'DISABLED') throw ServiceErrors.PROFILE_PROVISION({ provisionType })
}

/** A profile as new tenants and unknown device types get it. */
export function newDeviceProfile(
  record: Pick<DeviceProfile, 'id' | 'createdTime' | 'tenantId' | 'name' | 'isDefault'>,
): DeviceProfile {
  return {
    ...record,
    version: 1,
    description: record.isDefault ? 'Default device profile' : null,
    type: 'DEFAULT',
    transportType: 'DEFAULT',
    provisionType: 'DISABLED',
    defaultRuleChainId: null,
    defaultQueueName: null,
    profileData: profileData(),
  }
}

function profileData(): JsonObject {
  return {
    configuration: { type: 'DEFAULT' },
    transportConfiguration: { type: 'DEFAULT' },
    provisionConfiguration: { type: 'DISABLED', provisionDeviceSecret: null },
    alarms: null,
  }
}
