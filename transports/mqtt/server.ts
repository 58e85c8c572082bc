/**
 * The MQTT server: accepts connections within the limit, whatever carries them, owns what sessions share, and writes once a turn for all.
 */
import { awaitedLater } from '../../model/awaited-later.ts'
import { errorText } from '../../model/errors.ts'
import type { Log } from '../../model/log.ts'
import type { Clock } from '../../model/clock.ts'
import type { DeviceGateway, DeviceIdentity } from '../../engine/device/gateway.ts'
import { JsonPayloadDecoder } from '../payload/json.ts'
import { DEFAULT_PAYLOAD_LIMITS, type PayloadLimits } from '../payload/limits.ts'
import { TenantShares } from '../tenant-shares.ts'
import { AddressBlocks } from './address-blocks.ts'
import type { ByteStream, MqttConnection, MqttCounts, SessionHost, SparkplugParts } from './connection.ts'
import { JsonGatewayDecoder } from './gateway/json-payloads.ts'
import type { GatewayDecoder } from './gateway/payloads.ts'
import { ProtobufGatewayDecoder } from './gateway/protobuf-payloads.ts'
import { KeepAliveWheel, ticksOf } from './keep-alive-wheel.ts'
import { KeptSessions } from './kept-sessions.ts'
import { DEFAULT_MQTT_LIMITS, type MqttLimits } from './limits.ts'
import type { Door, ListenAt, MqttListener } from './listeners/listener.ts'
import { listenOnTcp } from './listeners/tcp.ts'
import { listenOnTls, type ListenOnTls } from './listeners/tls.ts'
import { ProvisioningPlaces } from './provisioning-places.ts'
import { Reason } from './reason-codes.ts'
import { MqttSession } from './session.ts'
import { SparkplugDecoder } from './sparkplug/payload.ts'

export interface MqttTransportOptions {
  readonly gateway: DeviceGateway
  /** Port 0 picks a free one. */
  readonly plain?: ListenAt | undefined
  readonly tls?: ListenOnTls | undefined
  readonly webSocket?: ListenAt | undefined
  readonly limits?: Partial<MqttLimits>
  readonly payload?: PayloadLimits
  readonly clock: Clock
  readonly log: Log
}

export interface MqttFigures extends Readonly<MqttCounts> {
  readonly connections: number
  readonly handshakes: number
  readonly children: number
  /** Of what births of Sparkplug say. */
  readonly birthBytes: number
  readonly keptSessions: number
  /** Of what waits in those. */
  readonly keptBytes: number
  /** Look-ups and removals of sessions that the entity store has not answered. */
  readonly keptWaiting: number
  /** Of them, so many came from other processes; only grows. */
  readonly restoredSessions: number
  /** Of topic aliases. */
  readonly aliasBytes: number
}

export interface MqttTransport {
  /** The real ones: `mqtt`, of TLS `mqtts`, of WebSocket `mqttws`. */
  readonly ports: Readonly<Record<string, number>>
  figures(): MqttFigures
  /** Tells the clients, lets what is written go out (bounded), closes. Idempotent. */
  close(): Promise<void>
}

const CLOSE_TIMEOUT_MS = 2000

/** Resolves once it listens. Rejects LISTEN_FAILED, `certificate.…`. */
export async function startMqttTransport(options: MqttTransportOptions): Promise<MqttTransport> {
  const transport = new MqttServer(options)
  await transport.listen()
  return transport
}

