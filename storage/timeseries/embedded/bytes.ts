/**
 * Growing byte writer and its reader: little endian, variable-length whole numbers, length-prefixed UTF-8. The one pair
 * under the log's records, the chunks and the messages between the threads.
 */

import { VARINT_BYTES, putVarint } from '../../../disk/varint.ts'

const SEVEN_BITS = 128
/** In the first byte of the signed form. */
const SIX_BITS = 64

/** Characters of every id of an entity. */
export const UUID_LENGTH = 36

export class ByteWriter {
  private buffer: Buffer
  private position = 0

  constructor(capacity = 1024) {
    this.buffer = Buffer.allocUnsafeSlow(Math.max(capacity, 64))
  }

  get length(): number {
    return this.position
  }

  /** A view of what is written: valid until the next write. */
  view(): Buffer {
    return this.buffer.subarray(0, this.position)
  }

  /** What is written, in memory of its own. */
  copy(): Buffer {
    const result = Buffer.allocUnsafeSlow(this.position)
    this.buffer.copy(result, 0, 0, this.position)
    return result
  }

  reset(): void {
    this.position = 0
  }

  /** Sets the length; what was written behind it is dropped. */
  truncate(length: number): void {
    this.position = Math.min(length, this.position)
  }

  byte(value: number): void {
    this.reserve(1)
    this.buffer[this.position++] = value
  }

  u32(value: number): void {
    this.reserve(4)
    this.position = this.buffer.writeUInt32LE(value, this.position)
  }

  float(value: number): void {
    this.reserve(8)
    this.position = this.buffer.writeDoubleLE(value, this.position)
  }

  int64(value: bigint): void {
    this.reserve(8)
    this.position = this.buffer.writeBigInt64LE(value, this.position)
  }

  /** A whole number from 0 to 2^53. */
  unsigned(value: number): void {
    this.reserve(VARINT_BYTES)
    this.position = putVarint(this.buffer, this.position, value)
  }

  /** Any safe integer: the first byte carries the sign and six bits. */
  signed(value: number): void {
    const size = Math.abs(value)
    const sign = value < 0 ? SIX_BITS : 0
    if (size < SIX_BITS) {
      this.byte(size | sign)
      return
    }
    const rest = Math.floor(size / SIX_BITS)
    this.byte((size - rest * SIX_BITS) | sign | 0x80)
    this.unsigned(rest)
  }

  text(value: string): void {
    const units = value.length
    if (units < 42) {
      // At most three bytes a unit: the length fits one byte, so it is filled in afterwards.
      this.reserve(1 + units * 3)
      const written = this.buffer.write(value, this.position + 1, 'utf8')
      this.buffer[this.position] = written
      this.position += 1 + written
      return
    }
    const size = Buffer.byteLength(value, 'utf8')
    this.unsigned(size)
    this.reserve(size)
    this.position += this.buffer.write(value, this.position, 'utf8')
  }

  bytes(value: Uint8Array): void {
    this.reserve(value.length)
    this.buffer.set(value, this.position)
    this.position += value.length
  }

  private reserve(count: number): void {
    const needed = this.position + count
    if (needed <= this.buffer.length) return
    const grown = Buffer.allocUnsafeSlow(Math.max(needed, this.buffer.length * 2))
    this.buffer.copy(grown, 0, 0, this.position)
    this.buffer = grown
  }
}

/** Reads what {@link ByteWriter} wrote. Throws a RangeError beyond the end. */
export class ByteReader {
  private readonly buffer: Buffer
  private position: number

  constructor(bytes: Uint8Array, position = 0) {
    this.buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    this.position = position
  }

  get offset(): number {
    return this.position
  }

  get atEnd(): boolean {
    return this.position >= this.buffer.length
  }

  byte(): number {
    const value = this.buffer[this.position++]
    if (value === undefined) throw new RangeError('read beyond the end')
    return value
  }

  u32(): number {
    const value = this.buffer.readUInt32LE(this.position)
    this.position += 4
    return value
  }

  float(): number {
    const value = this.buffer.readDoubleLE(this.position)
    this.position += 8
    return value
  }

  int64(): bigint {
    const value = this.buffer.readBigInt64LE(this.position)
    this.position += 8
    return value
  }

  unsigned(): number {
    let byte = this.byte()
    let value = byte & 0x7f
    let scale = SEVEN_BITS
    while (byte > 0x7f) {
      byte = this.byte()
      value += (byte & 0x7f) * scale
      scale *= SEVEN_BITS
    }
    return value
  }

  signed(): number {
    const byte = this.byte()
    let size = byte & 0x3f
    if (byte > 0x7f) size += this.unsigned() * SIX_BITS
    return (byte & SIX_BITS) === 0 ? size : -size
  }

  text(): string {
    const size = this.unsigned()
    const end = this.position + size
    if (end > this.buffer.length) throw new RangeError('read beyond the end')
    const value = this.buffer.toString('utf8', this.position, end)
    this.position = end
    return value
  }

  bytes(count: number): Buffer {
    const end = this.position + count
    if (end > this.buffer.length) throw new RangeError('read beyond the end')
    const value = this.buffer.subarray(this.position, end)
    this.position = end
    return value
  }
}
