/**
 * The MQTT listener: accepts connections within the limit, owns what sessions share, and writes once a turn for all of them.
 */
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net'
import { errorText } from '../../model/errors.ts'
import type { Log } from '../../model/log.ts'
import type { Clock } from '../../model/clock.ts'
import type { DeviceGateway, DeviceIdentity } from '../../engine/device/gateway.ts'
import { JsonPayloadDecoder } from '../payload/json.ts'
import { DEFAULT_PAYLOAD_LIMITS, type PayloadLimits } from '../payload/limits.ts'
import { TenantShares } from '../tenant-shares.ts'
import { MqttErrors } from './errors.ts'
import type { MqttConnection, MqttCounts, SessionHost } from './connection.ts'
import { KeepAliveWheel, ticksOf } from './keep-alive-wheel.ts'
import { DEFAULT_MQTT_LIMITS, type MqttLimits } from './limits.ts'
import { ProvisioningPlaces } from './provisioning-places.ts'
import { Reason } from './reason-codes.ts'
import { MqttSession } from './session.ts'

export interface MqttTransportOptions {
  readonly gateway: DeviceGateway
  readonly bindAddress: string
  /** 0 picks a free one. */
  readonly port: number
  readonly limits?: Partial<MqttLimits>
  readonly payload?: PayloadLimits
  readonly clock: Clock
  readonly log: Log
}

export interface MqttFigures extends Readonly<MqttCounts> {
  readonly connections: number
}

export interface MqttTransport {
  readonly port: number
  figures(): MqttFigures
  /** Tells the clients, lets what is written go out (bounded), closes. Idempotent. */
  close(): Promise<void>
}

/** A socket and its session know each other without a closure. */
interface SessionSocket extends Socket {
  mqttSession?: MqttSession | undefined
}

const CLOSE_TIMEOUT_MS = 2000

/** Resolves once it listens. Rejects LISTEN_FAILED. */
export async function startMqttTransport(options: MqttTransportOptions): Promise<MqttTransport> {
  const transport = new MqttServer(options)
  await transport.listen(options.bindAddress, options.port)
  return transport
}

class MqttServer implements MqttTransport, SessionHost {
  readonly gateway: DeviceGateway
  readonly limits: MqttLimits
  readonly decoder: JsonPayloadDecoder
  readonly wheel: KeepAliveWheel
  readonly counts: MqttCounts = {
    accepted: 0,
    received: 0,
    acknowledged: 0,
    storedUnacknowledged: 0,
    refused: 0,
    undecodable: 0,
    unknownTopics: 0,
    malformed: 0,
    unauthenticated: 0,
    pushed: 0,
    pushesDropped: 0,
    slowConsumers: 0,
    overConnectionLimit: 0,
    overTenantLimit: 0,
    silentDropped: 0,
  }
  private readonly options: MqttTransportOptions
  private readonly server: Server
  private readonly sessions = new Set<MqttSession>()
  /** Those that have not said who they are, oldest first. */
  private readonly silent = new Set<MqttSession>()
  private readonly shares: TenantShares
  private readonly stopListening: () => void
  private readonly provisioning: ProvisioningPlaces<MqttSession>
  private toFlush: MqttConnection[] = []
  private waiting = new Set<MqttConnection>()
  private closing: Promise<void> | undefined
  private lastSessionGone: (() => void) | undefined

  constructor(options: MqttTransportOptions) {
    this.options = options
    this.gateway = options.gateway
    this.limits = { ...DEFAULT_MQTT_LIMITS, ...options.limits }
    this.shares = new TenantShares(this.limits.maxConnections, this.limits.maxConnectionsPerTenant)
    this.provisioning = new ProvisioningPlaces(this.limits.maxProvisioningConnections)
    this.decoder = new JsonPayloadDecoder(options.payload ?? DEFAULT_PAYLOAD_LIMITS)
    this.wheel = new KeepAliveWheel(options.clock)
    this.server = createServer({ noDelay: true }, (socket) => this.accept(socket))
    this.stopListening = options.gateway.onWritable(() => this.roomAgain())
  }

  get port(): number {
    return (this.server.address() as AddressInfo | null)?.port ?? 0
  }

  figures(): MqttFigures {
    return { ...this.counts, connections: this.sessions.size }
  }

