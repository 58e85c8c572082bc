/**
 * What is stored of one queue and not yet delivered: in memory up to a bound, behind it on disk, read back in order when the
 * consumer has room. Delivery never waits for a write and a write never waits for the consumer. `backlogs.ts` has one a queue.
 */
import type { Clock, TimerHandle } from '../../model/clock.ts'
import type { Message } from '../../model/message.ts'
import { BlockReader, type Block, type DamagedRange } from './block.ts'
import type { Disk, DiskFile } from './disk.ts'
import type { LinkEventListener } from './events.ts'
import { MAIN_QUEUE, type Delivery, type LinkConsumer } from './link.ts'
import type { RangeSet } from './range-set.ts'
import type { SegmentFile } from './segment-file.ts'
import type { Segments } from './segments.ts'
import { decodeBlock } from './wire.ts'

const READ_RETRY_MS = 1000
/** Small enough that a consumer's room is used while the next batch is being made. */
const MAX_BATCH = 2048

export interface BacklogOptions {
  readonly disk: Disk
  readonly clock: Clock
  readonly segments: Segments
  readonly onEvent: LinkEventListener
  /** Messages and bytes (as encoded) that wait in memory. */
  readonly maxMessages: number
  readonly maxBytes: number
  /** What the replay knows: settled sequences, and tries so far of the others. */
  readonly settled: RangeSet
  readonly attempts: Map<number, number>
  /** False while nothing may be delivered. */
  readonly mayDeliver: () => boolean
  /** Delivered and not settled: sequences, over all queues. Bounded by the consumers' room. */
  readonly outstanding: Set<number>
}

interface Position {
  segment: SegmentFile
  offset: number
  /** The sequence that comes next; 0 where that is not known. */
  expected: number
}

/** Where a frame stands that is durable now. */
export interface StoredFrame {
  readonly segment: SegmentFile
  readonly offset: number
  readonly first: number
  readonly last: number
}

export class Backlog {
  delivered = 0
  private readonly options: BacklogOptions
  private readonly wants: (queueName: string | undefined) => boolean
  private readonly share: () => number
  private consumer: LinkConsumer | undefined
  private waiting: Delivery[] = []
  private head = 0
  private waitingBytes = 0
  /** Where reading goes on; undefined while everything that is undelivered is in memory. */
  private behindFrom: Position | undefined
  /** Up to this sequence everything of this queue was looked at. */
  private seenUpTo = 0
  /** What is at or below was taken before the reading went back for a queue that was given up; by queue, and for all others. */
  private readonly floors = new Map<string, number>()
  private floor = 0
  private cursor: { segment: SegmentFile; reader: BlockReader; file: DiskFile } | undefined
  private isReading = false
  private isPumping = false
  private mustPumpAgain = false
  private isClosed = false
  private retry: TimerHandle | undefined
  private reading: Promise<void> = Promise.resolve()

  /**
   * `wants` tells which queues' messages are its own, `share` which part of the bounds it has. It begins with the oldest segment.
   */
  constructor(options: BacklogOptions, wants: (queueName: string | undefined) => boolean, share: () => number) {
    this.options = options
    this.wants = wants
    this.share = share
    const first = options.segments.first
    if (first !== undefined) this.behindFrom = { segment: first, offset: 0, expected: 0 }
  }

  get hasConsumer(): boolean {
    return this.consumer !== undefined
  }

  /** A consumer, or none: then what comes waits. */
  consume(consumer: LinkConsumer | undefined): void {
    this.consumer = consumer
  }

  /**
   * A frame is durable; `messages` are those of this queue in it, `first` to `last` all its sequences. Keeps them in memory where
   * there is room and nothing on disk stands before them.
   */
  stored(messages: readonly Message[], bytes: number, frame: StoredFrame): void {
    if (this.behindFrom !== undefined) return
    const count = this.waiting.length - this.head
    const { maxMessages, maxBytes } = this.options
    const share = this.share()
    const isOver =
      count > 0 &&
      messages.length > 0 &&
      (count + messages.length > maxMessages * share || this.waitingBytes + bytes > maxBytes * share)
    if (isOver) {
      this.behindFrom = { segment: frame.segment, offset: frame.offset, expected: frame.first }
      return
    }
    for (const message of messages) this.waiting.push({ message, attempt: 1 })
    this.waitingBytes += bytes
    this.seenUpTo = frame.last
  }

