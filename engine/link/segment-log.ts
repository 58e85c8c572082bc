/**
 * The embedded link: one physical log on disk for all partitions. Messages are encoded into the open frame as they come;
 * what piled up while the last frame was being stored is the next one. Settles and tries ride along.
 *
 * Frames, settles and tries of one write are one checksummed block (`block.ts`, `wire.ts`); after a disk error nothing is
 * acknowledged until a new segment could be written (`segment-writer.ts`); what a run left is read at opening (`recovery.ts`).
 */
import type { TimerHandle } from '../../model/clock.ts'
import { errorText, type MillraceError } from '../../model/errors.ts'
import type { Message } from '../../model/message.ts'
import { Backlogs } from './backlogs.ts'
import { Burial, type LetterKeeper } from './burial.ts'
import { deadLettersOf, DeadLetterStore, type DeadLetters } from './dead-letters.ts'
import { LinkErrors } from './errors.ts'
import type { LinkEventListener } from './events.ts'
import { Frame, ReceiptTeller } from './frame.ts'
import { Ledger, type LedgerPage } from './ledger.ts'
import {
  MAIN_QUEUE,
  type Delivery,
  type Link,
  type LinkConsumer,
  type PublishBound,
  type PublishReceipt,
} from './link.ts'
import { RangeSet } from './range-set.ts'
import { recover, type Recovery } from './recovery.ts'
import { SegmentWriter } from './segment-writer.ts'
import { Segments } from './segments.ts'
import {
  DEFAULT_BOUNDS,
  type SegmentLogBounds,
  type SegmentLogFigures,
  type SegmentLogOptions,
} from './segment-log-options.ts'

export interface SegmentLog extends Link, PublishBound {
  readonly deadLetters: DeadLetters
  /** Where dead letters of messages go that the link has settled. */
  readonly letters: LetterKeeper
  figures(): SegmentLogFigures
}

/** Opens the log, reading what the last run left. Throws what the disk throws, and where a block's schema is not known. */
export async function openSegmentLog(options: SegmentLogOptions): Promise<SegmentLog> {
  const bounds = { ...DEFAULT_BOUNDS, ...options.bounds }
  const onEvent = options.onEvent ?? (() => undefined)
  const { disk, directory, durability, clock } = options
  const letters = await DeadLetterStore.open({
    disk,
    directory: `${directory}/dead-letters`,
    durability,
    clock,
    segmentBytes: Math.min(bounds.segmentBytes, Math.max(1 << 16, bounds.maxDeadLetterBytes >> 4)),
    maxLetters: bounds.maxDeadLetters,
    maxBytes: bounds.maxDeadLetterBytes,
    onEvent,
  })
  const settled: [number, number][] = []
  const attempts = new Map<number, number>()
  const recovery = await recover(disk, directory, onEvent, { entries: false }, (content) => {
    for (const range of content.settled) settled.push(range)
    for (const [sequence, tries] of content.attempts) attempts.set(sequence, tries)
  })
  const log = new SegmentLogLink(options, bounds, onEvent, letters, recovery, new RangeSet(settled), attempts)
  await log.start()
  return log
}

const MAX_LEDGER = 1_000_000
/** Dead letters that wait for the disk: beyond it nothing more is delivered, since the consumer has let go of them. */
const MAX_BURIALS = 1000
const FIRST_PROBE_MS = 100
const LAST_PROBE_MS = 5000

