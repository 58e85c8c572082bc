/**
 * One-dimensional arrays in PostgreSQL's binary format: a batch travels as one array a column. Numbers keep every bit, and
 * neither side writes or reads decimal digits. Source: PostgreSQL `array_recv`: dimensions, null flag, element type, length, lower
 * bound, then each element with its length, -1 for null.
 */
import { toPostgresText } from './text.ts'

const HEADER = 20

function open(elementType: number, count: number, bytes: number): Buffer {
  const buffer = Buffer.allocUnsafe(HEADER + bytes)
  buffer.writeInt32BE(1, 0)
  buffer.writeInt32BE(1, 4)
  buffer.writeInt32BE(elementType, 8)
  buffer.writeInt32BE(count, 12)
  buffer.writeInt32BE(1, 16)
  return buffer
}

export function smallIntArray(values: readonly number[]): Buffer {
  const buffer = open(21, values.length, values.length * 6)
  let at = HEADER
  for (const value of values) {
    at = buffer.writeInt32BE(2, at)
    at = buffer.writeInt16BE(value, at)
  }
  return buffer
}

export function intArray(values: readonly number[]): Buffer {
  const buffer = open(23, values.length, values.length * 8)
  let at = HEADER
  for (const value of values) {
    at = buffer.writeInt32BE(4, at)
    at = buffer.writeInt32BE(value, at)
  }
  return buffer
}

/** Numbers must be safe integers. */
export function bigIntArray(values: readonly (number | bigint | null)[]): Buffer {
  const buffer = open(20, values.length, values.length * 12)
  let at = HEADER
  for (const value of values) {
    if (value === null) {
      at = buffer.writeInt32BE(-1, at)
      continue
    }
    at = buffer.writeInt32BE(8, at)
    if (typeof value === 'bigint') at = buffer.writeBigInt64BE(value, at)
    else {
      const high = Math.floor(value / 0x1_0000_0000)
      at = buffer.writeInt32BE(high, at)
      at = buffer.writeUInt32BE(value - high * 0x1_0000_0000, at)
    }
  }
  return buffer.subarray(0, at)
}

export function doubleArray(values: readonly (number | null)[]): Buffer {
  const buffer = open(701, values.length, values.length * 12)
  let at = HEADER
  for (const value of values) {
    if (value === null) {
      at = buffer.writeInt32BE(-1, at)
      continue
    }
    at = buffer.writeInt32BE(8, at)
    at = buffer.writeDoubleBE(value, at)
  }
  return buffer.subarray(0, at)
}

/** UUIDs as text with or without hyphens. */
export function uuidArray(values: readonly string[]): Buffer {
  const buffer = open(2950, values.length, values.length * 20)
  let at = HEADER
  let last = ''
  for (const value of values) {
    buffer.writeInt32BE(16, at)
    // Rows are sorted by entity: most are the same as the one before.
    if (value === last) buffer.copyWithin(at + 4, at - 16, at)
    else buffer.write(value.replaceAll('-', ''), at + 4, 16, 'hex')
    last = value
    at += 20
  }
  return buffer
}

export function textArray(values: readonly (string | null)[]): Buffer {
  const escaped = values.map((value) => (value === null ? null : toPostgresText(value)))
  let bytes = 0
  for (const value of escaped) bytes += 4 + (value === null ? 0 : Buffer.byteLength(value))
  const buffer = open(25, values.length, bytes)
  let at = HEADER
  for (const value of escaped) {
    if (value === null) {
      at = buffer.writeInt32BE(-1, at)
      continue
    }
    const length = buffer.write(value, at + 4)
    at = buffer.writeInt32BE(length, at) + length
  }
  return buffer
}

export function byteaArray(values: readonly Buffer[]): Buffer {
  let bytes = 0
  for (const value of values) bytes += 4 + value.length
  const buffer = open(17, values.length, bytes)
  let at = HEADER
  for (const value of values) {
    at = buffer.writeInt32BE(value.length, at)
    at += value.copy(buffer, at)
  }
  return buffer
}
