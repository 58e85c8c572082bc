/**
 * The devices behind one gateway connection, by name: of a gateway, or of an edge node of Sparkplug. A device that is connected costs a look into a map; what comes for one that is not
 * waits for it, in order and within a bound of bytes, beyond which the socket is not read.
 */
import { isMillraceError, type MillraceError } from '../../../model/errors.ts'
import type {
  CallRequest,
  DeviceIdentity,
  DeviceSession,
  NamedChild,
  PublishReceipt,
  SharedAttributesUpdate,
} from '../../../engine/device/gateway.ts'
import type { MqttConnection } from '../connection.ts'
import { ticksOf, type Timed } from '../keep-alive-wheel.ts'
import { GatewayChild, type ChildHost, type Waiting } from './child.ts'
import { GatewayErrors } from './errors.ts'
import { GatewayLatencies } from './latencies.ts'
import type { ChildRegistry, ChildVoice } from './registry.ts'

/** Devices of one gateway that are looked up or made at once. */
const CONNECTS_AT_ONCE = 16
/** Of publishes that wait for their devices. */
const MAX_WAITING_BYTES = 262_144
/** Seconds between looks at what the gateway itself did. */
const ROUND_TICKS = 3
const ROUNDS_PER_REPORT = 20

/** The gateway's own metrics: what is lost of them comes again. */
const NOBODY: PublishReceipt = { stored: () => undefined, refused: () => undefined }

export class GatewayChildren implements ChildRegistry, ChildHost, Timed {
  slot = 0
  readonly idleTicks: number
  readonly latencies = new GatewayLatencies()
  private readonly session: MqttConnection
  private readonly voice: ChildVoice
  /** As it logged in: its children count for this tenant as long as it is there. */
  private readonly known: DeviceIdentity
  private readonly children = new Map<string, GatewayChild>()
  private readonly queue: GatewayChild[] = []
  /** What came for them before the connection ended is still to be handed on: each keeps its place until then. */
  private readonly orphans = new Set<GatewayChild>()
  private connecting = 0
  private waitingBytes = 0
  private roundTick: number
  private rounds = 0
  private isClosed = false

  constructor(session: MqttConnection, gateway: DeviceIdentity, voice: ChildVoice) {
    this.session = session
    this.voice = voice
    this.known = gateway
    const { wheel, limits } = session.host
    this.idleTicks = ticksOf(limits.idleTimeoutMs)
    this.roundTick = wheel.tick
    wheel.add(this)
  }

  /** As it is now: what is made for it goes to the customer that it has. */
  private get gateway(): DeviceIdentity {
    return this.session.device?.device ?? this.known
  }

  get tick(): number {
    return this.session.host.wheel.tick
  }

  get size(): number {
    return this.children.size
  }

  get isFull(): boolean {
    return this.waitingBytes >= MAX_WAITING_BYTES
  }

  connected(name: string): DeviceSession | undefined {
    const child = this.children.get(name)
    child?.heard()
    return child?.session
  }

  connect(named: NamedChild, waiting: Waiting): void {
    const { name } = named
    let child = this.children.get(name)
    if (child?.session !== undefined) return waiting.connected(child.session)
    if (child === undefined) {
      if (!this.hasRoom()) return waiting.refused(GatewayErrors.TOO_MANY_CHILDREN())
      child = new GatewayChild(this, named)
      this.children.set(name, child)
      this.queue.push(child)
    }
    this.waitingBytes += waiting.bytes
    child.waiting?.push(waiting)
    this.connectNext()
  }

  private hasRoom(): boolean {
    const { host } = this.session
    return this.children.size < host.limits.maxChildrenPerGateway && host.admitChild(this.known)
  }

  sessions(): readonly DeviceSession[] {
    return [...this.children.values()].flatMap(({ session }) => session ?? [])
  }

  disconnect(name: string): void {
    const child = this.children.get(name)
    if (child === undefined) return
    child.session?.close()
    this.ended(child)
  }

  ended(child: GatewayChild): void {
    child.session = undefined
    this.session.host.wheel.remove(child)
    if (this.children.get(child.name) !== child) return
    this.children.delete(child.name)
    this.session.host.releaseChild(this.known.tenantId)
  }

