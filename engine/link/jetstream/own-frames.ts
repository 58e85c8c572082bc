/** Frames of a stream that this process has just stored: its reader need not decode again what was encoded here a moment ago. */
import { BLOCK_HEADER_BYTES, checksumOf } from '../../../disk/block.ts'
import type { Message } from '../../../model/message.ts'
import type { OwnFrameFigures } from '../frame-broker.ts'

interface OwnFrame {
  readonly messages: readonly Message[]
  readonly bytes: number
  readonly checksum: number
}

/** Of all readers of a process. */
export type OwnFrameCounts = { -readonly [Figure in keyof OwnFrameFigures]: OwnFrameFigures[Figure] }

/**
 * Frames whose answer came and that did not come themselves, up to so many bytes: a reader that is further behind reads the oldest from the stream.
 * They are of all tenants, as frames are: who sends much costs the others the decoding, and no message.
 */
export class OwnFrames {
  private readonly maxBytes: number
  private readonly counts: OwnFrameCounts
  /** By their positions, ascending. */
  private readonly frames = new Map<number, OwnFrame>()
  private bytes = 0
  /** Frames up to this position have come. */
  private passed = 0

  constructor(maxBytes: number, counts: OwnFrameCounts) {
    this.maxBytes = maxBytes
    this.counts = counts
  }

  /** The frame is durable. Kept until it comes, or until later ones take its place. */
  stored(position: number, messages: readonly Message[], block: Uint8Array): void {
    if (position <= this.passed) return
    const { length: bytes } = block
    const before = this.frames.get(position)
    if (before !== undefined) this.forget(position, before)
    if (bytes > this.maxBytes) return
    this.frames.set(position, { messages, bytes, checksum: checksumOf(block) })
    this.count(bytes)
    for (const [oldest, frame] of this.frames) {
      if (this.bytes <= this.maxBytes) return
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
    if (messages === undefined) this.counts.decodedFrames++
    else this.counts.ownFrames++
    return messages
  }

  /** Nothing comes any more. */
  close(): void {
    this.passed = Infinity
    this.frames.clear()
    this.count(-this.bytes)
  }

  private forget(position: number, { bytes }: OwnFrame): void {
    this.frames.delete(position)
    this.count(-bytes)
  }

  private count(bytes: number): void {
    this.bytes += bytes
    this.counts.ownFrameBytes += bytes
  }
}

/** A stream that lost its end stores another frame at the same position. */
function isSame({ bytes, checksum }: OwnFrame, block: Uint8Array): boolean {
  return block.length === bytes && bytes >= BLOCK_HEADER_BYTES && checksumOf(block) === checksum
}
