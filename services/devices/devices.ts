/** What devices have beside their declaration: credentials (`rest-api.md` 5.3), and what the device gateway asks of them. */
import type { DeviceCredentials } from '../../model/entities.ts'
import { stringifyJson, type JsonObject } from '../../model/json.ts'
import type { Principal } from '../../model/principal.ts'
import {
  certificateIdOf,
  childOf,
  lwm2mEndpointOf,
  mqttLoginOf,
  provenEndpointOf,
  type ProvenEndpoint,
} from '../../engine/device/credential-keys.ts'
import type { DeviceIdentity, MqttLogin, PreSharedKey } from '../../engine/device/gateway.ts'
import type { ChangeFeed } from '../../engine/subscriptions/change.ts'
import type { Statement } from '../../storage/entities/database.ts'
import type { EntityStore } from '../../storage/entities/entity-store.ts'
import { attemptedOn, type AuditedAction } from '../audit/audit-log.ts'
import type { Changes } from '../changes/changes.ts'
import type { CommitDoubts } from '../changes/commit-doubts.ts'
import { CredentialsErrors } from './credentials-errors.ts'
import {
  bootstrapOf,
  idsOfProven,
  isProven,
  isWithoutSecurity,
  maskedCredentials,
  preSharedKeyOf,
  newCredentials,
  storedCredentials,
  type PresentedCredentials,
} from './device-credentials.ts'
import type { DraftOf } from '../entities/define.ts'
import { devices, type Device } from '../entities/device.ts'
import type { EntityRegistry } from '../entities/entity-registry.ts'
import { deviceCredentialsJson } from '../entity-json.ts'
import { itemNotFound, ServiceErrors } from '../errors.ts'
import type { CredentialsDraft, DeviceSaveOptions, DeviceService } from './device-service.ts'
import { ProtocolProfiles } from './protocol-profiles.ts'
import { CREATED_RELATION } from '../onboarding/gateway-children.ts'
import { deviceOfLogin, idsOfLogin } from '../onboarding/mqtt-logins.ts'

/** More than any edge node has at once. */
const MAX_CHILDREN = 20_000
const NAMES_PER_READ = 500

export interface DeviceServiceParts {
  readonly entities: EntityStore
  readonly declared: EntityRegistry
  readonly changes: Changes
  readonly feed: ChangeFeed
  readonly doubts: CommitDoubts
}

export class StoredDevices implements DeviceService {
  private readonly parts: DeviceServiceParts
  private readonly entities: EntityStore
  private readonly protocolProfiles: ProtocolProfiles

  constructor(parts: DeviceServiceParts) {
    this.parts = parts
    this.entities = parts.entities
    this.protocolProfiles = new ProtocolProfiles(parts.declared)
  }

  async saveByUser(
    principal: Principal,
    draft: DraftOf<typeof devices.columns>,
    credentials?: string | PresentedCredentials,
    options: DeviceSaveOptions = {},
  ): Promise<Device> {
    const service = this.parts.declared.of(devices)
    if (credentials === undefined) return service.saveByUser(principal, draft, options)
    const presented =
      typeof credentials === 'string'
        ? ({ credentialsType: 'ACCESS_TOKEN', credentialsId: credentials, credentialsValue: null } as const)
        : credentials
    const device = await service.saveByUser(principal, draft, {
      ...options,
      following: (saved, before) => this.along(saved, before, presented),
    })
    // Of a new one too: it may have tried them before, and then they are remembered as nobody's. Its sessions, if it was quicker than the news,
    // are of these very credentials.
    this.publishChanged(device.id, draft.id !== undefined)
    return device
  }

