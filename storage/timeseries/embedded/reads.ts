/** What the embedded store answers, synchronous, on the worker's thread: memory over chunks. */
import type { HistoryQuery } from '../../../model/telemetry-query.ts'
import { LatestColumnBuilder, type LatestColumn } from '../../../model/latest-column.ts'
import { UUID_LENGTH } from './bytes.ts'
import type { Chunks } from './chunks.ts'
import type { ChunkDatabase } from './database.ts'
import { EntityLists } from './entity-lists.ts'
import { AnswerRoom, readBuckets, readPoints } from './history.ts'
import type { Memory } from './memory.ts'
import type { StoredPoint } from './point.ts'

/** A piece of a column holds up others for so long, but for entities that are not in memory. */
const COLUMN_MS = 5
const LOOKS_PER_CLOCK = 64
/** Characters of the texts of a piece. */
const COLUMN_CHARACTERS = 2 ** 20

/** Some 200 MiB while it is read. */
const MAX_ANSWER_POINTS = 2_000_000

export class Reads {
  private readonly database: ChunkDatabase
  private readonly chunks: Chunks
  private readonly memory: Memory
  private readonly maxAnswerPoints: number
  private readonly lists = new EntityLists()

  constructor(
    database: ChunkDatabase,
    chunks: Chunks,
    memory: Memory,
    /** Of one answer, all keys together, long texts counted for several. */
    maxAnswerPoints = MAX_ANSWER_POINTS,
  ) {
    this.database = database
    this.chunks = chunks
    this.memory = memory
    this.maxAnswerPoints = maxAnswerPoints
  }

  /** Points by key; keys without points are absent. */
  history(entityId: string, query: HistoryQuery, now: number): Map<string, StoredPoint[]> {
    const byKey = new Map<string, StoredPoint[]>()
    const entity = this.memory.entity(entityId)
    const room = new AnswerRoom(this.maxAnswerPoints)
    for (const key of query.keys) {
      const series = entity.series.get(key)
      if (series === undefined) continue
      const points = this.database.guarded(() =>
        query.agg === 'NONE'
          ? readPoints(this.chunks, series, query, now, room)
          : readBuckets(this.chunks, series, query, now, room),
      )
      if (points.length > 0) byKey.set(key, points)
    }
    return byKey
  }

  /** The latest values of the keys (all where undefined) that have one. Throws LATEST_DAMAGED, ANSWER_TOO_BIG. */
  latest(entityId: string, keys: readonly string[] | undefined): Map<string, StoredPoint[]> {
    const entity = this.memory.entity(entityId)
    const byKey = new Map<string, StoredPoint[]>()
    const room = new AnswerRoom(this.maxAnswerPoints)
    for (const key of keys ?? [...entity.series.keys()].sort()) {
      const series = entity.series.get(key)
      const point = series && this.memory.latestPoint(series)
      if (point === undefined) continue
      room.take(point)
      byKey.set(key, [point])
    }
    return byKey
  }

  /** The latest values of the keys of many entities, each under the entity's id and the key together. Throws as `latest`. */
  latestOfMany(entityIds: readonly string[], keys: readonly string[]): Map<string, StoredPoint[]> {
    const found = new Map<string, StoredPoint[]>()
    const room = new AnswerRoom(this.maxAnswerPoints)
    for (const entityId of entityIds) {
      const entity = this.memory.entity(entityId)
      for (const key of keys) {
        const series = entity.series.get(key)
        const point = series && this.memory.latestPoint(series)
        if (point === undefined) continue
        room.take(point)
        found.set(entityId + key, [point])
      }
    }
    return found
  }

  /** Of the entities from this place on, as many as there is time for, at least one. Throws LATEST_DAMAGED. */
  latestColumn(entityIds: string, from: number, key: string): LatestColumn {
    const size = entityIds.length / UUID_LENGTH
    const column = new LatestColumnBuilder(size - from)
    const entities = this.lists.of(entityIds, this.memory.generation)
    const until = performance.now() + COLUMN_MS
    let place = from
    let characters = 0
    while (place < size && (place === from || place % LOOKS_PER_CLOCK > 0 || performance.now() < until)) {
      const start = place * UUID_LENGTH
      const entity = (entities[place] ??= this.memory.entity(entityIds.slice(start, start + UUID_LENGTH)))
      const series = entity.series.get(key)
      const point = series && this.memory.latestPoint(series)
      if (point !== undefined) {
        column.put(place - from, point)
        if (typeof point.value === 'string') characters += point.value.length
      }
      place++
      if (characters > COLUMN_CHARACTERS) break
    }
    return column.build(place - from)
  }

  /** Keys with a latest value, sorted. */
  keys(entityId: string): string[] {
    const keys: string[] = []
    for (const [key, series] of this.memory.entity(entityId).series) {
      if (series.latest !== undefined || series.latestDamage !== undefined) keys.push(key)
    }
    return keys.sort()
  }

  /** Sorted. */
  storedKeys(entityId: string): string[] {
    return [...this.memory.entity(entityId).series.keys()].sort()
  }
}
