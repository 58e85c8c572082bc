/**
 * A stream from its take-over until it is handed over or lost. Frames are read in order; what is settled is noted in the stream's record,
 * which only the owner of the newest epoch can write; settled frames leave once the record says so and nobody may want to read them again.
 */
import type { Clock, TimerHandle } from '../../model/clock.ts'
import { errorText } from '../../model/errors.ts'
import { isFenced } from './errors.ts'
import type { LinkEventListener } from './events.ts'
import type { FrameBroker, FrameReader, RecordWrite, StoredFrame } from './frame-broker.ts'
import { NoteTaking, type NotedStream } from './note-taking.ts'
import type { FramePublisher } from './frame-publisher.ts'
import { HeldFrame, type FrameOwner, type HeldDelivery } from './held-frame.ts'
import type { FrameLinkBounds, FrameObserver } from './options.ts'
import type { ObserverNote, OpenFrame, OwnerRecord, ReadPoint } from './record.ts'
import { RecordWriter, type RecordSubject } from './record-writer.ts'
import { Retention } from './retention.ts'

/** Frames asked for ahead. */
const AHEAD = 64
const RETRY_MS = 100
/** The least time between two looks at frames that may be too old. */
const SWEEP_MS = 500

export interface StreamContext {
  readonly broker: FrameBroker
  readonly publisher: FramePublisher
  readonly clock: Clock
  readonly bounds: FrameLinkBounds
  readonly observer: FrameObserver | undefined
  readonly onEvent: LinkEventListener
  readonly onFrame: (frame: HeldFrame, deliveries: HeldDelivery[]) => void
}

export interface OwnedStreamOptions extends StreamContext {
  readonly stream: number
  /** As this process wrote it when it took the stream. */
  readonly record: OwnerRecord
  readonly revision: number
  /** Of frames that were settled before, and are still there. */
  readonly settledBytes: number
  /** The stream has another owner: nothing that is held of it counts any more. */
  readonly onLost: (stream: OwnedStream) => void
}

type State = 'owned' | 'leaving' | 'gone'

export class OwnedStream implements FrameOwner, RecordSubject, NotedStream {
  readonly stream: number
  readonly epoch: number
  /** Its record, which commits of its frames may carry. */
  readonly record: RecordWriter
  private readonly options: OwnedStreamOptions
  private state: State = 'owned'
  private read: ReadPoint
  private readonly frames = new Map<number, HeldFrame>()
  /** What former owners noted of frames that did not come yet. */
  private readonly before: Map<number, OpenFrame>
  private reader: FrameReader | undefined
  /** Each reader has a number, so that a late frame of a former one is known. */
  private readerNumber = 0
  private isOpening = false
  private requested = 0
  private retry: TimerHandle | undefined
  /** Positions went back: the frame held longest is not the lowest. */
  private wentBack = false
  private readonly retention: Retention
  private sweepTimer: TimerHandle | undefined
  private settledBytes = 0
  private removedBelow = 0
  private readonly notes: NoteTaking

  constructor(options: OwnedStreamOptions) {
    const { stream, record, clock, bounds, broker, settledBytes } = options
    this.options = options
    this.stream = stream
    this.epoch = record.epoch
    this.record = new RecordWriter(options, this)
    this.read = record.read
    this.notes = new NoteTaking(options.observer, clock, this, record.note)
    this.before = new Map(record.open)
    this.retention = new Retention(clock, bounds.retentionMs, bounds.retentionBytes / broker.streams)
    this.retention.passed(this.lowWater, settledBytes)
  }

  get isGone(): boolean {
    return this.state === 'gone'
  }

  get isOwned(): boolean {
    return this.state === 'owned'
  }

  get openFrames(): number {
    return this.frames.size
  }

  get outstanding(): number {
    let count = 0
    for (const frame of this.frames.values()) count += frame.outstanding
    return count
  }

  holds(frame: HeldFrame): boolean {
    return this.state !== 'gone' && this.frames.get(frame.position) === frame
  }

  /** Opens a reader, again and again until there is one or the stream is gone. */
  start(): void {
    if (this.state === 'gone' || this.isOpening || this.reader !== undefined || this.retry !== undefined) return
    this.isOpening = true
    const number = ++this.readerNumber
    const { broker, onEvent } = this.options
    broker
      .read(
        this.stream,
        this.epoch,
        { from: this.notes.readFrom, lastRead: this.read },
        {
          onFrame: (stored) => {
            if (number === this.readerNumber) this.took(stored)
          },
          onDamage: (damage) => {
            if (number === this.readerNumber) onEvent({ ...damage, stream: this.stream })
          },
          onLost: (reason) => {
            if (number === this.readerNumber) this.readerLost(reason)
          },
        },
      )
      .then(
        (reader) => this.opened(reader, number),
        (error: unknown) => {
          this.isOpening = false
          this.readerLost(error)
        },
      )
  }

