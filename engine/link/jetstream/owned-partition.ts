/**
 * A partition from its take-over until it is handed over or lost. Frames are read in order, leave the stream when all their messages are
 * settled, and what is settled within the others is noted in the partition's record, which only the owner of the newest epoch can write.
 */
import type { Clock, TimerHandle } from '../../../model/clock.ts'
import { errorText } from '../../../model/errors.ts'
import { isFenced } from '../errors.ts'
import type { FrameBroker, FrameReader, StoredFrame } from './broker.ts'
import type { FrameLinkEventListener } from './events.ts'
import { HeldFrame, type FrameOwner, type HeldDelivery } from './held-frame.ts'
import type { FrameLinkBounds } from './options.ts'
import { decodeRecord, encodeRecord, type OpenFrame, type OwnerRecord, type ReadPoint } from './record.ts'

/** Frames asked for ahead. */
const AHEAD = 64
const RETRY_MS = 100
/** How often a record is written that says no more than how far was read: frames that are settled whole have left the stream. */
const PROGRESS_MS = 1000

export interface OwnedPartitionOptions {
  readonly partition: number
  /** As this process wrote it when it took the partition. */
  readonly record: OwnerRecord
  readonly revision: number
  readonly broker: FrameBroker
  readonly clock: Clock
  readonly bounds: FrameLinkBounds
  readonly onEvent: FrameLinkEventListener
  readonly onFrame: (frame: HeldFrame, deliveries: readonly HeldDelivery[]) => void
  /** The partition has another owner: nothing that is held of it counts any more. */
  readonly onLost: (partition: OwnedPartition) => void
}

type State = 'owned' | 'leaving' | 'gone'

export class OwnedPartition implements FrameOwner {
  readonly partition: number
  readonly epoch: number
  private readonly options: OwnedPartitionOptions
  private revision: number
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
  /** Frames that the reader handed out and that did not leave the stream. */
  private unacknowledged = 0
  private retry: TimerHandle | undefined
  private noteTimer: TimerHandle | undefined
  private noting: Promise<void> | undefined
  private mustNote = false
  private lastNoteMs = -Infinity
  /** A write of the record had no answer: whether it was done has to be looked up. */
  private isUncertain = false

  constructor(options: OwnedPartitionOptions) {
    this.options = options
    this.partition = options.partition
    this.epoch = options.record.epoch
    this.revision = options.revision
    this.read = options.record.read
    this.before = new Map(options.record.open)
  }

  get isGone(): boolean {
    return this.state === 'gone'
  }

  get openFrames(): number {
    return this.frames.size
  }

  get outstanding(): number {
    let count = 0
    for (const frame of this.frames.values()) count += frame.outstandingCount
    return count
  }

  frameOf(position: number): HeldFrame | undefined {
    return this.state === 'gone' ? undefined : this.frames.get(position)
  }

  holds(frame: HeldFrame): boolean {
    return this.state !== 'gone' && this.frames.get(frame.position) === frame
  }

  /** Opens a reader, again and again until there is one or the partition is gone. */
  start(): void {
    if (this.state === 'gone' || this.isOpening || this.reader !== undefined || this.retry !== undefined) return
    this.isOpening = true
    const number = ++this.readerNumber
    this.options.broker
      .read(this.partition, this.epoch, {
        onFrame: (stored) => {
          if (number === this.readerNumber) this.took(stored)
        },
        onDamage: (damage) => {
          if (number === this.readerNumber) this.options.onEvent({ ...damage, partition: this.partition })
        },
        onLost: (reason) => {
          if (number === this.readerNumber) this.readerLost(reason)
        },
      })
      .then(
        (reader) => this.opened(reader, number),
        (error: unknown) => {
          this.isOpening = false
          this.readerLost(error)
        },
      )
  }

  changed(frame: HeldFrame): void {
    if (this.state === 'gone') return
    if (frame.isSettled && this.holds(frame)) {
      this.frames.delete(frame.position)
      this.acknowledge(() => frame.acknowledge())
    }
    this.noteSoon()
  }

  /** Writes what is settled, if anything was since the last time; resolves when it is durable or the partition is lost. */
  async flush(): Promise<void> {
    for (let tries = 0; tries < 5 && this.isHeld() && (this.mustNote || this.noting !== undefined); tries++) {
      this.noteTimer?.cancel()
      this.noteTimer = undefined
      await (this.noting ?? this.note())
    }
  }

  /** Asks whether this process still owns it, and gives it up where not. Rejects where the broker does not answer. */
  async verify(): Promise<void> {
    await this.noting
    if (this.state === 'gone') return
    const record = await this.options.broker.readRecord(this.partition)
    if (!this.isHeld() || this.noting !== undefined || record?.revision === this.revision) return
    if (record !== undefined && this.adopt(record.body, record.revision)) return
    this.lost('its record was changed')
  }

  /**
   * Hands the partition over: delivers no more, waits for what is being processed for so long, notes what is settled and says that nobody
   * owns it. Resolves when that is done, or when it was lost or the broker is away.
   */
  async leave(waitMs: number): Promise<void> {
    if (this.state !== 'owned') return
    this.state = 'leaving'
    const { clock } = this.options
    const until = clock.monotonic() + waitMs
    while (this.isHeld() && this.outstanding > 0 && clock.monotonic() < until) {
      await new Promise<void>((resolve) => void clock.after(10, resolve))
    }
    const unsettled = this.outstanding
    await this.release()
    if (!this.isHeld()) return
    await this.end()
    this.options.onEvent({ kind: 'partition-released', partition: this.partition, epoch: this.epoch, unsettled })
  }