  listen(address: string, port: number): Promise<void> {
    return new Promise((resolve, reject) => {
      const failed = (error: Error) => {
        this.wheel.close()
        this.stopListening()
        reject(MqttErrors.LISTEN_FAILED({ address, port, reason: error.message }, error))
      }
      this.server.once('error', failed)
      this.server.listen(port, address, () => {
        this.server.removeListener('error', failed)
        this.server.on('error', (error) => this.unexpected(error))
        resolve()
      })
    })
  }

  close(): Promise<void> {
    return (this.closing ??= this.closeAll())
  }

  private async closeAll(): Promise<void> {
    this.stopListening()
    const ended = new Promise<void>((resolve) => this.server.close(() => resolve()))
    for (const session of this.sessions) session.close(Reason.SERVER_SHUTTING_DOWN)
    const timer = this.options.clock.after(CLOSE_TIMEOUT_MS, () => {
      for (const session of this.sessions) session.socket.destroy()
    })
    // The server's own end comes before the last sockets have told theirs.
    if (this.sessions.size > 0) await new Promise<void>((resolve) => (this.lastSessionGone = resolve))
    await ended
    timer.cancel()
    this.wheel.close()
  }

  private accept(socket: SessionSocket): void {
    if (this.sessions.size >= this.limits.maxConnections || this.closing !== undefined) {
      this.counts.overConnectionLimit++
      socket.destroy()
      return
    }
    if (this.silent.size >= this.limits.maxSilentConnections) this.dropSilent()
    this.counts.accepted++
    const session = new MqttSession(this, socket, ticksOf(this.limits.connectTimeoutMs))
    socket.mqttSession = session
    this.sessions.add(session)
    this.silent.add(session)
    this.wheel.add(session)
    socket.on('data', dataReceived)
    socket.on('error', socketFailed)
    socket.on('close', this.socketClosed)
  }

  /** A client speaks within a round trip: who has waited longest is the least likely to. */
  private dropSilent(): void {
    const [oldest] = this.silent
    if (oldest === undefined) return
    this.counts.silentDropped++
    this.silent.delete(oldest)
    oldest.socket.destroy()
  }

  connectReceived(session: MqttSession): void {
    this.silent.delete(session)
  }

  admit(device: DeviceIdentity): boolean {
    if (this.shares.take(device.tenantId)) return true
    this.counts.overTenantLimit++
    return false
  }

  admitProvisioning(session: MqttSession): void {
    const loser = this.provisioning.take(session)
    if (loser === undefined) return
    this.counts.overConnectionLimit++
    loser.socket.destroy()
  }

  releaseProvisioning(session: MqttSession): void {
    this.provisioning.give(session)
  }

  release(tenantId: string): void {
    this.shares.give(tenantId)
  }

  /** One function for all sockets: which one it is, is in `this` of the call. */
  private readonly socketClosed = this.makeSocketClosed()

  private makeSocketClosed(): (this: SessionSocket) => void {
    const forget = (session: MqttSession) => this.forget(session)
    return function () {
      const session = this.mqttSession
      this.mqttSession = undefined
      if (session !== undefined) forget(session)
    }
  }

  private forget(session: MqttSession): void {
    this.sessions.delete(session)
    this.silent.delete(session)
    session.gone()
    if (this.sessions.size === 0) this.lastSessionGone?.()
  }

  flushSoon(session: MqttConnection): void {
    if (this.toFlush.length === 0) process.nextTick(this.flushAll)
    this.toFlush.push(session)
  }

  private readonly flushAll = (): void => {
    const sessions = this.toFlush
    this.toFlush = []
    for (const session of sessions) session.flush()
  }

  waitForRoom(session: MqttConnection): void {
    this.waiting.add(session)
  }

  private roomAgain(): void {
    const sessions = this.waiting
    this.waiting = new Set()
    for (const session of sessions) session.resume()
  }

  unexpected(error: unknown): void {
    this.options.log.error('mqtt: unexpected error', {
      error: errorText(error),
      stack: error instanceof Error ? error.stack : undefined,
    })
  }
}

function dataReceived(this: SessionSocket, chunk: Buffer): void {
  this.mqttSession?.received(chunk)
}

/** A reset or a broken pipe: 'close' follows and does the rest. */
function socketFailed(): void {}
