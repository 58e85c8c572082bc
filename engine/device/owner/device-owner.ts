/**
 * The owner of devices: of those whose partition is this process's, one actor each. It learns that a device is active from the messages
 * that this process reads anyway, and from what the transports announce; it keeps the directory of their sessions. What an owner
 * before it knew comes back within a lease interval: until then no device is taken for silent or gone.
 */
import type { Clock, Random, TimerHandle } from '../../../model/clock.ts'
import { entityId, type EntityId } from '../../../model/entity-id.ts'
import type { Attribute, AttributeScope, Entry } from '../../../model/value.ts'
import type { ActorKind } from '../../actor/actor.ts'
import type { ActorSystem } from '../../actor/system.ts'
import type { Delivery, Link, PublishReceipt } from '../../link/link.ts'
import type { AttributesSave } from '../../rulechain/capabilities/attributes.ts'
import type { ChangeFeed, ChangeOf } from '../../subscriptions/change.ts'
import type { AnnouncedDevice, AnnouncementListener, DeviceLine } from '../announcement.ts'
import type { DeviceIdentity } from '../gateway.ts'
import { MessageIds } from '../message-ids.ts'
import type { PartitionOwners } from '../partition-owners.ts'
import { Rounds, visitAll } from '../slices.ts'
import { ActiveDevices, type ActiveDeviceDirectory } from './active-devices.ts'
import { ActivityReports, type ActivityReportSettings } from './activity-reports.ts'
import { CLOCK_SET_BACK_MS, DeviceActor, type DeviceActorHost, type DeviceFact } from './device-actor.ts'
import type { DeviceState, LifecycleEvent } from './device-state.ts'
import { lifecycleMessage } from './lifecycle-messages.ts'
import { LostEdgeNodes, type EdgeNodeDirectory } from './lost-edge-nodes.ts'
import { OwnedDevice } from './owned-device.ts'
import { SessionDirectory, type DirectoryListener, type DirectorySettings } from './session-directory.ts'

/** Reads and writes attributes: the platform's service has this shape. */
export interface DeviceAttributes {
  find(
    entity: EntityId,
    scope: AttributeScope | undefined,
    keys: readonly string[] | undefined,
  ): Promise<{ readonly value: readonly Attribute[] }>
  save(request: AttributesSave): Promise<void>
}

export interface OwnedDeviceDirectory extends ActiveDeviceDirectory {
  /** Undefined when there is no such device. Rejects when the store does not answer. */
  findIdentity(deviceId: string): Promise<DeviceIdentity | undefined>
}

export interface DeviceOwnerSettings extends ActivityReportSettings, DirectorySettings {
  /** Silence after which a device is inactive, unless its attribute `inactivityTimeout` says otherwise. */
  readonly inactivityTimeoutMs: number
  readonly stateCheckIntervalMs: number
}

export interface DeviceOwnerOptions {
  readonly link: Pick<Link, 'publish'>
  readonly line: DeviceLine
  readonly owners: PartitionOwners
  /** The ids of all processes that live; where absent only this one does. */
  readonly members?: () => readonly string[]
  readonly directory: OwnedDeviceDirectory
  readonly attributes: DeviceAttributes
  /** Absent where there are no edge nodes of Sparkplug. */
  readonly edgeNodes?: EdgeNodeDirectory
  readonly feed: ChangeFeed
  readonly clock: Clock
  readonly random: Random
  readonly actors: ActorSystem
  readonly settings: DeviceOwnerSettings
}

export interface DeviceOwnerFigures {
  /** Devices that are active or have a session, in this process's partitions. */
  readonly devices: number
  /** Lifecycle events that the link refused; each only grows, as the next. */
  readonly eventsRefused: number
  readonly stateFailures: number
  /** Devices whose time of last activity waits to be written down. */
  readonly activityWaiting: number
}

export type ReportedEvent = 'connect' | 'disconnect' | 'activity' | 'inactivity'

export interface DeviceOwner {
  /** As if the device itself had done so at that time, Unix ms. False where another process owns it. */
  report(deviceId: string, event: ReportedEvent, at: number): boolean
  /** What this process has just read of the link, before it is processed. */
  delivered(batch: readonly Delivery[]): void
  figures(): DeviceOwnerFigures
  /** Reports what is unreported. Idempotent. The actor system's close waits for the rest. */
  close(): void
}

