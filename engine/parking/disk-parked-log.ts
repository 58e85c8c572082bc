/** Parked messages in segments on disk: the format, the writer and the recovery of the link's log. */
import { BlockReader } from '../link/block.ts'
import type { Disk, Durability } from '../link/disk.ts'
import type { LinkEventListener } from '../link/events.ts'
import { recover } from '../link/recovery.ts'
import { segmentId, type SegmentFile } from '../link/segment-file.ts'
import { SegmentWriter } from '../link/segment-writer.ts'
import type { ParkedLog } from './parked-log.ts'

export interface DiskParkedLogOptions {
  readonly disk: Disk
  readonly directory: string
  readonly durability: Durability
  readonly segmentBytes: number
  readonly onEvent: LinkEventListener
}

interface Stored {
  readonly segment: SegmentFile
  readonly offset: number
  readonly end: number
}

export class DiskParkedLog implements ParkedLog {
  private readonly options: DiskParkedLogOptions
  private readonly blocks = new Map<number, Stored>()
  private readonly segments: SegmentFile[] = []
  private writer: SegmentWriter | undefined
  private lastPlace = 0

  constructor(options: DiskParkedLogOptions) {
    this.options = options
  }

  async load(visit: (place: number, body: Buffer, isSure: boolean) => void): Promise<void> {
    const { disk, directory, durability, segmentBytes, onEvent } = this.options
    await disk.ensureDirectory(directory)
    const last = Math.max(0, ...(await disk.list(directory)).map((name) => segmentId(name) ?? 0))
    const recovery = await recover(disk, directory, onEvent, { entries: false }, (content, segment, block) => {
      if (this.segments.at(-1) !== segment) this.segments.push(segment)
      // The first block of a segment names the segment, and nothing else.
      if (content.segment !== undefined) return
      visit(this.place(segment, block.offset, block.end), block.body, segment.id < last)
    })
    this.writer = new SegmentWriter({
      disk,
      directory,
      durability,
      segmentBytes,
      last: recovery.segments.at(-1),
      nextSequence: 0,
      opened: (segment) => this.segments.push(segment),
    })
  }

  async append(block: Buffer): Promise<number> {
    const { writer } = this
    if (writer === undefined) throw new Error('the parked log is not loaded')
    const offset = await writer.append(block, 0)
    const segment = writer.current
    if (segment === undefined) throw new Error('no segment is open')
    return this.place(segment, offset, offset + block.length)
  }

  async read(place: number): Promise<Buffer | undefined> {
    const stored = this.blocks.get(place)
    if (stored === undefined) return undefined
    const { segment, offset, end } = stored
    const file = await this.options.disk.open(segment.path)
    try {
      const { blocks, damage } = await new BlockReader(file, offset).read(end)
      const body = blocks[0]?.offset === offset ? blocks[0].body : undefined
      if (body === undefined) {
        const to = damage[0]?.to ?? end
        this.options.onEvent({ kind: 'damaged', file: segment.path, from: offset, to, lostMessages: 1 })
      }
      return body
    } finally {
      await file.close()
    }
  }

  async trim(place: number): Promise<void> {
    const inUse = new Set<SegmentFile>()
    for (const [known, { segment }] of this.blocks) {
      if (known < place) this.blocks.delete(known)
      else inUse.add(segment)
    }
    for (;;) {
      const front = this.segments[0]
      if (front === undefined || inUse.has(front) || this.segments.length < 2) return
      try {
        await this.options.disk.remove(front.path)
        await this.options.disk.syncDirectory(this.options.directory)
      } catch (error) {
        this.options.onEvent({ kind: 'segment-not-removed', file: front.path, error })
        return
      }
      this.segments.shift()
    }
  }

  async close(): Promise<void> {
    await this.writer?.close()
  }

  private place(segment: SegmentFile, offset: number, end: number): number {
    this.blocks.set(++this.lastPlace, { segment, offset, end })
    return this.lastPlace
  }
}