  async findByCredentials(keys: readonly string[]): Promise<ReadonlyMap<string, DeviceIdentity>> {
    const tokens: string[] = []
    const certificates = new Map<string, string>()
    const endpoints = new Map<string, string>()
    const proven = new Map<string, ProvenEndpoint>()
    const logins = new Map<string, MqttLogin>()
    const children = new Map<string, Map<string, string>>()
    for (const key of keys) {
      const login = mqttLoginOf(key)
      const child = childOf(key)
      const certificate = certificateIdOf(key)
      const endpoint = lwm2mEndpointOf(key)
      const isOf = provenEndpointOf(key)
      if (login !== undefined) logins.set(key, login)
      else if (isOf !== undefined) proven.set(key, isOf)
      else if (endpoint !== undefined) endpoints.set(endpoint, key)
      else if (certificate !== undefined) certificates.set(certificate, key)
      else if (child === undefined) tokens.push(key)
      else {
        const names = children.get(child.tenantId) ?? new Map<string, string>()
        children.set(child.tenantId, names.set(child.deviceName, key))
      }
    }
    const found = new Map<string, DeviceIdentity>(
      tokens.length === 0 ? [] : await this.entities.deviceCredentials.findDevices('ACCESS_TOKEN', tokens),
    )
    if (certificates.size > 0) {
      const ids = [...certificates.keys()]
      const owners = await this.entities.deviceCredentials.findDevices('X509_CERTIFICATE', ids)
      for (const [id, device] of owners) found.set(certificates.get(id) ?? id, device)
    }
    if (endpoints.size > 0) {
      for (const [endpoint, claimant] of await this.entities.deviceCredentials.findClaimants([...endpoints.keys()])) {
        const key = endpoints.get(endpoint)
        if (key !== undefined && isWithoutSecurity(claimant, endpoint)) found.set(key, claimant.device)
      }
    }
    if (proven.size > 0) {
      const ids = [...new Set([...proven.values()].flatMap(idsOfProven))]
      const claimants = await this.entities.deviceCredentials.findClaimants(ids)
      for (const [key, each] of proven) {
        const owner = idsOfProven(each)
          .map((id) => claimants.get(id))
          .find((claimant) => claimant !== undefined && isProven(claimant, each))
        if (owner !== undefined) found.set(key, owner.device)
      }
    }
    for (const [tenantId, names] of children) {
      const named = await this.entities.deviceCredentials.findDevicesByName(tenantId, [...names.keys()])
      for (const [name, key] of names) {
        const device = named.get(name)
        if (device !== undefined) found.set(key, device)
      }
    }
    if (logins.size === 0) return this.protocolProfiles.completed(found)
    const ids = [...new Set([...logins.values()].flatMap(idsOfLogin))]
    const claimants = await this.entities.deviceCredentials.findClaimants(ids)
    for (const [key, login] of logins) {
      const device = deviceOfLogin(login, claimants)
      if (device !== undefined) found.set(key, device)
    }
    return this.protocolProfiles.completed(found)
  }

  async findPreSharedKey(identity: string): Promise<PreSharedKey | undefined> {
    const claimant = (await this.entities.deviceCredentials.findClaimants([identity])).get(identity)
    return claimant === undefined ? undefined : preSharedKeyOf(claimant)
  }

  async findBootstrapCredentials({
    tenantId,
    deviceId,
  }: Pick<DeviceIdentity, 'tenantId' | 'deviceId'>): Promise<JsonObject | undefined> {
    const credentials = await this.credentials(tenantId, deviceId)
    return credentials === undefined ? undefined : bootstrapOf(credentials)
  }

  findCredentialsChanged(since: number, limit: number): Promise<readonly string[]> {
    return this.entities.credentialChanges.since(since, limit)
  }

  findIdentity(deviceId: string): Promise<DeviceIdentity | undefined> {
    return this.entities.deviceCredentials.findDeviceById(deviceId)
  }

