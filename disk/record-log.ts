/**
 * An append-only log of blocks in segments: what a run left is read at opening, every place can be read again, and segments leave from the
 * front. The main log, the dead letters and the parked messages of one process are each such a log.
 *
 * Blocks go to the newest segment, one write at a time, into space that was filled with zeros before: a sync that need
 * not make a new file length durable too costs 0.16 ms instead of 0.9 in a bare loop, and the log is a third faster with it.
 *
 * After a failed write or sync nothing more goes into that file ("fsyncgate": a sync that succeeds after a failed one proves
 * nothing): the file is left as it was at its last good byte, and the next segment's header says where that is, so that what
 * failed can never come back as if it had been stored.
 */
import { openBlock } from './block.ts'
import type { Durability } from './disk.ts'
import { recover, type BlockFacts, type Recovery, type RecoveryOptions, type VisitBlock } from './recovery.ts'
import { segmentFile, type SegmentFile } from './segment-file.ts'
import { Segments } from './segments.ts'
import { ZeroedSpace } from './zeroed-space.ts'

export interface RecordLogOptions<Content extends BlockFacts> extends RecoveryOptions<Content> {
  readonly durability: Durability
  /** A segment that is longer than this is followed by a new one. */
  readonly segmentBytes: number
  /** Which sequence comes next, by what was found; absent: sequences do not matter. */
  readonly startAt?: (recovery: Recovery) => number
}

/** Where one or several blocks stand that were appended together. */
export interface RecordPlace {
  readonly segment: SegmentFile
  readonly offset: number
  readonly bytes: number
}

export interface StoredRecord {
  /** With its checksum, as it was appended. */
  readonly block: Buffer
  readonly body: Buffer
}

export class RecordLog {
  /** The newest is the one that is written to, once it was opened. */
  readonly segments: Segments
  private readonly options: RecordLogOptions<BlockFacts>
  /** Of the newest segment; undefined where nothing more may go into it. */
  private space: ZeroedSpace | undefined
  private lastId: number
  /** No sequence at or above it was given out: the headers carry it, so that none is given out twice. */
  private sequenceFloor: number
  private readonly leaving = new Set<Promise<void>>()

  private constructor(options: RecordLogOptions<BlockFacts>, recovery: Recovery) {
    const { disk, directory, onEvent, startAt = () => 0 } = options
    this.options = options
    this.segments = new Segments(disk, directory, recovery.segments, onEvent)
    this.lastId = this.segments.newest?.id ?? 0
    this.sequenceFloor = startAt(recovery)
  }

  /** Throws what the disk throws, and where a block's schema is not known. */
  static async open<Content extends BlockFacts>(
    options: RecordLogOptions<Content>,
    visit: VisitBlock<Content>,
  ): Promise<RecordLog> {
    return new RecordLog(options, await recover(options, visit))
  }

  /** Opens a fresh segment. Throws what the disk throws; may be called again. */
  async openSegment(): Promise<SegmentFile> {
    const { disk, directory, format, durability, segmentBytes } = this.options
    const before = this.segments.newest
    const id = ++this.lastId
    const path = `${directory}/${format.name(id)}`
    const header = format.header({
      id,
      previousId: before?.id ?? 0,
      previousEnd: before?.end ?? 0,
      previousNextSequence: before?.nextSequence ?? 0,
      nextSequence: this.sequenceFloor,
    })
    const file = await disk.create(path)
    const space = new ZeroedSpace(file, header.length, durability === 'power-cut' ? segmentBytes : 0)
    try {
      await file.write(header, 0)
      await space.grow()
      await file.sync()
      await disk.syncDirectory(directory)
    } catch (error) {
      this.leave(space, undefined)
      await disk.remove(path).catch(() => undefined) // It has no valid block that anybody was told of: the next opening drops it.
      throw error
    }
    this.leaveNewest()
    this.space = space
    const segment = segmentFile(id, path, header.length, this.sequenceFloor)
    this.segments.add(segment)
    return segment
  }

  /** Appends a block and makes it durable at the configured level; tells where it stands. Throws what the disk throws. */
  async append(block: Uint8Array, nextSequence = 0): Promise<RecordPlace> {
    const { durability, segmentBytes } = this.options
    if (this.space === undefined || (this.segments.newest?.end ?? 0) >= segmentBytes) await this.openSegment()
    const { space } = this
    const segment = this.segments.newest
    if (space === undefined || segment === undefined) throw new Error('no segment is open')
    this.sequenceFloor = Math.max(this.sequenceFloor, nextSequence)
    try {
      await space.reserve(segment.end + block.length)
      if (durability === 'power-cut') await space.file.writeDurably(block, segment.end)
      else await space.file.write(block, segment.end)
    } catch (error) {
      this.leaveNewest()
      throw error
    }
    const offset = segment.end
    segment.end += block.length
    segment.nextSequence = Math.max(segment.nextSequence, nextSequence)
    return { segment, offset, bytes: block.length }
  }

  /** The block at a place; undefined where it is damaged, which is told. Throws what the disk throws. */
  async read(place: RecordPlace): Promise<StoredRecord | undefined> {
    const record = await this.tryRead(place)
    const { segment, offset, bytes } = place
    if (record === undefined)
      this.options.onEvent({ kind: 'damaged', file: segment.path, from: offset, to: offset + bytes, lostMessages: 1 })
    return record
  }

  /** As `read`, and tells nobody. */
  async tryRead({ segment, offset, bytes }: RecordPlace): Promise<StoredRecord | undefined> {
    const file = await this.options.disk.open(segment.path)
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
    this.leaveNewest()
    await Promise.all(this.leaving)
  }

  /** Leaves the file that is written to, cut at its last good byte. */
  private leaveNewest(): void {
    const { space } = this
    this.space = undefined
    if (space !== undefined) this.leave(space, this.segments.newest?.end)
  }

  /** Closes a file behind the writer's back; cuts what stands behind its end, where the disk lets it, to give back the space. */
  private leave(space: ZeroedSpace, cutAt: number | undefined): void {
    const left = (async () => {
      try {
        await space.idle()
        if (cutAt !== undefined) await space.file.truncate(cutAt)
      } finally {
        await space.file.close()
      }
    })().catch(() => undefined) // Only tidying: the next segment's header says where this one ends.
    this.leaving.add(left)
    void left.then(() => this.leaving.delete(left))
  }
}
