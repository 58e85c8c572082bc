/**
 * The device actor: one a device, at the owner of its partition. It knows the device's sessions, tells them what is for the device,
 * and keeps its liveness. Facts (connected, heard, disconnected, checked) are noted at once and settled into state, events and
 * attributes after each batch; a store that does not answer leaves them noted, and the next batch tries again.
 */
import type { Behaviour } from '../actor/actor.ts'
import type { SavedStateKey } from './device-state.ts'
import { inactivityTimeoutFrom, stateEntry, stateFrom, STATE_KEYS, type DeviceState } from './device-state.ts'
import type { LifecycleEvent } from './device-messages.ts'
import type { LocalDeviceSession } from './device-session.ts'
import type { DeviceActorHost } from './device-gateway.ts'
import type { Entry } from '../../model/value.ts'
import type { DeviceIdentity, SessionEnd, SharedAttributesUpdate } from './gateway.ts'

export type DeviceEvent =
  | { readonly kind: 'opened'; readonly session: LocalDeviceSession; readonly at: number }
  | { readonly kind: 'closed'; readonly session: LocalDeviceSession; readonly at: number }
  | { readonly kind: 'subscribed' | 'unsubscribed'; readonly session: LocalDeviceSession }
  /** Told at most once a reporting period, with the last time of it. */
  | { readonly kind: 'heard'; readonly device: DeviceIdentity; readonly at: number }
  /** `heardAt`: activity that waits to be told, Unix ms; 0 for none. */
  | { readonly kind: 'check'; readonly at: number; readonly heardAt: number }
  | { readonly kind: 'shared-attributes'; readonly update: SharedAttributesUpdate }
  /** Changes of shared attributes since then (Unix ms) may not have been told. */
  | { readonly kind: 'attributes-missed'; readonly since: number }
  | {
      readonly kind: 'inactivity-timeout'
      readonly entry: Entry | undefined
      readonly at: number
      readonly heardAt: number
    }
  /** The platform ends every session of the device. `forget`: the device is gone, its state with it. */
  | { readonly kind: 'end'; readonly reason: SessionEnd; readonly forget: boolean; readonly at: number }

export class DeviceActor implements Behaviour<DeviceEvent> {
  private readonly host: DeviceActorHost
  private readonly deviceId: string
  private device: DeviceIdentity | undefined
  private readonly longLived = new Set<LocalDeviceSession>()
  private readonly subscribed = new Set<LocalDeviceSession>()
  private state: DeviceState | undefined
  private readonly unsaved = new Set<SavedStateKey>()
  private connectedAt = 0
  private disconnectedAt = 0
  private heardAt = 0
  private checkAt = 0
  /** Unix ms: it was heard until then, which is not to be written down unless it matters. */
  private unreportedAt = 0
  /** Subscribers are to be told what changed since then; Infinity for nothing. */
  private missedSince = Infinity
  private isGone = false

  constructor(host: DeviceActorHost, deviceId: string) {
    this.host = host
    this.deviceId = deviceId
  }

  receive(batch: readonly DeviceEvent[]): void | Promise<void> {
    for (const event of batch) this.note(event)
    this.host.sessionsCounted(this.deviceId, this.longLived.size + this.subscribed.size)
    if (this.hasFacts()) return this.settle()
  }

  private note(event: DeviceEvent): void {
    switch (event.kind) {
      case 'opened':
        this.device = event.session.device
        this.takeOver()
        if (this.longLived.size === 0) this.connectedAt = event.at
        this.longLived.add(event.session)
        return
      case 'closed':
        return this.left(event.session, event.at)
      case 'subscribed':
        this.subscribed.add(event.session)
        return
      case 'unsubscribed':
        this.subscribed.delete(event.session)
        return
      case 'heard':
        this.device = event.device
        this.heardAt = Math.max(this.heardAt, event.at)
        return
      case 'check':
        return this.noteCheck(event)
      case 'shared-attributes':
        for (const session of this.subscribed) session.tell(event.update)
        return
      case 'attributes-missed':
        if (this.subscribed.size > 0) this.missedSince = Math.min(this.missedSince, event.since)
        return
      case 'inactivity-timeout':
        if (this.state !== undefined) {
          this.state.inactivityTimeout = inactivityTimeoutFrom(event.entry, this.host.settings.inactivityTimeoutMs)
        }
        return this.noteCheck(event)
      case 'end':
        if (this.longLived.size > 0) this.disconnectedAt = event.at
        this.endAll(event.reason)
        this.isGone = event.forget
    }
  }

  private noteCheck({ at, heardAt }: { readonly at: number; readonly heardAt: number }): void {
    this.checkAt = at
    this.unreportedAt = heardAt
  }

  /** A new session evicts the oldest beyond the bound. */
  private takeOver(): void {
    while (this.longLived.size >= this.host.settings.maxSessionsPerDevice) {
      const [oldest] = this.longLived
      if (oldest === undefined) return
      this.longLived.delete(oldest)
      this.subscribed.delete(oldest)
      oldest.end('TAKEN_OVER')
    }
  }

