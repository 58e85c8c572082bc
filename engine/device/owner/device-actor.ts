/**
 * The device actor: one per device in the cluster, at the owner of its partition. It keeps the device's liveness. Facts (connected, heard,
 * disconnected, checked) are noted at once and settled into state, events and attributes after each batch; a store that does not answer
 * leaves them noted, and the next batch tries again.
 */
import type { Behaviour } from '../../actor/actor.ts'
import type { Entry } from '../../../model/value.ts'
import type { DeviceIdentity } from '../gateway.ts'
import type { DeviceState, LifecycleEvent, SavedStateKey } from './device-state.ts'
import { inactivityTimeoutFrom, stateEntry, stateFrom, STATE_KEYS } from './device-state.ts'

/** Times are Unix ms. */
export type DeviceFact =
  /** `isNew`: this owner has seen the session come. Otherwise the owner before may have told of it. */
  | { readonly kind: 'connected'; readonly at: number; readonly isNew: boolean }
  /** `isLost`: with the process that had its session. `heardAt`: activity that waits to be told; 0 for none. */
  | { readonly kind: 'disconnected'; readonly at: number; readonly isLost: boolean; readonly heardAt: number }
  /** Told at most once a reporting period, with the last time of it. */
  | { readonly kind: 'heard'; readonly at: number }
  /** `heardAt`: the same. */
  | { readonly kind: 'check'; readonly at: number; readonly heardAt: number }
  /** Nobody has announced a session of it. `heardAt`: the same. */
  | { readonly kind: 'unattended'; readonly at: number; readonly heardAt: number }
  /** `at` 0: without a check. */
  | {
      readonly kind: 'inactivity-timeout'
      readonly entry: Entry | undefined
      readonly at: number
      readonly heardAt: number
    }
  /** Somebody else than the clock says that it is silent. */
  | { readonly kind: 'inactive'; readonly at: number }
  /** The device was deleted, its state with it, or is another process's. */
  | { readonly kind: 'gone' }

/** What a device actor sees of the owner. */
export interface DeviceActorHost {
  readonly inactivityTimeoutMs: number
  /** Counts up where a change of a user's timeout may have been missed. */
  readonly doubts: number
  now(): number
  readIdentity(deviceId: string): Promise<DeviceIdentity | undefined>
  readState(deviceId: string, keys: readonly string[]): Promise<readonly Entry[]>
  saveState(deviceId: string, tenantId: string, entries: readonly Entry[]): Promise<void>
  emit(device: DeviceIdentity, type: LifecycleEvent, at: number, state: DeviceState): void
  /** Nobody said what was to be said at the end of its session. Rejects: to be called again. */
  lost(device: DeviceIdentity, state: DeviceState): Promise<void>
  stateFailed(deviceId: string, error: unknown): void
  /** All of it is saved. `silentAt`: Unix ms before which no check can find the device silent. */
  settled(deviceId: string, isActive: boolean, silentAt: number): void
}

/** More than what the clocks of a cluster may differ. */
export const CLOCK_SET_BACK_MS = 60_000

export class DeviceActor implements Behaviour<DeviceFact> {
  private readonly host: DeviceActorHost
  private readonly deviceId: string
  private tenantId: string | undefined
  private state: DeviceState | undefined
  private doubts = 0
  private unsaved: Set<SavedStateKey> | undefined
  private connectedAt = 0
  private isNewConnection = false
  private disconnectedAt = 0
  /** Of the two the later word: it came back. */
  private hasReturned = false
  private heardAt = 0
  private checkAt = 0
  /** It was heard until then, which is not to be written down unless it matters. */
  private unreportedAt = 0
  private unattendedAt = 0
  private inactiveAt = 0
  private isLost = false
  private isGone = false

  constructor(host: DeviceActorHost, deviceId: string) {
    this.host = host
    this.deviceId = deviceId
  }