export function createDeviceOwner(options: DeviceOwnerOptions): DeviceOwner {
  return new PartitionDeviceOwner(options)
}

/** What a device sends by itself; not what is sent in its name. */
const FROM_DEVICES: ReadonlySet<string> = new Set([
  'POST_TELEMETRY_REQUEST',
  'POST_ATTRIBUTES_REQUEST',
  'TO_SERVER_RPC_REQUEST',
])
const HEARD_KINDS = ['attributes', 'attributes-deleted', 'entity-deleted'] as const
type HeardChange = ChangeOf<(typeof HEARD_KINDS)[number]>
/** Longer than between two reports of a device that sends all the time. */
const ACTOR_IDLE_MS = 5000
/** After a change of members it takes so long until all processes see the same ones. */
const MEMBERS_SETTLE_MS = 3000

class PartitionDeviceOwner implements DeviceOwner, AnnouncementListener, DirectoryListener, DeviceActorHost {
  readonly inactivityTimeoutMs: number
  doubts = 0
  private readonly options: DeviceOwnerOptions
  private readonly ids: MessageIds
  private readonly devices = new Map<string, OwnedDevice>()
  private readonly directory: SessionDirectory
  private readonly activity: ActivityReports
  private readonly active: ActiveDevices
  private readonly lostEdgeNodes: LostEdgeNodes | undefined
  private readonly kind: ActorKind<DeviceFact>
  private readonly rounds: Rounds<OwnedDevice>
  /** By partition, monotonic ms: since when it is this process's; undefined where it is not. */
  private ownedSince: readonly (number | undefined)[] = []
  private members: ReadonlySet<string>
  private readonly stops: (() => void)[]
  private graceTimer: TimerHandle | undefined
  private stopVisit: () => void = () => undefined
  private isClosed = false
  private readonly counts = { eventsRefused: 0, stateFailures: 0 }
  private readonly eventReceipt: PublishReceipt

  constructor(options: DeviceOwnerOptions) {
    this.options = options
    const { clock, settings, feed, line, owners, random } = options
    this.inactivityTimeoutMs = settings.inactivityTimeoutMs
    this.ids = new MessageIds(random)
    this.lostEdgeNodes = options.edgeNodes && new LostEdgeNodes(options.edgeNodes, options.link, this.ids)
    this.directory = new SessionDirectory(line, settings, this)
    this.activity = new ActivityReports(clock, settings, (device, at) => this.tell(device, { kind: 'heard', at }))
    this.active = new ActiveDevices(options.directory, clock, (deviceId) => this.foundActive(deviceId))
    this.kind = {
      name: 'device',
      create: ({ id }) => new DeviceActor(this, id),
      // Its state is in the attributes: whatever comes next reads it again.
      idleTimeoutMs: ACTOR_IDLE_MS,
    }
    const { counts } = this
    this.eventReceipt = { stored: () => undefined, refused: () => counts.eventsRefused++ }
    this.members = new Set(this.memberIds())
    this.rounds = new Rounds(clock, settings.stateCheckIntervalMs, this.devices, (device) => this.visit(device))
    this.stops = [
      feed.listenToAll(HEARD_KINDS, (change) => this.changed(change)),
      feed.onGap(() => this.doubts++),
      owners.onChange(() => this.ownersChanged()),
    ]
    line.onAnnouncement(this)
    this.ownersChanged()
  }

  delivered(batch: readonly Delivery[]): void {
    for (const { message } of batch) {
      const { originator, type } = message
      if (originator.entityType !== 'DEVICE' || !FROM_DEVICES.has(type) || message.resumption !== undefined) continue
      this.heard(this.devices.get(originator.id) ?? this.own(originator.id), message.ts)
    }
  }

  report(deviceId: string, event: ReportedEvent, at: number): boolean {
    const device = this.devices.get(deviceId) ?? this.own(deviceId)
    if (device === undefined) return false
    this.tell(device, factOf(event, at, device.unreportedActivity))
    return true
  }