  async findDevicesOfEdgeNode(device: DeviceIdentity): Promise<readonly DeviceIdentity[] | undefined> {
    const { tenantId, deviceId } = device
    const said = (await this.protocolProfiles.completed(new Map([[deviceId, device]]))).get(deviceId)
    if (said?.mqtt?.sparkplug === undefined) return undefined
    const { relations, deviceCredentials } = this.entities
    const read = { tenantId, direction: 'FROM', group: 'COMMON', type: CREATED_RELATION } as const
    const found = await relations.findOf({ ...read, ids: [deviceId], limit: MAX_CHILDREN })
    const ids = found.filter(({ to }) => to.entityType === 'DEVICE').map(({ to }) => to.id)
    const records = await this.parts.declared.of(devices).findByIds(tenantId, ids)
    const identities: DeviceIdentity[] = []
    for (let start = 0; start < records.length; start += NAMES_PER_READ) {
      const names = records.slice(start, start + NAMES_PER_READ).map(({ name }) => name)
      identities.push(...(await deviceCredentials.findDevicesByName(tenantId, names)).values())
    }
    return identities
  }

  findActive(after: string, limit: number): Promise<readonly string[]> {
    return this.entities.devices.findActive(after, limit)
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
    const device = await this.parts.declared.of(devices).findAnywhere(draft.deviceId)
    if (device === undefined) throw itemNotFound({ entityType: 'DEVICE', id: draft.deviceId })
    if (device.tenantId !== principal.tenantId) throw ServiceErrors.PERMISSION_DENIED()
    const { credentials, statements } = await this.changed(draft.deviceId, draft)
    const audited = await this.parts.changes.auditedAction(principal, credentialsUpdated(device, credentials))
    const commit = this.entities.write([...statements, audited])
    await this.parts.doubts.watch(commit, () => this.publishChanged(device.id))
    this.publishChanged(device.id)
    return credentials
  }

  private async along(
    device: Device,
    before: Device | undefined,
    presented: PresentedCredentials,
  ): Promise<readonly Statement[]> {
    if (before !== undefined) return (await this.changed(device.id, presented)).statements
    const credentials = newCredentials(device, this.parts.declared.newId(), presented)
    return this.entities.deviceCredentials.insert(credentials)
  }

  private async changed(
    deviceId: string,
    draft: PresentedCredentials & { readonly id?: string; readonly version?: number | undefined },
  ): Promise<{ readonly credentials: DeviceCredentials; readonly statements: readonly Statement[] }> {
    const { credentialsType, credentialsId, credentialsValue } = draft
    const stored = storedCredentials({ credentialsType, credentialsId, credentialsValue })
    const before = await this.entities.deviceCredentials.findByDevice(deviceId)
    if (before === undefined || (draft.id !== undefined && draft.id !== before.id)) throw CredentialsErrors.UNKNOWN()
    if (draft.version !== undefined && draft.version !== before.version)
      throw ServiceErrors.VERSION_CONFLICT({ entity: 'Device credentials' })
    const credentials: DeviceCredentials = { ...before, version: before.version + 1, ...stored }
    const { credentialChanges, deviceCredentials, deviceSessions } = this.entities
    const noted = credentialChanges.note(deviceId, this.parts.declared.now())
    const statements = [...deviceCredentials.update(credentials), ...noted, deviceSessions.removeOf(deviceId)]
    return { credentials, statements }
  }

  private publishChanged(deviceId: string, credentialsChanged = true): void {
    const entity = { entityType: 'DEVICE', id: deviceId } as const
    this.parts.feed.publish({ kind: 'device-changed', entity, credentialsChanged })
  }
}

function credentialsUpdated(device: Device, credentials: DeviceCredentials): AuditedAction {
  const data: JsonObject = { entityId: device.id, credentials: deviceCredentialsJson(maskedCredentials(credentials)) }
  return {
    actionType: 'CREDENTIALS_UPDATED',
    entity: { entityType: 'DEVICE', id: device.id },
    entityName: device.name,
    customerId: device.customerId,
    actionData: stringifyJson(data),
  }
}
