/**
 * Acknowledgements of one session, in the order of its publishes [MQTT-4.6.0-2]. A publish's receipt is its place in the line; it
 * is written out only once it is settled and everything before it is. This file alone makes PUBACK and PUBREC.
 */
import type { PublishReceipt } from '../../engine/device/gateway.ts'
import type { MillraceError } from '../../model/errors.ts'
import type { ProtocolVersion } from './codec.ts'
import { Reason, type ReasonCode } from './reason-codes.ts'

/** Who is told that a receipt was settled. */
export interface AcknowledgementOwner {
  /** Settled; what is settled goes out with the session's next write. */
  acknowledgementReady(acknowledgement: Acknowledgement): void
  publishRefused(acknowledgement: Acknowledgement, error: MillraceError): void
}

export class Acknowledgement implements PublishReceipt {
  readonly messageId: number
  readonly qos: 1 | 2
  readonly owner: AcknowledgementOwner
  /** Of QoS 2: what it causes is done once, on however many connections of a session it is sent; what answers on its own connection is done again. */
  readonly isDoneOnce: boolean
  next: Acknowledgement | undefined
  reason: ReasonCode | undefined
  /** Of the same publish, on a later connection of its session: it is told the same. */
  redelivered: Acknowledgement | undefined

  constructor(owner: AcknowledgementOwner, messageId: number, qos: 1 | 2, isDoneOnce: boolean) {
    this.owner = owner
    this.messageId = messageId
    this.qos = qos
    this.isDoneOnce = isDoneOnce
  }

  stored(): void {
    this.settle(Reason.SUCCESS)
  }

  refused(error: MillraceError): void {
    const { redelivered } = this
    this.redelivered = undefined
    this.owner.publishRefused(this, error)
    redelivered?.refused(error)
  }

  /** Settles it without a durable publish: nothing was to be stored, or nothing may be. */
  settle(reason: ReasonCode): void {
    this.reason = reason
    this.owner.acknowledgementReady(this)
    this.redelivered?.settle(reason)
  }
}

const PUBACK = 0x40
const PUBREC = 0x50

export class AcknowledgementLine {
  /** Publishes whose acknowledgement was not written yet. */
  pending = 0
  /** Of these, those of QoS 2. */
  pendingQos2 = 0
  private head: Acknowledgement | undefined
  private tail: Acknowledgement | undefined

  add(acknowledgement: Acknowledgement): void {
    if (this.tail === undefined) this.head = acknowledgement
    else this.tail.next = acknowledgement
    this.tail = acknowledgement
    this.pending++
    if (acknowledgement.qos === 2) this.pendingQos2++
  }

  /** Takes what is settled from the front and returns its bytes; undefined where the first is still open. */
  take(version: ProtocolVersion): Buffer | undefined {
    let bytes = 0
    for (let item = this.head; item?.reason !== undefined; item = item.next) {
      bytes += version === 5 && item.reason !== Reason.SUCCESS ? 5 : 4
    }
    if (bytes === 0) return undefined
    const out = Buffer.allocUnsafe(bytes)
    let offset = 0
    let item = this.head
    while (item?.reason !== undefined) {
      const long = version === 5 && item.reason !== Reason.SUCCESS
      out[offset++] = item.qos === 1 ? PUBACK : PUBREC
      out[offset++] = long ? 3 : 2
      out[offset++] = item.messageId >> 8
      out[offset++] = item.messageId & 0xff
      if (long) out[offset++] = item.reason
      this.pending--
      if (item.qos === 2) this.pendingQos2--
      item = item.next
    }
    this.head = item
    if (item === undefined) this.tail = undefined
    return out
  }
}
