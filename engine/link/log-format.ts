/** The segments of the link's logs: blocks by the schema of `wire.ts`, of which the first names the segment. */
import type { BlockFormat } from '../../disk/recovery.ts'
import { segmentNames } from '../../disk/segment-file.ts'
import { BlockWriter } from './block-writer.ts'
import { decodeBlock, type BlockContent } from './wire.ts'

export const LINK_SEGMENTS: BlockFormat<BlockContent> = {
  ...segmentNames('segment-'),
  header: (header) => {
    const block = new BlockWriter(1)
    block.segment(header)
    return block.finish()
  },
  decode: (body) => decodeBlock(body, { entries: false }),
  nextSequence: ({ firstSequence, count, attempts, settled }) => {
    let next = count === 0 ? 0 : firstSequence + count
    for (const [sequence] of attempts) next = Math.max(next, sequence + 1)
    for (const [start, length] of settled) next = Math.max(next, start + length)
    return next
  },
}
