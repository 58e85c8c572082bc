/** A frame as it stands in a segment on disk. */
import type { Block } from '../../../disk/block.ts'
import type { SegmentFile } from '../../../disk/segment-file.ts'
import type { StoredFrame } from '../frame-broker.ts'
import type { OpenFrame } from '../record.ts'
import type { BlockContent } from '../wire.ts'

/** A frame's place is its segment × this + its offset there. */
const OFFSETS = 2 ** 32

export function placeOf(segment: SegmentFile, offset: number): number {
  return segment.id * OFFSETS + offset
}

export function placeIn(place: number): { readonly segmentId: number; readonly offset: number } {
  return { segmentId: Math.floor(place / OFFSETS), offset: place % OFFSETS }
}

export function storedFrame(
  content: BlockContent,
  { offset, end }: Pick<Block, 'offset' | 'end'>,
  segment: SegmentFile,
  noted: OpenFrame | undefined,
): StoredFrame {
  const { firstSequence, count, messages, time } = content
  // Blocks of before frames had a time: the first message's stands for it.
  const storedAt = time > 0 ? time : (messages[0]?.ts ?? 0)
  const place = placeOf(segment, offset)
  return { position: firstSequence, storedAt, bytes: end - offset, place, noted, read: () => ({ messages, count }) }
}