  settled(frame: HeldFrame, sequence: number): void {
    this.record.changes.settled(sequence)
    this.changed(frame)
  }

  failed(frame: HeldFrame, sequence: number, tries: number): void {
    this.record.changes.failed(sequence, tries)
    this.changed(frame)
  }

  abandon(frame: HeldFrame): void {
    if (!this.holds(frame)) return
    this.forget(frame)
    this.record.writeSoon()
  }

  /** Some frame is settled in part: nothing but the record knows that. */
  get isPartly(): boolean {
    for (const frame of this.frames.values()) if (frame.isPartly) return true
    return false
  }

  content(owner: string): OwnerRecord {
    const open = new Map<number, OpenFrame>(this.before)
    for (const [position, frame] of this.frames) open.set(position, frame.note())
    const { epoch, read } = this
    return { epoch, owner, since: this.options.record.since, read, open, note: this.notes.current }
  }

  noted(note: ObserverNote): void {
    this.record.changes.noted(note)
  }

  bounds(): Pick<RecordWrite, 'settledBelow' | 'removeBelow' | 'notRemoved'> {
    this.notes.promote()
    // A stream that is full of settled frames gets no further one, with which the note would be taken.
    if (this.retention.floor > this.removable) this.notes.takeNow()
    this.removedBelow = this.removable
    this.sweepLater()
    return {
      settledBelow: this.lowWater,
      removeBelow: this.removedBelow,
      // Else they stayed until the next record, and a stream that is full of them takes nothing of which one could be written.
      notRemoved: () => {
        this.removedBelow = 0
        this.sweepTimer?.cancel()
        this.sweepTimer = undefined
        this.sweepLater()
      },
    }
  }

  lost(reason: string): void {
    if (this.state === 'gone') return
    void this.end()
    this.options.onEvent({ kind: 'stream-lost', stream: this.stream, epoch: this.epoch, reason })
    this.options.onLost(this)
  }

  /**
   * Hands the stream over: delivers no more, waits for what is being processed for so long, notes what is settled and says that nobody
   * owns it. `onEnded` is told before the next owner may come. Resolves when that is done, or when it was lost or the broker is away.
   */
  async leave(waitMs: number, onEnded: () => void): Promise<void> {
    if (this.state !== 'owned') return
    this.state = 'leaving'
    const { clock } = this.options
    const until = clock.monotonic() + waitMs
    while (this.isHeld() && this.outstanding > 0 && clock.monotonic() < until) {
      await new Promise<void>((resolve) => void clock.after(10, resolve))
    }
    const unsettled = this.outstanding
    if (this.isHeld()) onEnded()
    await this.record.release()
    if (!this.isHeld()) return
    await this.end()
    this.options.onEvent({ kind: 'stream-released', stream: this.stream, epoch: this.epoch, unsettled })
  }

  /** Forgets the stream: what is settled of it from now on counts for nothing. */
  async end(): Promise<void> {
    if (this.state !== 'gone') this.options.observer?.gone(this.stream)
    this.state = 'gone'
    this.readerNumber++
    this.sweepTimer?.cancel()
    this.retry?.cancel()
    this.record.end()
    const reader = this.reader
    this.reader = undefined
    await reader?.close()
  }

  get lowWater(): number {
    let low = this.read.position + 1
    for (const position of this.frames.keys()) {
      low = Math.min(low, position)
      if (!this.wentBack) break
    }
    for (const position of this.before.keys()) return Math.min(low, position)
    return low
  }

  private get removable(): number {
    return Math.min(this.retention.floor, this.lowWater, this.notes.removable)
  }

  private opened(reader: FrameReader, number: number): void {
    this.isOpening = false
    if (this.state === 'gone' || number !== this.readerNumber) {
      void reader.close()
      if (this.state !== 'gone') this.start()
      return
    }
    this.reader = reader
    this.requested = 0
    this.sweepLater()
    this.request()
  }

