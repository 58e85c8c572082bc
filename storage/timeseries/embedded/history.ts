/** Reads of one series: raw points and buckets, over the chunks and the tail that lies over them. */
import type { HistoryQuery } from '../../../model/telemetry-query.ts'
import { Aggregate } from './aggregate.ts'
import type { Columns } from './chunk-codec.ts'
import { pointAt, typeAt } from './chunk-codec.ts'
import type { Chunks } from './chunks.ts'
import type { ChunkRow } from './database.ts'
import { EmbeddedErrors } from './errors.ts'
import { isLive, type StoredPoint } from './point.ts'
import { mergeOver, type Series } from './series.ts'

const CHARACTERS_OF_A_POINT = 64

/** A stretch of time, both ends inclusive, with the one chunk that lies in it, if any. */
interface Region {
  readonly low: number
  readonly high: number
  readonly row: ChunkRow | undefined
}

/** What one answer may take of the memory, counted in points; long texts count for several. */
export class AnswerRoom {
  private readonly limit: number
  private left: number

  constructor(limit: number) {
    this.limit = limit
    this.left = limit
  }

  /** Throws ANSWER_TOO_BIG. */
  take({ value }: StoredPoint): void {
    this.left -= typeof value === 'string' ? 1 + Math.floor(value.length / CHARACTERS_OF_A_POINT) : 1
    if (this.left < 0) {
      const unit = `points, ${CHARACTERS_OF_A_POINT} characters of text counted for one more`
      throw EmbeddedErrors.ANSWER_TOO_BIG({ limit: this.limit, unit })
    }
  }
}

/** Points of [startTs, endTs), at most `limit`, in the order asked for. Throws CHUNK_DAMAGED where a chunk that is needed is, ANSWER_TOO_BIG. */
export function readPoints(
  chunks: Chunks,
  series: Series,
  query: Pick<HistoryQuery, 'startTs' | 'endTs' | 'limit' | 'order'>,
  now: number,
  room?: AnswerRoom,
): StoredPoint[] {
  const found: StoredPoint[] = []
  const descending = query.order === 'DESC'
  for (const region of regions(chunks, series, query.startTs, query.endTs - 1, query.order)) {
    const points = pointsIn(chunks, series, region)
    for (let index = 0; index < points.length && found.length < query.limit; index++) {
      const point = points.at(descending ? points.length - 1 - index : index)
      if (point === undefined || !isLive(point, now)) continue
      room?.take(point)
      found.push(point)
    }
    if (found.length >= query.limit) break
  }
  return found
}

/** One point a non-empty bucket, at the bucket's middle, ascending. Throws BORDERS_MISSING, CHUNK_DAMAGED. */
export function readBuckets(
  chunks: Chunks,
  series: Series,
  query: HistoryQuery,
  now: number,
  room?: AnswerRoom,
): StoredPoint[] {
  const { agg, borders } = query
  const first = borders?.[0]
  const last = borders?.[borders.length - 1]
  if (agg === 'NONE' || borders === undefined || first === undefined || last === undefined || borders.length < 2) {
    throw EmbeddedErrors.BORDERS_MISSING({ agg })
  }
  const low = Math.max(query.startTs, first)
  const high = Math.min(query.endTs, last) - 1
  const buckets = new Buckets(borders)
  for (const region of regions(chunks, series, low, high, 'ASC')) {
    const { row } = region
    if (row !== undefined && row.startTs >= low && row.endTs <= high) {
      const bucket = buckets.at(row.startTs)
      if (bucket === buckets.at(row.endTs) && !series.tailTouches(region.low, region.high)) {
        // One that was set aside may lie before this one.
        const damage = chunks.damageIn(series, region.low, region.high)
        if (damage !== undefined) throw damage
        const summary = chunks.summary(series, row)
        const whole = summary.firstExpiry === 0 || summary.firstExpiry > now
        if (whole && summary.aggregate.answers(agg)) {
          buckets.of(bucket).merge(summary.aggregate)
          continue
        }
      }
    }
    addRegion(chunks, series, region, buckets, now)
  }
  const results = buckets.results(agg)
  for (const point of results) room?.take(point)
  return results
}

/**
 * Cuts [low, high] into regions of at most one chunk each, in order. Chunks never overlap, so what a region yields is in
 * order too.
 */
function* regions(chunks: Chunks, series: Series, low: number, high: number, order: 'ASC' | 'DESC'): Generator<Region> {
  if (low > high) return
  let from = low
  let to = high
  for (const row of chunks.rows(series, low, high, order)) {
    if (order === 'DESC') {
      yield { low: Math.max(low, row.startTs), high: to, row }
      to = row.startTs - 1
    } else {
      yield { low: from, high: Math.min(high, row.endTs), row }
      from = row.endTs + 1
    }
    if (from > to) return
  }
  yield { low: from, high: to, row: undefined }
}

