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
  readonly of: DeviceSession
  readonly id: number
}

export interface WaitingPush {
  readonly topic: string
  readonly payload: string | Buffer
  /** Set where it is a call to the device. */
  readonly call?: PushedCall | undefined
}

export class DownlinkPushes {
  /** What a v5 client says it takes [MQTT-3.1.2-24]. */
  maximumPacketSize = Infinity
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

  /** False where too much waits already. */
  hold(push: WaitingPush): boolean {
    const waiting = (this.waiting ??= [])
    const bytes = this.waitingBytes + Buffer.byteLength(push.payload)
    if (waiting.length >= this.limits.maxQueuedPushes || bytes > this.limits.maxPendingBytes) return false
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
    const next = this.waiting?.shift()
    if (next !== undefined) this.waitingBytes -= Buffer.byteLength(next.payload)
    return next
  }
}