  receive(batch: readonly DeviceFact[]): void | Promise<void> {
    for (const fact of batch) this.note(fact)
    if (this.isGone) return this.forget()
    if (this.hasFacts()) return this.settle()
  }

  /** The store did not answer: the owner's next check tries again. */
  get isUnsettled(): boolean {
    return this.hasFacts()
  }

  private note(fact: DeviceFact): void {
    switch (fact.kind) {
      case 'connected':
        this.connectedAt = fact.at
        this.isNewConnection = fact.isNew
        this.hasReturned = this.disconnectedAt > 0
        // What it says itself comes behind.
        this.isLost = false
        return
      case 'disconnected':
        this.disconnectedAt = fact.at
        this.hasReturned = false
        this.isLost ||= fact.isLost
        this.heardAt = Math.max(this.heardAt, fact.heardAt)
        return
      case 'heard':
        this.heardAt = Math.max(this.heardAt, fact.at)
        return
      case 'check':
        return this.noteCheck(fact)
      case 'unattended':
        this.unattendedAt = fact.at
        return this.noteCheck(fact)
      case 'inactivity-timeout':
        if (this.state !== undefined) {
          this.state.inactivityTimeout = inactivityTimeoutFrom(fact.entry, this.host.inactivityTimeoutMs)
        }
        return this.noteCheck(fact)
      case 'inactive':
        this.inactiveAt = fact.at
        return
      case 'gone':
        this.isGone = true
    }
  }

  private noteCheck({ at, heardAt }: { readonly at: number; readonly heardAt: number }): void {
    if (at === 0) return
    this.checkAt = at
    this.unreportedAt = heardAt
  }

  private hasFacts(): boolean {
    const noted = this.connectedAt + this.disconnectedAt + this.heardAt + this.checkAt + this.inactiveAt
    return noted > 0 || this.unsaved !== undefined || this.isLost
  }

  private forget(): void {
    this.forgetFacts()
    this.unsaved = undefined
    this.isLost = false
    this.state = undefined
    this.tenantId = undefined
    this.isGone = false
  }

  private forgetFacts(): void {
    this.connectedAt = this.disconnectedAt = this.heardAt = this.inactiveAt = 0
    this.checkAt = this.unreportedAt = this.unattendedAt = 0
    this.hasReturned = false
  }

  private async settle(): Promise<void> {
    try {
      const state = await this.readState()
      const mustKnow = this.tenantId === undefined || this.isLost || this.mayEmit(state)
      const device = mustKnow ? await this.host.readIdentity(this.deviceId) : undefined
      if (mustKnow && device === undefined) {
        this.forget()
        return this.host.settled(this.deviceId, false, 0)
      }
      this.tenantId = device?.tenantId ?? this.tenantId
      this.apply(device, state)
      if (this.isLost && device !== undefined) {
        // Before the state is saved: a process that dies in between leaves it to be found once more.
        await this.host.lost(device, state)
        this.isLost = false
      }
      await this.save(state)
      this.host.settled(this.deviceId, state.active, state.lastActivityTime + state.inactivityTimeout)
    } catch (error) {
      this.host.stateFailed(this.deviceId, error)
    }
  }

  private async readState(): Promise<DeviceState> {
    const { doubts } = this.host
    // What is not saved yet would be lost: it is read again after that.
    if (doubts !== this.doubts && this.unsaved === undefined) this.state = undefined
    if (this.state === undefined) {
      const entries = await this.host.readState(this.deviceId, STATE_KEYS)
      this.state = stateFrom(entries, this.host.inactivityTimeoutMs)
      this.doubts = doubts
    }
    return this.state
  }

  private mayEmit(state: DeviceState): boolean {
    if (this.connectedAt + this.disconnectedAt + this.unattendedAt + this.inactiveAt > 0) return true
    if (state.active) return this.checkAt > 0 && isSilent(state, this.checkAt)
    return this.heardAt > 0
  }

