/** The entities in memory, and which of their series the log must be kept for. */
import { errorText, type MillraceError } from '../../../model/errors.ts'
import type { ChunkDatabase } from './database.ts'
import { EmbeddedErrors } from './errors.ts'
import type { StoredPoint } from './point.ts'
import { decodeLatest, decodeLatestHead, Entity, Series } from './series.ts'

/** Entities looked at for each that is loaded over the bound. */
const SWEEP = 8

export class Memory {
  private readonly database: ChunkDatabase
  private readonly maxEntities: number
  private readonly entities = new Map<string, Entity>()
  /** By log segment: the series whose oldest unstored change lies there. Segments in ascending order. */
  private readonly dirty = new Map<number, Set<Series>>()
  /** Series whose tail fills a chunk. */
  private readonly full = new Set<Series>()
  private points = 0
  private dropped = 0

  constructor(database: ChunkDatabase, maxEntities: number) {
    this.database = database
    this.maxEntities = maxEntities
  }

  /** Another one where an entity was let go of: whoever holds one by itself finds it anew. */
  get generation(): number {
    return this.dropped
  }

  /** Points that are in the log and in memory alone. */
  get tailPoints(): number {
    return this.points
  }

  /** The oldest segment that is still needed; undefined where none is. */
  get oldestSegment(): number | undefined {
    for (const segment of this.dirty.keys()) return segment
    return undefined
  }

  /** The entity, loaded where it is stored; otherwise a new one, which is kept once something of it is dirty. */
  entity(name: string): Entity {
    const known = this.entities.get(name)
    if (known !== undefined) return known
    const entity = this.load(name)
    // Before it is in: a sweep must not take the very entity that its caller is about to change.
    if (this.entities.size >= this.maxEntities) this.sweep()
    this.entities.set(name, entity)
    return entity
  }

  /** Something of the series is now in this log segment and not in SQLite. */
  touch(series: Series, segment: number): void {
    if (series.segment !== 0) return
    series.segment = segment
    let members = this.dirty.get(segment)
    if (members === undefined) this.dirty.set(segment, (members = new Set()))
    members.add(series)
  }

  countPoint(series: Series, chunkPoints: number): void {
    this.points++
    if (series.appended >= chunkPoints) this.full.add(series)
  }

  /** Series to move to chunks, up to about `budget` points: full ones, and those of the oldest segment where `pressed`. */
  due(budget: number, pressed: boolean): Series[] {
    const due: Series[] = []
    let left = budget
    for (const series of this.full) {
      if (left <= 0) return due
      due.push(series)
      left -= series.appended + 1
    }
    if (!pressed) return due
    for (const members of this.dirty.values()) {
      for (const series of members) {
        if (left <= 0) return due
        if (this.full.has(series)) continue
        due.push(series)
        left -= series.appended + 1
      }
      return due
    }
    return due
  }

  /** What the series held is in SQLite now. */
  stored(series: Series): void {
    this.forget(series)
    series.clearTail()
    series.latestStored()
  }

  /** The latest value, read where it is not in memory. Throws LATEST_DAMAGED. */
  latestPoint(series: Series): StoredPoint | undefined {
    if (series.latestDamage !== undefined) throw series.latestDamage
    const { latest } = series
    if (latest?.isOutside !== true) return latest?.point
    const bytes = this.database.latest(series.id)
    if (bytes === undefined) return undefined // Deleted, though its log did not take the delete.
    try {
      return decodeLatest(series.id, bytes).point
    } catch (error) {
      throw this.noteDamagedLatest(series, error)
    }
  }

  /** The entity and all of its series are deleted. */
  drop(entity: Entity): void {
    for (const series of entity.series.values()) this.forget(series)
    this.entities.delete(entity.name)
    this.dropped++
  }

  private noteDamagedLatest(series: Series, error: unknown): MillraceError {
    const fields = {
      file: this.database.path,
      series: series.id,
      entityId: series.entity.name,
      key: series.key,
      reason: errorText(error),
    }
    return (series.latestDamage = EmbeddedErrors.LATEST_DAMAGED(fields, error))
  }

  private forget(series: Series): void {
    this.points -= series.appended
    this.full.delete(series)
    const members = this.dirty.get(series.segment)
    members?.delete(series)
    if (members?.size === 0) this.dirty.delete(series.segment)
    series.segment = 0
  }

  private load(name: string): Entity {
    const found = this.database.entity(name)
    const entity = new Entity(name, found?.id ?? 0)
    for (const row of found?.series ?? []) {
      const series = new Series(entity, row.key, row.series)
      entity.series.set(row.key, series)
      if (row.latest === null) continue
      try {
        series.latest = row.isHead ? decodeLatestHead(row.latest) : decodeLatest(row.series, row.latest)
      } catch (error) {
        this.noteDamagedLatest(series, error)
      }
    }
    return entity
  }

  /** Lets go of some clean entities, oldest first; dirty ones move to the end. The log's bound bounds those. */
  private sweep(): void {
    let looked = 0
    for (const [name, entity] of this.entities) {
      if (++looked > SWEEP || this.entities.size < this.maxEntities) return
      this.entities.delete(name)
      if (entity.dirty) this.entities.set(name, entity)
      else this.dropped++
    }
  }
}