class SegmentLogLink implements SegmentLog {
  readonly deadLetters: DeadLetters
  private readonly options: SegmentLogOptions
  private readonly bounds: SegmentLogBounds
  private readonly onEvent: LinkEventListener
  readonly letters: DeadLetterStore
  private readonly segments: Segments
  private readonly backlog: Backlogs
  private readonly writer: SegmentWriter
  private readonly ledger = new Ledger()
  private open: Frame
  private spare: Frame
  private nextSequence: number
  /** Of all segments; kept here because every publish asks. */
  private backlogBytes = 0
  /** Messages and bytes of the frame that is being written. */
  private inFlight = { messages: 0, bytes: 0 }
  private isScheduled = false
  private isWriting = false
  private isSuspended = false
  private isWritable = true
  private isClosing = false
  private isClosed = false
  private settleTimer: TimerHandle | undefined
  private probe: TimerHandle | undefined
  private probing: Promise<void> | undefined
  private probeMs = FIRST_PROBE_MS
  private readonly burial: Burial
  private readonly teller: ReceiptTeller
  private readonly writableListeners = new Set<() => void>()
  private closing: Promise<void> | undefined
  private whenWritten: (() => void)[] = []
  private readonly counts = {
    published: 0,
    stored: 0,
    settled: 0,
    failed: 0,
    buried: 0,
    writes: 0,
    bytesWritten: 0,
    diskFailures: 0,
  }

  constructor(
    options: SegmentLogOptions,
    bounds: SegmentLogBounds,
    onEvent: LinkEventListener,
    letters: DeadLetterStore,
    recovery: Recovery,
    settled: RangeSet,
    attempts: Map<number, number>,
  ) {
    const { disk, directory, durability, clock } = options
    this.options = options
    this.bounds = bounds
    this.onEvent = onEvent
    this.letters = letters
    this.teller = new ReceiptTeller(clock, onEvent)
    this.burial = new Burial(letters, clock, onEvent, (sequence) => this.buriedDurably(sequence))
    this.nextSequence = recovery.nextSequence
    this.open = new Frame(options.partitions)
    this.spare = new Frame(options.partitions)
    this.segments = new Segments(disk, directory, onEvent, () => {
      this.backlogBytes = this.segments.bytes
      this.checkWritable()
    })
    this.segments.recovered(recovery.segments, settled)
    this.writer = new SegmentWriter({
      disk,
      directory,
      durability,
      segmentBytes: bounds.segmentBytes,
      last: recovery.segments.at(-1),
      nextSequence: recovery.nextSequence,
      opened: (segment) => this.segments.opened(segment),
    })
    this.backlog = new Backlogs({
      disk,
      clock,
      segments: this.segments,
      onEvent,
      maxMessages: bounds.maxMemoryMessages,
      maxBytes: bounds.maxMemoryBytes,
      settled,
      attempts,
      outstanding: new Set(),
      mayDeliver: () => this.ledger.size < MAX_LEDGER && this.burial.size < MAX_BURIALS,
    })
    this.deadLetters = deadLettersOf(letters, (message, receipt) => this.publish(message, receipt))
  }

  async start(): Promise<void> {
    await this.writer.openSegment()
    this.segments.removeSettled()
    await this.segments.idle()
    this.backlogBytes = this.segments.bytes
  }

  publish(message: Message, receipt: PublishReceipt): void {
    this.counts.published++
    const refusal = this.refusalOf(message)
    if (refusal !== undefined) {
      this.teller.refuseSoon(receipt, refusal)
      return
    }
    message.sequence = this.nextSequence
    try {
      this.open.add(message, receipt)
    } catch (error) {
      this.teller.refuseSoon(receipt, LinkErrors.MESSAGE_INVALID({ reason: errorText(error) }, error))
      return
    }
    this.nextSequence++
    if (this.isWritable && this.isOverHalf()) this.isWritable = false
    this.schedule()
  }

  checkFits(message: Message): void {
    const refusal = this.sizeRefusalOf(message)
    if (refusal !== undefined) throw refusal
  }

  get writable(): boolean {
    return this.isWritable
  }

  onWritable(listener: () => void): () => void {
    this.writableListeners.add(listener)
    return () => void this.writableListeners.delete(listener)
  }

  consume(consumer: LinkConsumer, queueName: string = MAIN_QUEUE): () => void {
    return this.backlog.consume(consumer, queueName)
  }

  wake(): void {
    this.backlog.pump()
  }

