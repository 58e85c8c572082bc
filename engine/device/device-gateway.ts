/**
 * The device gateway of one process: who is it (cached), a session for each connection, a record and an actor for each device.
 * Every message takes the shortest way: session → link. What is rare (sessions, liveness, attribute pushes) goes through
 * the device actor. Source: `device-api.md` sections 1 and 8.
 */
import type { Clock, Random, TimerHandle } from '../../model/clock.ts'
import type { EntityId } from '../../model/entity-id.ts'
import type { Attribute, AttributeScope, Entry } from '../../model/value.ts'
import type { ActorKind } from '../actor/actor.ts'
import type { ActorSystem } from '../actor/system.ts'
import type { Link, PublishReceipt } from '../link/link.ts'
import type { AttributesSave } from '../rulechain/node.ts'
import type { ChangeFeed, ChangeOf } from '../subscriptions/change.ts'
import { ActivityReports, type ActivityReportSettings } from './activity-reports.ts'
import { CredentialCache, type CredentialCacheSettings } from './credential-cache.ts'
import type { DeviceDirectory } from './credential-reads.ts'
import { DeviceActor, type DeviceEvent } from './device-actor.ts'
import { deviceOriginator, lifecycleMessage, type LifecycleEvent } from './device-messages.ts'
import { DeviceRecord } from './device-record.ts'
import { LocalDeviceSession } from './device-session.ts'
import type { DeviceState } from './device-state.ts'
import { DeviceErrors } from './errors.ts'
import { IdentityRefresh, type RefreshHost } from './identity-refresh.ts'
import { MessageIds } from './message-ids.ts'
import type {
  DeviceGateway,
  DeviceIdentity,
  DeviceSession,
  DeviceSessionListener,
  PresentedCredentials,
  SessionEnd,
  TransportName,
} from './gateway.ts'

/** Reads and writes attributes: the platform's service has this shape. */
export interface DeviceAttributes {
  find(
    entity: EntityId,
    scope: AttributeScope | undefined,
    keys: readonly string[] | undefined,
  ): Promise<{ readonly value: readonly Attribute[] }>
  save(request: AttributesSave): Promise<void>
}

export interface DeviceGatewaySettings extends CredentialCacheSettings, ActivityReportSettings {
  /** Silence after which a device is inactive, unless its attribute `inactivityTimeout` says otherwise. */
  readonly inactivityTimeoutMs: number
  readonly stateCheckIntervalMs: number
  readonly maxSessionsPerDevice: number
}

export const DEFAULT_DEVICE_GATEWAY_SETTINGS: DeviceGatewaySettings = Object.freeze({
  inactivityTimeoutMs: 600_000,
  stateCheckIntervalMs: 60_000,
  activityReportMs: 3000,
  activityReportsPerSecond: 2000,
  maxSessionsPerDevice: 1,
  maxCachedCredentials: 100_000,
  maxUnknownCredentials: 10_000,
  unknownCredentialsTtlMs: 1000,
  maxLogins: 10_000,
})

export interface DeviceGatewayOptions {
  readonly link: Link
  readonly directory: DeviceDirectory
  readonly attributes: DeviceAttributes
  readonly feed: ChangeFeed
  readonly clock: Clock
  readonly random: Random
  readonly actors: ActorSystem
  readonly settings?: Partial<DeviceGatewaySettings>
  /** No server time at or below it is given out, Unix ms: what the run before may have given out. 0 where absent. */
  readonly timesNotBefore?: number
}

export interface DeviceGatewayFigures {
  /** Devices that are active or have a session here. */
  readonly devices: number
  readonly cachedCredentials: number
  /** Lifecycle events that the link refused; each only grows, as the next. */
  readonly eventsRefused: number
  readonly stateFailures: number
  /** Devices whose time of last activity waits to be written down. */
  readonly activityWaiting: number
}

