/**
 * Packed points of one series in ascending, distinct times. Times as differences of differences, decimals as whole numbers
 * with a scale, everything that is left deflated; columns of one type decode into a typed array. The layout is in
 * `docs/internals/time-series-store.md`.
 */
import { crc32, deflateRawSync, inflateRawSync } from 'node:zlib'
import { ByteReader, ByteWriter } from './bytes.ts'
import { doubleColumn, readDoubles } from './double-column.ts'
import { CODE, readCoded, readValue, writeValue, type StoredPoint } from './point.ts'

/** Codes on disk. */
const LAYOUT = { MIXED: 0, BOOLEAN: 1, LONG: 2, DOUBLE: 3, STRING: 4, JSON: 5 } as const
const UNIFORM_TYPES = ['BOOLEAN', 'LONG', 'DOUBLE', 'STRING', 'JSON'] as const
const EXPIRY = { NONE: 0, SAME: 1, EACH: 2 } as const
/** Below this deflate gains less than it costs. */
const DEFLATE_FROM_BYTES = 96
/** Differences of two such numbers are exact, and differences of those. */
const EXACT_DIFFERENCES = 2 ** 50

export interface Columns {
  readonly count: number
  readonly times: Float64Array
  /** The one type of all points; undefined where they differ: then `longs` or, where that is undefined too, `types` tells. */
  readonly type: StoredPoint['type'] | undefined
  readonly types: readonly StoredPoint['type'][]
  /** Of LONGs among DOUBLEs, as JSON brings decimals that happen to be whole: 1 for each LONG. */
  readonly longs?: Uint8Array
  /** A typed array where all are numbers that it holds exactly. */
  readonly values: Float64Array | readonly StoredPoint['value'][]
  /** Undefined where no point ever expires. */
  readonly expiries: Float64Array | undefined
}

/** `seed` binds the bytes to their place: the same bytes elsewhere fail the checksum. */
export function encodeChunk(points: readonly StoredPoint[], seed: string): Buffer {
  const writer = new ByteWriter(points.length * 4 + 64)
  writer.unsigned(points.length)
  writeTimes(writer, points)
  writeExpiries(writer, points)
  writeValues(writer, points)
  const plain = writer.view()
  const deflated = plain.length >= DEFLATE_FROM_BYTES ? deflateRawSync(plain, { level: 1 }) : undefined
  const body = deflated !== undefined && deflated.length < plain.length ? deflated : plain
  const chunk = Buffer.allocUnsafe(body.length + 5)
  chunk[4] = body === plain ? 0 : 1
  chunk.set(body, 5)
  chunk.writeUInt32LE(crc32(chunk.subarray(4), crc32(seed)), 0)
  return chunk
}

/** Throws an Error (with the reason) where the checksum or the layout is wrong: the caller knows the place. */
export function decodeChunk(bytes: Uint8Array, seed: string): Columns {
  const chunk = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  if (chunk.length < 5 || chunk.readUInt32LE(0) !== crc32(chunk.subarray(4), crc32(seed))) {
    throw new Error('checksum mismatch')
  }
  const body = chunk[4] === 0 ? chunk.subarray(5) : inflateRawSync(chunk.subarray(5))
  const reader = new ByteReader(body)
  const count = reader.unsigned()
  const times = readTimes(reader, count)
  const expiries = readExpiries(reader, count)
  return { count, times, expiries, ...readValues(reader, count) }
}

/** The points of the columns. */
export function pointsOf(columns: Columns): StoredPoint[] {
  return Array.from({ length: columns.count }, (_, index) => pointAt(columns, index))
}

export function pointAt(columns: Columns, index: number): StoredPoint {
  const { times, values, expiries } = columns
  return {
    ts: times[index] ?? 0,
    type: typeAt(columns, index),
    value: values[index] ?? 0,
    expiresAt: expiries?.[index] ?? 0,
  }
}

export function typeAt({ type, types, longs }: Columns, index: number): StoredPoint['type'] {
  if (type !== undefined) return type
  if (longs !== undefined) return longs[index] === 1 ? 'LONG' : 'DOUBLE'
  return types[index] ?? 'JSON'
}

function writeTimes(writer: ByteWriter, points: readonly StoredPoint[]): void {
  const first = points[0]?.ts ?? 0
  const last = points[points.length - 1]?.ts ?? 0
  const differences = last - first < EXACT_DIFFERENCES
  writer.byte(differences ? 1 : 0)
  let previous = 0
  let step = 0
  for (const [index, { ts }] of points.entries()) {
    if (!differences || index === 0) writer.signed(ts)
    else {
      const delta = ts - previous
      writer.signed(delta - step)
      step = delta
    }
    previous = ts
  }
}