  /** Takes over what another has not delivered of the one queue that is this one's from now on, and where it stands. */
  splitFrom(other: Backlog, queueName: string): void {
    const position = other.behindFrom
    this.behindFrom = position === undefined ? undefined : { ...position }
    this.seenUpTo = other.seenUpTo
    this.floor = other.floors.get(queueName) ?? other.floor
    other.floors.delete(queueName)
    const undelivered = other.takeAll()
    const isMine = (delivery: Delivery): boolean => delivery.message.queueName === queueName
    this.keep(undelivered.deliveries.filter(isMine), undelivered)
    other.keep(
      undelivered.deliveries.filter((delivery) => !isMine(delivery)),
      undelivered,
    )
  }

  /**
   * Leaves to another what it has not delivered of its queue, and delivers nothing more; `close` is still to be called. Where it was further behind, the other goes back to its
   * place, and takes from there only what this one had not seen.
   */
  mergeInto(other: Backlog, queueName: string): void {
    this.isClosed = true
    this.retry?.cancel()
    other.floor = Math.max(other.floor, other.seenUpTo)
    for (const [name, floor] of other.floors) other.floors.set(name, Math.max(floor, other.seenUpTo))
    other.floors.set(queueName, Math.max(this.floor, this.seenUpTo))
    const mine = this.takeAll()
    const others = other.takeAll()
    const deliveries = [...others.deliveries, ...mine.deliveries]
    deliveries.sort((a, b) => a.message.sequence - b.message.sequence)
    other.waiting = deliveries
    other.waitingBytes = others.bytes + mine.bytes
    if (this.behindFrom === undefined || !isBefore(this.behindFrom, other.behindFrom)) return
    other.behindFrom = { ...this.behindFrom }
    other.seenUpTo = this.seenUpTo
  }

  /** Delivers while the consumer has room. */
  pump(): void {
    if (this.isPumping) {
      this.mustPumpAgain = true
      return
    }
    this.isPumping = true
    do {
      this.mustPumpAgain = false
      this.deliver()
    } while (this.mustPumpAgain)
    this.isPumping = false
    if (this.head === this.waiting.length) this.readOn()
  }

  private takeAll(): { readonly deliveries: Delivery[]; readonly bytes: number } {
    const all = { deliveries: this.waiting.slice(this.head), bytes: this.waitingBytes }
    this.waiting = []
    this.head = 0
    this.waitingBytes = 0
    return all
  }

  private keep(deliveries: Delivery[], of: { readonly deliveries: readonly Delivery[]; readonly bytes: number }): void {
    this.waiting = deliveries
    this.waitingBytes = of.deliveries.length === 0 ? 0 : (of.bytes * deliveries.length) / of.deliveries.length
  }

  async close(): Promise<void> {
    this.isClosed = true
    this.retry?.cancel()
    await this.reading
    await this.leaveCursor()
  }

  private deliver(): void {
    const consumer = this.consumer
    while (consumer !== undefined && !this.isClosed && this.head < this.waiting.length && this.options.mayDeliver()) {
      const room = Math.min(consumer.room(), MAX_BATCH)
      if (room <= 0) return
      const batch = this.take(room)
      for (const delivery of batch) this.options.outstanding.add(delivery.message.sequence)
      this.delivered += batch.length
      consumer.deliver(batch)
    }
  }

  private take(count: number): Delivery[] {
    const rest = this.waiting.length - this.head
    if (this.head === 0 && rest <= count) {
      const all = this.waiting
      this.waiting = []
      this.waitingBytes = 0
      return all
    }
    const batch = this.waiting.slice(this.head, this.head + count)
    this.waitingBytes -= (this.waitingBytes * batch.length) / rest
    this.head += batch.length
    if (this.head === this.waiting.length) {
      this.waiting = []
      this.head = 0
      this.waitingBytes = 0
    }
    return batch
  }

