/**
 * An append-only log of blocks in segments: what a run left is read at opening, every place can be read again, and segments leave from the
 * front. The main log, the dead letters and the parked messages of one process are each such a log.
 */
import { openBlock } from './block.ts'
import type { Disk, Durability } from './disk.ts'
import type { DiskEventListener } from './events.ts'
import { recover, type BlockFacts, type BlockFormat, type Recovery, type VisitBlock } from './recovery.ts'
import type { SegmentFile } from './segment-file.ts'
import { SegmentWriter, type RecordPlace } from './segment-writer.ts'
import { Segments } from './segments.ts'

export interface RecordLogOptions<Content extends BlockFacts> {
  readonly disk: Disk
  readonly directory: string
  readonly durability: Durability
  /** A segment that is longer than this is followed by a new one. */
  readonly segmentBytes: number
  readonly format: BlockFormat<Content>
  readonly onEvent: DiskEventListener
  /** Which sequence comes next, by what was found; absent: sequences do not matter. */
  readonly startAt?: (recovery: Recovery) => number
}

export interface StoredRecord {
  /** With its checksum, as it was appended. */
  readonly block: Buffer
  readonly body: Buffer
}

export class RecordLog {
  readonly segments: Segments
  private readonly writer: SegmentWriter
  private readonly disk: Disk
  private readonly onEvent: DiskEventListener

  private constructor(
    options: Omit<RecordLogOptions<BlockFacts>, 'format'>,
    segments: Segments,
    writer: SegmentWriter,
  ) {
    this.disk = options.disk
    this.onEvent = options.onEvent
    this.segments = segments
    this.writer = writer
  }

  /** Throws what the disk throws, and where a block's schema is not known. */
  static async open<Content extends BlockFacts>(
    options: RecordLogOptions<Content>,
    visit: VisitBlock<Content>,
  ): Promise<RecordLog> {
    const { disk, directory, format, onEvent, startAt = () => 0 } = options
    const recovery = await recover(disk, directory, format, onEvent, visit)
    const segments = new Segments(disk, directory, recovery.segments, onEvent)
    return new RecordLog(
      options,
      segments,
      new SegmentWriter({ ...options, segments, nextSequence: startAt(recovery) }),
    )
  }

  /** The segment that is written to; undefined until the first one is open. */
  get current(): SegmentFile | undefined {
    return this.writer.current
  }

  /** Opens a fresh segment. Throws what the disk throws; may be called again. */
  openSegment(): Promise<SegmentFile> {
    return this.writer.openSegment()
  }

  /** Resolves when the block is durable at the configured level. Throws what the disk throws. */
  append(block: Buffer, nextSequence = 0): Promise<RecordPlace> {
    return this.writer.append(block, nextSequence)
  }

  /** The block at a place; undefined where it is damaged, which is told. Throws what the disk throws. */
  async read(place: RecordPlace): Promise<StoredRecord | undefined> {
    const record = await this.tryRead(place)
    const { segment, offset, bytes } = place
    if (record === undefined)
      this.onEvent({ kind: 'damaged', file: segment.path, from: offset, to: offset + bytes, lostMessages: 1 })
    return record
  }

  /** As `read`, and tells nobody. */
  async tryRead({ segment, offset, bytes }: RecordPlace): Promise<StoredRecord | undefined> {
    const file = await this.disk.open(segment.path)
    try {
      const block = await file.read(offset, bytes)
      const body = openBlock(block)
      return body === undefined ? undefined : { block, body }
    } finally {
      await file.close()
    }
  }

  async close(): Promise<void> {
    await this.segments.idle()
    await this.writer.close()
  }
}