  announced(member: string, at: number, announced: readonly AnnouncedDevice[]): void {
    if (this.isClosed) return
    const now = this.options.clock.monotonic()
    for (const { deviceId, heardAt, sessions } of announced) {
      const known = this.devices.get(deviceId)
      if (known === undefined && heardAt === 0 && sessions.length === 0) continue
      const device = known ?? this.own(deviceId)
      if (device === undefined) continue
      if (heardAt > 0) this.heard(device, heardAt)
      const isSettled = this.isSettled(device.partition, now)
      this.directory.announced(device, member, sessions, { at, now, inOrder: isSettled })
      if (!isSettled && device.leases === undefined) device.mayHaveLeft = true
    }
  }

  connected(device: OwnedDevice, at: number): void {
    this.tell(device, {
      kind: 'connected',
      at,
      isNew: this.isSettled(device.partition, this.options.clock.monotonic()),
    })
  }

  disconnected(device: OwnedDevice, at: number, isLost: boolean): void {
    this.tell(device, { kind: 'disconnected', at, isLost, heardAt: device.unreportedActivity })
  }

  now(): number {
    return this.options.clock.now()
  }

  readIdentity(deviceId: string): Promise<DeviceIdentity | undefined> {
    return this.options.directory.findIdentity(deviceId)
  }

  async readState(deviceId: string, keys: readonly string[]): Promise<readonly Entry[]> {
    return (await this.options.attributes.find(entityId('DEVICE', deviceId), 'SERVER_SCOPE', keys)).value
  }

  saveState(deviceId: string, tenantId: string, entries: readonly Entry[]): Promise<void> {
    return this.options.attributes.save({
      tenantId,
      entity: entityId('DEVICE', deviceId),
      scope: 'SERVER_SCOPE',
      entries,
      sequence: 0,
      store: true,
      notify: true,
      notifyDevice: false,
    })
  }

  emit(device: DeviceIdentity, type: LifecycleEvent, at: number, state: DeviceState): void {
    this.options.link.publish(lifecycleMessage(this.ids, device, type, at, state), this.eventReceipt)
  }

  async lost(device: DeviceIdentity, { lastActivityTime }: DeviceState): Promise<void> {
    await this.lostEdgeNodes?.tell(device, lastActivityTime, () => {
      const owned = this.devices.get(device.deviceId)
      if (owned?.leases !== undefined) return false
      if (owned !== undefined) owned.lostAt = this.options.clock.monotonic()
      return true
    })
  }

  stateFailed(deviceId: string): void {
    this.counts.stateFailures++
    const device = this.devices.get(deviceId)
    if (device !== undefined) device.isTroubled = true
  }

  settled(deviceId: string, isActive: boolean, silentAt: number): void {
    const device = this.devices.get(deviceId)
    if (device === undefined) return
    device.isTroubled = false
    device.isActive = isActive
    device.silentAt = silentAt
  }

  figures(): DeviceOwnerFigures {
    return { ...this.counts, devices: this.devices.size, activityWaiting: this.activity.waiting }
  }

  close(): void {
    if (this.isClosed) return
    this.isClosed = true
    for (const stop of this.stops) stop()
    this.stopVisit()
    this.rounds.close()
    this.graceTimer?.cancel()
    this.active.close()
    this.activity.close()
  }

  private tell(device: OwnedDevice, fact: DeviceFact): void {
    this.options.actors.tell(this.kind, device.deviceId, fact)
  }

  private memberIds(): readonly string[] {
    return this.options.members?.() ?? [this.options.line.self]
  }

  private heard(device: OwnedDevice | undefined, at: number): void {
    if (device === undefined) return
    // Read once more, or told by a process that heard it before another did; unless the clock was set back since.
    if (at <= device.heardAt && device.heardAt <= this.now() + CLOCK_SET_BACK_MS) return
    device.heardAt = at
    this.activity.heard(device, at)
  }

  /** Undefined where another process owns it. */
  private own(deviceId: string): OwnedDevice | undefined {
    const { owners } = this.options
    const partition = owners.partitionOf(deviceId)
    if (this.isClosed || this.ownedSince[partition] === undefined) return undefined
    const device = new OwnedDevice(deviceId, partition)
    this.devices.set(deviceId, device)
    return device
  }

  /** It was deleted, or is another process's. */
  private forget(device: OwnedDevice): void {
    this.tell(device, { kind: 'gone' })
    this.release(device)
  }

  private release(device: OwnedDevice): void {
    device.isReleased = true
    this.devices.delete(device.deviceId)
  }