/** What a session sees of the gateway. */
export interface SessionHost {
  readonly link: Link
  readonly clock: Clock
  readonly ids: MessageIds
  /** Notes that the device was heard; returns the present time. */
  heard(record: DeviceRecord): number
  recordOf(device: DeviceIdentity): DeviceRecord
  readAttributes(
    record: DeviceRecord,
    scope: AttributeScope,
    keys: readonly string[] | 'all' | undefined,
  ): Promise<readonly Entry[]>
}

/** What a device actor sees of the gateway. */
export interface DeviceActorHost {
  readonly settings: DeviceGatewaySettings
  readShared(device: DeviceIdentity): Promise<readonly Attribute[]>
  readState(device: DeviceIdentity, keys: readonly string[]): Promise<readonly Entry[]>
  saveState(device: DeviceIdentity, entries: readonly Entry[]): Promise<void>
  emit(device: DeviceIdentity, type: LifecycleEvent, at: number, state: DeviceState): void
  stateFailed(device: DeviceIdentity, error: unknown): void
  sessionsCounted(deviceId: string, sessions: number): void
  activeIs(deviceId: string, active: boolean): void
  /** The device is inactive and all of it is saved. True where nothing needs to be kept of it: it has no session. */
  deviceIdles(deviceId: string): boolean
}

export interface ClosableDeviceGateway extends DeviceGateway {
  figures(): DeviceGatewayFigures
  /** Ends all sessions, reports what is unreported. Idempotent. The actor system's close waits for the rest. */
  close(): Promise<void>
}

export function createDeviceGateway(options: DeviceGatewayOptions): ClosableDeviceGateway {
  return new LocalDeviceGateway(options)
}

const NO_ENTRIES: readonly Entry[] = []
/** Not telemetry, which is nearly all there is: where no user listens to it either, it is not even told. */
const HEARD_KINDS = ['attributes', 'attributes-deleted', 'device-changed', 'entity-deleted'] as const
type HeardChange = ChangeOf<(typeof HEARD_KINDS)[number]>

/** An attribute has the time of the process that wrote it: what their clocks differ at most, with the way from a commit to its telling. */
const CLOCK_DIFFERENCE_MS = 5000

class LocalDeviceGateway implements ClosableDeviceGateway, SessionHost, DeviceActorHost, RefreshHost {
  readonly link: Link
  readonly clock: Clock
  readonly ids: MessageIds
  readonly settings: DeviceGatewaySettings
  private readonly attributes: DeviceAttributes
  private readonly timesNotBefore: number
  private readonly actors: ActorSystem
  private readonly directory: DeviceDirectory
  private readonly credentials: CredentialCache
  private readonly records = new Map<string, DeviceRecord>()
  private readonly refreshing: IdentityRefresh
  private readonly activity: ActivityReports
  private readonly kind: ActorKind<DeviceEvent>
  private readonly stopListening: () => void
  private readonly stopGaps: () => void
  private checkTimer: TimerHandle | undefined
  private isClosed = false
  private readonly counts = { eventsRefused: 0, stateFailures: 0 }
  private readonly eventReceipt: PublishReceipt

  constructor(options: DeviceGatewayOptions) {
    this.link = options.link
    this.clock = options.clock
    this.ids = new MessageIds(options.random)
    this.settings = { ...DEFAULT_DEVICE_GATEWAY_SETTINGS, ...options.settings }
    this.activity = new ActivityReports(options.clock, this.settings)
    this.attributes = options.attributes
    this.timesNotBefore = options.timesNotBefore ?? 0
    this.actors = options.actors
    this.directory = options.directory
    this.credentials = new CredentialCache(options.directory, options.clock, this.settings)
    this.refreshing = new IdentityRefresh(this, this.records, options.clock)
    this.kind = {
      name: 'device',
      create: ({ id }) => new DeviceActor(this, id),
      // Only a device without a record hears nothing for so long: its actor goes, its state is in the attributes.
      idleTimeoutMs: 3 * this.settings.stateCheckIntervalMs,
    }
    const { counts } = this
    this.eventReceipt = { stored: () => undefined, refused: () => counts.eventsRefused++ }
    this.stopListening = options.feed.listenToAll(HEARD_KINDS, (change) => this.changed(change))
    this.stopGaps = options.feed.onGap((since) => this.changesMissed(since))
    this.armCheck()
  }

