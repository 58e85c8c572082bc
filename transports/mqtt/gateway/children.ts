/**
 * The devices behind one gateway connection, by name. A device that is connected costs a look into a map; what comes for one that is not
 * waits for it, in order and within a bound of bytes, beyond which the socket is not read.
 */
import { isMillraceError, type MillraceError } from '../../../model/errors.ts'
import type {
  CallRequest,
  DeviceIdentity,
  DeviceSession,
  PublishReceipt,
  SharedAttributesUpdate,
} from '../../../engine/device/gateway.ts'
import { sharedAttributesJson } from '../../payload/attribute-answer.ts'
import type { MqttConnection } from '../connection.ts'
import { grantedQos, push } from '../handlers/push.ts'
import { ticksOf, type Timed } from '../keep-alive-wheel.ts'
import { filterIndex } from '../topics.ts'
import { GatewayChild, type ChildHost, type Waiting } from './child.ts'
import { GatewayErrors } from './errors.ts'
import { GatewayLatencies } from './latencies.ts'
import { encodeChildCall, encodeChildUpdate } from './protobuf-payloads.ts'
import type { ChildRegistry } from './registry.ts'

/** Devices of one gateway that are looked up or made at once. */
const CONNECTS_AT_ONCE = 16
/** Of publishes that wait for their devices. */
const MAX_WAITING_BYTES = 262_144
/** Seconds between looks at what the gateway itself did. */
const ROUND_TICKS = 3
const ROUNDS_PER_REPORT = 20
const ATTRIBUTES_TOPIC = 'v1/gateway/attributes'
const CALLS_TOPIC = 'v1/gateway/rpc'

/** The gateway's own metrics: what is lost of them comes again. */
const NOBODY: PublishReceipt = { stored: () => undefined, refused: () => undefined }

export class GatewayChildren implements ChildRegistry, ChildHost, Timed {
  slot = 0
  readonly idleTicks: number
  readonly latencies = new GatewayLatencies()
  private readonly session: MqttConnection
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

  constructor(session: MqttConnection, gateway: DeviceIdentity) {
    this.session = session
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

  connect(name: string, type: string, waiting: Waiting): void {
    let child = this.children.get(name)
    if (child?.session !== undefined) return waiting.connected(child.session)
    if (child === undefined) {
      if (!this.hasRoom()) return waiting.refused(GatewayErrors.TOO_MANY_CHILDREN())
      child = new GatewayChild(this, name, type)
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
      child.session?.close()
      if (child.waiting !== undefined && child.waiting.length > 0) this.orphans.add(child)
      else this.ended(child)
    }
    this.children.clear()
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
    const device = this.session.device?.device
    if (device?.overwritesActivityTime !== true || this.session.heardTick < since) return
    for (const child of this.children.values()) {
      child.heard()
      child.session?.touch()
    }
  }

  private report(): void {
    const value = this.latencies.take()
    if (value === undefined) return
    const entries = [{ key: 'gatewayMetrics', type: 'JSON', value } as const]
    this.session.device?.postTelemetry([{ ts: undefined, entries }], NOBODY)
  }

  pushAttributes({ name }: GatewayChild, update: SharedAttributesUpdate): void {
    if (this.gateway.payloads !== undefined)
      return this.push(ATTRIBUTES_TOPIC, encodeChildUpdate(name, update, this.session.host.now()))
    this.push(ATTRIBUTES_TOPIC, `{"device":${JSON.stringify(name)},"data":${sharedAttributesJson(update)}}`)
  }

  pushCall({ name, session }: GatewayChild, request: CallRequest): void {
    if (session === undefined) return
    const { id, method, params } = request
    if (this.gateway.payloads !== undefined)
      return this.push(CALLS_TOPIC, encodeChildCall(name, request), { of: session, id })
    const data = `{"id":${id},"method":${JSON.stringify(method)},"params":${params}}`
    this.push(CALLS_TOPIC, `{"device":${JSON.stringify(name)},"data":${data}}`, { of: session, id })
  }

  push(topic: string, payload: string | Buffer, call?: { readonly of: DeviceSession; readonly id: number }): void {
    push(this.session, topic, payload, grantedQos(this.session, filterIndex(topic) ?? 0), call)
  }

  private connectNext(): void {
    while (this.connecting < CONNECTS_AT_ONCE) {
      const child = this.queue.shift()
      if (child === undefined) return
      // Nothing came for it before the connection ended.
      if (this.isClosed && child.waiting?.length === 0) continue
      this.connecting++
      this.session.host.gateway
        .connectChild(this.gateway, { name: child.name, type: child.type })
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
    if (!isPresent) session.close()
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
