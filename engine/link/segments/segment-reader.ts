/** Reads the frames of the log in order: from memory while it stands at the log's end, else from the files. */
import type { Clock, TimerHandle } from '../../../model/clock.ts'
import { BlockReader, type Block } from '../../../disk/block.ts'
import type { DamagedRange } from '../../../disk/events.ts'
import type { DiskFile } from '../../../disk/disk.ts'
import type { LinkEventListener } from '../events.ts'
import type { FrameReader, StoredFrame } from '../frame-broker.ts'
import type { SegmentFile } from '../../../disk/segment-file.ts'
import type { Segments } from '../../../disk/segments.ts'

const READ_RETRY_MS = 1000
/** Of frames that were stored while it was behind: without them it would hardly catch up with a busy writer. */
const TAIL_BYTES = 4 << 20

export interface SegmentReaderOptions {
  readonly clock: Clock
  readonly segments: Segments
  readonly onEvent: LinkEventListener
  /** Where it begins. */
  readonly from: number
  /** Makes a frame of a block; undefined for one that holds no message or is settled. */
  readonly frameOf: (
    block: Block,
    segment: SegmentFile,
  ) => { readonly frame: StoredFrame | undefined; readonly range: Range | undefined }
  readonly onFrame: (frame: StoredFrame) => void
  /** Sequences that the file should have and has not. */
  readonly onLost: (segment: SegmentFile, damage: DamagedRange, from: number, to: number) => void
}

/** Sequences: from, and behind the last. */
export type Range = readonly [from: number, to: number]

interface Cursor {
  segment: SegmentFile
  offset: number
  /** The sequence that comes next; 0 where that is not known. */
  expected: number
}

export class SegmentReader implements FrameReader {
  private readonly options: SegmentReaderOptions
  private demand = 0
  /** Where reading goes on; undefined while it stands at the end. */
  private cursor: Cursor | undefined
  private blocks: readonly Block[] = []
  private nextBlock = 0
  private damage: DamagedRange | undefined
  /** The newest frames of the log while it is behind, one after the other. */
  private tail: { readonly frame: StoredFrame; readonly segment: SegmentFile; readonly offset: number }[] = []
  private tailBytes = 0
  private open: { readonly segment: SegmentFile; readonly file: DiskFile } | undefined
  private isReading = false
  private isClosed = false
  private retry: TimerHandle | undefined
  private reading: Promise<void> = Promise.resolve()

  constructor(options: SegmentReaderOptions) {
    this.options = options
    const segment = options.segments.at(options.from)
    if (segment !== undefined) this.cursor = { segment, offset: 0, expected: 0 }
  }

  request(frames: number): void {
    this.demand += frames
    this.readOn()
  }

  /** A frame is durable at the end of the log. */
  stored(frame: StoredFrame, segment: SegmentFile, offset: number): void {
    if (this.isClosed) return
    if (this.cursor === undefined && this.demand > 0) {
      this.demand--
      this.options.onFrame(frame)
      return
    }
    this.cursor ??= { segment, offset, expected: frame.position }
    this.tail.push({ frame, segment, offset })
    this.tailBytes += frame.bytes
    while (this.tailBytes > TAIL_BYTES) this.tailBytes -= this.tail.shift()?.frame.bytes ?? 0
  }

  async close(): Promise<void> {
    this.isClosed = true
    this.retry?.cancel()
    await this.reading
    await this.leaveFile()
  }

  private readOn(): void {
    if (this.isReading || this.isClosed || this.retry !== undefined || this.cursor === undefined) return
    if (this.demand === 0) return
    this.isReading = true
    this.reading = this.readUntilEnough().then(
      () => {
        this.isReading = false
        this.readOn()
      },
      (error: unknown) => {
        this.isReading = false
        this.options.onEvent({ kind: 'read-failed', file: this.cursor?.segment.path ?? '', error })
        if (this.isClosed) return
        this.retry = this.options.clock.after(READ_RETRY_MS, () => {
          this.retry = undefined
          this.readOn()
        })
      },
    )
  }

  private async readUntilEnough(): Promise<void> {
    while (this.cursor !== undefined && !this.isClosed && this.demand > 0) {
      if (this.isAtTail(this.cursor)) this.handOutTail(this.cursor)
      else if (this.nextBlock < this.blocks.length) this.handOut(this.cursor)
      else await this.readSome(this.cursor)
    }
  }

  private isAtTail({ segment, offset }: Cursor): boolean {
    const first = this.tail[0]
    return first !== undefined && first.segment === segment && first.offset === offset
  }

  private handOutTail(cursor: Cursor): void {
    this.blocks = []
    this.nextBlock = 0
    const count = Math.min(this.demand, this.tail.length)
    const frames = this.tail.splice(0, count)
    this.demand -= count
    const next = this.tail[0]
    if (next === undefined) this.cursor = undefined
    else Object.assign(cursor, { segment: next.segment, offset: next.offset, expected: next.frame.position })
    for (const { frame } of frames) {
      this.tailBytes -= frame.bytes
      this.options.onFrame(frame)
    }
  }

  private handOut(cursor: Cursor): void {
    while (this.demand > 0 && this.nextBlock < this.blocks.length && !this.isClosed && !this.isAtTail(cursor)) {
      const block = this.blocks[this.nextBlock++]
      if (block === undefined) return
      cursor.offset = block.end
      const { frame, range } = this.options.frameOf(block, cursor.segment)
      if (range === undefined) continue
      const [from, to] = range
      if (cursor.expected > 0 && from > cursor.expected) {
        const damage = this.damage ?? { from: block.offset, to: block.offset }
        this.options.onLost(cursor.segment, damage, cursor.expected, from)
      }
      cursor.expected = to
      if (frame === undefined) continue
      this.demand--
      this.options.onFrame(frame)
    }
  }

  /** Reads the next blocks, or learns that there are none. */
  private async readSome(cursor: Cursor): Promise<void> {
    const { segment } = cursor
    const file = await this.fileOf(segment)
    if (file === undefined) return
    const limit = segment.end
    const reader = new BlockReader(file, cursor.offset)
    const { blocks, damage } = await reader.read(limit)
    this.blocks = blocks
    this.nextBlock = 0
    this.damage = damage[0]
    // From here to the end of this turn nothing is stored: a decision about the log's end is good.
    if (blocks.length > 0 || segment.end > limit) return
    if (cursor.offset < limit) {
      const from = cursor.expected === 0 ? segment.nextSequence : cursor.expected
      this.options.onLost(segment, { from: cursor.offset, to: limit }, from, segment.nextSequence)
    }
    this.beginBehind(segment)
    await this.leaveFile()
  }

  /** Undefined where the segment leaves meanwhile: all of it was settled. */
  private async fileOf(segment: SegmentFile): Promise<DiskFile | undefined> {
    if (this.open?.segment === segment) return this.open.file
    await this.leaveFile()
    const file = await this.options.segments.open(segment)
    if (file === undefined) this.beginBehind(segment)
    else this.open = { segment, file }
    return file
  }

  private beginBehind(segment: SegmentFile): void {
    const next = this.options.segments.after(segment)
    this.cursor = next === undefined ? undefined : { segment: next, offset: 0, expected: 0 }
  }

  private async leaveFile(): Promise<void> {
    const { open } = this
    this.open = undefined
    await open?.file.close()
  }
}
