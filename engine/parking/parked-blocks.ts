/** The blocks of a log of parked messages, in the order of their places: what they take, and what of it lives. */
import type { Block } from './stored-lane.ts'

export class ParkedBlocks {
  private readonly blocks = new Map<number, Block>()
  totalBytes = 0
  /** What stands in the blocks for messages that are not done with: a log of nothing else is never rewritten. */
  liveBytes = 0
  /** The newest block's; 0 where there never was one. */
  lastPlace = 0

  get size(): number {
    return this.blocks.size
  }

  at(place: number): Block | undefined {
    return this.blocks.get(place)
  }

  /** Behind all others. `entries`: messages in it, none of which is counted as live yet. */
  add(place: number, bytes: number, entries: number): Block {
    const block: Block = { place, bytes, share: Math.floor(bytes / Math.max(1, entries)), live: 0 }
    this.blocks.set(place, block)
    this.totalBytes += bytes
    this.lastPlace = place
    return block
  }

  countLive(block: Block, change: number): void {
    block.live += change
    this.liveBytes += change * block.share
  }

  /** Forgets what nobody needs at the front. The first block that stays: what stood before may be trimmed. */
  removeDeadFront(onRemoved: (place: number) => void): Block | undefined {
    let keepFrom: Block | undefined
    for (const block of this.blocks.values()) {
      keepFrom = block
      if (block.live > 0 || this.blocks.size === 1) break
      this.blocks.delete(block.place)
      this.totalBytes -= block.bytes
      onRemoved(block.place)
    }
    return keepFrom
  }

  /**
   * Those up to a place of which something lives when its turn comes, as many at once as are below a size: all of each, for what lives may be its
   * largest messages. Blocks may be added and done with between two pieces.
   */
  *livePieces(upTo: number, maxBytes: number): Generator<readonly Block[], void> {
    let piece: Block[] = []
    let bytes = 0
    for (const block of this.blocks.values()) {
      if (block.place > upTo) break
      if (block.live === 0) continue
      if (piece.length > 0 && bytes + block.bytes > maxBytes) {
        yield piece
        piece = []
        bytes = 0
      }
      piece.push(block)
      bytes += block.bytes
    }
    if (piece.length > 0) yield piece
  }
}
