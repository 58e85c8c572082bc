/**
 * The notes that a stream's observer makes of it, for the stream's record. A note is taken with a frame and becomes the record's once everything up
 * to that frame is settled: a next owner begins there. So two are kept, the record's and the next one. Without an observer there are none.
 */
import type { Clock } from '../../model/clock.ts'
import type { ObserverNote } from './record.ts'
import type { FrameObserver } from './options.ts'

/** The least time between two notes: each may be large. */
const PAUSE_MS = 100
const NOTHING = new Uint8Array(0)

export interface NotedStream {
  readonly stream: number
  /** Every frame below is settled whole. */
  readonly lowWater: number
  /** The record is to have this note. */
  noted(note: ObserverNote): void
}

export class NoteTaking {
  private readonly observer: FrameObserver | undefined
  private readonly clock: Clock
  private readonly of: NotedStream
  private next: ObserverNote | undefined
  private takenMs = -Infinity
  private ofRecord: ObserverNote | undefined
  private seen: number

  constructor(
    observer: FrameObserver | undefined,
    clock: Clock,
    of: NotedStream,
    /** Of the owner before. */
    note: ObserverNote | undefined,
  ) {
    this.observer = observer
    this.clock = clock
    this.of = of
    this.ofRecord = note
    this.seen = note?.upTo ?? 0
  }

  /** The record's. */
  get current(): ObserverNote | undefined {
    return this.ofRecord
  }

  /** Position of the frame that the observer saw last. */
  get seenUpTo(): number {
    return this.seen
  }

  /** Where a reader begins: at what is not settled, and before that with what the observer has not seen. */
  get readFrom(): number {
    const { lowWater } = this.of
    return this.observer === undefined || this.seen === 0 ? lowWater : Math.min(lowWater, this.seen + 1)
  }

  /** Frames below may go, as far as the observer is concerned. */
  get removable(): number {
    if (this.observer === undefined) return Infinity
    return this.ofRecord === undefined ? 0 : this.ofRecord.upTo + 1
  }

  /** The observer saw the frame. */
  saw(position: number): void {
    this.seen = position
    this.promote()
    const now = this.clock.monotonic()
    if (this.next !== undefined || this.observer === undefined || now - this.takenMs < PAUSE_MS) return
    this.takenMs = now
    this.take(this.observer)
  }

  /** The next note becomes the record's where everything before it is settled. */
  promote(): void {
    if (this.next === undefined || this.of.lowWater <= this.next.upTo) return
    this.ofRecord = this.next
    this.next = undefined
    this.of.noted(this.ofRecord)
  }

  /** Where everything that the observer saw is settled: else frames stay whose note is to come with those behind them. */
  takeNow(): void {
    const { observer, ofRecord, seen } = this
    if (observer === undefined || this.of.lowWater <= seen || ofRecord?.upTo === seen) return
    this.take(observer)
    this.promote()
  }

  private take(observer: FrameObserver): void {
    this.next = { upTo: this.seen, bytes: observer.encode(this.of.stream) ?? NOTHING }
  }
}
