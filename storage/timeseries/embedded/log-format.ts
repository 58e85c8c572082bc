/**
 * The bytes of a log segment: a header, then records. A record that is not whole at the very end was being written when the
 * process died and is cut; one that is not whole while whole ones follow is damage, and is said, never skipped.
 */
import { crc32 } from 'node:zlib'

export const HEADER_BYTES = 36
export const RECORD_HEADER_BYTES = 16
const MAGIC = 0x4d52544c
const FORMAT = 1

export interface SegmentHeader {
  readonly number: number
  readonly firstLsn: number
  /** How much of the segment before is valid: what lies behind was refused to its writer. */
  readonly previousLength: number
}

export interface LogRecord {
  readonly lsn: number
  readonly payload: Buffer
  /** Where the record begins. */
  readonly offset: number
}

export function encodeHeader(header: SegmentHeader): Buffer {
  const bytes = Buffer.alloc(HEADER_BYTES)
  bytes.writeUInt32LE(MAGIC, 0)
  bytes.writeUInt32LE(FORMAT, 4)
  bytes.writeDoubleLE(header.number, 8)
  bytes.writeDoubleLE(header.firstLsn, 16)
  bytes.writeDoubleLE(header.previousLength, 24)
  bytes.writeUInt32LE(crc32(bytes.subarray(0, 32)), 32)
  return bytes
}

/** Undefined where the bytes are no whole header. */
export function decodeHeader(bytes: Buffer): SegmentHeader | undefined {
  if (bytes.length < HEADER_BYTES) return undefined
  if (bytes.readUInt32LE(0) !== MAGIC || bytes.readUInt32LE(4) !== FORMAT) return undefined
  if (bytes.readUInt32LE(32) !== crc32(bytes.subarray(0, 32))) return undefined
  return { number: bytes.readDoubleLE(8), firstLsn: bytes.readDoubleLE(16), previousLength: bytes.readDoubleLE(24) }
}

/** The record's head: length, checksum of what follows, log sequence number. */
export function recordHeader(lsn: number, payload: readonly Uint8Array[]): Buffer {
  const head = Buffer.allocUnsafe(RECORD_HEADER_BYTES)
  let length = 0
  head.writeDoubleLE(lsn, 8)
  let checksum = crc32(head.subarray(8))
  for (const part of payload) {
    length += part.byteLength
    checksum = crc32(part, checksum)
  }
  head.writeUInt32LE(length, 0)
  head.writeUInt32LE(checksum, 4)
  return head
}

/** The whole record at the offset, or undefined. */
export function recordAt(bytes: Buffer, offset: number): LogRecord | undefined {
  if (offset + RECORD_HEADER_BYTES > bytes.length) return undefined
  const length = bytes.readUInt32LE(offset)
  const end = offset + RECORD_HEADER_BYTES + length
  if (length === 0 || end > bytes.length) return undefined
  if (bytes.readUInt32LE(offset + 4) !== crc32(bytes.subarray(offset + 8, end))) return undefined
  return { lsn: bytes.readDoubleLE(offset + 8), payload: bytes.subarray(offset + RECORD_HEADER_BYTES, end), offset }
}

/** Where the next whole record after the offset begins, whose number is later than `lsn`. */
export function wholeRecordAfter(bytes: Buffer, offset: number, lsn: number): number | undefined {
  for (let at = offset + 1; at + RECORD_HEADER_BYTES < bytes.length; at++) {
    // The number is looked at first: a checksum at every byte would take long.
    const candidate = bytes.readDoubleLE(at + 8)
    if (candidate > lsn && candidate < lsn + 1e6 && recordAt(bytes, at) !== undefined) return at
  }
  return undefined
}