function readTimes(reader: ByteReader, count: number): Float64Array {
  const times = new Float64Array(count)
  const differences = reader.byte() === 1
  let ts = 0
  let step = 0
  for (let index = 0; index < count; index++) {
    if (!differences || index === 0) ts = reader.signed()
    else {
      step += reader.signed()
      ts += step
    }
    times[index] = ts
  }
  return times
}

function writeExpiries(writer: ByteWriter, points: readonly StoredPoint[]): void {
  const first = points[0]?.expiresAt ?? 0
  if (points.every((point) => point.expiresAt === first)) {
    writer.byte(first === 0 ? EXPIRY.NONE : EXPIRY.SAME)
    if (first !== 0) writer.signed(first)
    return
  }
  writer.byte(EXPIRY.EACH)
  for (const point of points) writer.signed(point.expiresAt)
}

function readExpiries(reader: ByteReader, count: number): Float64Array | undefined {
  const form = reader.byte()
  if (form === EXPIRY.NONE) return undefined
  const expiries = new Float64Array(count)
  if (form === EXPIRY.SAME) return expiries.fill(reader.signed())
  for (let index = 0; index < count; index++) expiries[index] = reader.signed()
  return expiries
}

function writeValues(writer: ByteWriter, points: readonly StoredPoint[]): void {
  const layout = layoutOf(points)
  writer.byte(layout)
  if (layout === LAYOUT.DOUBLE) {
    doubleColumn(
      writer,
      Float64Array.from(points, (point) => Number(point.value)),
    )
    return
  }
  let previous = 0
  for (const { type, value } of points) {
    if (layout === LAYOUT.MIXED) writeValue(writer, type, value)
    else if (layout === LAYOUT.BOOLEAN) writer.byte(value === true ? 1 : 0)
    else if (layout === LAYOUT.LONG) {
      writer.signed(Number(value) - previous)
      previous = Number(value)
    } else writer.text(String(value))
  }
}

function layoutOf(points: readonly StoredPoint[]): number {
  const type = points[0]?.type
  for (const point of points) {
    if (point.type !== type) return LAYOUT.MIXED
    if (type === 'LONG' && !(Math.abs(Number(point.value)) < EXACT_DIFFERENCES)) return LAYOUT.MIXED
  }
  return type === undefined ? LAYOUT.MIXED : LAYOUT[type]
}

type Values = Pick<Columns, 'type' | 'types' | 'longs' | 'values'>

function readValues(reader: ByteReader, count: number): Values {
  const layout = reader.byte()
  if (layout === LAYOUT.MIXED) return readMixed(reader, count)
  const type = UNIFORM_TYPES[layout - 1]
  if (type === undefined) throw new Error(`unknown layout ${layout}`)
  if (type === 'DOUBLE') return { type, types: [], values: readDoubles(reader, count) }
  if (type === 'LONG') return { type, types: [], values: readLongs(reader, count) }
  const values: (string | boolean)[] = []
  for (let index = 0; index < count; index++) values.push(type === 'BOOLEAN' ? reader.byte() === 1 : reader.text())
  return { type, types: [], values }
}

function readLongs(reader: ByteReader, count: number): Float64Array {
  const values = new Float64Array(count)
  let value = 0
  for (let index = 0; index < count; index++) {
    value += reader.signed()
    values[index] = value
  }
  return values
}

/** Numbers alone are what nearly all such chunks hold: without an object for each they take a sixth of the time. */
function readMixed(reader: ByteReader, count: number): Values {
  const values = new Float64Array(count)
  const longs = new Uint8Array(count)
  for (let index = 0; index < count; index++) {
    const code = reader.byte()
    if (code === CODE.DOUBLE) values[index] = reader.float()
    else if (code === CODE.LONG) {
      values[index] = reader.signed()
      longs[index] = 1
    } else return readOthers(reader, code, Array.from(values.subarray(0, index)), longs, count)
  }
  return { type: undefined, types: [], longs, values }
}

/** Goes on behind numbers that were read, with a value whose code was. */
function readOthers(
  reader: ByteReader,
  code: number,
  numbers: readonly number[],
  longs: Uint8Array,
  count: number,
): Values {
  const values: StoredPoint['value'][] = [...numbers]
  const types = numbers.map((_, index): StoredPoint['type'] => (longs[index] === 1 ? 'LONG' : 'DOUBLE'))
  for (let index = numbers.length; index < count; index++) {
    const { type, value } = index === numbers.length ? readCoded(reader, code) : readValue(reader)
    types.push(type)
    values.push(value)
  }
  return { type: undefined, types, values }
}
