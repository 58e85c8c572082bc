/**
 * The device gateway of one process: who is it (cached), a session for each connection, a record and a session actor for each device.
 * Every message takes the shortest way: session → link. Liveness is the business of the device's owner, to whom sessions are announced.
 * Source: `device-api.md` sections 1 and 8.
 */
import type { Clock } from '../../model/clock.ts'
import { entityId } from '../../model/entity-id.ts'
import type { JsonObject } from '../../model/json.ts'
import type { Attribute, AttributeScope } from '../../model/value.ts'
import type { ActorKind } from '../actor/actor.ts'
import type { ActorSystem } from '../actor/system.ts'
import type { PublishLink } from '../link/link.ts'
import { UsageMeter } from '../usage/usage.ts'
import { connectChild } from './child-devices.ts'
import type { SessionEndListener } from './announcement.ts'
import type { SessionCalls } from './calls/session-calls.ts'
import { credentialKey } from './credential-keys.ts'
import { CredentialCache } from './credential-cache.ts'
import type { DeviceDirectory } from './credential-reads.ts'
import {
  DEFAULT_DEVICE_GATEWAY_SETTINGS,
  type ClosableDeviceGateway,
  type DeviceGatewayFigures,
  type DeviceGatewayOptions,
  type DeviceGatewaySettings,
  type Lwm2mKeySource,
  type ObjectSource,
  type PackageSource,
} from './device-gateway-options.ts'
import { DeviceChanges } from './device-changes.ts'
import { DeviceRecord } from './device-record.ts'
import { LocalDeviceSession } from './device-session.ts'
import { DeviceErrors } from './errors.ts'
import { IdentityRefresh, type RefreshHost } from './identity-refresh.ts'
import type { KeptSessionStore } from './kept-session-store.ts'
import { MessageIds } from './message-ids.ts'
import type { DeviceAttributes } from './owner/device-owner.ts'
import { SessionActor, type SessionActorHost } from './session-actor.ts'
import type { SessionEvent } from './session-events.ts'
import type { SessionHost } from './session-host.ts'
import { SessionLeases } from './session-leases.ts'
import { mayGoOn } from './session-rights.ts'
import { TransportRates } from './transport-rates.ts'
import { Uploads } from './uploads.ts'
import type {
  AttributeAnswer,
  AttributeRequest,
  StoredEntry,
  DeviceIdentity,
  DeviceRates,
  DeviceSession,
  DeviceSessionListener,
  PackagePart,
  PreSharedKey,
  PackageRequest,
  NamedChild,
  ObjectTypes,
  SessionKind,
  ToldRates,
  ClientCertificate,
  PresentedCredentials,
  ProvisionAnswer,
  ProvisionRequest,
  SessionEnd,
} from './gateway.ts'
import type { DeviceOnboarding } from './onboarding.ts'

export function createDeviceGateway(options: DeviceGatewayOptions): ClosableDeviceGateway {
  return new LocalDeviceGateway(options)
}

const NO_RATES: ToldRates = { messages: null, telemetryMessages: null, telemetryDataPoints: null }
const NO_ENTRIES: readonly StoredEntry[] = []
/** What an actor knows is in its record: an idle one is made anew when something comes. */
const ACTOR_IDLE_MS = 5000
/** A mailbox is emptied once a turn. */
const TELL_AGAIN_MS = 5
/** What is beyond is found by looking at everybody. */
const MAX_CHANGED = 10_000

