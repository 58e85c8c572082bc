/** Reads the frames of a segmented log in their order, a piece at a time, settled or not, as long as their segments are kept. */
import { BlockReader } from '../../../disk/block.ts'
import type { DiskFile } from '../../../disk/disk.ts'
import type { DamagedRange } from '../../../disk/events.ts'
import type { SegmentFile } from '../../../disk/segment-file.ts'
import type { Segments } from '../../../disk/segments.ts'
import type { HistoryPiece, StoredFrame } from '../frame-broker.ts'
import { decodeBlock } from '../wire.ts'

/** A frame's place in the log as a number is its segment × this + its offset there. */
const OFFSETS = 2 ** 32

export function placeOf(segment: SegmentFile, offset: number): number {
  return segment.id * OFFSETS + offset
}

export function placeIn(place: number): { readonly segmentId: number; readonly offset: number } {
  return { segmentId: Math.floor(place / OFFSETS), offset: place % OFFSETS }
}

export interface FrameInSegment extends StoredFrame {
  /** The sequence behind its last message. */
  readonly end: number
}

export interface SegmentPiece extends HistoryPiece {
  readonly frames: readonly FrameInSegment[]
}

export interface SegmentFramesOptions {
  readonly segments: Segments
  /** Hears of sequences that the file should have and has not. */
  readonly onLost?: (segment: SegmentFile, damage: DamagedRange, from: number, to: number) => void
}

interface ReadingPlace {
  readonly segment: SegmentFile
  readonly offset: number
  /** The sequence that comes next; 0 where that is not known. */
  readonly next: number
}

export class SegmentFrames {
  private readonly options: SegmentFramesOptions
  /** Where the last piece ended: the next mostly begins there. */
  private at: ReadingPlace | undefined

  constructor(options: SegmentFramesOptions) {
    this.options = options
  }

  /** The next piece begins with the frame that stands there. */
  moveTo(place: ReadingPlace): void {
    this.at = place
  }

  /** Frames with a message at or above this sequence, until they are so many bytes or the segment ends. Throws what the disk throws. */
  async read(from: number, maxBytes: number): Promise<SegmentPiece> {
    const { segments } = this.options
    const segment = segments.at(from)
    if (segment === undefined) return { frames: [], next: from, isEnd: true }
    const file = await segments.open(segment)
    // What is kept begins behind it.
    if (file === undefined) return { frames: [], next: Math.max(from, segment.nextSequence), isEnd: false }
    try {
      return await this.readFile(file, segment, from, maxBytes)
    } finally {
      await file.close()
    }
  }

  private async readFile(file: DiskFile, segment: SegmentFile, from: number, maxBytes: number): Promise<SegmentPiece> {
    const { segments, onLost } = this.options
    const known = this.at?.segment === segment && this.at.next <= from ? this.at : undefined
    const reader = new BlockReader(file, known?.offset ?? 0)
    const limit = segment.end
    const frames: FrameInSegment[] = []
    let next = from
    // Within a segment sequences have no gaps: the next message found tells which are missing.
    let expected = known?.next ?? 0
    let damaged: DamagedRange | undefined
    for (let bytes = 0; bytes < maxBytes;) {
      const { blocks, damage } = await reader.read(limit)
      damaged ??= damage[0]
      for (const { body, offset, end } of blocks) {
        bytes += end - offset
        const { firstSequence, count, time } = decodeBlock(body, { entries: false })
        if (count === 0) continue
        if (expected > 0 && firstSequence > expected) {
          onLost?.(segment, damaged ?? { from: offset, to: offset }, expected, firstSequence)
        }
        damaged = undefined
        expected = firstSequence + count
        if (expected <= from) continue
        next = expected
        // Blocks of before frames had a time: the first message's stands for it.
        const storedAt = time > 0 ? time : (decodeBlock(body, { entries: true }).messages[0]?.ts ?? 0)
        frames.push({
          position: firstSequence,
          end: expected,
          storedAt,
          bytes: end - offset,
          place: placeOf(segment, offset),
          noted: undefined,
          // Not the tries: those that stand in the block are of earlier frames.
          read: () => ({ messages: decodeBlock(body, { entries: true }).messages, count }),
        })
      }
      if (blocks.length > 0) continue
      // More came meanwhile: it is in the next piece.
      if (segment.end > limit) break
      const isCut = reader.offset < limit
      if (isCut) {
        const lostFrom = expected === 0 ? segment.nextSequence : expected
        onLost?.(segment, { from: reader.offset, to: limit }, lostFrom, segment.nextSequence)
        expected = segment.nextSequence
      }
      const isLast = segments.after(segment) === undefined
      if (isCut || !isLast) next = Math.max(next, segment.nextSequence)
      this.at = { segment, offset: limit, next: expected }
      return { frames, next, isEnd: isLast }
    }
    this.at = { segment, offset: reader.offset, next: expected }
    return { frames, next, isEnd: false }
  }
}
