/** Time series in memory. */
import type { EntityId } from '../../model/entity-id.ts'
import type { DataPoint } from '../../model/value.ts'
import type { NodeHistory, SeriesQuery } from '../../engine/rulechain/capabilities/history.ts'

export class FakeHistory implements NodeHistory {
  readonly queries: SeriesQuery[] = []
  private readonly held = new Map<string, DataPoint[]>()

  add(entity: EntityId, ...points: readonly DataPoint[]): void {
    this.held.set(entity.id, [...(this.held.get(entity.id) ?? []), ...points])
  }

  async latest(entity: EntityId, keys: readonly string[]): Promise<readonly DataPoint[]> {
    const latest = new Map<string, DataPoint>()
    for (const point of this.of(entity, keys)) {
      const before = latest.get(point.key)
      if (before === undefined || before.ts <= point.ts) latest.set(point.key, point)
    }
    return [...latest.values()]
  }

  /** Notes the query; aggregates nothing. */
  async series(entity: EntityId, query: SeriesQuery): Promise<ReadonlyMap<string, readonly DataPoint[]>> {
    this.queries.push(query)
    const turn = query.order === 'ASC' ? 1 : -1
    const series = new Map<string, readonly DataPoint[]>()
    for (const key of query.keys) {
      const points = this.of(entity, [key])
        .filter(({ ts }) => ts >= query.startTs && ts < query.endTs)
        .toSorted((a, b) => turn * (a.ts - b.ts))
        .slice(0, query.limit)
      if (points.length > 0) series.set(key, points)
    }
    return series
  }

  private of(entity: EntityId, keys: readonly string[]): readonly DataPoint[] {
    const points = this.held.get(entity.id) ?? []
    return keys.length === 0 ? points : points.filter(({ key }) => keys.includes(key))
  }
}
