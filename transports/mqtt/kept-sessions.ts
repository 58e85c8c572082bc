/**
 * Which sessions of MQTT 5 outlive their connection, as long as the client's Session Expiry Interval says [MQTT-4.1.0-1]. All in the memory of
 * this process, within bounds that tenants share: a session over one is gone, and the next CONNACK says so.
 */
import type { Clock } from '../../model/clock.ts'
import type { DeviceGateway, DeviceIdentity } from '../../engine/device/gateway.ts'
import { TenantShares } from '../tenant-shares.ts'
import type { AskedSession, BegunSession, MqttConnection, SessionStore } from './connection.ts'
import { KeptSession, type SessionKeeper } from './kept-session.ts'
import type { MqttLimits } from './limits.ts'
import { Reason } from './reason-codes.ts'

const NO_SESSIONS: readonly KeptSession[] = []
const NOT_KEPT: BegunSession = { isPresent: false, expirySeconds: 0 }

export class KeptSessions implements SessionStore, SessionKeeper {
  readonly limits: MqttLimits
  readonly clock: Clock
  private readonly gateway: DeviceGateway
  private readonly places: TenantShares
  private readonly bytes: TenantShares
  /** By device, so that nobody comes upon another's; the one whose connection is the newest last. */
  private readonly sessions = new Map<string, readonly KeptSession[]>()

  constructor(gateway: DeviceGateway, limits: MqttLimits, clock: Clock) {
    this.gateway = gateway
    this.limits = limits
    this.clock = clock
    this.places = new TenantShares(limits.maxKeptSessions, limits.maxKeptSessionsPerTenant)
    this.bytes = new TenantShares(limits.maxKeptBytes, limits.maxKeptBytesPerTenant)
  }

  /** Those whose client is away, and those whose client may go away. */
  get size(): number {
    return this.places.size
  }

  /** What waits in all of them. */
  get waitingBytes(): number {
    return this.bytes.size
  }

  begin(connection: MqttConnection, device: DeviceIdentity, asked: AskedSession): BegunSession {
    // The client is here a second time: what the first connection has goes over to this one. [MQTT-3.1.4-3]
    this.find(device, asked.clientId)?.connection?.close(Reason.SESSION_TAKEN_OVER)
    const expirySeconds = Math.min(asked.expirySeconds, this.limits.maxSessionExpirySeconds)
    const known = this.find(device, asked.clientId)
    // A device that is another tenant's now has nothing of what was for it before.
    if (known !== undefined && !asked.isClean && known.device.tenantId === device.tenantId) {
      this.put(device.deviceId, [...this.others(known), known])
      known.attach(connection, expirySeconds)
      return { isPresent: true, expirySeconds }
    }
    known?.end()
    if (expirySeconds === 0 || !this.makeRoom(device) || !this.places.take(device.tenantId)) return NOT_KEPT
    const session = new KeptSession(this, device, asked.clientId)
    this.put(device.deviceId, [...this.of(device.deviceId), session])
    try {
      session.open(this.gateway)
    } catch (error) {
      session.end()
      throw error
    }
    session.attach(connection, expirySeconds)
    return { isPresent: false, expirySeconds }
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

  close(): void {
    for (const session of [...this.sessions.values()].flat()) session.end()
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