  private left(session: LocalDeviceSession, at: number): void {
    this.subscribed.delete(session)
    if (this.longLived.delete(session) && this.longLived.size === 0) this.disconnectedAt = at
  }

  private endAll(reason: SessionEnd): void {
    const sessions = new Set([...this.longLived, ...this.subscribed])
    this.longLived.clear()
    this.subscribed.clear()
    for (const session of sessions) session.end(reason)
  }

  private hasFacts(): boolean {
    const isNoted = this.connectedAt + this.disconnectedAt + this.heardAt + this.checkAt > 0
    return isNoted || this.missedSince < Infinity || this.unsaved.size > 0
  }

  private async settle(): Promise<void> {
    const { device } = this
    if (device === undefined || this.isGone) return this.forgetFacts()
    try {
      this.state ??= stateFrom(await this.host.readState(device, STATE_KEYS), this.host.settings.inactivityTimeoutMs)
      this.apply(device, this.state)
      await this.save(device, this.state)
      await this.publishMissed(device)
    } catch (error) {
      this.host.stateFailed(device, error)
    }
  }

  private forgetFacts(): void {
    this.connectedAt = this.disconnectedAt = this.heardAt = this.checkAt = this.unreportedAt = 0
    this.missedSince = Infinity
    this.unsaved.clear()
    if (this.isGone) this.state = undefined
  }

  private apply(device: DeviceIdentity, state: DeviceState): void {
    const { connectedAt, disconnectedAt, heardAt, checkAt, unreportedAt } = this
    this.connectedAt = this.disconnectedAt = this.heardAt = this.checkAt = this.unreportedAt = 0
    if (connectedAt > 0) {
      this.set(state, 'lastConnectTime', connectedAt)
      this.emit(device, 'CONNECT_EVENT', connectedAt, state)
    }
    // A check may have counted it already, and have found the device silent since.
    const isNews = heardAt > 0 && heardAt !== state.lastActivityTime
    if (heardAt > state.lastActivityTime) this.set(state, 'lastActivityTime', heardAt)
    if (isNews && !state.active) {
      this.set(state, 'active', true)
      this.set(state, 'inactivityAlarmTime', 0)
      this.emit(device, 'ACTIVITY_EVENT', heardAt, state)
    }
    if (disconnectedAt > 0) {
      this.set(state, 'lastDisconnectTime', disconnectedAt)
      this.emit(device, 'DISCONNECT_EVENT', disconnectedAt, state)
    }
    if (checkAt > 0) this.check(device, state, checkAt, unreportedAt)
    this.host.activeIs(this.deviceId, state.active)
    // Let go of: changes of the user's timeout are no longer told, so the next contact reads the state anew.
    if (checkAt > 0 && !state.active && this.unsaved.size === 0 && this.host.deviceIdles(this.deviceId)) {
      this.state = undefined
    }
  }

  private check(device: DeviceIdentity, state: DeviceState, at: number, unreportedAt: number): void {
    if (!state.active || !isSilent(state, at)) return
    if (unreportedAt > state.lastActivityTime) this.set(state, 'lastActivityTime', unreportedAt)
    if (!isSilent(state, at)) return
    this.set(state, 'active', false)
    this.set(state, 'inactivityAlarmTime', at)
    this.emit(device, 'INACTIVITY_EVENT', at, state)
  }

  /** Once more what may have been told already: a device that has a value is not harmed by it. What was deleted is not known any more. */
  private async publishMissed(device: DeviceIdentity): Promise<void> {
    const since = this.missedSince
    if (since === Infinity) return
    const shared = await this.host.readShared(device)
    this.missedSince = Infinity
    const entries = shared.filter(({ lastUpdateTs }) => lastUpdateTs >= since)
    if (entries.length === 0) return
    for (const session of this.subscribed) session.tell({ kind: 'updated', entries })
  }

  private set<Key extends SavedStateKey>(state: DeviceState, key: Key, value: DeviceState[Key]): void {
    state[key] = value
    this.unsaved.add(key)
  }

  private emit(device: DeviceIdentity, type: LifecycleEvent, at: number, state: DeviceState): void {
    this.host.emit(device, type, at, state)
  }

  private async save(device: DeviceIdentity, state: DeviceState): Promise<void> {
    if (this.unsaved.size === 0) return
    const keys = [...this.unsaved]
    this.unsaved.clear()
    try {
      await this.host.saveState(
        device,
        keys.map((key) => stateEntry(state, key)),
      )
    } catch (error) {
      for (const key of keys) this.unsaved.add(key)
      throw error
    }
  }
}

function isSilent(state: DeviceState, at: number): boolean {
  return at >= state.lastActivityTime + state.inactivityTimeout
}
