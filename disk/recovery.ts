/**
 * What a log's files hold, read once at opening: every block's checksum is verified, torn tails are cut, damage is named and
 * stepped over.
 */
import { BlockReader, type Block } from './block.ts'
import type { Disk, DiskFile } from './disk.ts'
import type { DamagedRange, DiskEventListener } from './events.ts'
import { isZeros } from './zeros.ts'
import { segmentFile, type SegmentFile, type SegmentFormat, type SegmentHeader } from './segment-file.ts'

const TAIL_WINDOW_BYTES = 1 << 20

/** What the recovery has to know of a block. */
export interface BlockFacts {
  /** Of the first block of a segment. */
  readonly segment: SegmentHeader | undefined
  /** Of its messages. */
  readonly firstSequence: number
  readonly count: number
}

/** A log whose segments hold nothing but blocks. */
export interface BlockFormat<Content extends BlockFacts> extends SegmentFormat {
  /** Throws where the body does not keep the schema. */
  decode(body: Buffer): Content
  /** Which sequence is above all that the block speaks of. */
  nextSequence(content: Content): number
}

export interface RecoveredSegment extends SegmentFile {
  /** Sequences of the messages found, as ascending ranges. */
  readonly ranges: [start: number, length: number][]
}

export interface Recovery {
  readonly segments: readonly RecoveredSegment[]
  readonly nextSequence: number
}

/** A block, where it stands; `isSure` where it does not stand in the newest segment, whose last write may not have ended. */
export type VisitBlock<Content> = (content: Content, segment: SegmentFile, block: Block, isSure: boolean) => void

export interface RecoveryOptions<Content extends BlockFacts> {
  readonly disk: Disk
  readonly directory: string
  readonly format: BlockFormat<Content>
  readonly onEvent: DiskEventListener
}

/** Reads all segments in order; `visit` gets every block's content once, in order. */
export async function recover<Content extends BlockFacts>(
  options: RecoveryOptions<Content>,
  visit: VisitBlock<Content>,
): Promise<Recovery> {
  const { disk, directory, format } = options
  await disk.ensureDirectory(directory)
  const ids = (await disk.list(directory)).map((name) => format.id(name)).filter((id) => id !== undefined)
  const segments: RecoveredSegment[] = []
  let nextSequence = 1
  for (const [index, id] of ids.entries()) {
    const following = ids[index + 1]
    const sealedBy = following === undefined ? undefined : await readHeader(options, following)
    const segment = { ...segmentFile(id, `${directory}/${format.name(id)}`, 0, 0), ranges: [] }
    const scan = new SegmentScan(options, segment, sealedBy)
    const isKept = await scan.run((content, block) => visit(content, segment, block, following !== undefined))
    if (isKept) segments.push(segment)
    nextSequence = Math.max(nextSequence, scan.nextSequence)
  }
  return { segments, nextSequence }
}

async function readHeader<Content extends BlockFacts>(
  { disk, directory, format }: RecoveryOptions<Content>,
  id: number,
): Promise<SegmentHeader | undefined> {
  const file = await disk.open(`${directory}/${format.name(id)}`)
  try {
    const { blocks } = await new BlockReader(file, 0).read(file.size)
    const first = blocks[0]
    return first === undefined ? undefined : format.decode(first.body).segment
  } finally {
    await file.close()
  }
}

class SegmentScan<Content extends BlockFacts> {
  nextSequence = 0
  private readonly options: RecoveryOptions<Content>
  private readonly segment: RecoveredSegment
  private readonly sealedBy: SegmentHeader | undefined
  private damage: DamagedRange | undefined
  private expected = 0

  constructor(options: RecoveryOptions<Content>, segment: RecoveredSegment, sealedBy: SegmentHeader | undefined) {
    this.options = options
    this.segment = segment
    this.sealedBy = sealedBy?.previousId === segment.id ? sealedBy : undefined
  }

  /** False where the file never got a valid block: nobody was told of anything in it, and it is removed. */
  async run(visit: (content: Content, block: Block) => void): Promise<boolean> {
    const { segment, sealedBy } = this
    const { disk, format } = this.options
    const file = await disk.open(segment.path)
    try {
      const limit = sealedBy === undefined ? file.size : Math.min(file.size, sealedBy.previousEnd)
      const reader = new BlockReader(file, 0)
      for (;;) {
        const { blocks, damage } = await reader.read(limit)
        this.damage ??= damage[0]
        for (const block of blocks) {
          const content = format.decode(block.body)
          if (content.count > 0) this.reportDamage(content.firstSequence)
          this.note(content)
          visit(content, block)
          segment.end = block.end
        }
        if (blocks.length === 0) break
      }
      this.endSegment()
      if (sealedBy === undefined && segment.end < file.size) await this.cutTail(file)
      // What is believed from now on must also be on the disk.
      if (sealedBy === undefined) await file.sync()
    } finally {
      await file.close()
    }
    const isKept = segment.end > 0 || segment.isDamaged
    if (!isKept) await disk.remove(segment.path)
    segment.nextSequence = Math.max(this.expected, sealedBy?.previousNextSequence ?? 0)
    return isKept
  }

  private note(content: Content): void {
    const { segment: header, firstSequence, count } = content
    if (header !== undefined) {
      this.expected = Math.max(this.expected, header.nextSequence)
      this.nextSequence = Math.max(this.nextSequence, header.nextSequence, header.previousNextSequence)
    }
    this.nextSequence = Math.max(this.nextSequence, this.options.format.nextSequence(content))
    if (count === 0) return
    const last = this.segment.ranges.at(-1)
    if (last !== undefined && last[0] + last[1] === firstSequence) last[1] += count
    else this.segment.ranges.push([firstSequence, count])
    this.expected = firstSequence + count
  }

  private endSegment(): void {
    const { segment, sealedBy } = this
    if (sealedBy !== undefined) {
      if (segment.end < sealedBy.previousEnd) this.damage ??= { from: segment.end, to: sealedBy.previousEnd }
      segment.end = sealedBy.previousEnd
    }
    this.reportDamage(sealedBy?.previousNextSequence ?? 0)
  }

  /** What stands behind the last valid block of a run that ended hard: space never used, or a write that never ended. */
  private async cutTail(file: DiskFile): Promise<void> {
    const { path, end } = this.segment
    const { size } = file
    let isTorn = false
    for (let position = end; position < size && !isTorn; position += TAIL_WINDOW_BYTES) {
      const window = await file.read(position, Math.min(TAIL_WINDOW_BYTES, size - position))
      isTorn = !isZeros(window)
    }
    if (isTorn) this.options.onEvent({ kind: 'torn-tail-cut', file: path, from: end, bytes: size - end })
    await file.truncate(end)
  }

  /** Within a segment sequences have no gaps: the next message found tells how many are missing. */
  private reportDamage(nextFound: number): void {
    const { damage, segment } = this
    if (damage === undefined) return
    this.damage = undefined
    segment.isDamaged = true
    const lostMessages = this.expected > 0 ? Math.max(0, nextFound - this.expected) : 0
    this.options.onEvent({ kind: 'damaged', file: segment.path, ...damage, lostMessages })
  }
}
