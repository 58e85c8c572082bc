/** What changed of the entities of a command since the last frame: of latest values the newest, of series every point. */
import type { EntityId } from '../../../model/entity-id.ts'
import type { EntityKeyType, ShownValue } from '../../../model/entity-query.ts'
import { named, type SeriesPoint, type ShownEntity } from './frames.ts'

interface ChangedEntity {
  readonly entity: EntityId
  readonly latest: Map<string, Map<string, ShownValue>>
  readonly series: Map<string, SeriesPoint[]>
}

export class Draft {
  private readonly entities = new Map<string, ChangedEntity>()
  /** Points of series: a newer one does not replace them. */
  points = 0

  latest(entity: EntityId, type: EntityKeyType, key: string, value: ShownValue): void {
    const { latest } = this.of(entity)
    const ofType = latest.get(type)
    if (ofType === undefined) latest.set(type, new Map([[key, value]]))
    else ofType.set(key, value)
  }

  point(entity: EntityId, key: string, point: SeriesPoint): void {
    const { series } = this.of(entity)
    const points = series.get(key)
    if (points === undefined) series.set(key, [point])
    else points.push(point)
    this.points++
  }

  get isEmpty(): boolean {
    return this.entities.size === 0
  }

  forget({ id }: EntityId): void {
    this.entities.delete(id)
  }

  shown(): readonly ShownEntity[] {
    return [...this.entities.values()].map(({ entity, latest, series }) => ({
      entityId: entity,
      latest: latest.size === 0 ? null : named([...latest].map(([type, values]) => [type, named(values)] as const)),
      timeseries: series.size === 0 ? null : named(series),
      aggLatest: null,
    }))
  }

  private of(entity: EntityId): ChangedEntity {
    const known = this.entities.get(entity.id)
    if (known !== undefined) return known
    const changed: ChangedEntity = { entity, latest: new Map(), series: new Map() }
    this.entities.set(entity.id, changed)
    return changed
  }
}
