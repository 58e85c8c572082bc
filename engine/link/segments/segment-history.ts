/** Reads the frames of a segmented log again, settled or not, as long as their segments are kept. */
import { BlockReader } from '../../../disk/block.ts'
import type { SegmentFile } from '../../../disk/segment-file.ts'
import type { Segments } from '../../../disk/segments.ts'
import type { HistoryPiece, StoredFrame } from '../frame-broker.ts'
import { storedFrame } from './segment-frame.ts'
import { decodeBlock } from '../wire.ts'

export class SegmentHistory {
  private readonly segments: Segments
  /** Where the last piece ended: the next mostly begins there. */
  private at: { readonly next: number; readonly segment: SegmentFile; readonly offset: number } | undefined

  constructor(segments: Segments) {
    this.segments = segments
  }

  /** Frames from this sequence on, until they are so many bytes or the segment ends. */
  async read(from: number, maxBytes: number): Promise<HistoryPiece> {
    const known = this.at?.next === from && !this.at.segment.isLeaving ? this.at : undefined
    const segment = known?.segment ?? this.segments.at(from)
    if (segment === undefined) return { frames: [], next: from, isEnd: true }
    const file = await this.segments.open(segment)
    // What is kept begins behind it.
    if (file === undefined) return { frames: [], next: Math.max(from, segment.nextSequence), isEnd: false }
    try {
      const limit = segment.end
      const reader = new BlockReader(file, known?.offset ?? 0)
      const frames: StoredFrame[] = []
      let next = from
      for (let bytes = 0; bytes < maxBytes;) {
        const { blocks } = await reader.read(limit)
        for (const block of blocks) {
          const content = decodeBlock(block.body, { entries: true })
          bytes += block.end - block.offset
          if (content.count === 0 || content.firstSequence < from) continue
          frames.push(storedFrame(content, block, segment, undefined))
          next = content.firstSequence + content.count
        }
        if (blocks.length > 0) continue
        const following = this.segments.after(segment)
        if (following !== undefined) next = Math.max(next, segment.nextSequence)
        return { frames, next, isEnd: following === undefined && segment.end === limit }
      }
      this.at = { next, segment, offset: reader.offset }
      return { frames, next, isEnd: false }
    } finally {
      await file.close()
    }
  }
}
