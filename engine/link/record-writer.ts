/**
 * Writes the record of a stream that this process owns: soon after something was settled, one write at a time, what came meanwhile with the
 * next. Where records ride along with the frames, the publisher takes them from here.
 */
import type { Clock, TimerHandle } from '../../model/clock.ts'
import { errorText } from '../../model/errors.ts'
import { isFenced } from './errors.ts'
import type { FrameBroker, RecordWrite } from './frame-broker.ts'
import type { FramePublisher } from './frame-publisher.ts'
import type { FrameLinkBounds } from './options.ts'
import { decodeRecord, encodeRecord, type OwnerRecord } from './record.ts'
import type { RecordSource } from './publish-lane.ts'
import { RecordChanges } from './record-changes.ts'

/** A flush, and a release that rides along, give up after so many refused writes. */
const FLUSH_TRIES = 5
/** One more where the answer to the first was lost. */
const RELEASE_TRIES = 3

/** What the record says of its stream. */
export interface RecordSubject {
  /** The stream was handed over or lost. */
  readonly isGone: boolean
  /** It is this process's, and is not being handed over. */
  readonly isOwned: boolean
  /** Some frame is settled in part: nothing but the record knows that. */
  readonly isPartly: boolean
  content(owner: string): OwnerRecord
  /** What a write that begins now tells the broker of the stream's frames. */
  bounds(): Pick<RecordWrite, 'settledBelow' | 'removeBelow' | 'notRemoved'>
  /** The stream has another owner. */
  lost(reason: string): void
}

export interface RecordWriterOptions {
  readonly broker: FrameBroker
  readonly publisher: FramePublisher
  readonly clock: Clock
  readonly bounds: FrameLinkBounds
  readonly stream: number
  readonly record: OwnerRecord
  readonly revision: number
}

export class RecordWriter implements RecordSource {
  /** What is not durable yet. */
  readonly changes = new RecordChanges()
  private readonly options: RecordWriterOptions
  private readonly subject: RecordSubject
  private revision: number
  private timer: TimerHandle | undefined
  private writing: Promise<void> | undefined
  private isDue = false
  private lastWriteMs = -Infinity
  /** In positions: what the record under way says, and the last that is durable. */
  private writtenBelow = 0
  private durableBelow = 0
  /** A write had no answer: whether it was done has to be looked up. */
  private isUncertain = false
  private whenWritten: (() => void)[] = []

  constructor(options: RecordWriterOptions, subject: RecordSubject) {
    this.options = options
    this.subject = subject
    this.revision = options.revision
  }

  /** Every frame below this position is settled, durably. */
  get settledBelow(): number {
    return this.durableBelow
  }

  takeRecord(): RecordWrite | undefined {
    if (this.isGone() || (!this.isDue && this.changes.isEmpty)) return undefined
    this.cancelTimer()
    return this.next(this.options.record.owner)
  }

  recordWritten(revision: number): void {
    this.revision = revision
    this.changes.written()
    this.durableBelow = this.writtenBelow
    this.lastWriteMs = this.options.clock.monotonic()
    this.tellWritten()
    if (this.isDue || !this.changes.isEmpty) this.writeSoon()
  }

  recordRefused(error: unknown): void {
    this.refused(error)
    this.tellWritten()
    if (this.isUncertain) this.writeSoon()
  }

  writeSoon(): void {
    this.isDue = true
    if (this.timer !== undefined || this.writing !== undefined || !this.subject.isOwned) return
    const { clock, bounds, broker, publisher, stream } = this.options
    if (broker.recordRidesAlong) {
      this.after(bounds.settleDelayMs, () => publisher.commitRecord(stream))
      return
    }
    this.after(Math.max(bounds.settleDelayMs, this.lastWriteMs + bounds.notePauseMs - clock.monotonic()), () => {
      const waitMs = this.subject.isPartly ? 0 : this.lastWriteMs + bounds.progressMs - clock.monotonic()
      if (waitMs <= 0) void this.writeNow()
      else this.after(waitMs, () => void this.writeNow())
    })
  }

