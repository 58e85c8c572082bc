/**
 * What a log's files hold, read once at opening: every block's checksum is verified, torn tails are cut, damage is named and
 * stepped over, and what was settled is known before the first message is delivered.
 */
import { BlockReader, type Block, type DamagedRange } from './block.ts'
import type { Disk, DiskFile } from './disk.ts'
import type { LinkEventListener } from './events.ts'
import { segmentId, segmentPath, type SegmentFile } from './segment-file.ts'
import { decodeBlock, type BlockContent, type SegmentHeader } from './wire.ts'

const TAIL_WINDOW_BYTES = 1 << 20
const ZEROS = Buffer.alloc(TAIL_WINDOW_BYTES)

export interface RecoveredSegment extends SegmentFile {
  /** Sequences of the messages found, as ascending ranges. */
  readonly ranges: readonly (readonly [start: number, length: number])[]
  readonly isDamaged: boolean
}

export interface Recovery {
  readonly segments: RecoveredSegment[]
  readonly nextSequence: number
}

/** Reads all segments in order; `visit` gets every block's content once, in order. */
export async function recover(
  disk: Disk,
  directory: string,
  onEvent: LinkEventListener,
  options: { readonly entries: boolean },
  visit: (content: BlockContent, segment: SegmentFile, block: Block) => void,
): Promise<Recovery> {
  await disk.ensureDirectory(directory)
  const ids = (await disk.list(directory)).map(segmentId).filter((id) => id !== undefined)
  const segments: RecoveredSegment[] = []
  let nextSequence = 1
  for (const [index, id] of ids.entries()) {
    const following = ids[index + 1]
    const sealedBy = following === undefined ? undefined : await readHeader(disk, segmentPath(directory, following))
    const scan = new SegmentScan(disk, segmentPath(directory, id), id, sealedBy, onEvent)
    const segment = await scan.run(options, visit)
    if (segment !== undefined) segments.push(segment)
    nextSequence = Math.max(nextSequence, scan.nextSequence)
  }
  return { segments, nextSequence }
}

async function readHeader(disk: Disk, path: string): Promise<SegmentHeader | undefined> {
  const file = await disk.open(path)
  try {
    const { blocks } = await new BlockReader(file, 0).read(file.size)
    const first = blocks[0]
    return first === undefined ? undefined : decodeBlock(first.body, { entries: false }).segment
  } finally {
    await file.close()
  }
}

class SegmentScan {
  nextSequence = 0
  private readonly disk: Disk
  private readonly path: string
  private readonly id: number
  private readonly sealedBy: SegmentHeader | undefined
  private readonly onEvent: LinkEventListener
  private readonly ranges: [start: number, length: number][] = []
  private isDamaged = false
  private damage: DamagedRange | undefined
  private expected = 0

  constructor(disk: Disk, path: string, id: number, sealedBy: SegmentHeader | undefined, onEvent: LinkEventListener) {
    this.disk = disk
    this.path = path
    this.id = id
    this.sealedBy = sealedBy?.previousId === id ? sealedBy : undefined
    this.onEvent = onEvent
  }

  /** Undefined where the file never got a valid block: nobody was told of anything in it. */
  async run(
    options: { readonly entries: boolean },
    visit: (content: BlockContent, segment: SegmentFile, block: Block) => void,
  ): Promise<RecoveredSegment | undefined> {
    const file = await this.disk.open(this.path)
    const segment: SegmentFile = { id: this.id, path: this.path, end: 0, nextSequence: 0 }
    try {
      const limit = this.sealedBy === undefined ? file.size : Math.min(file.size, this.sealedBy.previousEnd)
      const reader = new BlockReader(file, 0)
      for (;;) {
        const { blocks, damage } = await reader.read(limit)
        this.damage ??= damage[0]
        for (const block of blocks) {
          const content = decodeBlock(block.body, options)
          if (content.count > 0) this.reportDamage(content.firstSequence)
          this.note(content)
          visit(content, segment, block)
          segment.end = block.end
        }
        if (blocks.length === 0) break
      }
      this.endOf(segment)
      if (this.sealedBy === undefined && segment.end < file.size) await this.cutTail(file, segment.end)
      // What is believed from now on must also be on the disk.
      if (this.sealedBy === undefined) await file.sync()
    } finally {
      await file.close()
    }
    if (segment.end === 0 && !this.isDamaged) {
      await this.disk.remove(this.path)
      return undefined
    }
    segment.nextSequence = Math.max(this.expected, this.sealedBy?.previousNextSequence ?? 0)
    return { ...segment, ranges: this.ranges, isDamaged: this.isDamaged }
  }

  private note(content: BlockContent): void {
    if (content.segment !== undefined) {
      this.expected = Math.max(this.expected, content.segment.nextSequence)
      this.nextSequence = Math.max(
        this.nextSequence,
        content.segment.nextSequence,
        content.segment.previousNextSequence,
      )
    }
    for (const [sequence] of content.attempts) this.nextSequence = Math.max(this.nextSequence, sequence + 1)
    for (const [start, length] of content.settled) this.nextSequence = Math.max(this.nextSequence, start + length)
    if (content.count === 0) return
    const last = this.ranges.at(-1)
    if (last !== undefined && last[0] + last[1] === content.firstSequence) last[1] += content.count
    else this.ranges.push([content.firstSequence, content.count])
    this.expected = content.firstSequence + content.count
    this.nextSequence = Math.max(this.nextSequence, this.expected)
  }

  private endOf(segment: SegmentFile): void {
    const sealedBy = this.sealedBy
    if (sealedBy !== undefined) {
      if (segment.end < sealedBy.previousEnd) this.damage ??= { from: segment.end, to: sealedBy.previousEnd }
      segment.end = sealedBy.previousEnd
      this.reportDamage(sealedBy.previousNextSequence)
      return
    }
    this.reportDamage(0)
  }

  /** What stands behind the last valid block of a run that ended hard: space never used, or a write that never ended. */
  private async cutTail(file: DiskFile, end: number): Promise<void> {
    const size = file.size
    let isTorn = false
    for (let position = end; position < size && !isTorn; position += TAIL_WINDOW_BYTES) {
      const window = await file.read(position, Math.min(TAIL_WINDOW_BYTES, size - position))
      isTorn = !window.equals(ZEROS.subarray(0, window.length))
    }
    if (isTorn) this.onEvent({ kind: 'torn-tail-cut', file: this.path, from: end, bytes: size - end })
    await file.truncate(end)
  }

  /** Within a segment sequences have no gaps: the next message found tells how many are missing. */
  private reportDamage(nextFound: number): void {
    const damage = this.damage
    if (damage === undefined) return
    this.damage = undefined
    this.isDamaged = true
    const lostMessages = this.expected > 0 ? Math.max(0, nextFound - this.expected) : 0
    this.onEvent({ kind: 'damaged', file: this.path, ...damage, lostMessages })
  }
}