  /** What came before is still the devices': it is handed on as they are found. */
  close(): void {
    this.isClosed = true
    this.session.host.wheel.remove(this)
    for (const child of this.children.values()) {
      this.leave(child.session)
      if (child.waiting !== undefined && child.waiting.length > 0) this.orphans.add(child)
      else this.ended(child)
    }
    this.children.clear()
  }

  silent(child: GatewayChild): void {
    this.leave(child.session)
    this.ended(child)
  }

  /** Not because its gateway said so. */
  private leave(session: DeviceSession | undefined): void {
    if (session === undefined) return
    this.voice.leaving(session)
    session.close()
  }

  dueTick(): number {
    return this.roundTick + ROUND_TICKS
  }

  expired(): void {
    if (this.isClosed) return
    this.shareActivity(this.roundTick)
    if (++this.rounds % ROUNDS_PER_REPORT === 0) this.report()
    this.roundTick = this.tick
    this.session.host.wheel.add(this)
  }

  /** What the gateway itself did counts for all of its devices where it says so. */
  private shareActivity(since: number): void {
    const isShared = this.session.device?.device.overwritesActivityTime === true
    if (!(isShared || this.voice.keepsSilent) || this.session.heardTick < since) return
    for (const child of this.children.values()) {
      child.heard()
      if (isShared) child.session?.touch()
    }
  }

  private report(): void {
    const value = this.latencies.take()
    if (value === undefined) return
    const entries = [{ key: 'gatewayMetrics', type: 'JSON', value } as const]
    this.session.device?.postTelemetry([{ ts: undefined, entries }], NOBODY)
  }

  attributesChanged(child: GatewayChild, update: SharedAttributesUpdate): void {
    this.voice.attributesChanged(child.name, update)
  }

  called({ name, session }: GatewayChild, request: CallRequest): void {
    if (session !== undefined) this.voice.called(name, session, request)
  }

  private connectNext(): void {
    while (this.connecting < CONNECTS_AT_ONCE) {
      const child = this.queue.shift()
      if (child === undefined) return
      // Nothing came for it before the connection ended.
      if (this.isClosed && child.waiting?.length === 0) continue
      this.connecting++
      this.session.host.gateway
        .connectChild(this.gateway, child.named)
        .then(
          (device) => this.opened(child, device),
          (error: unknown) => this.failed(child, error),
        )
        .catch((error: unknown) => this.session.violated(error))
        .finally(() => {
          this.connecting--
          if (this.orphans.delete(child)) this.session.host.releaseChild(this.known.tenantId)
          this.connectNext()
        })
    }
  }

  private opened(child: GatewayChild, device: DeviceIdentity): void {
    // Disconnected meanwhile, what came before that is still the device's; another session of it may be there again.
    const isPresent = this.children.get(child.name) === child
    if (!isPresent && child.waiting?.length === 0) return
    const session = this.session.host.gateway.openSession(
      device,
      isPresent ? 'lasting' : 'brief',
      child,
      this.known.deviceId,
    )
    if (isPresent) {
      child.session = session
      child.heard()
      this.session.host.wheel.add(child)
      session.subscribeToSharedAttributes()
      session.subscribeToCalls('all')
    }
    this.settle(child, (waiting) => waiting.connected(session))
    if (!isPresent) this.leave(session)
  }

  private failed(child: GatewayChild, error: unknown): void {
    this.ended(child)
    const refusal = isMillraceError(error) && !isForeign(error) ? error : GatewayErrors.CONNECT_FAILED({}, error)
    this.settle(child, (waiting) => waiting.refused(refusal))
  }

  private settle(child: GatewayChild, tell: (waiting: Waiting) => void): void {
    const all = child.waiting ?? []
    child.waiting = undefined
    const wasFull = this.isFull
    for (const waiting of all) {
      this.waitingBytes -= waiting.bytes
      tell(waiting)
    }
    if (wasFull && !this.isFull) this.session.resume()
  }
}

/** Of a store or a service: what it takes for invalid is not the payload. */
function isForeign({ kind, code }: MillraceError): boolean {
  return kind === 'invalid' && code !== 'device.CHILD_REFUSED'
}
