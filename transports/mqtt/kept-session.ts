/**
 * One session that outlives its connection: subscriptions, pushes that the client has not acknowledged, QoS 2 publishes that it has not
 * released, and what became of shared attributes meanwhile, each at its newest value. Calls wait for the device in any case. The subscriptions
 * outlive the process too: they are in the store before the client is told that it has them.
 */
import type { Clock, TimerHandle } from '../../model/clock.ts'
import type { KeptSessionRow } from '../../model/kept-session.ts'
import type { Entry } from '../../model/value.ts'
import { within } from '../../model/within.ts'
import type {
  DeviceGateway,
  DeviceIdentity,
  DeviceSession,
  DeviceSessionListener,
  KeptSessionStore,
  SessionEnd,
  SharedAttributesUpdate,
} from '../../engine/device/gateway.ts'
import { entriesJson } from '../../model/entry-json.ts'
import type { MqttConnection, OutlivingSession } from './connection.ts'
import type { PushKeeper, UnacknowledgedPush } from './downlink-pushes.ts'
import { pushAttributes, pushAgain } from './handlers/push.ts'
import { KeptRow, RENEW_MS, storeIsSilent } from './kept-row.ts'
import { subscriptionsOf, subscriptionsText, type KeptSubscriptions } from './kept-subscriptions.ts'
import type { MqttLimits } from './limits.ts'
import { Reason } from './reason-codes.ts'

/** Of a key that changed, besides its text and value. */
const CHANGE_BYTES = 100
/** Of the packet id of a QoS 2 publish. */
const UNRELEASED_BYTES = 40
/** A store that fails over is waited for; who subscribes waits no longer. */
const WRITTEN_WITHIN_MS = 5000

/** What is taken over from one connection to the next. */
type Subscriptions = KeptSubscriptions & Pick<MqttConnection, 'unreleased'>

/** What a session sees of those who keep it. */
export interface SessionKeeper {
  readonly limits: MqttLimits
  readonly clock: Clock
  /** Undefined where nothing outlives the process. */
  readonly store: KeptSessionStore | undefined
  /** False where the tenant has its share already: nothing is counted then. */
  takeBytes(session: KeptSession, bytes: number): boolean
  giveBytes(session: KeptSession, bytes: number): void
  forget(session: KeptSession): void
  /** Its client is gone: its time counts from now on. */
  wentAway(session: KeptSession, isAllTold: boolean): void
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
  /** Undefined where nothing outlives the process. */
  private readonly kept: KeptRow | undefined
  /** Unix ms: until then it may not have been told what it missed elsewhere. */
  private readonly tellingUntil: number

  /** `row`: what another process left of it. */
  constructor(keeper: SessionKeeper, device: DeviceIdentity, clientId: string, row?: KeptSessionRow) {
    this.keeper = keeper
    this.device = device
    this.clientId = clientId
    const { store, clock } = keeper
    this.kept = store && new KeptRow(store, clock, row)
    this.tellingUntil = row === undefined ? 0 : clock.now() + RENEW_MS
    if (row !== undefined) this.left = { ...subscriptionsOf(row.subscriptions), unreleased: undefined }
  }

  /** What the store has of it; undefined while it has nothing. */
  get stored(): KeptSessionRow | undefined {
    return this.kept?.isStored === true ? this.kept.row : undefined
  }

  /** The same where no write is under way. */
  get settled(): KeptSessionRow | undefined {
    return this.kept?.isWriting === true ? undefined : this.stored
  }

  /** Whether the client has acknowledged all that it was told. */
  get isAllTold(): boolean {
    const { connection, keeper } = this
    if (this.hasMissed || keeper.clock.now() < this.tellingUntil) return false
    return connection?.pushes.isAllAcknowledged === true
  }

  /** Whether something is still to be told. */
  private get hasMissed(): boolean {
    return this.pushes.length > 0 || this.changes.size > 0
  }

  /** Whether no other process has had it since, where `row` is what the store has. */
  isCurrent(row: KeptSessionRow | undefined): boolean {
    return this.kept?.isAsIn(row) ?? true
  }

  told(time: number): void {
    this.kept?.told(time)
  }

  /** Listens also where the client does not: who listens is told that the device is deleted, or its credentials are others. */
  open(gateway: DeviceGateway): void {
    this.listening = gateway.openSession(this.device, 'brief', this)
    const isTold = (this.left?.attributeFilters.length ?? 0) > 0
    this.listening.subscribeToSharedAttributes(isTold ? this.stored?.toldTime : undefined)
  }

