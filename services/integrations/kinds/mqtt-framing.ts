/**
 * Where packets of MQTT begin and end in what a broker sends, so that a PUBLISH that is too large is skipped without being held: its head is read
 * (whose acknowledgement it wants), its payload is dropped as it comes. Everything else is handed on as it came.
 */
import { GatheredBytes } from '../../../model/gathered-bytes.ts'

/** A PUBLISH whose payload was dropped. */
export interface SkippedPublish {
  readonly qos: number
  /** Undefined with QoS 0. */
  readonly messageId: number | undefined
  /** Of the payload. */
  readonly bytes: number
}

interface FramingListener {
  /** Bytes of packets that are not too large. Those of one call end with a packet only by chance. */
  passed(bytes: Buffer): void
  skipped(publish: SkippedPublish): void
}

/** Type and flags, and the longest length. */
const LONGEST_FIXED_HEAD = 5
/** With the topic and the message id. */
const LONGEST_HEAD = LONGEST_FIXED_HEAD + 2 + 65_535 + 2
const PUBLISH = 3
/** Of any other packet that a broker sends. */
const LONGEST_OTHER = 65_536

export class MqttFraming {
  private readonly maxPayloadBytes: number
  private readonly listener: FramingListener
  /** The beginning of a packet that cannot be judged yet: at most its fixed head, topic and message id. */
  private held: GatheredBytes | undefined
  /** Of the packet that is under way. */
  private left = 0
  private skipping: SkippedPublish | undefined

  constructor(maxPayloadBytes: number, listener: FramingListener) {
    this.maxPayloadBytes = maxPayloadBytes
    this.listener = listener
  }

  /** Throws where the bytes are no packets. */
  read(chunk: Buffer): void {
    const { held } = this
    held?.add(chunk)
    const bytes = held?.bytes ?? chunk
    this.held = undefined
    let passFrom = 0
    let at = 0
    const pass = (): void => {
      if (at > passFrom) this.listener.passed(bytes.subarray(passFrom, at))
    }
    while (at < bytes.length) {
      if (this.left === 0) {
        const head = this.headAt(bytes, at)
        if (head === undefined) {
          pass()
          this.held = at === 0 && held !== undefined ? held : gathered(bytes.subarray(at))
          return
        }
        if (head.skipped !== undefined) {
          pass()
          this.skipping = head.skipped
        }
        at += head.headBytes
        this.left = head.left
      }
      const step = Math.min(this.left, bytes.length - at)
      at += step
      this.left -= step
      if (this.skipping === undefined) continue
      passFrom = at
      if (this.left > 0) continue
      const { skipping } = this
      this.skipping = undefined
      this.listener.skipped(skipping)
    }
    pass()
  }

  /** Undefined: not enough of it came. */
  private headAt(
    bytes: Buffer,
    at: number,
  ): { readonly headBytes: number; readonly left: number; readonly skipped?: SkippedPublish } | undefined {
    const length = lengthAt(bytes, at + 1)
    if (length === undefined) return undefined
    const { value, bytes: lengthBytes } = length
    const first = bytes[at] ?? 0
    const fixed = 1 + lengthBytes
    if (first >> 4 !== PUBLISH && value > LONGEST_OTHER) throw new Error(`a packet of ${value} bytes is no message`)
    if (first >> 4 !== PUBLISH || value <= this.maxPayloadBytes) return { headBytes: fixed, left: value }
    if (bytes.length < at + fixed + 2) return undefined
    const qos = (first >> 1) & 3
    const topicEnd = at + fixed + 2 + bytes.readUInt16BE(at + fixed)
    const headEnd = topicEnd + (qos === 0 ? 0 : 2)
    const headBytes = headEnd - at
    const payload = fixed + value - headBytes
    // Its topic alone makes it longer than a payload may be.
    if (payload <= this.maxPayloadBytes) return { headBytes: fixed, left: value }
    if (bytes.length < headEnd) return undefined
    const messageId = qos === 0 ? undefined : bytes.readUInt16BE(topicEnd)
    return { headBytes, left: payload, skipped: { qos, messageId, bytes: payload } }
  }
}

function gathered(head: Buffer): GatheredBytes {
  return new GatheredBytes(Buffer.from(head), LONGEST_HEAD)
}

function lengthAt(bytes: Buffer, at: number): { readonly value: number; readonly bytes: number } | undefined {
  let value = 0
  for (let index = 0; index < LONGEST_FIXED_HEAD - 1; index++) {
    const byte = bytes[at + index]
    if (byte === undefined) return undefined
    value += (byte & 127) * 128 ** index
    if (byte < 128) return { value, bytes: index + 1 }
  }
  throw new Error('the length of a packet is wrong')
}
