/** What is in memory of an entity: for each key the points that are not in chunks yet, and the latest value. */
import { crc32 } from 'node:zlib'
import { ByteReader, ByteWriter } from './bytes.ts'
import type { MillraceError } from '../../../model/errors.ts'
import { readValue, textTypeOf, writeValue, type StoredPoint } from './point.ts'

/** A latest value and the log position of the message that brought it: its version is (ts, sequence). */
export interface LatestValue {
  readonly point: StoredPoint
  readonly sequence: number
  /** The value is a long text and in SQLite alone: what is in `point` is its time and type. */
  readonly isOutside?: true
}

/** A text of more characters is let go of once it is stored: many keys with such values must not fill the memory. */
const LONG_TEXT = 16_384
/** A stored latest value of more bytes is not read with its entity. */
export const LONG_LATEST_BYTES = 4 * LONG_TEXT
/** Enough for time, sequence and type of a stored latest value. */
export const LATEST_HEAD_BYTES = 32

export class Entity {
  /** 0 until it is stored. */
  id: number
  readonly name: string
  readonly series = new Map<string, Series>()

  constructor(name: string, id: number) {
    this.name = name
    this.id = id
  }

  /** The series of the key, made where there is none. */
  seriesOf(key: string): Series {
    let series = this.series.get(key)
    if (series === undefined) this.series.set(key, (series = new Series(this, key, 0)))
    return series
  }

  /** True while something of it is in the log alone. */
  get dirty(): boolean {
    for (const series of this.series.values()) if (series.segment !== 0) return true
    return false
  }
}

export class Series {
  readonly entity: Entity
  readonly key: string
  /** 0 until it is stored. */
  id: number
  /** The oldest log segment that holds something of it that SQLite does not; 0 for none. */
  segment = 0
  /** Small chunks written in a row at the end of the series. */
  smallChunks = 0
  /** Points appended since the tail was last empty; repeated times count each time. */
  appended = 0
  latest: LatestValue | undefined
  latestChanged = false
  /** Why the stored latest value cannot be told; a new value takes its place. */
  latestDamage: MillraceError | undefined
  private points: StoredPoint[] = []
  private ordered = true

  constructor(entity: Entity, key: string, id: number) {
    this.entity = entity
    this.key = key
    this.id = id
  }

  append(point: StoredPoint): void {
    const last = this.points[this.points.length - 1]
    if (last !== undefined && last.ts >= point.ts) this.ordered = false
    this.points.push(point)
    this.appended++
  }

  /** The tail in ascending, distinct times; of equal times the last written. Read only. */
  tail(): readonly StoredPoint[] {
    if (!this.ordered) {
      const byTime = new Map<number, StoredPoint>()
      for (const point of this.points) byTime.set(point.ts, point)
      this.points = [...byTime.values()].sort((a, b) => a.ts - b.ts)
      this.ordered = true
    }
    return this.points
  }

  /** The part of the tail in [low, high], both inclusive. */
  tailBetween(low: number, high: number): readonly StoredPoint[] {
    const tail = this.tail()
    const from = firstAtOrAfter(tail, low)
    const to = firstAtOrAfter(tail, high + 1)
    return from === 0 && to === tail.length ? tail : tail.slice(from, to)
  }

  /** True where the tail has a point in [low, high]. */
  tailTouches(low: number, high: number): boolean {
    const tail = this.tail()
    const next = tail[firstAtOrAfter(tail, low)]
    return next !== undefined && next.ts <= high
  }

  removeFromTail(low: number, endExclusive: number): void {
    this.points = this.tail().filter((point) => point.ts < low || point.ts >= endExclusive)
  }

  /** The latest value is in SQLite. */
  latestStored(): void {
    this.latestChanged = false
    const { latest } = this
    if (latest === undefined || typeof latest.point.value !== 'string' || latest.point.value.length <= LONG_TEXT) return
    this.latest = { point: { ...latest.point, value: '' }, sequence: latest.sequence, isOutside: true }
  }

  clearTail(): void {
    this.points = []
    this.appended = 0
    this.ordered = true
  }

  /** Takes the point as latest value unless a newer version is there. Equal versions: the later write. */
  offerLatest(point: StoredPoint, sequence: number): void {
    const held = this.latest
    if (held !== undefined) {
      if (point.ts < held.point.ts) return
      if (point.ts === held.point.ts && sequence < held.sequence) return
    }
    this.setLatest({ point, sequence })
  }

  setLatest(latest: LatestValue | undefined): void {
    this.latest = latest
    this.latestChanged = true
    this.latestDamage = undefined
  }
}

/** Index of the first point whose time is at or after `ts`, in ascending points. */
export function firstAtOrAfter(points: readonly StoredPoint[], ts: number): number {
  let low = 0
  let high = points.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if ((points[middle]?.ts ?? 0) < ts) low = middle + 1
    else high = middle
  }
  return low
}

/** Ascending points of two ascending lists; of equal times the one of `over`. */
export function mergeOver(under: readonly StoredPoint[], over: readonly StoredPoint[]): readonly StoredPoint[] {
  if (over.length === 0) return under
  if (under.length === 0) return over
  const merged: StoredPoint[] = []
  let next = 0
  for (const point of under) {
    let candidate = over[next]
    while (candidate !== undefined && candidate.ts < point.ts) {
      merged.push(candidate)
      candidate = over[++next]
    }
    if (candidate?.ts !== point.ts) merged.push(point)
  }
  for (; next < over.length; next++) {
    const point = over[next]
    if (point !== undefined) merged.push(point)
  }
  return merged
}

/** A latest value as bytes, with a checksum bound to its series. */
export function encodeLatest(series: number, latest: LatestValue): Buffer {
  const writer = new ByteWriter(64)
  writer.signed(latest.point.ts)
  writer.float(latest.sequence)
  writeValue(writer, latest.point.type, latest.point.value)
  writer.u32(crc32(writer.view(), series))
  return writer.copy()
}

/** What the first bytes of a long latest value say; its checksum is looked at when the value is read. */
export function decodeLatestHead(bytes: Uint8Array): LatestValue {
  const reader = new ByteReader(bytes)
  const ts = reader.signed()
  const sequence = reader.float()
  return { point: { ts, type: textTypeOf(reader.byte()), value: '', expiresAt: 0 }, sequence, isOutside: true }
}

/** Throws an Error with the reason where the checksum is wrong. */
export function decodeLatest(series: number, bytes: Uint8Array): LatestValue {
  const body = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  if (body.length < 4 || body.readUInt32LE(body.length - 4) !== crc32(body.subarray(0, -4), series)) {
    throw new Error('checksum mismatch')
  }
  const reader = new ByteReader(body)
  const ts = reader.signed()
  const sequence = reader.float()
  const { type, value } = readValue(reader)
  return { point: { ts, type, value, expiresAt: 0 }, sequence }
}