/** Ascending; a point is made where it is asked for. */
interface PointList {
  readonly length: number
  at(index: number): StoredPoint | undefined
}

function pointsIn(chunks: Chunks, series: Series, region: Region): PointList {
  const columns = columnsAlone(chunks, series, region)
  if (columns !== undefined) return pointsBetween(columns, region)
  const damage = chunks.damageIn(series, region.low, region.high)
  if (damage !== undefined) throw damage
  const tail = series.tailBetween(region.low, region.high)
  if (region.row === undefined) return tail
  const stored = pointsBetween(chunks.read(series, region.row), region)
  return mergeOver(
    Array.from({ length: stored.length }, (_, index) => stored.at(index)),
    tail,
  )
}

function pointsBetween(columns: Columns, { low, high }: Region) {
  const from = firstTimeFrom(columns, low)
  return {
    length: firstTimeFrom(columns, high + 1) - from,
    at: (index: number) => pointAt(columns, from + index),
  }
}

/** The place of the first time at or after `ts`. */
function firstTimeFrom({ times, count }: Columns, ts: number): number {
  let low = 0
  let high = count
  while (low < high) {
    const middle = (low + high) >>> 1
    if ((times[middle] ?? 0) < ts) low = middle + 1
    else high = middle
  }
  return low
}

/** The region's chunk where nothing lies over it. Throws CHUNK_DAMAGED. */
function columnsAlone(chunks: Chunks, series: Series, region: Region): Columns | undefined {
  if (region.row === undefined || series.tailTouches(region.low, region.high)) return undefined
  const damage = chunks.damageIn(series, region.low, region.high)
  if (damage !== undefined) throw damage
  return chunks.read(series, region.row)
}

function addRegion(chunks: Chunks, series: Series, region: Region, buckets: Buckets, now: number): void {
  const columns = columnsAlone(chunks, series, region)
  if (columns !== undefined) {
    addColumns(columns, region, buckets, now)
    return
  }
  const points = pointsIn(chunks, series, region)
  for (let index = 0; index < points.length; index++) {
    const point = points.at(index)
    if (point !== undefined && isLive(point, now)) buckets.of(buckets.at(point.ts)).add(point.type, point.value)
  }
}

/** The fast road of an aggregation: no object a point, and no look at the time of each. */
function addColumns(columns: Columns, region: Region, buckets: Buckets, now: number): void {
  const end = firstTimeFrom(columns, region.high + 1)
  let from = firstTimeFrom(columns, region.low)
  while (from < end) {
    const number = buckets.at(columns.times[from] ?? 0)
    const to = Math.min(end, firstTimeFrom(columns, buckets.end(number)))
    addStretch(columns, { from, to }, buckets.of(number), now)
    from = to
  }
}

function addStretch(
  columns: Columns,
  { from, to }: { readonly from: number; readonly to: number },
  bucket: Aggregate,
  now: number,
): void {
  const { type, longs, values, expiries } = columns
  const isOfNumbers = values instanceof Float64Array && expiries === undefined
  if (isOfNumbers && type === 'DOUBLE') {
    for (let index = from; index < to; index++) bucket.addDouble(values[index] ?? 0)
    return
  }
  if (isOfNumbers && longs !== undefined) {
    for (let index = from; index < to; index++) {
      if (longs[index] === 1) bucket.addLong(values[index] ?? 0)
      else bucket.addDouble(values[index] ?? 0)
    }
    return
  }
  for (let index = from; index < to; index++) {
    const expiresAt = expiries?.[index] ?? 0
    if (expiresAt === 0 || expiresAt > now) bucket.add(typeAt(columns, index), values[index] ?? 0)
  }
}

/** The buckets of one query; bucket i is [borders[i], borders[i + 1]). */
class Buckets {
  private readonly borders: readonly number[]
  private readonly aggregates: (Aggregate | undefined)[] = []

  constructor(borders: readonly number[]) {
    this.borders = borders
  }

  /** The number of the bucket that holds a time within the borders. */
  at(ts: number): number {
    let low = 0
    let high = this.borders.length - 1
    while (high - low > 1) {
      const middle = (low + high) >>> 1
      if ((this.borders[middle] ?? 0) <= ts) low = middle
      else high = middle
    }
    return low
  }

  end(bucket: number): number {
    return this.borders[bucket + 1] ?? Infinity
  }

  of(bucket: number): Aggregate {
    return (this.aggregates[bucket] ??= new Aggregate())
  }

  results(agg: Exclude<HistoryQuery['agg'], 'NONE'>): StoredPoint[] {
    const results: StoredPoint[] = []
    for (const [bucket, aggregate] of this.aggregates.entries()) {
      const value = aggregate?.result(agg)
      if (value === undefined) continue
      const start = this.borders[bucket] ?? 0
      const ts = start + Math.floor((this.end(bucket) - start) / 2)
      results.push({ ts, type: value.type, value: value.value, expiresAt: 0 })
    }
    return results
  }
}
