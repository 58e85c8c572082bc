/**
 * What is stored and not yet delivered: in memory up to a bound, behind it on disk, read back in order when the consumer has
 * room. Delivery never waits for a write and a write never waits for the consumer.
 */
import type { Clock, TimerHandle } from '../../model/clock.ts'
import type { Message } from '../../model/message.ts'
import { BlockReader, type Block, type DamagedRange } from './block.ts'
import type { Disk, DiskFile } from './disk.ts'
import type { LinkEventListener } from './events.ts'
import type { Delivery, LinkConsumer } from './link.ts'
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
}

export class Backlog {
  /** Delivered and not settled: sequences. Bounded by the consumer's room. */
  readonly outstanding = new Set<number>()
  delivered = 0
  private readonly options: BacklogOptions
  private consumer: LinkConsumer | undefined
  private waiting: Delivery[] = []
  private head = 0
  private waitingBytes = 0
  /** Where reading goes on; undefined while everything that is undelivered is in memory. */
  private behindFrom: { segment: SegmentFile; offset: number; expected: number } | undefined
  private cursor: { segment: SegmentFile; reader: BlockReader; file: DiskFile } | undefined
  private isReading = false
  private isPumping = false
  private mustPumpAgain = false
  private isClosed = false
  private retry: TimerHandle | undefined
  private reading: Promise<void> = Promise.resolve()

  constructor(options: BacklogOptions) {
    this.options = options
    const first = options.segments.first
    if (first !== undefined) this.behindFrom = { segment: first, offset: 0, expected: 0 }
  }

  consume(consumer: LinkConsumer): void {
    if (this.consumer !== undefined) throw new Error('a link has one consumer')
    this.consumer = consumer
    this.pump()
  }

  /** A frame is durable. Keeps it in memory where there is room and nothing on disk stands before it. */
  stored(messages: readonly Message[], bytes: number, segment: SegmentFile, offset: number): void {
    if (this.behindFrom !== undefined) return
    const count = this.waiting.length - this.head
    const isOver =
      count > 0 &&
      (count + messages.length > this.options.maxMessages || this.waitingBytes + bytes > this.options.maxBytes)
    if (isOver) {
      this.behindFrom = { segment, offset, expected: messages[0]?.sequence ?? 0 }
      return
    }
    for (const message of messages) this.waiting.push({ message, attempt: 1 })
    this.waitingBytes += bytes
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
      for (const delivery of batch) this.outstanding.add(delivery.message.sequence)
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
    behind.offset = reader.offset
    for (const block of blocks) this.load(block, behind, damage[0])
    // From here to the end of this turn nothing is stored: a decision about the log's end is good.
    if (segment.end > limit || (blocks.length > 0 && reader.offset < limit)) return
    if (reader.offset < limit) {
      const from = behind.expected === 0 ? segment.nextSequence : behind.expected
      this.tellDamage(segment, { from: reader.offset, to: limit }, from, segment.nextSequence)
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

  private load(
    block: Block,
    behind: { segment: SegmentFile; expected: number },
    damage: DamagedRange | undefined,
  ): void {
    const { messages, firstSequence } = decodeBlock(block.body, { entries: true })
    if (messages.length === 0) return
    if (behind.expected > 0 && firstSequence > behind.expected) {
      const range = damage ?? { from: block.offset, to: block.offset }
      this.tellDamage(behind.segment, range, behind.expected, firstSequence)
    }
    behind.expected = firstSequence + messages.length
    for (const message of messages) {
      if (this.options.settled.has(message.sequence)) continue
      const tries = this.options.attempts.get(message.sequence)
      if (tries !== undefined) this.options.attempts.delete(message.sequence)
      this.waiting.push({ message, attempt: (tries ?? 0) + 1 })
    }
    this.waitingBytes += block.end - block.offset
  }

  private tellDamage(segment: SegmentFile, damage: DamagedRange, from: number, to: number): void {
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
