/**
 * Which sessions outlive their connection: of MQTT 5 as long as the client's Session Expiry Interval says [MQTT-4.1.0-1], of MQTT 3.1.1 as long as
 * the server keeps any. In the memory of this process, within bounds that tenants share: a session over one is gone, and the next CONNACK says so.
 * The store has what another process needs to go on with one; which of the two is newer it says at each CONNECT that wants what was before.
 */
import type { Clock, TimerHandle } from '../../model/clock.ts'
import type { KeptSessionRow } from '../../model/kept-session.ts'
import { within } from '../../model/within.ts'
import type { DeviceGateway, DeviceIdentity, KeptSessionStore } from '../../engine/device/gateway.ts'
import { TenantShares } from '../tenant-shares.ts'
import type { AskedSession, BegunSession, MqttConnection, SessionStore } from './connection.ts'
import { RENEW_MS, storeIsSilent } from './kept-row.ts'
import { KeptSession, type SessionKeeper } from './kept-session.ts'
import type { MqttLimits } from './limits.ts'
import { Reason } from './reason-codes.ts'

const NO_SESSIONS: readonly KeptSession[] = []
const NOT_KEPT: BegunSession = { isPresent: false, expirySeconds: 0 }
/** What PostgreSQL takes in an index is bounded. */
const MAX_CLIENT_ID_BYTES = 256
/** Those whose clients went away or came back together are written together. */
const MOVED_MS = 1000
const MAX_MOVED = 500
const CLAIMS = 3
/** Clients give up some time after. */
const RECALL_WITHIN_MS = 10_000

export class KeptSessions implements SessionStore, SessionKeeper {
  readonly limits: MqttLimits
  readonly clock: Clock
  private readonly gateway: DeviceGateway
  private readonly places: TenantShares
  private readonly bytes: TenantShares
  /** By device, so that nobody comes upon another's; the one whose connection is the newest last. */
  private readonly sessions = new Map<string, readonly KeptSession[]>()
  readonly store: KeptSessionStore | undefined
  /** Taken over from other processes. Only grows. */
  restored = 0
  /** Whose clients went away, or came back. */
  private moved: { readonly session: KeptSession; readonly isAllTold: boolean }[] = []
  /** When the first of them did, Unix ms. */
  private movedSince = 0
  private movedTimer: TimerHandle | undefined
  private renewal: TimerHandle | undefined
  private isClosed = false

  constructor(gateway: DeviceGateway, limits: MqttLimits, clock: Clock) {
    this.gateway = gateway
    this.limits = limits
    this.clock = clock
    this.store = limits.maxSessionExpirySeconds === 0 ? undefined : gateway.keptSessions
    this.places = new TenantShares(limits.maxKeptSessions, limits.maxKeptSessionsPerTenant)
    this.bytes = new TenantShares(limits.maxKeptBytes, limits.maxKeptBytesPerTenant)
  }

  /** Those whose client is away, and those whose client may go away. */
  get size(): number {
    return this.places.size
  }

  /** Look-ups and removals of those that processes left. */
  get waitingForStore(): number {
    return this.store?.waiting ?? 0
  }

  /** What waits in all of them. */
  get waitingBytes(): number {
    return this.bytes.size
  }

  recall(device: DeviceIdentity, asked: AskedSession): Promise<KeptSessionRow | undefined> | undefined {
    const { store, clock } = this
    if (store === undefined || asked.isClean || isLong(asked.clientId)) return undefined
    return within(clock, RECALL_WITHIN_MS, this.claim(store, device, asked), storeIsSilent)
  }

  /** From then on the process that had it has an old one. */
  private async claim(
    store: KeptSessionStore,
    device: DeviceIdentity,
    { clientId, expirySeconds }: AskedSession,
  ): Promise<KeptSessionRow | undefined> {
    for (let tries = 1; ; tries++) {
      const row = await store.find(device.deviceId, clientId)
      if (row === undefined || row.tenantId !== device.tenantId) return undefined
      if (this.find(device, clientId)?.isCurrent(row) === true) return row
      const seconds = Math.min(expirySeconds, this.limits.maxSessionExpirySeconds) || row.expirySeconds
      const expiresTime = this.clock.now() + 2 * RENEW_MS + seconds * 1000
      const claimed = { ...row, version: row.version + 1, expirySeconds: seconds, expiresTime }
      try {
        await store.save(claimed)
        return claimed
      } catch (error) {
        if (tries === CLAIMS || !store.isOvertaken(error)) throw error
      }
    }
  }

  begin(
    connection: MqttConnection,
    device: DeviceIdentity,
    asked: AskedSession,
    recalled: KeptSessionRow | undefined,
  ): BegunSession {
    // The client is here a second time: what the first connection has goes over to this one. [MQTT-3.1.4-3]
    this.find(device, asked.clientId)?.connection?.close(Reason.SESSION_TAKEN_OVER)
    const expirySeconds = Math.min(asked.expirySeconds, this.limits.maxSessionExpirySeconds)
    const known = this.find(device, asked.clientId)
    // A device that is another tenant's now has nothing of what was for it before.
    const isTheirs = known?.device.tenantId === device.tenantId
    if (known !== undefined && !asked.isClean && isTheirs && known.isCurrent(recalled)) {
      this.put(device.deviceId, [...this.others(known), known])
      known.attach(connection, expirySeconds)
      // Else its time would go on from when its client went.
      if (known.stored !== undefined) this.writeSoon(known, false)
      return { isPresent: true, expirySeconds }
    }
    if (asked.isClean || !isTheirs) known?.end()
    else known?.drop()
    const isWanted = !asked.isClean && recalled !== undefined
    const isKept = (expirySeconds > 0 || isWanted) && !isLong(asked.clientId)
    if (!isKept || !this.makeRoom(device) || !this.places.take(device.tenantId)) {
      if (asked.isClean || isWanted) this.forgetStored(device, asked)
      return NOT_KEPT
    }
    if (isWanted) this.restored++
    else if (asked.isClean) this.forgetStored(device, asked)
    const session = new KeptSession(this, device, asked.clientId, isWanted ? recalled : undefined)
    this.put(device.deviceId, [...this.of(device.deviceId), session])
    try {
      session.open(this.gateway)
    } catch (error) {
      session.drop()
      throw error
    }
    session.attach(connection, expirySeconds)
    this.renewLater()
    return { isPresent: isWanted, expirySeconds }
  }