  private apply(device: DeviceIdentity | undefined, state: DeviceState): void {
    const { connectedAt, disconnectedAt, heardAt, checkAt, unreportedAt, unattendedAt, inactiveAt, hasReturned } = this
    this.forgetFacts()
    if (hasReturned) this.left(device, state, disconnectedAt)
    const isConnected = connectedAt > 0 && (this.isNewConnection || connectedAt > state.lastConnectTime)
    if (isConnected) {
      this.set(state, 'lastConnectTime', connectedAt)
      this.emit(device, 'CONNECT_EVENT', connectedAt, state)
    }
    if (heardAt > 0) this.wasHeard(device, state, heardAt)
    // Its session ended when nobody was its owner, or with its process.
    const isLeftOver = unattendedAt > 0 && connectedAt === 0 && state.lastConnectTime > state.lastDisconnectTime
    if (isLeftOver) this.isLost = true
    const leftAt = disconnectedAt > 0 ? disconnectedAt : isLeftOver ? unattendedAt : 0
    if (leftAt > 0 && !hasReturned) this.left(device, state, leftAt)
    if (checkAt > 0) this.check(device, state, checkAt, unreportedAt)
    if (inactiveAt > state.lastActivityTime && inactiveAt > state.inactivityAlarmTime)
      this.fellSilent(device, state, inactiveAt)
  }

  private left(device: DeviceIdentity | undefined, state: DeviceState, at: number): void {
    this.set(state, 'lastDisconnectTime', at)
    this.emit(device, 'DISCONNECT_EVENT', at, state)
  }

  private wasHeard(device: DeviceIdentity | undefined, state: DeviceState, heardAt: number): void {
    // A message that is read once more is no news. A time that lies ahead was written before the clock was set back.
    const isNews = heardAt > state.lastActivityTime || state.lastActivityTime > this.host.now() + CLOCK_SET_BACK_MS
    if (!isNews) return
    this.set(state, 'lastActivityTime', heardAt)
    // What is read late: it was active, and has been silent since for too long to be so now.
    if (state.active || isSilent(state, this.host.now())) return
    this.set(state, 'active', true)
    // One that never fell silent has no such time.
    if (state.inactivityAlarmTime !== 0) this.set(state, 'inactivityAlarmTime', 0)
    this.emit(device, 'ACTIVITY_EVENT', heardAt, state)
  }

  private check(device: DeviceIdentity | undefined, state: DeviceState, at: number, unreportedAt: number): void {
    if (!state.active || !isSilent(state, at)) return
    if (unreportedAt > state.lastActivityTime) this.set(state, 'lastActivityTime', unreportedAt)
    if (isSilent(state, at)) this.fellSilent(device, state, at)
  }

  private fellSilent(device: DeviceIdentity | undefined, state: DeviceState, at: number): void {
    this.set(state, 'active', false)
    this.set(state, 'inactivityAlarmTime', at)
    this.emit(device, 'INACTIVITY_EVENT', at, state)
  }

  private set<Key extends SavedStateKey>(state: DeviceState, key: Key, value: DeviceState[Key]): void {
    state[key] = value
    ;(this.unsaved ??= new Set()).add(key)
  }

  private emit(device: DeviceIdentity | undefined, type: LifecycleEvent, at: number, state: DeviceState): void {
    if (device === undefined) throw new Error(`${type} of a device that was not read`)
    this.host.emit(device, type, at, state)
  }

  private async save(state: DeviceState): Promise<void> {
    const { unsaved, tenantId } = this
    if (unsaved === undefined || tenantId === undefined) return
    const entries = [...unsaved].map((key) => stateEntry(state, key))
    await this.host.saveState(this.deviceId, tenantId, entries)
    this.unsaved = undefined
  }
}

function isSilent(state: DeviceState, at: number): boolean {
  return at >= state.lastActivityTime + state.inactivityTimeout
}
