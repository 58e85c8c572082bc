/**
 * Moves tails into chunks, a little after each write, so that no write waits for all series at once. A series is due when
 * its tail fills a chunk, or when it is what keeps the oldest log segment alive while the log is over its bound.
 */
import { CHUNK_POINTS, isDamage, type Chunks } from './chunks.ts'
import { pointsOf } from './chunk-codec.ts'
import type { ChunkDatabase, ChunkRow } from './database.ts'
import { isLive, type StoredPoint } from './point.ts'
import { encodeLatest, mergeOver, type Series } from './series.ts'

/** A chunk below this is small: after some of them in a row, they become one. */
const SMALL_CHUNK = CHUNK_POINTS / 4
const SMALL_IN_A_ROW = 8

/** Moves the tails and latest values of these series to SQLite, in one transaction; the caller clears them afterwards. */
export function storeSeries(database: ChunkDatabase, chunks: Chunks, due: Iterable<Series>, now: number): void {
  const added: Series[] = []
  try {
    database.transaction(() => {
      for (const series of due) {
        if (series.id === 0) added.push(series)
        storeOne(database, chunks, series, now)
      }
    })
  } catch (error) {
    // The numbers that the transaction gave out are void with it.
    for (const series of added) forgetNumbers(series)
    throw error
  }
}

function forgetNumbers(series: Series): void {
  series.id = 0
  for (const other of series.entity.series.values()) if (other.id !== 0) return
  series.entity.id = 0
}

function storeOne(database: ChunkDatabase, chunks: Chunks, series: Series, now: number): void {
  const { entity } = series
  if (entity.id === 0) entity.id = database.addEntity(entity.name)
  if (series.id === 0) series.id = database.addSeries(entity.id, series.key)
  storeTail(chunks, series, now)
  if (series.latestChanged) {
    database.setLatest(series.id, series.latest === undefined ? null : encodeLatest(series.id, series.latest))
  }
}

/** Lays the tail over the chunks: a chunk is written anew only where the tail has a point within it. */
function storeTail(chunks: Chunks, series: Series, now: number): void {
  const tail = series.tail()
  const first = tail[0]
  const last = tail[tail.length - 1]
  if (first === undefined || last === undefined) return
  // The rows are collected before anything is written: SQLite does not promise what a scan sees of changes under it.
  const rows: (ChunkRow | undefined)[] = [...chunks.rows(series, first.ts, last.ts, 'DESC')]
  const before = firstRow(chunks.rows(series, -Infinity, first.ts - 1, 'DESC'))
  if (before?.chunk !== rows[rows.length - 1]?.chunk) rows.push(before)
  if (before === undefined) rows.push(undefined)
  const later = firstRow(chunks.rows(series, last.ts + 1, Infinity, 'ASC'))
  let high = Infinity
  for (const row of rows) {
    const low = row?.startTs ?? -Infinity
    storeRegion(chunks, series, row, series.tailBetween(low, high), high === Infinity && later === undefined, now)
    high = low - 1
  }
}

function storeRegion(
  chunks: Chunks,
  series: Series,
  row: ChunkRow | undefined,
  points: readonly StoredPoint[],
  atEnd: boolean,
  now: number,
): void {
  if (points.length === 0) return
  const within = row !== undefined && (points[0]?.ts ?? 0) <= row.endTs
  if (row === undefined) {
    chunks.put(series, alive(points, now))
  } else if (within || (!atEnd && points.length < SMALL_CHUNK)) {
    rewrite(chunks, series, [row], points, now)
  } else if (!atEnd || points.length >= SMALL_CHUNK) {
    series.smallChunks = atEnd ? 0 : series.smallChunks
    chunks.put(series, alive(points, now))
  } else appendSmall(chunks, series, row, points, now)
}

function appendSmall(
  chunks: Chunks,
  series: Series,
  last: ChunkRow,
  points: readonly StoredPoint[],
  now: number,
): void {
  if (++series.smallChunks < SMALL_IN_A_ROW) {
    chunks.put(series, alive(points, now))
    return
  }
  series.smallChunks = 0
  const small: ChunkRow[] = []
  for (const row of chunks.rows(series, -Infinity, last.endTs, 'DESC')) {
    if (small.length >= SMALL_IN_A_ROW * 2 || !isSmall(chunks, series, row)) break
    small.push(row)
  }
  rewrite(chunks, series, small.reverse(), points, now)
}

function isSmall(chunks: Chunks, series: Series, row: ChunkRow): boolean {
  try {
    return chunks.summary(series, row).aggregate.count < SMALL_CHUNK
  } catch (error) {
    if (isDamage(error)) return false
    throw error
  }
}

/** Puts ascending chunks and what lies over or behind them together. A damaged one is set aside, and its range says so from then on. */
function rewrite(
  chunks: Chunks,
  series: Series,
  rows: readonly ChunkRow[],
  points: readonly StoredPoint[],
  now: number,
): void {
  const stored: StoredPoint[] = []
  for (const row of rows) {
    try {
      stored.push(...pointsOf(chunks.read(series, row)))
    } catch (error) {
      if (!isDamage(error)) throw error
      chunks.setAside(row)
      continue
    }
    chunks.remove(row)
  }
  chunks.put(series, alive(mergeOver(stored, points), now))
}

function alive(points: readonly StoredPoint[], now: number): readonly StoredPoint[] {
  return points.every((point) => isLive(point, now)) ? points : points.filter((point) => isLive(point, now))
}

function firstRow(rows: Iterable<ChunkRow>): ChunkRow | undefined {
  for (const row of rows) return row
  return undefined
}