  private forgetStored({ deviceId }: DeviceIdentity, { clientId, isNewId }: AskedSession): void {
    if (!isNewId && !isLong(clientId)) this.store?.removeOf(deviceId, clientId)
  }

  wentAway(session: KeptSession, isAllTold: boolean): void {
    this.writeSoon(session, isAllTold)
  }

  private writeSoon(session: KeptSession, isAllTold: boolean): void {
    if (this.moved.length === 0) this.movedSince = this.clock.now()
    this.moved.push({ session, isAllTold })
    if (this.moved.length >= MAX_MOVED) this.writeMoved()
    else this.movedTimer ??= this.clock.after(MOVED_MS, () => this.writeMoved())
  }

  takeBytes({ device }: KeptSession, bytes: number): boolean {
    return this.bytes.take(device.tenantId, bytes)
  }

  giveBytes({ device }: KeptSession, bytes: number): void {
    this.bytes.give(device.tenantId, bytes)
  }

  forget(session: KeptSession): void {
    this.put(session.device.deviceId, this.others(session))
    this.places.give(session.device.tenantId)
  }

  /** What is in the store stays there, for who comes after. */
  close(): void {
    this.isClosed = true
    this.writeMoved()
    this.renewal?.cancel()
    for (const session of [...this.sessions.values()].flat()) session.drop()
  }

  private writeMoved(): void {
    this.movedTimer?.cancel()
    this.movedTimer = undefined
    const { moved } = this
    this.moved = []
    const now = this.clock.now()
    const rows = ({ session }: (typeof moved)[number]) => session.stored ?? []
    const away = moved.filter(({ session }) => session.connection === undefined)
    this.store?.renew(away.flatMap(rows), now)
    this.store?.told(away.filter(({ isAllTold }) => isAllTold).flatMap(rows), this.movedSince)
    const back = moved.filter(({ session }) => session.connection !== undefined)
    this.store?.renew(back.flatMap(rows), now + 2 * RENEW_MS)
    void this.dropOvertaken(away.map(({ session }) => session))
  }

  /** What another process goes on with would take the room of others here until its time is over. */
  private async dropOvertaken(away: readonly KeptSession[]): Promise<void> {
    const settled = new Map(
      away.flatMap((session) => (session.settled ? [[session.settled.id, session] as const] : [])),
    )
    const asked = [...settled.values()].flatMap((session) => session.settled ?? [])
    if (this.store === undefined || this.isClosed || asked.length === 0) return
    // Where the store does not answer it is asked with the next renewal.
    const overtaken = await this.store.findOvertaken(asked).catch(() => [])
    for (const { id, version } of overtaken) {
      const session = settled.get(id)
      // Its client may have come, and what it has now is as new as the store's.
      if (session?.connection === undefined && session?.settled?.version === version) session.drop()
    }
  }

  private renewLater(): void {
    if (this.store === undefined || this.isClosed) return
    this.renewal ??= this.clock.after(RENEW_MS, () => this.renew())
  }

  private renew(): void {
    this.renewal = undefined
    const now = this.clock.now()
    const all = [...this.sessions.values()].flat()
    const here = all.filter(({ connection }) => connection !== undefined)
    this.store?.renew(
      here.flatMap(({ stored }) => stored ?? []),
      now + 2 * RENEW_MS,
    )
    const told = here.filter(({ isAllTold }) => isAllTold)
    for (const session of told) session.told(now)
    this.store?.told(
      told.flatMap(({ stored }) => stored ?? []),
      now,
    )
    void this.dropOvertaken(all.filter(({ connection }) => connection === undefined))
    if (this.sessions.size > 0) this.renewLater()
  }

  /** A client that has another id each time leaves its sessions behind: the oldest of the device gives way, unless somebody is connected to it. */
  private makeRoom({ deviceId }: DeviceIdentity): boolean {
    const sessions = this.of(deviceId)
    if (sessions.length < this.limits.maxKeptSessionsPerDevice) return true
    const left = sessions.find(({ connection }) => connection === undefined)
    left?.end()
    return left !== undefined
  }

  private find({ deviceId }: DeviceIdentity, clientId: string): KeptSession | undefined {
    return this.of(deviceId).find((session) => session.clientId === clientId)
  }

  private of(deviceId: string): readonly KeptSession[] {
    return this.sessions.get(deviceId) ?? NO_SESSIONS
  }

  private others(session: KeptSession): readonly KeptSession[] {
    return this.of(session.device.deviceId).filter((other) => other !== session)
  }

  private put(deviceId: string, sessions: readonly KeptSession[]): void {
    if (sessions.length === 0) this.sessions.delete(deviceId)
    else this.sessions.set(deviceId, sessions)
  }
}

function isLong(clientId: string): boolean {
  return Buffer.byteLength(clientId) > MAX_CLIENT_ID_BYTES
}