  private readerLost(error: unknown): void {
    this.readerNumber++
    const reader = this.reader
    this.reader = undefined
    void reader?.close()
    if (this.state === 'gone') return
    if (isFenced(error)) {
      this.lost(errorText(error))
      return
    }
    const { clock, onEvent, broker } = this.options
    if (broker.connected) onEvent({ kind: 'stream-troubled', stream: this.stream, reason: errorText(error) })
    this.retry = clock.after(RETRY_MS, () => {
      this.retry = undefined
      this.start()
    })
  }

  private request(): void {
    if (this.reader === undefined || this.requested > AHEAD / 2 || this.state !== 'owned') return
    const more = Math.min(AHEAD, this.options.bounds.maxOpenFrames - this.frames.size) - this.requested
    if (more <= 0) return
    this.requested += more
    this.reader.request(more)
  }

  private took(stored: StoredFrame): void {
    this.requested--
    this.place(stored)
    this.request()
  }

  private place(stored: StoredFrame): void {
    const { position, storedAt } = stored
    // A new reader hands out again what is being processed: it must not be delivered twice. What this process drops while it hands over, the
    // next owner reads.
    if (this.frames.get(position)?.storedAt === storedAt || this.state !== 'owned') return
    const { broker, observer, onEvent, onFrame } = this.options
    const isBehind = position <= this.read.position && storedAt <= this.read.storedAt
    const before = stored.noted ?? (isBehind ? this.before.get(position) : undefined)
    const isSettled = isBehind && before === undefined
    const isNew = position > this.notes.seenUpTo || (!isBehind && position <= this.read.position)
    if (isSettled && (observer === undefined || !isNew)) return
    this.forgetBefore(position)
    const frame = new HeldFrame(this, stored, broker.step)
    if (!isSettled) this.hold(frame, isBehind)
    try {
      const { messages, count, attempts } = stored.read()
      if (observer !== undefined && isNew) {
        frame.memo = observer.opened({ stream: this.stream, position, storedAt, messages })
        this.notes.saw(position)
      }
      if (isSettled) return
      frame.open(count, before ?? triesOf(frame, attempts))
      if (frame.isSettled) this.changed(frame)
      else onFrame(frame, frame.deliveriesOf(messages))
    } catch (error) {
      onEvent({ kind: 'frame-unreadable', stream: this.stream, position, reason: errorText(error) })
    }
  }

  /** Frames come in order: what was noted of an earlier one that did not come has left the stream. */
  private forgetBefore(position: number): void {
    for (const noted of this.before.keys()) {
      if (noted > position) return
      this.before.delete(noted)
    }
  }

  private hold(frame: HeldFrame, isBehind: boolean): void {
    const { position, storedAt } = frame
    if (!isBehind && position <= this.read.position) this.wentBack = true
    this.frames.set(position, frame)
    if (position > this.read.position || storedAt > this.read.storedAt) {
      this.read = { position, storedAt: Math.max(storedAt, this.read.storedAt) }
    }
  }

  private changed(frame: HeldFrame): void {
    if (this.state === 'gone') return
    if (frame.isSettled && this.holds(frame)) this.forget(frame)
    this.record.writeSoon()
  }

  private forget(frame: HeldFrame): void {
    this.frames.delete(frame.position)
    this.settledBytes += frame.bytes
    const low = this.lowWater
    if (frame.position < low) {
      this.retention.passed(low, this.settledBytes)
      this.settledBytes = 0
    }
    this.request()
  }

  /** A method, so that no earlier look at the state is believed after a wait. */
  private isHeld(): boolean {
    return this.state !== 'gone'
  }

  /** Frames that were kept to be read again become too old, also where nothing comes any more; and a removal may have failed. */
  private sweepLater(): void {
    if (this.sweepTimer !== undefined || this.state !== 'owned') return
    const dueInMs = this.removable > this.removedBelow ? 0 : this.retention.dueInMs
    if (dueInMs === undefined) return
    this.sweepTimer = this.options.clock.after(Math.max(SWEEP_MS, dueInMs), () => {
      this.sweepTimer = undefined
      if (this.retention.floor > this.removable) this.notes.takeNow()
      if (this.removable > this.removedBelow) this.record.writeSoon()
      else this.sweepLater()
    })
  }
}

/** What a frame says of itself, where it was moved from another stream. */
function triesOf(
  { firstSequence }: HeldFrame,
  attempts: readonly (readonly [sequence: number, tries: number])[] = [],
): OpenFrame | undefined {
  if (attempts.length === 0) return undefined
  return { settled: undefined, tries: new Map(attempts.map(([sequence, tries]) => [sequence - firstSequence, tries])) }
}
