/** A frame that its partition's owner has read and not settled whole, and the deliveries made of its messages. */
import { errorText } from '../../../model/errors.ts'
import type { Message } from '../../../model/message.ts'
import { openBlock } from '../block.ts'
import type { Delivery } from '../link.ts'
import { decodeBlock } from '../wire.ts'
import type { StoredFrame } from './broker.ts'
import { FRAME_MESSAGES } from './frame-publisher.ts'
import type { OpenFrame } from './record.ts'

/** What a frame needs of the partition that holds it. */
export interface FrameOwner {
  readonly partition: number
  readonly epoch: number
  /** The partition was handed over or lost. */
  readonly isGone: boolean
  /** The frame is this owner's, and not settled whole. */
  holds(frame: HeldFrame): boolean
  /** A message of the frame was settled, or a try of it noted. */
  changed(frame: HeldFrame): void
}

const WAITING = 0
const OUTSTANDING = 1
const SETTLED = 2

export class HeldDelivery implements Delivery {
  readonly message: Message
  readonly attempt: number
  readonly frame: HeldFrame

  constructor(message: Message, attempt: number, frame: HeldFrame) {
    this.message = message
    this.attempt = attempt
    this.frame = frame
  }

  get isGone(): boolean {
    return this.frame.owner.isGone
  }
}

export class HeldFrame {
  readonly owner: FrameOwner
  readonly position: number
  readonly storedAt: number
  readonly bytes: number
  /** Has the frame leave the stream; a new reader brings a new way. The body is not kept: it may be large, and wait long. */
  private leave: () => Promise<void>
  /** How many messages it has, once they were counted. */
  count = 0
  private states = new Uint8Array(0)
  private unsettled = 0
  private outstanding = 0
  private tries: Map<number, number> | undefined
  private partly = false

  constructor(owner: FrameOwner, stored: StoredFrame) {
    this.owner = owner
    this.leave = stored.acknowledge
    this.position = stored.position
    this.storedAt = stored.storedAt
    this.bytes = stored.body.length
  }

  /** The same frame from another reader. */
  renew(stored: StoredFrame): void {
    this.leave = stored.acknowledge
  }

  acknowledge(): Promise<void> {
    return this.leave()
  }

  /**
   * Takes over what a former owner noted. Returns what is to be delivered, in order. Throws where the body cannot be read: then nothing
   * of it is settled, ever.
   */
  open(body: Uint8Array, before: OpenFrame | undefined): HeldDelivery[] {
    const { messages, count } = readBody(body, this.position, undefined)
    this.count = count
    this.states = new Uint8Array(count)
    this.unsettled = count
    if (before?.tries !== undefined) this.tries = new Map(before.tries)
    for (let index = 0; before?.settled !== undefined && index < count; index++) {
      if (((before.settled[index >>> 3] ?? 0) & (1 << (index & 7))) === 0) continue
      this.states[index] = SETTLED
      this.unsettled--
      this.partly = true
    }
    return this.deliveriesOf(messages)
  }

  /** Reads once more, from a fetched body, what waits for one queue. Throws where the body cannot be read. */
  reopen(body: Uint8Array, isOfQueue: (queueName: string | undefined) => boolean): HeldDelivery[] {
    return this.deliveriesOf(readBody(body, this.position, isOfQueue).messages)
  }

  get isSettled(): boolean {
    return this.unsettled === 0 && this.count > 0
  }

  get outstandingCount(): number {
    return this.outstanding
  }

  /** Something is settled or tried of it, and not all. */
  get isPartly(): boolean {
    return this.partly || this.tries !== undefined
  }

  delivered(delivery: HeldDelivery): void {
    const index = delivery.message.sequence % FRAME_MESSAGES
    if (this.states[index] !== WAITING) return
    this.states[index] = OUTSTANDING
    this.outstanding++
  }

  isOutstanding(sequence: number): boolean {
    return this.states[sequence % FRAME_MESSAGES] === OUTSTANDING
  }

  /** False where it was not outstanding: settled before, or of another owner by now. */
  settle(sequence: number): boolean {
    const index = sequence % FRAME_MESSAGES
    if (this.states[index] !== OUTSTANDING) return false
    this.states[index] = SETTLED
    this.outstanding--
    this.unsettled--
    this.partly = true
    this.tries?.delete(index)
    this.owner.changed(this)
    return true
  }

  failed(sequence: number, tries: number): boolean {
    const index = sequence % FRAME_MESSAGES
    if (this.states[index] !== OUTSTANDING) return false
    this.tries ??= new Map()
    this.tries.set(index, tries)
    this.owner.changed(this)
    return true
  }

  /** What the partition's record keeps of it. */
  note(): OpenFrame {
    if (!this.partly) return { settled: undefined, tries: this.tries }
    const settled = new Uint8Array((this.count + 7) >>> 3)
    for (let index = 0; index < this.count; index++) {
      if (this.states[index] === SETTLED) settled[index >>> 3] = (settled[index >>> 3] ?? 0) | (1 << (index & 7))
    }
    return { settled, tries: this.tries }
  }

  private deliveriesOf(messages: readonly Message[]): HeldDelivery[] {
    const deliveries: HeldDelivery[] = []
    for (const message of messages) {
      const index = message.sequence % FRAME_MESSAGES
      if (this.states[index] !== WAITING) continue
      deliveries.push(new HeldDelivery(message, (this.tries?.get(index) ?? 0) + 1, this))
    }
    return deliveries
  }
}

function readBody(
  stored: Uint8Array,
  position: number,
  wants: ((queueName: string | undefined) => boolean) | undefined,
): { messages: Message[]; count: number } {
  const body = openBlock(Buffer.from(stored.buffer, stored.byteOffset, stored.byteLength))
  if (body === undefined) throw new Error('its checksum does not fit')
  let content
  try {
    content = decodeBlock(body, wants === undefined ? { entries: true } : { entries: true, wants })
  } catch (error) {
    throw new Error(`it does not keep the schema: ${errorText(error)}`, { cause: error })
  }
  const { messages, count, firstSequence } = content
  if (count === 0 || count > FRAME_MESSAGES) throw new Error(`it holds ${count} messages`)
  for (const message of messages) message.sequence = position * FRAME_MESSAGES + (message.sequence - firstSequence)
  return { messages, count }
}