  /** Writes what is settled, if anything was since the last time; resolves when it is durable or the stream is lost. */
  async flush(): Promise<void> {
    for (let tries = 0; tries < FLUSH_TRIES && !this.isGone() && this.isUnwritten; tries++) {
      this.cancelTimer()
      await this.writeNow()
    }
  }

  /** Writes what is settled and, where others may take the stream, that nobody owns it. */
  async release(): Promise<void> {
    const { broker } = this.options
    await this.writing
    if (broker.recordRidesAlong) {
      for (let tries = 0; tries < FLUSH_TRIES && !this.isGone() && this.isUnwritten; tries++) {
        if (broker.refusal !== undefined) return
        await this.writeNow()
      }
      return
    }
    this.isDue = true
    for (let tries = 0; tries < RELEASE_TRIES && !this.isGone() && this.isDue && broker.connected; tries++) {
      await this.write('')
    }
  }

  /** Asks whether this process still owns the stream, and gives it up where not. Rejects where the broker does not answer. */
  async verify(): Promise<void> {
    await this.writing
    if (this.isGone()) return
    const record = await this.options.broker.readRecord(this.options.stream)
    if (this.isGone() || this.writing !== undefined || record?.revision === this.revision) return
    if (record === undefined || !this.adopt(record.body, record.revision)) this.subject.lost('its record was changed')
  }

  /** Writes nothing more. */
  end(): void {
    this.cancelTimer()
    this.tellWritten()
  }

  private get isUnwritten(): boolean {
    return this.isDue || !this.changes.isDurable || this.writing !== undefined
  }

  /** A method, so that no earlier look at it is believed after a wait. */
  private isGone(): boolean {
    return this.subject.isGone
  }

  private after(ms: number, work: () => void): void {
    this.timer = this.options.clock.after(ms, () => {
      this.timer = undefined
      work()
    })
  }

  private cancelTimer(): void {
    this.timer?.cancel()
    this.timer = undefined
  }

  /** Never rejects: what could not be written is written later. */
  private writeNow(): Promise<void> {
    const { broker, publisher, record, stream, clock } = this.options
    if (broker.recordRidesAlong) {
      const written = new Promise<void>((resolve) => this.whenWritten.push(resolve))
      publisher.commitRecord(stream)
      return written
    }
    return (this.writing ??= this.write(record.owner).finally(() => {
      this.writing = undefined
      this.lastWriteMs = clock.monotonic()
      if (this.isDue) this.writeSoon()
    }))
  }

  private async write(owner: string): Promise<void> {
    const { broker, stream } = this.options
    try {
      if (this.isUncertain) await this.lookUp()
      if (this.isGone()) return
      const { revision } = await broker.commit(stream, { record: this.next(owner) })
      this.revision = revision
      this.changes.written()
      this.durableBelow = this.writtenBelow
    } catch (error) {
      this.refused(error)
    }
  }

  private next(owner: string): RecordWrite {
    this.isDue = false
    const bounds = this.subject.bounds()
    this.writtenBelow = bounds.settledBelow
    const body = (): Uint8Array => encodeRecord(this.subject.content(owner))
    return { body, change: this.changes.take(), revision: this.revision, ...bounds }
  }

  private refused(error: unknown): void {
    this.changes.refused()
    this.isDue = true
    if (isFenced(error)) this.subject.lost(errorText(error))
    else this.isUncertain = true
  }

  private async lookUp(): Promise<void> {
    const record = await this.options.broker.readRecord(this.options.stream)
    this.isUncertain = false
    if (record === undefined || record.revision === this.revision) return
    if (!this.adopt(record.body, record.revision)) this.subject.lost('its record was changed')
  }

  /** Takes a revision that this process wrote without having heard of it. */
  private adopt(body: Uint8Array, revision: number): boolean {
    const { epoch, owner } = decodeRecord(body)
    const { record } = this.options
    if (epoch !== record.epoch || (owner !== '' && owner !== record.owner)) return false
    this.revision = revision
    return true
  }

  private tellWritten(): void {
    const waiting = this.whenWritten
    this.whenWritten = []
    for (const tell of waiting) tell()
  }
}