  private readOn(): void {
    if (this.behindFrom === undefined || this.isReading || this.isClosed || this.retry !== undefined) return
    if (this.consumer === undefined || this.consumer.room() <= 0) return
    this.isReading = true
    this.reading = this.readSome().then(
      () => {
        this.isReading = false
        this.pump()
      },
      (error: unknown) => {
        this.isReading = false
        this.options.onEvent({ kind: 'read-failed', file: this.behindFrom?.segment.path ?? '', error })
        if (this.isClosed) return
        this.retry = this.options.clock.after(READ_RETRY_MS, () => {
          this.retry = undefined
          this.pump()
        })
      },
    )
  }

  /** Reads the next blocks into memory, or learns that there are none. */
  private async readSome(): Promise<void> {
    const behind = this.behindFrom
    if (behind === undefined) return
    const { segment } = behind
    const first = this.options.segments.first
    if (first !== undefined && segment.id < first.id) {
      // Removed meanwhile: all of it was settled.
      await this.leaveCursor()
      this.behindFrom = { segment: first, offset: 0, expected: 0 }
      return
    }
    if (this.cursor?.segment !== segment || this.cursor.reader.offset !== behind.offset) {
      await this.leaveCursor()
      const file = await this.open(segment)
      if (file === undefined) return
      this.cursor = { segment, reader: new BlockReader(file, behind.offset), file }
    }
    const { reader } = this.cursor
    const limit = segment.end
    const { blocks, damage } = await reader.read(limit)
    // Meanwhile it ended, or went back: what was read is read again by whoever needs it.
    if (this.behindFrom !== behind || this.isClosed) return this.leaveCursor()
    behind.offset = reader.offset
    for (const block of blocks) this.load(block, behind, damage[0])
    // From here to the end of this turn nothing is stored: a decision about the log's end is good.
    if (segment.end > limit || (blocks.length > 0 && reader.offset < limit)) return
    if (reader.offset < limit) {
      const from = behind.expected === 0 ? segment.nextSequence : behind.expected
      this.reportDamage(segment, { from: reader.offset, to: limit }, from, segment.nextSequence)
    }
    const next = this.options.segments.after(segment)
    this.behindFrom = next === undefined ? undefined : { segment: next, offset: 0, expected: 0 }
    await this.leaveCursor()
  }

  /** Undefined where the segment was removed while it was being opened: the next look finds the one after it. */
  private async open(segment: SegmentFile): Promise<DiskFile | undefined> {
    try {
      return await this.options.disk.open(segment.path)
    } catch (error) {
      const { first } = this.options.segments
      if (first !== undefined && segment.id < first.id) return undefined
      throw error
    }
  }

  private load(block: Block, behind: Position, damage: DamagedRange | undefined): void {
    const { messages, firstSequence, count } = decodeBlock(block.body, { entries: true, wants: this.wants })
    if (count === 0) return
    if (behind.expected > 0 && firstSequence > behind.expected) {
      const range = damage ?? { from: block.offset, to: block.offset }
      this.reportDamage(behind.segment, range, behind.expected, firstSequence)
    }
    behind.expected = firstSequence + count
    for (const message of messages) {
      if (this.options.settled.has(message.sequence) || this.wasTaken(message)) continue
      const tries = this.options.attempts.get(message.sequence)
      if (tries !== undefined) this.options.attempts.delete(message.sequence)
      this.waiting.push({ message, attempt: (tries ?? 0) + 1 })
    }
    this.seenUpTo = behind.expected - 1
    this.waitingBytes += ((block.end - block.offset) * messages.length) / count
  }

  private wasTaken({ sequence, queueName }: Message): boolean {
    if (this.floor === 0 && this.floors.size === 0) return false
    return sequence <= (this.floors.get(queueName ?? MAIN_QUEUE) ?? this.floor)
  }

  private reportDamage(segment: SegmentFile, damage: DamagedRange, from: number, to: number): void {
    const lostMessages = to - from - this.options.settled.countWithin(from, to)
    // Damage that was there at opening was told then, and its messages were never counted.
    if (!this.options.segments.lost(segment, lostMessages)) return
    this.options.onEvent({ kind: 'damaged', file: segment.path, ...damage, lostMessages })
  }

  private async leaveCursor(): Promise<void> {
    const cursor = this.cursor
    this.cursor = undefined
    await cursor?.file.close()
  }
}

function isBefore(position: Position, other: Position | undefined): boolean {
  if (other === undefined) return true
  if (position.segment.id !== other.segment.id) return position.segment.id < other.segment.id
  return position.offset < other.offset
}
