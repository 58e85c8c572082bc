/** Deletes of ranges and of whole entities: chunks that lie wholly in the range go, those at its ends are written anew. */
import type { DeleteRange } from '../store.ts'
import { isMillraceError } from '../../../model/errors.ts'
import { pointsOf } from './chunk-codec.ts'
import { isDamage, type Chunks } from './chunks.ts'
import type { ChunkDatabase, ChunkRow } from './database.ts'
import { readPoints } from './history.ts'
import type { StoredPoint } from './point.ts'
import type { Entity, Series } from './series.ts'

export interface RemovedLatest {
  readonly key: string
  readonly replacement: StoredPoint | undefined
}

/**
 * Deletes the range from the chunks, in one transaction. Comes before the log's record: on a full disk it may need room, and a
 * record in the log that cannot be applied would stop every later open.
 */
export function deleteFromChunks(database: ChunkDatabase, chunks: Chunks, entity: Entity, range: DeleteRange): void {
  if (range.startTs >= range.endTs) return
  database.transaction(() => {
    for (const series of namedSeries(entity, range)) deleteChunks(chunks, series, range)
  })
}

/** Deletes the range from memory; tells the series whose latest value went. */
export function deleteFromMemory(
  chunks: Chunks,
  entity: Entity,
  range: DeleteRange,
  now: number,
): { readonly series: Series; readonly removed: RemovedLatest }[] {
  const { startTs, endTs } = range
  const found = namedSeries(entity, range)
  for (const series of found) if (startTs < endTs) series.removeFromTail(startTs, endTs)
  return found.flatMap((series) => {
    const latestTs = series.latest?.point.ts
    if (!range.deleteLatest || latestTs === undefined || latestTs < startTs || latestTs >= endTs) return []
    return [{ series, removed: { key: series.key, replacement: replaceLatest(chunks, series, range, now) } }]
  })
}

function namedSeries(entity: Entity, range: DeleteRange): Series[] {
  return [...new Set(range.keys)].flatMap((key) => entity.series.get(key) ?? [])
}

/** Removes everything stored of the entity. */
export function deleteStoredEntity(database: ChunkDatabase, chunks: Chunks, entity: Entity): void {
  if (entity.id === 0) return
  database.transaction(() => {
    for (const series of entity.series.values()) {
      for (const row of [...chunks.rows(series, -Infinity, Infinity, 'DESC')]) chunks.remove(row)
      chunks.forgetDamaged(series, -Infinity, Infinity)
    }
    database.removeEntity(entity.id)
  })
  // Should the log refuse the delete now, what is left in memory must not name rows that are gone.
  entity.id = 0
  for (const series of entity.series.values()) series.id = 0
}

function replaceLatest(chunks: Chunks, series: Series, range: DeleteRange, now: number): StoredPoint | undefined {
  series.setLatest(undefined)
  if (!range.rewriteLatest) return undefined
  try {
    const older = { startTs: -Infinity, endTs: range.startTs, limit: 1, order: 'DESC' } as const
    const [replacement] = readPoints(chunks, series, older, now)
    if (replacement !== undefined) series.setLatest({ point: replacement, sequence: 0 })
    return replacement
  } catch (error) {
    // Which point is the newest older one cannot be told: readers of the latest value hear why.
    if (!isMillraceError(error) || !isDamage(error)) throw error
    series.latestDamage = error
    return undefined
  }
}

function deleteChunks(chunks: Chunks, series: Series, range: DeleteRange): void {
  const { startTs, endTs } = range
  for (const row of [...chunks.rows(series, startTs, endTs - 1, 'DESC')]) {
    if (row.startTs >= startTs && row.endTs < endTs) chunks.remove(row)
    else cutChunk(chunks, series, row, range)
  }
  chunks.forgetDamaged(series, startTs, endTs - 1)
}

function cutChunk(chunks: Chunks, series: Series, row: ChunkRow, range: DeleteRange): void {
  let points: StoredPoint[]
  try {
    points = pointsOf(chunks.read(series, row))
  } catch (error) {
    if (!isDamage(error)) throw error
    chunks.setAside(row)
    return
  }
  chunks.remove(row)
  // Two chunks where points are left on both sides: one across the gap would overlap what is written into it later.
  chunks.put(
    series,
    points.filter((point) => point.ts < range.startTs),
  )
  chunks.put(
    series,
    points.filter((point) => point.ts >= range.endTs),
  )
}