  settle(deliveries: readonly Delivery[]): void {
    for (const { message } of deliveries) this.settleOne(message.sequence)
    this.scheduleSettle()
  }

  failed(delivery: Delivery, tries: number): void {
    if (!this.backlog.outstanding.has(delivery.message.sequence)) return
    this.counts.failed++
    this.ledger.failed(delivery.message.sequence, tries)
    this.scheduleSettle()
  }

  bury(delivery: Delivery, reason: string, tries: number): void {
    if (!this.backlog.outstanding.has(delivery.message.sequence)) return
    this.burial.bury(delivery, reason, tries)
  }

  figures(): SegmentLogFigures {
    return {
      ...this.counts,
      refused: this.teller.refused,
      delivered: this.backlog.delivered,
      pending: this.open.messages.length + this.inFlight.messages,
      unsettled: this.segments.unsettled,
      backlogBytes: this.segments.bytes,
      segments: this.segments.count,
      deadLetters: this.letters.count,
      deadLettersDropped: this.letters.droppedCount,
    }
  }

  close(): Promise<void> {
    return (this.closing ??= this.drainAndClose())
  }

  private refusalOf(message: Message): MillraceError | undefined {
    if (this.isClosing) return LinkErrors.LINK_CLOSED()
    if (this.isSuspended) return LinkErrors.DISK_REFUSED({ reason: 'the last write failed' })
    const tooLarge = this.sizeRefusalOf(message)
    if (tooLarge !== undefined) return tooLarge
    const messages = this.open.messages.length + this.inFlight.messages
    if (messages >= this.bounds.maxPendingMessages || this.pendingBytes() >= this.bounds.maxPendingBytes) {
      return LinkErrors.BUFFER_FULL({ messages })
    }
    if (this.backlogBytes >= this.bounds.maxBacklogBytes) {
      return LinkErrors.BACKLOG_FULL({ bytes: this.backlogBytes, limit: this.bounds.maxBacklogBytes })
    }
    return undefined
  }

  private sizeRefusalOf({ data }: Message): MillraceError | undefined {
    const limit = this.bounds.maxMessageSize
    return data.length > limit ? LinkErrors.MESSAGE_TOO_LARGE({ size: data.length, limit }) : undefined
  }

  private pendingBytes(): number {
    return this.open.block.bytes + this.inFlight.bytes
  }

  private isOverHalf(): boolean {
    return (
      this.open.messages.length + this.inFlight.messages >= this.bounds.maxPendingMessages / 2 ||
      this.pendingBytes() >= this.bounds.maxPendingBytes / 2 ||
      this.backlogBytes >= this.bounds.maxBacklogBytes * 0.9
    )
  }

  private schedule(): void {
    if (this.isScheduled || this.isWriting || this.isSuspended) return
    this.isScheduled = true
    this.options.clock.soon(() => {
      this.isScheduled = false
      this.write()
    })
  }

  private scheduleSettle(): void {
    if (this.isScheduled || this.isWriting || this.isSuspended || this.isClosed || this.ledger.size === 0) return
    this.settleTimer ??= this.options.clock.after(this.bounds.settleDelayMs, () => {
      this.settleTimer = undefined
      this.write()
    })
  }

  /** Writes everything that waits as one block, unless a write is in flight: its end comes back here. */
  private write(): void {
    if (this.isWriting || this.isSuspended || this.isClosed) return
    const frame = this.open
    const page = this.ledger.take()
    if (frame.messages.length === 0 && page.settled.length === 0 && page.attempts.size === 0) {
      this.notifyWritten()
      return
    }
    this.settleTimer?.cancel()
    this.settleTimer = undefined
    this.open = this.spare
    this.spare = frame
    frame.block.settled(page.settled)
    frame.block.attempts(page.attempts)
    const block = frame.block.finish()
    this.inFlight = { messages: frame.messages.length, bytes: block.length }
    this.isWriting = true
    const next = frame.messages.length === 0 ? 0 : (frame.messages[0]?.sequence ?? 0) + frame.messages.length
    this.writer.append(block, next).then(
      (offset) => this.written(frame, page, block.length, offset),
      (error: unknown) => this.writeFailed(frame, page, error),
    )
  }

