/**
 * A `write()` as bytes, encoded once on the caller's thread: the same bytes are the message to the worker and the body of the
 * log's record. Keys are written in full once a batch and referred to after that.
 */
import type { DataPoint, Entry } from '../../../model/value.ts'
import type { PointsWrite } from '../store.ts'
import type { ByteReader } from './bytes.ts'
import { ByteWriter } from './bytes.ts'
import { EmbeddedErrors } from './errors.ts'
import { readValue, writeValue, type StoredPoint } from './point.ts'

const FLAG_HISTORY = 1
const FLAG_LATEST = 2
/** The bounds of a Date, which are also what every client can show. */
const MAX_TS = 8.64e15
/** Some 31,000 years: beyond it the end would be no exact number. */
const MAX_TTL_SECONDS = 1e12

/** Appends the batch, and returns how many points it holds. Throws TS_INVALID, and then nothing is appended. */
export function encodeBatch(writer: ByteWriter, writes: readonly PointsWrite[], now: number): number {
  const start = writer.length
  try {
    return appendBatch(writer, writes, now)
  } catch (error) {
    writer.truncate(start)
    throw error
  }
}

function appendBatch(writer: ByteWriter, writes: readonly PointsWrite[], now: number): number {
  const keys = new Map<string, number>()
  let count = 0
  writer.signed(Math.floor(now))
  writer.unsigned(writes.length)
  for (const write of writes) {
    writer.text(write.entityId)
    writer.byte((write.history ? FLAG_HISTORY : 0) | (write.latest ? FLAG_LATEST : 0))
    writer.unsigned(write.sequence)
    writer.unsigned(Math.min(MAX_TTL_SECONDS, Math.max(0, Math.floor(write.ttlSeconds))))
    const { entries, ts } = write
    if (entries === undefined || ts === undefined) {
      const { points } = write
      writer.unsigned(points.length)
      for (const point of points) encodePoint(writer, keys, point, point.ts)
      count += points.length
    } else {
      writer.unsigned(entries.length)
      for (const entry of entries) encodePoint(writer, keys, entry, ts)
      count += entries.length
    }
  }
  return count
}

function encodePoint(writer: ByteWriter, keys: Map<string, number>, entry: Entry, ts: number): void {
  const { key } = entry
  if (!Number.isInteger(ts) || ts > MAX_TS || ts < -MAX_TS) throw EmbeddedErrors.TS_INVALID({ ts })
  const known = keys.get(key)
  if (known === undefined) {
    writer.unsigned(keys.size)
    writer.text(key)
    keys.set(key, keys.size)
  } else writer.unsigned(known)
  writer.signed(ts)
  writeValue(writer, entry.type, entry.value)
}

/** Told of a batch's contents in order. */
export interface BatchSink {
  /** The points that follow are this entity's. */
  write(entityId: string, sequence: number, history: boolean, latest: boolean): void
  point(key: string, point: StoredPoint): void
}

/** Reads one batch that {@link encodeBatch} wrote. Throws RangeError for bytes that are none. Returns its points' number. */
export function decodeBatch(reader: ByteReader, sink: BatchSink): number {
  const keys: string[] = []
  const now = reader.signed()
  let total = 0
  for (let writes = reader.unsigned(); writes > 0; writes--) {
    const entityId = reader.text()
    const flags = reader.byte()
    const sequence = reader.unsigned()
    const ttlSeconds = reader.unsigned()
    const count = reader.unsigned()
    const expiresAt = ttlSeconds === 0 ? 0 : now + ttlSeconds * 1000
    sink.write(entityId, sequence, (flags & FLAG_HISTORY) !== 0, (flags & FLAG_LATEST) !== 0)
    for (let left = count; left > 0; left--) {
      const reference = reader.unsigned()
      if (reference === keys.length) keys.push(reader.text())
      const key = keys[reference]
      if (key === undefined) throw new RangeError(`key ${reference} of ${keys.length}`)
      const ts = reader.signed()
      const { type, value } = readValue(reader)
      sink.point(key, { ts, type, value, expiresAt })
    }
    total += count
  }
  return total
}

/** Points of some keys as bytes: the answers from the worker. */
export function encodePoints(byKey: ReadonlyMap<string, readonly StoredPoint[]>): Buffer {
  const writer = new ByteWriter(4096)
  writer.unsigned(byKey.size)
  for (const [key, points] of byKey) {
    writer.text(key)
    writer.unsigned(points.length)
    for (const point of points) {
      writer.signed(point.ts)
      writeValue(writer, point.type, point.value)
    }
  }
  return writer.copy()
}

/** Reads what {@link encodePoints} wrote. */
export function decodePoints(reader: ByteReader): Map<string, DataPoint[]> {
  const byKey = new Map<string, DataPoint[]>()
  for (let keys = reader.unsigned(); keys > 0; keys--) {
    const key = reader.text()
    const count = reader.unsigned()
    const points: DataPoint[] = []
    for (let index = 0; index < count; index++) {
      const ts = reader.signed()
      points.push({ key, ts, ...readValue(reader) })
    }
    byKey.set(key, points)
  }
  return byKey
}
