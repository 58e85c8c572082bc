/**
 * The line protocol, byte by byte as it is made: as a text each line would be joined of a dozen pieces, and all of them be made bytes in the
 * end. Reused: `reset` keeps the room.
 */
const UPPER = 1e7
const UPPER_DIGITS = 7
const ZERO = 0x30
const FIRST_BYTES = 64 * 1024
/** One burst must not pin its memory for ever. */
const MAX_KEPT_BYTES = 4 << 20

export class LineWriter {
  private buffer = Buffer.allocUnsafeSlow(FIRST_BYTES)
  private end = 0

  /** Bytes so far. */
  get length(): number {
    return this.end
  }

  reset(): void {
    this.end = 0
    if (this.buffer.length > MAX_KEPT_BYTES) this.buffer = Buffer.allocUnsafeSlow(FIRST_BYTES)
  }

  /** What was written, in memory of its own. */
  copy(): Buffer {
    const bytes = Buffer.allocUnsafeSlow(this.end)
    this.buffer.copy(bytes, 0, 0, this.end)
    return bytes
  }

  /** A short text of ASCII: a call into the runtime costs more than this loop. */
  ascii(text: string): void {
    this.reserve(text.length)
    for (let index = 0; index < text.length; index++) this.buffer[this.end++] = text.charCodeAt(index)
  }

  text(text: string): void {
    this.reserve(text.length * 3)
    this.end += this.buffer.write(text, this.end)
  }

  /** A whole number from 0 to 2^53, in digits. */
  whole(value: number): void {
    if (value < UPPER) return this.upTo7Digits(value)
    // Quotients below 2^30 are exact to 6e-8: less than a tenth of a millionth, so none is rounded up to a whole one.
    const upper = Math.floor(value / UPPER)
    let lower = value - upper * UPPER
    this.whole(upper)
    this.reserve(UPPER_DIGITS)
    const start = this.end
    this.end += UPPER_DIGITS
    for (let place = this.end - 1; place >= start; place--) {
      const tenth = (lower / 10) | 0
      this.buffer[place] = ZERO + lower - tenth * 10
      lower = tenth
    }
  }

  /** What stands from `start` on, so many bytes, once more. */
  repeat(start: number, count: number): void {
    this.reserve(count)
    this.buffer.copyWithin(this.end, start, start + count)
    this.end += count
  }

  private upTo7Digits(value: number): void {
    this.reserve(UPPER_DIGITS)
    let scale = 1
    while (scale * 10 <= value) scale *= 10
    for (let rest = value; scale >= 1; scale = (scale / 10) | 0) {
      const digit = (rest / scale) | 0
      this.buffer[this.end++] = ZERO + digit
      rest -= digit * scale
    }
  }

  private reserve(bytes: number): void {
    if (this.end + bytes <= this.buffer.length) return
    const grown = Buffer.allocUnsafeSlow(Math.max(this.end + bytes, this.buffer.length * 2))
    this.buffer.copy(grown, 0, 0, this.end)
    this.buffer = grown
  }
}
