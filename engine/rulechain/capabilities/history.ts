/** Time series of any entity of the tenant. */
import type { EntityId } from '../../../model/entity-id.ts'
import type { Aggregation } from '../../../model/telemetry-query.ts'
import type { DataPoint } from '../../../model/value.ts'

export interface SeriesQuery {
  readonly keys: readonly string[]
  /** Inclusive, Unix ms. */
  readonly startTs: number
  /** Exclusive, Unix ms. */
  readonly endTs: number
  readonly limit: number
  readonly order: 'ASC' | 'DESC'
  readonly agg: Aggregation
  /** Ms; the width of the buckets of an aggregation. */
  readonly interval?: number
}

export interface NodeHistory {
  /** The latest point of each key that has one. All keys where none is named. */
  latest(entity: EntityId, keys: readonly string[]): Promise<readonly DataPoint[]>
  /** Points by key, in the order that was asked for. Keys without points are left out. */
  series(entity: EntityId, query: SeriesQuery): Promise<ReadonlyMap<string, readonly DataPoint[]>>
}
