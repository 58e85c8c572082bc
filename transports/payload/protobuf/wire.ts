/**
 * The wire format of Protobuf: reads values between two offsets, and writes them. What is cut off, too large or nested too deeply is
 * `NOT_PROTOBUF`. Source: protobuf.dev, "Encoding".
 */
import { isUtf8 } from 'node:buffer'
import { PayloadErrors } from '../errors.ts'

export const WireType = { VARINT: 0, FIXED64: 1, BYTES: 2, GROUP: 3, GROUP_END: 4, FIXED32: 5 } as const

const CONTINUED = 0x80
const LONGEST_VARINT = 10
/** Messages and groups in each other, as the reference's library has it. */
export const MAX_NESTING = 100

export class WireReader {
  position: number
  readonly end: number
  private readonly bytes: Buffer

  constructor(bytes: Buffer, position = 0, end = bytes.length) {
    this.bytes = bytes
    this.position = position
    this.end = end
  }

  /** The bits of an unsigned 64-bit number. */
  varint(): bigint {
    let value = 0n
    for (let index = 0; index < LONGEST_VARINT; index++) {
      if (this.position >= this.end) throw cutOff()
      const byte = this.bytes[this.position++] ?? 0
      value |= BigInt(byte & 0x7f) << BigInt(7 * index)
      if (byte < CONTINUED) return BigInt.asUintN(64, value)
    }
    throw PayloadErrors.NOT_PROTOBUF({ reason: 'a number is longer than ten bytes' })
  }

  /** Number and wire type of a field. */
  tag(): { readonly number: number; readonly wireType: number } {
    const tag = this.varint()
    const number = Number(tag >> 3n)
    if (number < 1 || tag > 0xffff_ffffn)
      throw PayloadErrors.NOT_PROTOBUF({ reason: `no field has the number ${number}` })
    return { number, wireType: Number(tag & 7n) }
  }

  /** A reader of the bytes that stand here with their length. */
  delimited(): WireReader {
    const length = this.varint()
    if (length > BigInt(this.end - this.position)) throw cutOff()
    const start = this.position
    this.position += Number(length)
    return new WireReader(this.bytes, start, this.position)
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
        this.varint()
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
