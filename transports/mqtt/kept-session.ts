/**
 * One session that outlives its connection: subscriptions, pushes that the client has not acknowledged, QoS 2 publishes that it has not
 * released, and what became of shared attributes meanwhile, each at its newest value. Calls wait for the device in any case.
 */
import type { Clock, TimerHandle } from '../../model/clock.ts'
import type { Entry } from '../../model/value.ts'
import type {
  DeviceGateway,
  DeviceIdentity,
  DeviceSession,
  DeviceSessionListener,
  SharedAttributesUpdate,
} from '../../engine/device/gateway.ts'
import { entriesJson } from '../../model/entry-json.ts'
import type { MqttConnection, OutlivingSession } from './connection.ts'
import type { PushKeeper, UnacknowledgedPush } from './downlink-pushes.ts'
import { pushAttributes, pushAgain } from './handlers/push.ts'
import type { MqttLimits } from './limits.ts'

/** Of a key that changed, besides its text and value. */
const CHANGE_BYTES = 100
/** Of the packet id of a QoS 2 publish. */
const UNRELEASED_BYTES = 40

/** What is taken over from one connection to the next. */
type Subscriptions = Pick<
  MqttConnection,
  'subscriptions' | 'grantedQos1' | 'attributeFilters' | 'customAttributeFilter' | 'callFilters' | 'unreleased'
>

/** What a session sees of those who keep it. */
export interface SessionKeeper {
  readonly limits: MqttLimits
  readonly clock: Clock
  /** False where the tenant has its share already: nothing is counted then. */
  takeBytes(session: KeptSession, bytes: number): boolean
  giveBytes(session: KeptSession, bytes: number): void
  forget(session: KeptSession): void
}

/** It hears of shared attributes in the connections' place, so that none is lost between two of them. */
export class KeptSession implements OutlivingSession, DeviceSessionListener, PushKeeper {
  /** As it was when the session began. */
  readonly device: DeviceIdentity
  readonly clientId: string
  connection: MqttConnection | undefined
  private readonly keeper: SessionKeeper
  private listening: DeviceSession | undefined
  private expirySeconds = 0
  private expiry: TimerHandle | undefined
  private left: Subscriptions | undefined
  private pushes: readonly UnacknowledgedPush[] = []
  /** Key to its value; undefined where it was deleted. */
  private readonly changes = new Map<string, Entry | undefined>()
  private bytes = 0
  private isOver = false

  constructor(keeper: SessionKeeper, device: DeviceIdentity, clientId: string) {
    this.keeper = keeper
    this.device = device
    this.clientId = clientId
  }

  /** Listens also where the client does not: who listens is told that the device is deleted, or its credentials are others. */
  open(gateway: DeviceGateway): void {
    this.listening = gateway.openSession(this.device, 'brief', this)
    this.listening.subscribeToSharedAttributes()
  }

  attach(connection: MqttConnection, expirySeconds: number): void {
    this.expiry?.cancel()
    this.connection = connection
    this.expirySeconds = expirySeconds
    connection.kept = this
    connection.pushes.keeper = this
    if (this.left !== undefined) Object.assign(connection, this.left)
    this.left = undefined
  }

  resume(connection: MqttConnection): void {
    const { pushes } = this
    const entries = [...this.changes.values()].filter((entry) => entry !== undefined)
    const keys = [...this.changes].filter(([, entry]) => entry === undefined).map(([key]) => key)
    this.forget()
    for (const push of pushes) pushAgain(connection, push)
    if (keys.length > 0) pushAttributes(connection, { kind: 'deleted', keys })
    if (entries.length > 0) pushAttributes(connection, { kind: 'updated', entries })
    if (connection.callFilters.length > 0) connection.device?.subscribeToCalls('all')
  }

  expiresAfter(seconds: number): void {
    this.expirySeconds = Math.min(seconds, this.keeper.limits.maxSessionExpirySeconds)
  }

  detach(connection: MqttConnection): void {
    if (this.connection !== connection) return
    this.connection = undefined
    // It ended before it was told what it had missed.
    const isUntold = this.pushes.length > 0 || this.changes.size > 0
    if (this.expirySeconds === 0 || isUntold) return this.end()
    const { subscriptions, grantedQos1, attributeFilters, customAttributeFilter, callFilters } = connection
    const { unreleased } = connection
    // A request is as good as not sent: its answer was for the connection that is gone.
    for (const [messageId, state] of unreleased ?? [])
      if (state !== 'ANSWERED' && !state.isDoneOnce) unreleased?.delete(messageId)
    const pushes = connection.pushes.unacknowledged()
    if (pushes === undefined || !this.take((unreleased?.size ?? 0) * UNRELEASED_BYTES)) return this.end()
    this.left = { subscriptions, grantedQos1, attributeFilters, customAttributeFilter, callFilters, unreleased }
    this.pushes = pushes
    this.expiry = this.keeper.clock.after(this.expirySeconds * 1000, () => this.end())
  }

  sharedAttributesChanged(update: SharedAttributesUpdate): void {
    if (this.connection !== undefined) return pushAttributes(this.connection, update)
    if (this.left === undefined || this.left.attributeFilters.length === 0) return
    if (update.kind === 'deleted') for (const key of update.keys) this.note(key, undefined)
    else for (const entry of update.entries) this.note(entry.key, entry)
  }

  /** Device deleted, credentials changed: whoever comes next begins anew. */
  closed(): void {
    this.listening = undefined
    this.end()
  }

  take(bytes: number): boolean {
    if (this.bytes + bytes > this.keeper.limits.maxKeptBytesPerSession) return false
    if (!this.keeper.takeBytes(this, bytes)) return false
    this.bytes += bytes
    return true
  }

  give(bytes: number): void {
    this.keeper.giveBytes(this, bytes)
    this.bytes -= bytes
  }

  end(): void {
    if (this.isOver) return
    this.isOver = true
    const { connection, listening } = this
    this.connection = undefined
    this.listening = undefined
    this.expiry?.cancel()
    this.forget()
    this.left = undefined
    if (connection !== undefined) leave(connection)
    listening?.close()
    this.keeper.forget(this)
  }

  private note(key: string, entry: Entry | undefined): void {
    if (this.isOver) return
    const more = bytesOf(key, entry) - (this.changes.has(key) ? bytesOf(key, this.changes.get(key)) : 0)
    if (more < 0) this.give(-more)
    else if (!this.take(more)) return this.end()
    this.changes.set(key, entry)
  }

  private forget(): void {
    this.pushes = []
    this.changes.clear()
    this.give(this.bytes)
  }
}

function leave(connection: MqttConnection): void {
  connection.kept = undefined
  connection.pushes.keepNone()
  if (connection.attributeFilters.length > 0) connection.device?.subscribeToSharedAttributes()
}

function bytesOf(key: string, entry: Entry | undefined): number {
  return CHANGE_BYTES + Buffer.byteLength(key) + (entry === undefined ? 0 : Buffer.byteLength(entriesJson([entry])))
}
