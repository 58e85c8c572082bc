/**
 * Frames in what comes over a connection, one at a time as they are asked for: what is not asked for stays bytes. A frame that is too long is dropped as
 * it comes. Empty ones, which many senders use to keep a connection, are left out.
 */
import type { TcpFramingConfiguration } from './tcp-configuration.ts'

export type TcpFrame =
  | { readonly payload: Buffer }
  /** Too long; so many bytes were dropped. */
  | { readonly skipped: number }

const NOTHING = Buffer.alloc(0)
const CARRIAGE_RETURN = 13

export class TcpFraming {
  private readonly maxBytes: number
  private readonly take: () => TcpFrame | undefined
  private buffer: Buffer = NOTHING
  private start = 0
  private end = 0
  /** So far no delimiter stands. */
  private searched = 0
  /** Of a frame that is being dropped. */
  private dropped = 0
  /** What is left of it, where its length is known. */
  private toDrop = 0

  constructor(framing: TcpFramingConfiguration, maxBytes: number) {
    this.maxBytes = maxBytes
    if (framing.type === 'LENGTH') this.take = () => this.counted(framing.bytes, framing.byteOrder === 'BIG')
    else if (framing.type === 'LINE') this.take = () => this.delimited(Buffer.from('\n'), true)
    else {
      const { delimiter, hex } = framing
      const bytes = (hex ?? null) === null ? Buffer.from(delimiter ?? '') : Buffer.from(hex ?? '', 'hex')
      this.take = () => this.delimited(bytes, false)
    }
  }

  /** What it keeps of the memory, in bytes. */
  get heldBytes(): number {
    return this.buffer.length
  }

  /** Nothing of a frame came that is not whole. */
  get isBetween(): boolean {
    return this.start === this.end && this.dropped === 0
  }

  /** Keeps the chunk itself where nothing else is kept. */
  push(chunk: Buffer): void {
    if (this.start === this.end) {
      this.buffer = chunk
      this.start = 0
      this.end = chunk.length
      this.searched = 0
      return
    }
    const kept = this.end - this.start
    const needed = kept + chunk.length
    if (this.end + chunk.length > this.buffer.length) {
      // Twice what is needed: bytes that come one by one are not copied again with each.
      const grown = needed > this.buffer.length ? Buffer.allocUnsafeSlow(needed * 2) : this.buffer
      this.buffer.copy(grown, 0, this.start, this.end)
      this.buffer = grown
      this.searched -= this.start
      this.start = 0
      this.end = kept
    }
    chunk.copy(this.buffer, this.end)
    this.end += chunk.length
  }

  /** The next frame; undefined until more comes. */
  next(): TcpFrame | undefined {
    const frame = this.take()
    if (this.start === this.end) {
      this.buffer = NOTHING
      this.start = 0
      this.end = 0
      this.searched = 0
    }
    return frame
  }

  private delimited(delimiter: Buffer, isLine: boolean): TcpFrame | undefined {
    while (this.start < this.end) {
      const from = Math.max(this.start, this.searched - delimiter.length + 1)
      const found = this.buffer.subarray(0, this.end).indexOf(delimiter, from)
      if (found < 0) {
        this.searched = this.end
        this.dropTooLong(delimiter.length, isLine)
        return undefined
      }
      const frame = this.buffer.subarray(this.start, found)
      this.start = found + delimiter.length
      this.searched = this.start
      const skipped = this.dropped + frame.length
      this.dropped = 0
      const payload = isLine && frame.at(-1) === CARRIAGE_RETURN ? frame.subarray(0, -1) : frame
      if (skipped > frame.length || payload.length > this.maxBytes) return { skipped }
      if (payload.length > 0) return { payload: Buffer.from(payload) }
    }
    return undefined
  }

  /** The last bytes stay: with those that come they may be the delimiter. */
  private dropTooLong(delimiterBytes: number, isLine: boolean): void {
    const kept = isLine ? 1 : delimiterBytes - 1
    const bytes = this.end - this.start - kept
    if (bytes <= 0 || (this.dropped === 0 && bytes <= this.maxBytes)) return
    this.dropped += bytes
    this.start += bytes
  }

  private counted(lengthBytes: 2 | 4, isBig: boolean): TcpFrame | undefined {
    for (;;) {
      if (this.toDrop > 0) {
        const step = Math.min(this.toDrop, this.end - this.start)
        this.start += step
        this.toDrop -= step
        if (this.toDrop > 0) return undefined
        const skipped = this.dropped
        this.dropped = 0
        return { skipped }
      }
      const held = this.end - this.start
      if (held < lengthBytes) return undefined
      const length = isBig
        ? this.buffer.readUIntBE(this.start, lengthBytes)
        : this.buffer.readUIntLE(this.start, lengthBytes)
      if (length > this.maxBytes) {
        this.toDrop = length
        this.dropped = length
      } else if (held < lengthBytes + length) return undefined
      this.start += lengthBytes
      if (this.toDrop > 0 || length === 0) continue
      const payload = Buffer.from(this.buffer.subarray(this.start, this.start + length))
      this.start += length
      return { payload }
    }
  }
}