class MqttServer implements MqttTransport, SessionHost, Door {
  readonly gateway: DeviceGateway
  readonly limits: MqttLimits
  readonly decoder: JsonPayloadDecoder
  readonly gatewayDecoders: { readonly json: GatewayDecoder; readonly protobuf: GatewayDecoder }
  readonly sparkplug: SparkplugParts
  readonly aliasShares: TenantShares
  readonly wheel: KeepAliveWheel
  readonly keptSessions: KeptSessions
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
    addressBlocked: 0,
    pushed: 0,
    pushesDropped: 0,
    slowConsumers: 0,
    overConnectionLimit: 0,
    overTenantLimit: 0,
    silentDropped: 0,
    failedHandshakes: 0,
  }
  private readonly options: MqttTransportOptions
  private readonly listeners = new Map<string, MqttListener>()
  private readonly sessions = new Set<MqttSession>()
  /** Those that have not said who they are, oldest first. */
  private readonly silent = new Set<MqttSession>()
  /** What is kept of what they sent. */
  private silentBytes = 0
  private readonly shares: TenantShares
  private readonly childShares: TenantShares
  private readonly blocks: AddressBlocks | undefined
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
    const { loginFailures } = this.limits
    this.blocks = loginFailures && new AddressBlocks(options.clock, loginFailures)
    this.shares = new TenantShares(this.limits.maxConnections, this.limits.maxConnectionsPerTenant)
    this.childShares = new TenantShares(this.limits.maxChildren, this.limits.maxChildrenPerTenant)
    this.aliasShares = new TenantShares(this.limits.maxAliasBytes, this.limits.maxAliasBytesPerTenant)
    this.provisioning = new ProvisioningPlaces(this.limits.maxProvisioningConnections)
    const payload = options.payload ?? DEFAULT_PAYLOAD_LIMITS
    this.decoder = new JsonPayloadDecoder(payload)
    this.gatewayDecoders = { json: new JsonGatewayDecoder(this.decoder), protobuf: new ProtobufGatewayDecoder(payload) }
    const births = new TenantShares(this.limits.maxBirthBytes, this.limits.maxBirthBytesPerTenant)
    this.sparkplug = { decoder: new SparkplugDecoder(payload), births }
    this.wheel = new KeepAliveWheel(options.clock)
    this.keptSessions = new KeptSessions(options.gateway, this.limits, options.clock)
    this.stopListening = options.gateway.onWritable(() => this.roomAgain())
  }

  get ports(): Readonly<Record<string, number>> {
    return Object.fromEntries([...this.listeners].map(([name, { port }]) => [name, port]))
  }

  figures(): MqttFigures {
    const handshakes = [...this.listeners.values()].reduce((sum, { onTheWay }) => sum + onTheWay, 0)
    return {
      ...this.counts,
      connections: this.sessions.size,
      handshakes,
      children: this.childShares.size,
      birthBytes: this.sparkplug.births.size,
      keptSessions: this.keptSessions.size,
      keptBytes: this.keptSessions.waitingBytes,
      keptWaiting: this.keptSessions.waitingForStore,
      restoredSessions: this.keptSessions.restored,
      aliasBytes: this.aliasShares.size,
    }
  }

  async listen(): Promise<void> {
    const { plain, tls, webSocket, clock, log } = this.options
    try {
      if (plain !== undefined) this.listeners.set('mqtt', await listenOnTcp(plain, this))
      if (tls !== undefined) this.listeners.set('mqtts', await listenOnTls(tls, this, { clock, log }))
      if (webSocket !== undefined) {
        // Not loaded where nobody uses it.
        const { listenOnWebSocket } = await import('./listeners/web-socket.ts')
        this.listeners.set('mqttws', await listenOnWebSocket(webSocket, this))
      }
    } catch (error) {
      await this.close()
      throw error
    }
  }

  close(): Promise<void> {
    return (this.closing ??= this.closeAll())
  }

  private async closeAll(): Promise<void> {
    this.stopListening()
    const ended = awaitedLater(Promise.all([...this.listeners.values()].map((listener) => listener.close())))
    for (const session of this.sessions) session.close(Reason.SERVER_SHUTTING_DOWN)
    this.keptSessions.close()
    const timer = this.options.clock.after(CLOSE_TIMEOUT_MS, () => {
      for (const session of this.sessions) session.socket.destroy()
    })
    // The server's own end comes before the last sockets have told theirs.
    if (this.sessions.size > 0) await new Promise<void>((resolve) => (this.lastSessionGone = resolve))
    await ended
    timer.cancel()
    this.wheel.close()
  }

  hasRoom(onTheWay: number, address: string | undefined): boolean {
    if (address !== undefined && this.blocks?.isBlocked(address) === true) {
      this.counts.addressBlocked++
      return false
    }
    if (this.sessions.size + onTheWay < this.limits.maxConnections && this.closing === undefined) return true
    this.counts.overConnectionLimit++
    return false
  }

  accept(stream: ByteStream): MqttSession | undefined {
    if (!this.hasRoom(0, stream.remoteAddress)) {
      stream.destroy()
      return undefined
    }
    if (this.silent.size >= this.limits.maxSilentConnections) this.dropSilent()
    this.counts.accepted++
    const session = new MqttSession(this, stream, ticksOf(this.limits.connectTimeoutMs))
    this.sessions.add(session)
    this.silent.add(session)
    this.wheel.add(session)
    return session
  }

  /** A client speaks within a round trip: who has waited longest is the least likely to. */
  private dropSilent(): void {
    const [oldest] = this.silent
    if (oldest === undefined) return
    this.counts.silentDropped++
    this.silent.delete(oldest)
    oldest.socket.destroy()
  }

  loginEnded(session: MqttSession, isGood: boolean): void {
    if (isGood) this.blocks?.succeeded(session.address)
    else this.blocks?.failed(session.address)
  }

  silentBytesChanged(bytes: number): boolean {
    this.silentBytes += bytes
    if (bytes <= 0 || this.silentBytes <= this.limits.maxSilentBytes) return true
    this.counts.silentDropped++
    return false
  }

  connectReceived(session: MqttSession): void {
    this.silent.delete(session)
  }

  admit(device: DeviceIdentity): boolean {
    if (this.shares.take(device.tenantId)) return true
    this.counts.overTenantLimit++
    return false
  }

  admitChild(gateway: DeviceIdentity): boolean {
    if (this.childShares.take(gateway.tenantId)) return true
    this.counts.overTenantLimit++
    return false
  }

  releaseChild(tenantId: string): void {
    this.childShares.give(tenantId)
  }

  now(): number {
    return this.options.clock.now()
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

  forget(session: MqttSession): void {
    this.sessions.delete(session)
    this.silent.delete(session)
    this.waiting.delete(session)
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