  /** Whether it was this process's long enough to know what the owner before knew. */
  private isSettled(partition: number, now: number): boolean {
    const since = this.ownedSince[partition]
    return since !== undefined && now >= since + this.graceMs
  }

  private get graceMs(): number {
    return this.options.settings.leaseIntervalMs + MEMBERS_SETTLE_MS
  }

  private visit(device: OwnedDevice): void {
    const { clock } = this.options
    const at = clock.now()
    const now = clock.monotonic()
    this.directory.expire(device, at, now, (member) => this.members.has(member))
    if (device.mayHaveLeft && this.isSettled(device.partition, now)) {
      device.mayHaveLeft = false
      if (device.leases === undefined)
        return this.tell(device, { kind: 'unattended', at, heardAt: device.unreportedActivity })
    }
    if (device.isTroubled || (device.isActive && at >= device.silentAt && this.isSettled(device.partition, now))) {
      // Told inactive first, it would not be found among the active ones: the end of its sessions would never be told.
      const kind = device.leases === undefined ? 'unattended' : 'check'
      this.tell(device, { kind, at: this.checkTime(device.partition), heardAt: device.unreportedActivity })
      return
    }
    const isIdle = !device.isActive && device.leases === undefined && device.unreportedActivity === 0
    // Heard a moment ago it may be about to become active.
    if (isIdle && at >= device.heardAt + this.options.settings.stateCheckIntervalMs) this.release(device)
  }

  /** 0 where a check would come too soon. */
  private checkTime(partition: number): number {
    const { clock } = this.options
    return this.isSettled(partition, clock.monotonic()) ? clock.now() : 0
  }

  private ownersChanged(): void {
    const { owners, clock } = this.options
    const now = clock.monotonic()
    const before = this.ownedSince
    this.ownedSince = Array.from({ length: owners.partitions }, (_, partition) =>
      owners.owns(partition) ? (before[partition] ?? now) : undefined,
    )
    this.members = new Set(this.memberIds())
    this.stopVisit()
    this.stopVisit = visitAll(clock, this.devices.values(), (device) => {
      if (this.ownedSince[device.partition] === undefined) return this.forget(device)
      this.directory.expire(device, clock.now(), clock.monotonic(), (member) => this.members.has(member))
    })
    if (this.ownedSince.some((since, partition) => since !== undefined && before[partition] === undefined)) {
      this.graceTimer?.cancel()
      this.graceTimer = clock.after(this.graceMs, () => this.active.find())
    }
  }

  /** The store has it as active: if nobody has heard of it since, it is silent or will be. */
  private foundActive(deviceId: string): void {
    const known = this.devices.get(deviceId)
    if (known?.leases !== undefined) return
    const at = this.checkTime(this.options.owners.partitionOf(deviceId))
    if (at === 0) return
    const device = known ?? this.own(deviceId)
    if (device !== undefined) this.tell(device, { kind: 'unattended', at, heardAt: device.unreportedActivity })
  }

  private changed(change: HeardChange): void {
    const device = this.devices.get(change.entity.id)
    if (device === undefined) return
    if (change.kind === 'entity-deleted') {
      this.forget(device)
    } else if (change.scope === 'SERVER_SCOPE') this.inactivityTimeoutChanged(device, change)
  }

  private inactivityTimeoutChanged(device: OwnedDevice, change: ChangeOf<'attributes' | 'attributes-deleted'>): void {
    const isDeleted = change.kind === 'attributes-deleted'
    const entry = isDeleted ? undefined : change.attributes.find(({ key }) => key === 'inactivityTimeout')
    if (isDeleted ? !change.keys.includes('inactivityTimeout') : entry === undefined) return
    device.silentAt = 0
    const at = this.checkTime(device.partition)
    this.tell(device, { kind: 'inactivity-timeout', entry, at, heardAt: device.unreportedActivity })
  }
}

function factOf(event: ReportedEvent, at: number, heardAt: number): DeviceFact {
  switch (event) {
    case 'connect':
      return { kind: 'connected', at, isNew: true }
    case 'disconnect':
      return { kind: 'disconnected', at, isLost: false, heardAt }
    case 'activity':
      return { kind: 'heard', at }
    case 'inactivity':
      return { kind: 'inactive', at }
  }
}