  private written(frame: Frame, page: LedgerPage, bytes: number, offset: number): void {
    this.isWriting = false
    this.inFlight = { messages: 0, bytes: 0 }
    const { messages, receipts } = frame
    frame.reset()
    this.counts.writes++
    this.counts.bytesWritten += bytes
    this.counts.stored += messages.length
    this.segments.stored(messages.length)
    const segment = this.writer.current
    if (messages.length > 0 && segment !== undefined) this.backlog.stored(messages, bytes, segment, offset)
    this.segments.settled(page.settled)
    this.backlogBytes = this.segments.bytes
    this.teller.stored(receipts)
    if (this.open.messages.length > 0 || this.isClosing) this.write()
    else this.scheduleSettle()
    this.backlog.pump()
    this.checkWritable()
  }

  private writeFailed(frame: Frame, page: LedgerPage, error: unknown): void {
    this.isWriting = false
    this.isSuspended = true
    this.inFlight = { messages: 0, bytes: 0 }
    this.ledger.restore(page)
    this.isWritable = false
    this.diskFailed(this.writer.current?.path ?? this.options.directory, error)
    const refused = [...frame.receipts, ...this.open.receipts]
    frame.reset()
    this.open.reset()
    const refusal = LinkErrors.DISK_REFUSED({ reason: errorText(error) }, error)
    this.teller.refuse(refused, refusal)
    this.probeMs = FIRST_PROBE_MS
    this.probeLater()
  }

  private diskFailed(file: string, error: unknown): void {
    this.counts.diskFailures++
    this.onEvent({ kind: 'disk-failed', file, error })
  }

  private probeLater(): void {
    if (this.isClosing) {
      this.notifyWritten()
      return
    }
    this.probe = this.options.clock.after(this.probeMs, () => {
      this.probe = undefined
      this.probeMs = Math.min(LAST_PROBE_MS, this.probeMs * 2)
      this.isWriting = true
      this.probing = this.writer.openSegment().then(
        (segment) => this.recovered(segment.path),
        (error: unknown) => {
          this.isWriting = false
          this.diskFailed(this.options.directory, error)
          this.probeLater()
        },
      )
    })
  }

  private recovered(file: string): void {
    this.isWriting = false
    this.isSuspended = false
    this.onEvent({ kind: 'disk-recovered', file })
    this.write()
    this.backlog.pump()
    this.checkWritable()
  }

  private checkWritable(): void {
    if (this.isWritable || this.isSuspended || this.isClosing || this.isOverHalf()) return
    this.isWritable = true
    for (const listener of [...this.writableListeners]) listener()
  }

  private settleOne(sequence: number): void {
    if (!this.backlog.outstanding.delete(sequence)) return
    this.counts.settled++
    this.ledger.settle(sequence)
  }

  private buriedDurably(sequence: number): void {
    this.counts.buried++
    this.settleOne(sequence)
    this.scheduleSettle()
  }

  private async drainAndClose(): Promise<void> {
    this.isClosing = true
    this.isWritable = false
    await this.backlog.close()
    await this.burial.close()
    this.settleTimer?.cancel()
    this.probe?.cancel()
    await this.probing
    while (!this.isSuspended && (this.isWriting || this.open.messages.length > 0 || this.ledger.size > 0)) {
      const written = new Promise<void>((resolve) => this.whenWritten.push(resolve))
      this.write()
      await written
    }
    this.isClosed = true
    await this.segments.idle()
    await this.letters.close()
    await this.writer.close()
  }

  private notifyWritten(): void {
    const waiting = this.whenWritten
    this.whenWritten = []
    for (const tell of waiting) tell()
  }
}

export type { SegmentLogBounds, SegmentLogFigures, SegmentLogOptions } from './segment-log-options.ts'
export type { LinkEvent } from './events.ts'
