/**
 * QoS 1 pushes of one connection that the client has not acknowledged: whose packet ids are taken, how many may be open, what waits.
 * Nothing is allocated until the first push.
 */
import type { DeviceSession } from '../../engine/device/gateway.ts'
import type { IConnectPacket } from './codec.ts'
import type { MqttLimits } from './limits.ts'

const LARGEST_MESSAGE_ID = 65_535

/** A call that goes out with a push: of the connection's own device, or of one behind it. */
export interface PushedCall {
  readonly of: Pick<DeviceSession, 'callDelivered'>
  readonly id: number
}

export interface WaitingPush {
  readonly topic: string
  readonly payload: string | Buffer
  /** Set where it is a call to the device. */
  readonly call?: PushedCall | undefined
  /** Told once it has left, or where it never will. */
  readonly left?: (() => void) | undefined
}

/** A push of QoS 1 that the client of a session that is kept may not have. */
export interface UnacknowledgedPush {
  /** Under which it went out; undefined where it did not. */
  readonly messageId: number | undefined
  readonly topic: string
  readonly payload: string | Buffer
}

/** Who counts what is kept of pushes. */
export interface PushKeeper {
  /** False where there is no room for so many bytes: nothing is counted then. */
  take(bytes: number): boolean
  give(bytes: number): void
}

/** What waits on one connection is bounded; each device behind it adds to that. */
const BYTES_A_CHILD = 1024
const PUSHES_A_CHILD = 2
/** Of a push that waits, besides its payload and topic. */
const PUSH_BYTES = 128

/** Bytes that may wait for a client to read them. */
export function pendingBytesOf({ maxPendingBytes }: MqttLimits, children: number): number {
  return maxPendingBytes + BYTES_A_CHILD * children
}

export class DownlinkPushes {
  /** What a v5 client says it takes [MQTT-3.1.2-24]. */
  maximumPacketSize = Infinity
  /** Set where the session outlives the connection: what is not acknowledged goes out again. */
  keeper: PushKeeper | undefined
  /** By packet id; undefined where there was no room for it. */
  private retained: Map<number, UnacknowledgedPush | undefined> | undefined
  private maxOpen: number
  private readonly limits: MqttLimits
  /** With the call that went out with it. */
  private open: Map<number, PushedCall | undefined> | undefined
  private waiting: WaitingPush[] | undefined
  private waitingBytes = 0
  private lastMessageId = 0

  constructor(limits: MqttLimits) {
    this.limits = limits
    this.maxOpen = limits.maxOpenPushes
  }

  /** Takes on the bounds that a v5 client sets in its CONNECT. */
  heed(properties: IConnectPacket['properties']): void {
    const { receiveMaximum, maximumPacketSize } = properties ?? {}
    this.maxOpen = Math.min(this.limits.maxOpenPushes, receiveMaximum ?? LARGEST_MESSAGE_ID)
    this.maximumPacketSize = maximumPacketSize ?? Infinity
  }

  /** A packet id that no open push has [MQTT-2.2.1-2]; undefined where the push has to wait for a PUBACK [MQTT-3.3.4-9]. */
  begin(call?: PushedCall): number | undefined {
    const open = (this.open ??= new Map())
    if (open.size >= this.maxOpen) return undefined
    do this.lastMessageId = (this.lastMessageId % LARGEST_MESSAGE_ID) + 1
    while (open.has(this.lastMessageId))
    open.set(this.lastMessageId, call)
    return this.lastMessageId
  }

  /** Went out under this packet id. A call is not kept: it comes again to who has not answered it. */
  retain(messageId: number, topic: string, payload: string | Buffer): void {
    if (this.keeper === undefined) return
    const push = { messageId, topic, payload }
    ;(this.retained ??= new Map()).set(messageId, this.keeper.take(bytesOf(push)) ? push : undefined)
  }

  /** Takes the packet id of an earlier connection's push; false where too many are open. */
  reopen(messageId: number): boolean {
    const open = (this.open ??= new Map())
    if (open.size >= this.maxOpen) return false
    open.set(messageId, undefined)
    this.lastMessageId = Math.max(this.lastMessageId, messageId)
    return true
  }

  /** Nothing is open, and nothing waits. */
  get isAllAcknowledged(): boolean {
    return (this.open?.size ?? 0) === 0 && (this.waiting?.length ?? 0) === 0
  }

  /** In their order, for the keeper, who has counted them; undefined where they are too much to be kept. Parts of packages are asked for anew. */
  unacknowledged(): readonly UnacknowledgedPush[] | undefined {
    const pushes: UnacknowledgedPush[] = []
    for (const push of this.retained?.values() ?? []) {
      if (push === undefined) return undefined
      pushes.push(push)
    }
    for (const { topic, payload, call, left } of this.waiting ?? []) {
      if (call !== undefined || left !== undefined) continue
      if (this.keeper?.take(bytesOf({ topic, payload })) !== true) return undefined
      pushes.push({ messageId: undefined, topic, payload })
    }
    return pushes
  }

  /** The session ends with the connection after all. */
  keepNone(): void {
    this.keeper = undefined
    this.retained = undefined
  }

  /** False where too much waits already for a connection with so many devices behind it. */
  hold(push: WaitingPush, children: number): boolean {
    const waiting = (this.waiting ??= [])
    const bytes = this.waitingBytes + bytesOf(push)
    const most = this.limits.maxQueuedPushes + PUSHES_A_CHILD * children
    if (waiting.length >= most || bytes > pendingBytesOf(this.limits, children)) return false
    waiting.push(push)
    this.waitingBytes = bytes
    return true
  }

  /** The call that went out with this packet id. */
  callOf(messageId: number): PushedCall | undefined {
    return this.open?.get(messageId)
  }

  /** The packet id is free again; an id that no push has changes nothing. Returns the push that may go now. */
  end(messageId: number): WaitingPush | undefined {
    if (this.open?.delete(messageId) !== true) return undefined
    const kept = this.retained?.get(messageId)
    this.retained?.delete(messageId)
    if (kept !== undefined) this.keeper?.give(bytesOf(kept))
    const next = this.waiting?.shift()
    if (next !== undefined) this.waitingBytes -= bytesOf(next)
    return next
  }

  /** The connection is gone: nothing of what waits goes out. */
  drop(): void {
    const dropped = this.waiting ?? []
    this.waiting = undefined
    this.waitingBytes = 0
    for (const { left } of dropped) left?.()
  }
}

function bytesOf({ topic, payload }: Pick<WaitingPush, 'topic' | 'payload'>): number {
  return PUSH_BYTES + topic.length + Buffer.byteLength(payload)
}
