/** A frame that its stream's owner has read and not settled whole, and the deliveries made of its messages. */
import type { Message } from '../../model/message.ts'
import type { FramePlace, StoredFrame } from './frame-broker.ts'
import type { Delivery } from './link.ts'
import { isMarked, mark, type OpenFrame } from './record.ts'

/** What a frame needs of the stream that holds it. */
export interface FrameOwner {
  readonly stream: number
  readonly epoch: number
  /** The stream was handed over or lost. */
  readonly isGone: boolean
  /** The frame is this owner's, and not settled whole. */
  holds(frame: HeldFrame): boolean
  settled(frame: HeldFrame, sequence: number): void
  failed(frame: HeldFrame, sequence: number, tries: number): void
  /** Its bodies are nowhere to be had: nobody waits for it. */
  abandon(frame: HeldFrame): void
}

const WAITING = 0
const OUTSTANDING = 1
const BURIED = 2
const SETTLED = 3

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

export class HeldFrame implements FramePlace {
  readonly owner: FrameOwner
  readonly position: number
  readonly place: number
  readonly storedAt: number
  readonly bytes: number
  readonly firstSequence: number
  /** What the observer wants back when the frame is fetched again. */
  memo: unknown
  /** How many messages it has, once they were counted. */
  count = 0
  outstanding = 0
  private states = NO_STATES
  private unsettled = 0
  private tries: Map<number, number> | undefined
  private partly = false

  constructor(owner: FrameOwner, { position, place, storedAt, bytes }: StoredFrame, step: number) {
    this.owner = owner
    this.position = position
    this.place = place
    this.storedAt = storedAt
    this.bytes = bytes
    this.firstSequence = position * step
  }

  /** Counts its messages, and takes over what was noted of it before. */
  open(count: number, noted: OpenFrame | undefined): void {
    this.count = count
    this.states = new Uint8Array(count)
    this.unsettled = count
    if (noted === undefined) return
    if (noted.tries !== undefined) this.tries = new Map(noted.tries)
    for (let index = 0; noted.settled !== undefined && index < count; index++) {
      if (!isMarked(noted.settled, index)) continue
      this.states[index] = SETTLED
      this.unsettled--
      this.partly = true
    }
  }

  /** What is to be delivered of these messages, in order. */
  deliveriesOf(messages: readonly Message[]): HeldDelivery[] {
    // As many as there are messages, mostly: none of the room that growing would take.
    const deliveries = new Array<HeldDelivery>(messages.length)
    let count = 0
    for (const message of messages) {
      const index = message.sequence - this.firstSequence
      if (this.states[index] !== WAITING) continue
      deliveries[count++] = new HeldDelivery(message, (this.tries?.get(index) ?? 0) + 1, this)
    }
    deliveries.length = count
    return deliveries
  }

  get isSettled(): boolean {
    return this.unsettled === 0 && this.count > 0
  }

  /** Something is settled or tried of it, and not all. */
  get isPartly(): boolean {
    return this.partly || this.tries !== undefined
  }

  delivered({ message: { sequence } }: HeldDelivery): void {
    const index = sequence - this.firstSequence
    if (this.states[index] !== WAITING) return
    this.states[index] = OUTSTANDING
    this.outstanding++
  }

  /** False where it is not outstanding: settled or being buried, or of another owner by now. */
  bury({ message: { sequence } }: HeldDelivery): boolean {
    const index = sequence - this.firstSequence
    if (this.states[index] !== OUTSTANDING || !this.owner.holds(this)) return false
    this.states[index] = BURIED
    return true
  }

  /** False where it was settled before, or is of another owner by now. `isBuried` where its letter is durable. */
  settle({ message: { sequence } }: HeldDelivery, isBuried: boolean): boolean {
    const index = sequence - this.firstSequence
    if (this.states[index] !== (isBuried ? BURIED : OUTSTANDING) || !this.owner.holds(this)) return false
    this.states[index] = SETTLED
    this.outstanding--
    this.unsettled--
    this.partly = true
    this.tries?.delete(index)
    this.owner.settled(this, sequence)
    return true
  }

  failed({ message: { sequence } }: HeldDelivery, tries: number): boolean {
    const index = sequence - this.firstSequence
    if (this.states[index] !== OUTSTANDING || !this.owner.holds(this)) return false
    this.tries ??= new Map()
    this.tries.set(index, tries)
    this.owner.failed(this, sequence, tries)
    return true
  }

  /** What the stream's record keeps of it. */
  note(): OpenFrame {
    if (!this.partly) return { settled: undefined, tries: this.tries }
    const settled = new Uint8Array((this.count + 7) >>> 3)
    for (let index = 0; index < this.count; index++) {
      if (this.states[index] === SETTLED) mark(settled, index)
    }
    return { settled, tries: this.tries }
  }
}

const NO_STATES = new Uint8Array(0)