  /** Forgets the partition: what is settled of it from now on counts for nothing. */
  async end(): Promise<void> {
    this.state = 'gone'
    this.readerNumber++
    this.noteTimer?.cancel()
    this.retry?.cancel()
    const reader = this.reader
    this.reader = undefined
    await reader?.close()
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
    this.unacknowledged = 0
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
    if (broker.connected) {
      onEvent({ kind: 'partition-troubled', partition: this.partition, reason: errorText(error) })
    }
    this.retry = clock.after(RETRY_MS, () => {
      this.retry = undefined
      this.start()
    })
  }

  private request(): void {
    if (this.reader === undefined || this.requested > AHEAD / 2 || this.state !== 'owned') return
    const more = Math.min(AHEAD, this.options.bounds.maxOpenFrames - this.unacknowledged) - this.requested
    if (more <= 0) return
    this.requested += more
    this.reader.request(more)
  }

  private took(stored: StoredFrame): void {
    this.requested--
    this.unacknowledged++
    this.place(stored)
    this.request()
  }

  private place(stored: StoredFrame): void {
    const { position, storedAt } = stored
    const held = this.frames.get(position)
    if (held?.storedAt === storedAt) {
      // A new reader hands out again what is being processed: it must not be delivered twice.
      held.renew(stored)
      return
    }
    // What this process drops while it hands over, the next owner reads.
    if (this.state !== 'owned') return
    const before = this.before.get(position)
    const isBehind = position <= this.read.position && storedAt <= this.read.storedAt
    if (isBehind && before === undefined) {
      this.acknowledge(stored.acknowledge)
      return
    }
    this.forgetBefore(position)
    const frame = new HeldFrame(this, stored)
    this.frames.set(position, frame)
    if (position > this.read.position || storedAt > this.read.storedAt) {
      this.read = { position, storedAt: Math.max(storedAt, this.read.storedAt) }
    }
    try {
      const deliveries = frame.open(stored.body, isBehind ? before : undefined)
      if (frame.isSettled) this.changed(frame)
      else this.options.onFrame(frame, deliveries)
    } catch (error) {
      const { partition } = this
      this.options.onEvent({ kind: 'frame-unreadable', partition, position, reason: errorText(error) })
    }
  }

  /** Frames come in order: what was noted of an earlier one that did not come has left the stream. */
  private forgetBefore(position: number): void {
    for (const noted of this.before.keys()) {
      if (noted > position) return
      this.before.delete(noted)
    }
  }

  private acknowledge(leave: () => Promise<void>): void {
    const number = this.readerNumber
    leave().then(
      () => {
        if (number !== this.readerNumber) return
        this.unacknowledged--
        this.request()
      },
      // The reader is over: the next one brings the frame again, and it is known as settled.
      () => undefined,
    )
  }

  private noteSoon(): void {
    this.mustNote = true
    if (this.noteTimer !== undefined || this.noting !== undefined || this.state !== 'owned') return
    const { clock, bounds } = this.options
    const pause = Math.max(bounds.settleDelayMs, this.lastNoteMs + bounds.notePauseMs - clock.monotonic())
    this.noteTimer = clock.after(pause, () => {
      const wait = this.isPartly() ? 0 : this.lastNoteMs + PROGRESS_MS - clock.monotonic()
      if (wait <= 0) {
        this.noteTimer = undefined
        void this.note()
        return
      }
      this.noteTimer = clock.after(wait, () => {
        this.noteTimer = undefined
        void this.note()
      })
    })
  }

  /** Some frame is settled in part: nothing but the record knows that. */
  private isPartly(): boolean {
    for (const frame of this.frames.values()) if (frame.isPartly) return true
    return false
  }

  /** Writes the record. Never rejects: what could not be written is written later. */
  private note(): Promise<void> {
    return (this.noting ??= this.write(this.options.record.owner).finally(() => {
      this.noting = undefined
      this.lastNoteMs = this.options.clock.monotonic()
      if (this.mustNote) this.noteSoon()
    }))
  }

  private async release(): Promise<void> {
    await this.noting
    this.mustNote = true
    // One more try where the answer to the first was lost.
    for (let tries = 0; tries < 3 && this.isHeld() && this.mustNote && this.options.broker.connected; tries++)
      await this.write('')
  }

  private async write(owner: string): Promise<void> {
    const { broker } = this.options
    this.mustNote = false
    try {
      if (this.isUncertain) await this.lookUp()
      if (this.state === 'gone') return
      this.revision = await broker.writeRecord(this.partition, encodeRecord(this.content(owner)), this.revision)
    } catch (error) {
      this.mustNote = true
      if (isFenced(error)) this.lost(errorText(error))
      else this.isUncertain = true
    }
  }

  private async lookUp(): Promise<void> {
    const record = await this.options.broker.readRecord(this.partition)
    this.isUncertain = false
    if (record === undefined || record.revision === this.revision) return
    if (!this.adopt(record.body, record.revision)) this.lost('its record was changed')
  }

  /** Takes a revision that this process wrote without having heard of it. */
  private adopt(body: Uint8Array, revision: number): boolean {
    const { epoch, owner } = decodeRecord(body)
    if (epoch !== this.epoch || (owner !== '' && owner !== this.options.record.owner)) return false
    this.revision = revision
    return true
  }

  private content(owner: string): OwnerRecord {
    const open = new Map<number, OpenFrame>(this.before)
    for (const [position, frame] of this.frames) open.set(position, frame.note())
    return { epoch: this.epoch, owner, since: this.options.record.since, read: this.read, open }
  }

  /** A method, so that no earlier look at the state is believed after a wait. */
  private isHeld(): boolean {
    return this.state !== 'gone'
  }

  private lost(reason: string): void {
    if (this.state === 'gone') return
    void this.end()
    this.options.onEvent({ kind: 'partition-lost', partition: this.partition, epoch: this.epoch, reason })
    this.options.onLost(this)
  }
}