  attach(connection: MqttConnection, expirySeconds: number): void {
    this.expiry?.cancel()
    this.connection = connection
    this.expirySeconds = expirySeconds
    connection.kept = this
    connection.pushes.keeper = this
    if (this.left !== undefined) Object.assign(connection, this.left)
    this.left = undefined
    const { stored } = this
    if (expirySeconds === 0) this.kept?.remove()
    else if (stored !== undefined && stored.expirySeconds !== expirySeconds) this.write(connection)
  }

  subscribed(connection: MqttConnection, done: () => void): void {
    const text = subscriptionsText(connection)
    if (this.expirySeconds === 0 || this.kept?.has(text) !== false) return done()
    if (Buffer.byteLength(text) <= this.keeper.limits.maxKeptBytesPerSession) return this.write(connection, done)
    this.end()
    done()
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
    const { isAllTold } = this
    this.connection = undefined
    // It ended before it was told what it had missed.
    if (this.expirySeconds === 0 || this.hasMissed) return this.end()
    const { subscriptions, grantedQos1, attributeFilters, customAttributeFilter, callFilters } = connection
    const { unreleased } = connection
    // A request is as good as not sent: its answer was for the connection that is gone.
    for (const [messageId, state] of unreleased ?? [])
      if (state !== 'ANSWERED' && !state.isDoneOnce) unreleased?.delete(messageId)
    const pushes = connection.pushes.unacknowledged()
    if (pushes === undefined || !this.take((unreleased?.size ?? 0) * UNRELEASED_BYTES)) return this.end()
    this.left = { subscriptions, grantedQos1, attributeFilters, customAttributeFilter, callFilters, unreleased }
    this.pushes = pushes
    if (isAllTold) this.told(this.keeper.clock.now())
    if (this.stored !== undefined) this.wentAway(this.left, isAllTold)
    this.expiry = this.keeper.clock.after(this.expirySeconds * 1000, () => this.end())
  }

  sharedAttributesChanged(update: SharedAttributesUpdate): void {
    if (this.connection !== undefined) return pushAttributes(this.connection, update)
    if (this.left === undefined || this.left.attributeFilters.length === 0) return
    if (update.kind === 'deleted') for (const key of update.keys) this.note(key, undefined)
    else for (const entry of update.entries) this.note(entry.key, entry)
  }

  /** Device deleted, credentials changed: whoever comes next begins anew. */
  closed(reason: SessionEnd): void {
    this.listening = undefined
    if (reason === 'SHUTDOWN') this.drop()
    else this.end()
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
    this.kept?.remove()
    this.drop()
  }

  /** It ends here: another process has it, or may have it next. */
  drop(): void {
    if (this.isOver) return
    this.kept?.leave()
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

  private wentAway(left: KeptSubscriptions, told: boolean): void {
    const { expirySeconds, kept, keeper } = this
    if (kept?.row?.expirySeconds === expirySeconds) return keeper.wentAway(this, told)
    const subscriptions = subscriptionsText(left)
    kept
      ?.write(this.device, this.clientId, { subscriptions, expirySeconds, from: keeper.clock.now(), told })
      .catch((error: unknown) => this.unwritten(error))
  }

  private write(connection: MqttConnection, done?: () => void): void {
    const { expirySeconds, kept, keeper } = this
    const from = keeper.clock.now() + 2 * RENEW_MS
    const subscriptions = subscriptionsText(connection)
    const change = { subscriptions, expirySeconds, from, told: this.isAllTold }
    const written = kept?.write(this.device, this.clientId, change)
    if (written === undefined) return
    within(keeper.clock, WRITTEN_WITHIN_MS, written, storeIsSilent)
      .then(done, (error: unknown) => this.unwritten(error, done))
      .catch((error: unknown) => connection.violated(error))
  }

  /** Taken over, the client has to come again. Else its session ends with the connection, and the next CONNACK says so. */
  private unwritten(error: unknown, done?: () => void): void {
    const { connection, device, clientId } = this
    const { store } = this.keeper
    if (store?.isOvertaken(error) === true) {
      this.drop()
      connection?.close(Reason.SESSION_TAKEN_OVER)
      return
    }
    if (!this.isOver) store?.removeOf(device.deviceId, clientId)
    this.end()
    done?.()
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
