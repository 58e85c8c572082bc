/** Frames of a stream that this process has just stored: its reader need not decode again what was encoded here a moment ago. */
import { BLOCK_HEADER_BYTES, checksumOf } from '../../../disk/block.ts'
import type { Message } from '../../../model/message.ts'

/** Of frames whose answer came and that did not come themselves: a reader that is further behind reads them from the stream. */
const MAX_BYTES = 4 << 20

interface OwnFrame {
  readonly messages: readonly Message[]
  readonly bytes: number
  readonly checksum: number
}

export class OwnFrames {
  /** By their positions, ascending. */
  private readonly frames = new Map<number, OwnFrame>()
  private bytes = 0
  /** Frames up to this position have come. */
  private passed = 0

  /** The frame is durable. Kept until it comes, or until later ones take its place. */
  stored(position: number, messages: readonly Message[], block: Uint8Array): void {
    if (position <= this.passed) return
    const { length: bytes } = block
    const before = this.frames.get(position)
    if (before !== undefined) this.forget(position, before)
    this.frames.set(position, { messages, bytes, checksum: checksumOf(block) })
    this.bytes += bytes
    for (const [oldest, frame] of this.frames) {
      if (this.bytes <= MAX_BYTES) return
      this.forget(oldest, frame)
    }
  }

  /** The messages of the block that comes now; undefined where it is another process's, or came before its answer. */
  take(position: number, block: Uint8Array): readonly Message[] | undefined {
    this.passed = position
    let messages: readonly Message[] | undefined
    for (const [at, frame] of this.frames) {
      if (at > position) break
      if (at === position && isSame(frame, block)) messages = frame.messages
      this.forget(at, frame)
    }
    return messages
  }

  private forget(position: number, { bytes }: OwnFrame): void {
    this.frames.delete(position)
    this.bytes -= bytes
  }
}

/** A stream that lost its end stores another frame at the same position. */
function isSame({ bytes, checksum }: OwnFrame, block: Uint8Array): boolean {
  return block.length === bytes && bytes >= BLOCK_HEADER_BYTES && checksumOf(block) === checksum
}
