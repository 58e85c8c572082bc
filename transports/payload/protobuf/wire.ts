/**
 * The wire format of Protobuf: reads values between two offsets, and writes them. What is cut off, too large or nested too deeply is
 * `NOT_PROTOBUF`. Source: protobuf.dev, "Encoding".
 */
import { isUtf8 } from 'node:buffer'
import { PayloadErrors } from '../errors.ts'

export const WireType = { VARINT: 0, FIXED64: 1, BYTES: 2, GROUP: 3, GROUP_END: 4, FIXED32: 5 } as const

const CONTINUED = 0x80
const LONGEST_VARINT = 10
const TWO_28 = 2 ** 28
const TWO_56 = 2 ** 56
/** Below it, the first two parts together are below 2^53. */
const EXACT_MIDDLE = 2 ** 25
/** Messages and groups in each other, as the reference's library has it. */
export const MAX_NESTING = 100

export class WireReader {
  position: number
  readonly end: number
  private readonly bytes: Buffer
  /** Bits 0 to 27 of the last varint, 28 to 55, and 56 to 63. */
  private low = 0
  private middle = 0
  private high = 0

  constructor(bytes: Buffer, position = 0, end = bytes.length) {
    this.bytes = bytes
    this.position = position
    this.end = end
  }

  /** The bits of an unsigned 64-bit number. */
  varint(): bigint {
    this.readVarint()
    const { low, middle, high } = this
    if (high === 0 && middle < EXACT_MIDDLE) return BigInt(low + middle * TWO_28)
    return BigInt(low) | (BigInt(middle) << 28n) | (BigInt(high) << 56n)
  }

  /** The same as a decimal text, of a signed number. */
  signedText(): string {
    this.readVarint()
    const { low, middle, high } = this
    if (high === 0 && middle < EXACT_MIDDLE) return String(low + middle * TWO_28)
    return String(BigInt.asIntN(64, BigInt(low) | (BigInt(middle) << 28n) | (BigInt(high) << 56n)))
  }

  /** Its last 32 bits, as a signed number. */
  int32(): number {
    this.readVarint()
    return this.low | (this.middle << 28)
  }

  bool(): boolean {
    this.readVarint()
    return this.low !== 0 || this.middle !== 0 || this.high !== 0
  }

  /** Number and wire type of a field. */
  tag(): { readonly number: number; readonly wireType: number } {
    const tag = this.size()
    const number = Math.floor(tag / 8)
    if (number < 1 || tag > 0xffff_ffff)
      throw PayloadErrors.NOT_PROTOBUF({ reason: `no field has the number ${number}` })
    return { number, wireType: this.low & 7 }
  }

  /** The next byte, where a field begins: one of a longer tag has its highest bit. */
  shortTag(): number {
    return this.bytes[this.position++] ?? 0
  }

  /** A reader of the bytes that stand here with their length. */
  delimited(): WireReader {
    const length = this.size()
    if (length > this.end - this.position) throw cutOff()
    const start = this.position
    this.position += length
    return new WireReader(this.bytes, start, this.position)
  }

  /** Where it stands: a view of eight bytes costs more than the number. */
  double(): number {
    const start = this.position
    this.advance(8)
    return this.bytes.readDoubleLE(start)
  }

  float(): number {
    const start = this.position
    this.advance(4)
    return this.bytes.readFloatLE(start)
  }

  /** So many bytes, no copy. */
  fixed(length: number): Buffer {
    const start = this.position
    this.advance(length)
    return this.bytes.subarray(start, this.position)
  }

  /** All that is left of it, no copy. */
  rest(): Buffer {
    return this.bytes.subarray(this.position, this.end)
  }

  /** The same as text. */
  text(): string {
    const bytes = this.rest()
    if (!isUtf8(bytes)) throw PayloadErrors.NOT_PROTOBUF({ reason: 'a text is not UTF-8' })
    return bytes.toString('utf8')
  }

  /** A field that nobody asks for. Groups are walked, not entered: they may be nested as deeply as the payload is long. */
  skip(wireType: number, number: number): void {
    const open: number[] = []
    this.skipOne(wireType, number, open)
    while (open.length > 0) {
      const tag = this.tag()
      this.skipOne(tag.wireType, tag.number, open)
    }
  }

  private skipOne(wireType: number, number: number, open: number[]): void {
    switch (wireType) {
      case WireType.VARINT:
        this.readVarint()
        return
      case WireType.FIXED64:
        return this.advance(8)
      case WireType.BYTES:
        this.delimited()
        return
      case WireType.FIXED32:
        return this.advance(4)
      case WireType.GROUP:
        if (open.push(number) > MAX_NESTING) throw PayloadErrors.NOT_PROTOBUF({ reason: 'it is nested too deeply' })
        return
      case WireType.GROUP_END:
        if (open.pop() === number) return
    }
    throw PayloadErrors.NOT_PROTOBUF({ reason: `field ${number} has the wire type ${wireType}` })
  }

  /** Beyond 2^53 it is only known to be that large. */
  private size(): number {
    this.readVarint()
    return this.low + this.middle * TWO_28 + this.high * TWO_56
  }

  /** In three parts that are exact as numbers: what stands in most payloads needs no `bigint`. Bits beyond 64 are dropped. */
  private readVarint(): void {
    this.low = this.middle = this.high = 0
    for (let index = 0; index < LONGEST_VARINT; index++) {
      if (this.position >= this.end) throw cutOff()
      const byte = this.bytes[this.position++] ?? 0
      const bits = byte & 0x7f
      if (index < 4) this.low |= bits << (7 * index)
      else if (index < 8) this.middle |= bits << (7 * (index - 4))
      else this.high |= (bits << (7 * (index - 8))) & 0xff
      if (byte < CONTINUED) return
    }
    throw PayloadErrors.NOT_PROTOBUF({ reason: 'a number is longer than ten bytes' })
  }

  private advance(bytes: number): void {
    if (this.end - this.position < bytes) throw cutOff()
    this.position += bytes
  }
}

/** The bytes of a varint; negative numbers as 64 bits. */
export function varintBytes(value: bigint): Buffer {
  const bytes: number[] = []
  let rest = BigInt.asUintN(64, value)
  while (rest >= BigInt(CONTINUED)) {
    bytes.push(Number(rest & 0x7fn) | CONTINUED)
    rest >>= 7n
  }
  bytes.push(Number(rest))
  return Buffer.from(bytes)
}

export function tagBytes(number: number, wireType: number): Buffer {
  return varintBytes((BigInt(number) << 3n) | BigInt(wireType))
}

function cutOff(): Error {
  return PayloadErrors.NOT_PROTOBUF({ reason: 'it ends in the middle of a field' })
}
