/**
 * Appends blocks to the newest segment, one write at a time, into space that was filled with zeros before: a sync that need
 * not make a new file length durable too costs 0.16 ms instead of 0.9 in a bare loop, and the log is a third faster with it.
 *
 * After a failed write or sync nothing more goes into that file ("fsyncgate": a sync that succeeds after a failed one proves
 * nothing): the file is left as it was at its last good byte, and the next segment's header says where that is, so that what
 * failed can never come back as if it had been stored.
 */
import type { Disk, DiskFile, Durability } from './disk.ts'
import { segmentFile, type SegmentFile, type SegmentFormat } from './segment-file.ts'
import type { Segments } from './segments.ts'
import { ZeroedSpace } from './zeroed-space.ts'

export interface SegmentWriterOptions {
  readonly disk: Disk
  readonly directory: string
  readonly durability: Durability
  /** A segment that is longer than this is followed by a new one. */
  readonly segmentBytes: number
  readonly format: SegmentFormat
  /** What was found at opening; each new segment is added once its header is durable. */
  readonly segments: Segments
  readonly nextSequence: number
}

/** Where one or several blocks stand that were appended together. */
export interface RecordPlace {
  readonly segment: SegmentFile
  readonly offset: number
  readonly bytes: number
}

export class SegmentWriter {
  private readonly options: SegmentWriterOptions
  private file: DiskFile | undefined
  private space: ZeroedSpace | undefined
  private segment: SegmentFile | undefined
  private lastId: number
  /** No sequence at or above it was given out: the headers carry it, so that none is given out twice. */
  private sequenceFloor: number
  private readonly leaving = new Set<Promise<void>>()

  constructor(options: SegmentWriterOptions) {
    this.options = options
    this.segment = options.segments.newest
    this.lastId = this.segment?.id ?? 0
    this.sequenceFloor = options.nextSequence
  }

  /** The segment that is written to; undefined until the first one is open. */
  get current(): SegmentFile | undefined {
    return this.segment
  }

  /** Opens a fresh segment. Throws what the disk throws; may be called again. */
  async openSegment(): Promise<SegmentFile> {
    const { disk, directory, format, segments } = this.options
    const id = ++this.lastId
    const path = `${directory}/${format.name(id)}`
    const header = format.header({
      id,
      previousId: this.segment?.id ?? 0,
      previousEnd: this.segment?.end ?? 0,
      previousNextSequence: this.segment?.nextSequence ?? 0,
      nextSequence: this.sequenceFloor,
    })
    const file = await disk.create(path)
    const space = new ZeroedSpace(
      file,
      header.length,
      this.options.durability === 'power-cut' ? this.options.segmentBytes : 0,
    )
    try {
      await file.write(header, 0)
      await space.grow()
      await file.sync()
      await disk.syncDirectory(directory)
    } catch (error) {
      this.leave(file, space, undefined)
      await disk.remove(path).catch(() => undefined) // It has no valid block that anybody was told of: the next opening drops it.
      throw error
    }
    this.leaveCurrent()
    this.file = file
    this.space = space
    this.segment = segmentFile(id, path, header.length, this.sequenceFloor)
    segments.add(this.segment)
    return this.segment
  }

  /** Whether `append` would begin with a new segment. */
  get needsSegment(): boolean {
    return this.file === undefined || (this.segment?.end ?? 0) >= this.options.segmentBytes
  }

  /** Appends a block and makes it durable at the configured level; tells where it stands. Throws what the disk throws. */
  async append(block: Uint8Array, nextSequence: number): Promise<RecordPlace> {
    if (this.needsSegment) await this.openSegment()
    const { file, segment, space } = this
    if (file === undefined || segment === undefined || space === undefined) throw new Error('no segment is open')
    this.sequenceFloor = Math.max(this.sequenceFloor, nextSequence)
    try {
      await space.reserve(segment.end + block.length)
      if (this.options.durability === 'power-cut') await file.writeDurably(block, segment.end)
      else await file.write(block, segment.end)
    } catch (error) {
      this.leaveCurrent()
      throw error
    }
    const offset = segment.end
    segment.end += block.length
    segment.nextSequence = Math.max(segment.nextSequence, nextSequence)
    return { segment, offset, bytes: block.length }
  }

  async close(): Promise<void> {
    this.leaveCurrent()
    await Promise.all(this.leaving)
  }

  /** Leaves the file that is written to, cut at its last good byte. */
  private leaveCurrent(): void {
    const { file, space, segment } = this
    this.file = undefined
    this.space = undefined
    if (file !== undefined) this.leave(file, space, segment?.end)
  }

  /** Closes a file behind the writer's back; cuts what stands behind its end, where the disk lets it, to give back the space. */
  private leave(file: DiskFile, space: ZeroedSpace | undefined, cutAt: number | undefined): void {
    const left = (async () => {
      try {
        await space?.idle()
        if (cutAt !== undefined) await file.truncate(cutAt)
      } finally {
        await file.close()
      }
    })().catch(() => undefined) // Only tidying: the next segment's header says where this one ends.
    this.leaving.add(left)
    void left.then(() => this.leaving.delete(left))
  }
}