  get writable(): boolean {
    return this.link.writable
  }

  onWritable(listener: () => void): () => void {
    return this.link.onWritable(listener)
  }

  figures(): DeviceGatewayFigures {
    const { activity, counts, credentials, records } = this
    return {
      ...counts,
      devices: records.size,
      cachedCredentials: credentials.size,
      activityWaiting: activity.waiting,
    }
  }

  lookUp({ token }: PresentedCredentials): DeviceIdentity | undefined {
    return this.credentials.lookUp(token)
  }

  authenticate({ token }: PresentedCredentials): Promise<DeviceIdentity | undefined> {
    return this.isClosed ? Promise.reject(DeviceErrors.CLOSED()) : this.credentials.find(token)
  }

  openSession(device: DeviceIdentity, transport: TransportName, listener: DeviceSessionListener): DeviceSession {
    return new LocalDeviceSession(this, this.recordOf(device), listener, transport !== 'HTTP')
  }

  recordOf(device: DeviceIdentity): DeviceRecord {
    let record = this.records.get(device.deviceId)
    if (record === undefined) {
      record = new DeviceRecord(device, this.actors.spawn(this.kind, device.deviceId), this.timesNotBefore)
      this.records.set(device.deviceId, record)
    } else if (record.identity !== device && this.credentials.isPresent(device)) record.identity = device
    return record
  }

  heard(record: DeviceRecord): number {
    return this.activity.heard(record)
  }

  private armCheck(): void {
    this.checkTimer = this.clock.after(this.settings.stateCheckIntervalMs, () => {
      const at = this.clock.now()
      for (const record of this.records.values()) {
        record.actor.tell({ kind: 'check', at, heardAt: record.unreportedActivity })
      }
      if (!this.isClosed) this.armCheck()
    })
  }

  async readAttributes(
    record: DeviceRecord,
    scope: AttributeScope,
    keys: readonly string[] | 'all' | undefined,
  ): Promise<readonly Entry[]> {
    if (keys === undefined) return NO_ENTRIES
    return (await this.attributes.find(record.originator, scope, keys === 'all' ? undefined : keys)).value
  }

  async readShared(device: DeviceIdentity): Promise<readonly Attribute[]> {
    return (await this.attributes.find(deviceOriginator(device), 'SHARED_SCOPE', undefined)).value
  }

  async readState(device: DeviceIdentity, keys: readonly string[]): Promise<readonly Entry[]> {
    return (await this.attributes.find(deviceOriginator(device), 'SERVER_SCOPE', keys)).value
  }

  saveState(device: DeviceIdentity, entries: readonly Entry[]): Promise<void> {
    return this.attributes.save({
      tenantId: device.tenantId,
      entity: deviceOriginator(device),
      scope: 'SERVER_SCOPE',
      entries,
      sequence: 0,
      store: true,
      notify: true,
      notifyDevice: false,
    })
  }

  emit(device: DeviceIdentity, type: LifecycleEvent, at: number, state: DeviceState): void {
    this.link.publish(lifecycleMessage(this.ids, device, type, at, state), this.eventReceipt)
  }

  stateFailed(): void {
    this.counts.stateFailures++
  }

  sessionsCounted(deviceId: string, sessions: number): void {
    const record = this.records.get(deviceId)
    if (record !== undefined) record.openSessions = sessions
  }

  activeIs(deviceId: string, active: boolean): void {
    const record = this.records.get(deviceId)
    if (record !== undefined) record.isActive = active
  }

  deviceIdles(deviceId: string): boolean {
    const record = this.records.get(deviceId)
    if (record === undefined) return true
    if (record.openSessions > 0 || record.unreportedActivity > 0) return false
    this.release(record)
    return true
  }

  private release(record: DeviceRecord): void {
    record.isReleased = true
    this.records.delete(record.originator.id)
  }