class LocalDeviceGateway
  implements ClosableDeviceGateway, SessionHost, SessionActorHost, RefreshHost, SessionEndListener
{
  readonly link: PublishLink
  readonly clock: Clock
  readonly uploads: Uploads
  readonly maxSessionsPerDevice: number
  readonly calls: SessionCalls | undefined
  readonly onboarding: DeviceOnboarding | undefined
  readonly rates: TransportRates | undefined
  readonly keptSessions: KeptSessionStore | undefined
  private readonly packages: PackageSource | undefined
  private readonly objects: ObjectSource | undefined
  private readonly lwm2mKeys: Lwm2mKeySource | undefined
  private readonly settings: DeviceGatewaySettings
  private readonly attributes: Pick<DeviceAttributes, 'find'>
  private readonly actors: ActorSystem
  private readonly directory: DeviceDirectory
  private readonly credentials: CredentialCache
  private readonly records = new Map<string, DeviceRecord>()
  private readonly refreshing: IdentityRefresh
  private readonly leases: SessionLeases
  private readonly kind: ActorKind<SessionEvent>
  private readonly changes: DeviceChanges
  private sessionsOpened = 0
  private isClosed = false
  private readonly counts = { readFailures: 0 }

  constructor(options: DeviceGatewayOptions) {
    const { clock, directory, feed, line, owners } = options
    this.link = options.link
    this.calls = options.calls
    this.onboarding = options.onboarding
    this.rates = options.rates && new TransportRates(options.rates)
    this.packages = options.packages
    this.objects = options.objects
    this.lwm2mKeys = options.lwm2mKeys
    this.keptSessions = options.keptSessions
    this.clock = clock
    this.uploads = new Uploads(options.link, new MessageIds(options.random), options.meter ?? new UsageMeter())
    this.settings = { ...DEFAULT_DEVICE_GATEWAY_SETTINGS, ...options.settings }
    this.maxSessionsPerDevice = this.settings.maxSessionsPerDevice
    this.attributes = options.attributes
    this.directory = directory
    this.actors = options.actors
    this.credentials = new CredentialCache(directory, clock, this.settings)
    this.refreshing = new IdentityRefresh(this, this.records, clock)
    this.kind = {
      name: 'session',
      create: ({ id, self }) => new SessionActor(this, id, self),
      idleTimeoutMs: ACTOR_IDLE_MS,
    }
    const { records, settings } = this
    const isKept = (record: DeviceRecord): boolean => this.isKept(record)
    this.leases = new SessionLeases({ line, owners, clock, settings, records, isKept })
    this.changes = new DeviceChanges({
      ...{ feed, credentials: this.credentials, refreshing: this.refreshing },
      recordAt: (deviceId) => records.get(deviceId),
      endSessions: (record, reason) => this.endSessions(record, reason),
    })
    line.onSessionEnd(this)
  }

  get writable(): boolean {
    return this.link.writable
  }

  hasRoomFor(tenantId: string): boolean {
    return this.link.hasRoomFor(tenantId)
  }

  onWritable(listener: () => void): () => void {
    return this.link.onWritable(listener)
  }

  downloadPackage(device: DeviceIdentity, request: PackageRequest): Promise<PackagePart> {
    if (this.isOverRate(device, undefined)) return Promise.reject(DeviceErrors.RATE_LIMIT())
    return this.packages?.part(device, request) ?? Promise.reject(DeviceErrors.NO_PACKAGES())
  }

  findObjectTypes(device: DeviceIdentity, keys: readonly string[]): Promise<ReadonlyMap<string, ObjectTypes>> {
    return this.objects?.find(device, keys) ?? Promise.resolve(new Map())
  }

  figures(): DeviceGatewayFigures {
    return {
      ...this.counts,
      devices: this.records.size,
      cachedCredentials: this.credentials.size,
      overRate: this.rates?.refused ?? 0,
    }
  }

  lookUp(presented: PresentedCredentials): DeviceIdentity | undefined {
    const key = credentialKey(presented)
    return key === undefined ? undefined : this.credentials.lookUp(key)
  }

  authenticate(presented: PresentedCredentials): Promise<DeviceIdentity | undefined> {
    if (this.isClosed) return Promise.reject(DeviceErrors.CLOSED())
    const key = credentialKey(presented)
    if (key === undefined) return Promise.resolve(undefined)
    const found = this.credentials.find(key)
    if (presented.type !== 'X509_CERTIFICATE' || presented.authorities.length === 0) return found
    return found.then((device) => device ?? this.provisionByCertificate(key, presented))
  }

  findPreSharedKey(identity: string): Promise<PreSharedKey | undefined> {
    return this.lwm2mKeys?.findPreSharedKey(identity) ?? Promise.resolve(undefined)
  }

  findBootstrapCredentials(device: DeviceIdentity): Promise<JsonObject | undefined> {
    return this.lwm2mKeys?.findBootstrapCredentials(device) ?? Promise.resolve(undefined)
  }

  private async provisionByCertificate(key: string, shown: ClientCertificate): Promise<DeviceIdentity | undefined> {
    const isKnown = await this.onboarding?.provisionByCertificate(shown)
    // Asked a moment ago it was nobody's: the store says what it is now.
    return isKnown === true ? this.credentials.refresh(key) : undefined
  }

  openSession(
    device: DeviceIdentity,
    kind: SessionKind,
    listener: DeviceSessionListener,
    behind?: string,
  ): DeviceSession {
    return new LocalDeviceSession(this, this.recordOf(device), listener, kind === 'lasting', behind)
  }

  ratesOf(device: DeviceIdentity): DeviceRates {
    return this.rates?.told(device, this.clock.now()) ?? { own: NO_RATES, children: NO_RATES }
  }

  private isOverRate(device: DeviceIdentity, behind: string | undefined): boolean {
    const { rates, clock } = this
    if (rates?.isLimited(device.tenantId, clock.now()) !== true) return false
    return !rates.admit(device, behind, 0, clock.monotonic())
  }

  provision(request: ProvisionRequest, clientAddress: string): Promise<ProvisionAnswer> {
    if (this.isClosed || this.onboarding === undefined) return Promise.reject(DeviceErrors.CLOSED())
    return this.onboarding.provision(request, clientAddress)
  }

  connectChild(gateway: DeviceIdentity, child: NamedChild): Promise<DeviceIdentity> {
    if (this.isClosed || this.onboarding === undefined) return Promise.reject(DeviceErrors.CLOSED())
    if (this.isOverRate(gateway, gateway.deviceId)) return Promise.reject(DeviceErrors.RATE_LIMIT())
    return connectChild(this.credentials, this.onboarding, gateway, child)
  }

  nextSessionId(): number {
    return ++this.sessionsOpened
  }

  recordOf(device: DeviceIdentity): DeviceRecord {
    let record = this.records.get(device.deviceId)
    if (record === undefined) {
      record = new DeviceRecord(device, this.actors.spawn(this.kind, device.deviceId))
      this.records.set(device.deviceId, record)
    } else if (record.identity !== device && this.credentials.isPresent(device)) {
      // Nothing is seen of it any more when the device is looked up again.
      if (!mayGoOn(record.identity, device)) this.endSessions(record, 'CREDENTIALS_CHANGED')
      record.identity = device
    }
    return record
  }

  recordAt(deviceId: string): DeviceRecord | undefined {
    return this.records.get(deviceId)
  }

  heard(record: DeviceRecord): number {
    return (record.heardAt = this.clock.now())
  }

  touched(record: DeviceRecord): void {
    record.heardAt = this.clock.now()
    this.leases.touch(record)
  }

  sessionsChanged(record: DeviceRecord): void {
    this.leases.sessionsChanged(record)
  }

  readFailed(): void {
    this.counts.readFailures++
  }

  sessionEnded(deviceId: string, sessionId: number, reason: SessionEnd): void {
    const record = this.records.get(deviceId)
    if (record !== undefined) this.tellSurely(record, { kind: 'end', reason, sessionId })
  }

  /** In its turn, before it is announced. False: the device was silent for so long that nothing is kept of it. */
  private isKept(record: DeviceRecord): boolean {
    if (record.isTroubled) record.actor.tell({ kind: 'retry' })
    if (record.isAttended || this.clock.now() < record.heardAt + this.settings.forgetAfterMs) return true
    this.release(record)
    return false
  }

  async answerRequest(record: DeviceRecord, request: AttributeRequest): Promise<AttributeAnswer> {
    if (!this.uploads.isAdmitted(record, 0)) throw DeviceErrors.USAGE_LIMIT()
    const [client, shared] = await Promise.all([
      this.readAttributes(record, 'CLIENT_SCOPE', request.clientKeys),
      this.readAttributes(record, 'SHARED_SCOPE', request.sharedKeys),
    ])
    return { client, shared }
  }

  private async readAttributes(
    record: DeviceRecord,
    scope: AttributeScope,
    keys: readonly string[] | 'all' | undefined,
  ): Promise<readonly StoredEntry[]> {
    if (keys === undefined) return NO_ENTRIES
    return (await this.attributes.find(record.originator, scope, keys === 'all' ? undefined : keys)).value
  }

  async readShared(deviceId: string): Promise<readonly Attribute[]> {
    return (await this.attributes.find(entityId('DEVICE', deviceId), 'SHARED_SCOPE', undefined)).value
  }

  private release(record: DeviceRecord): void {
    record.isReleased = true
    this.records.delete(record.originator.id)
  }

  private endSessions(record: DeviceRecord, reason: SessionEnd): void {
    this.tellSurely(record, { kind: 'end', reason })
  }

  tellSurely(record: DeviceRecord, event: SessionEvent): void {
    if (record.actor.tell(event) || record.isReleased || this.isClosed) return
    this.clock.after(TELL_AGAIN_MS, () => this.tellSurely(record, event))
  }

  /** Live sessions go on under what the device is now called and where its messages now go. */
  async refresh(record: DeviceRecord): Promise<boolean> {
    const token = this.credentials.tokenOf(record.identity)
    if (token === undefined || record.isReleased) return true
    try {
      const device = await this.credentials.refresh(token)
      const isOwn = device?.deviceId === record.originator.id
      if (!isOwn || !mayGoOn(record.identity, device)) this.endSessions(record, 'CREDENTIALS_CHANGED')
      if (isOwn) {
        record.identity = device
        record.actor.tell({ kind: 'refreshed' })
      }
      return true
    } catch {
      // Counted; whoever asks tries again.
      this.counts.readFailures++
      return false
    }
  }

  async credentialsChanged(since: number): Promise<readonly string[] | undefined> {
    try {
      return await this.directory.findCredentialsChanged(since, MAX_CHANGED)
    } catch {
      // Counted; whoever asks tries again.
      this.counts.readFailures++
      return undefined
    }
  }

  async close(): Promise<void> {
    if (this.isClosed) return
    this.isClosed = true
    this.changes.close()
    this.refreshing.close()
    this.calls?.close()
    for (const record of this.records.values()) {
      this.endSessions(record, 'SHUTDOWN')
    }
    // The session actors' turn; then what they say is announced.
    await new Promise<void>((resolve) => this.clock.soon(resolve))
    await new Promise<void>((resolve) => this.clock.soon(resolve))
    this.leases.close()
  }
}