  private changed(change: HeardChange): void {
    switch (change.kind) {
      case 'attributes':
      case 'attributes-deleted':
        return this.attributesChanged(change)
      case 'device-changed':
        return this.deviceChanged(change.entity, change.credentialsChanged)
      case 'entity-deleted':
        if (change.entity.entityType === 'DEVICE') this.deviceDeleted(change.entity.id)
    }
  }

  private attributesChanged(change: ChangeOf<'attributes' | 'attributes-deleted'>): void {
    const record = this.records.get(change.entity.id)
    if (record === undefined) return
    if (change.scope === 'SHARED_SCOPE') {
      if (change.kind === 'attributes-deleted') {
        record.actor.tell({ kind: 'shared-attributes', update: { kind: 'deleted', keys: change.keys } })
      } else if (change.audience !== 'subscribers' && change.audience !== 'caches') {
        record.actor.tell({ kind: 'shared-attributes', update: { kind: 'updated', entries: change.attributes } })
      }
    } else if (change.scope === 'SERVER_SCOPE') this.inactivityTimeoutChanged(record, change)
  }

  private inactivityTimeoutChanged(record: DeviceRecord, change: ChangeOf<'attributes' | 'attributes-deleted'>): void {
    const isDeleted = change.kind === 'attributes-deleted'
    const entry = isDeleted ? undefined : change.attributes.find(({ key }) => key === 'inactivityTimeout')
    if (isDeleted ? change.keys.includes('inactivityTimeout') : entry !== undefined) {
      record.actor.tell({
        kind: 'inactivity-timeout',
        entry,
        at: this.clock.now(),
        heardAt: record.unreportedActivity,
      })
    }
  }

  private deviceChanged(entity: EntityId, credentialsChanged: boolean): void {
    if (entity.entityType === 'DEVICE_PROFILE') {
      this.credentials.profileChanged(entity.id)
      return this.refreshing.add((record) => record.identity.deviceProfileId === entity.id)
    }
    const record = this.records.get(entity.id)
    const token = record === undefined ? undefined : this.credentials.tokenOf(record.identity)
    this.credentials.deviceChanged(entity.id)
    if (record === undefined) return
    if (credentialsChanged || token === undefined) this.endSessions(record, 'CREDENTIALS_CHANGED', false)
    else this.refreshing.addOne(record)
  }

  /** Any device may be another's, renamed or gone: those with sessions are looked up again in turns, the others when they come. */
  private changesMissed(since: number): void {
    this.credentials.doubtAll()
    this.refreshing.add((record) => {
      if (record.openSessions === 0) return false
      record.actor.tell({ kind: 'attributes-missed', since: since - CLOCK_DIFFERENCE_MS })
      return true
    })
  }

  private deviceDeleted(deviceId: string): void {
    this.credentials.deviceChanged(deviceId)
    const record = this.records.get(deviceId)
    if (record === undefined) return
    this.endSessions(record, 'DEVICE_DELETED', true)
    this.release(record)
  }

  private endSessions(record: DeviceRecord, reason: SessionEnd, forget: boolean): void {
    record.actor.tell({ kind: 'end', reason, forget, at: this.clock.now() })
  }

  /** Live sessions go on under what the device is now called and where its messages now go. */
  async refresh(record: DeviceRecord): Promise<boolean> {
    const token = this.credentials.tokenOf(record.identity)
    if (token === undefined || record.isReleased) return true
    try {
      const device = await this.credentials.refresh(token)
      if (device?.deviceId === record.originator.id) record.identity = device
      else this.endSessions(record, 'CREDENTIALS_CHANGED', false)
      return true
    } catch {
      this.counts.stateFailures++
      return false
    }
  }

  async close(): Promise<void> {
    if (this.isClosed) return
    this.isClosed = true
    this.stopListening()
    this.stopGaps()
    this.checkTimer?.cancel()
    this.refreshing.close()
    this.activity.close()
    for (const record of this.records.values()) {
      record.paced?.close()
      this.endSessions(record, 'SHUTDOWN', false)
    }
    await new Promise<void>((resolve) => this.clock.soon(resolve))
  }
}
