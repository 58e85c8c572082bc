/** Time series, as clients, nodes and the platform use them. */
import type { SaveDone, TelemetrySave } from '../../engine/rulechain/capabilities/telemetry.ts'
import type { EntityId } from '../../model/entity-id.ts'
import type { Principal } from '../../model/principal.ts'
import type { Aggregation } from '../../model/telemetry-query.ts'
import type { DataPoint, TelemetryGroup } from '../../model/value.ts'
import type { DeletedKeys, PointsByKey, Snapshot } from '../../storage/timeseries/store.ts'

/** A history query as a client asks it; the service checks it and computes the buckets (`rest-api.md` 4.4). */
export interface HistoryRequest {
  readonly keys: readonly string[]
  readonly startTs: number
  readonly endTs: number
  readonly agg?: Aggregation
  readonly intervalType?: 'MILLISECONDS' | 'WEEK' | 'WEEK_ISO' | 'MONTH' | 'QUARTER'
  /** Bucket width in ms; 0 or absent with an aggregation means NONE. */
  readonly interval?: number
  readonly timeZone?: string
  readonly limit?: number
  readonly orderBy?: 'ASC' | 'DESC'
}

export interface TelemetryService {
  /** For nodes: calls back once, at the commit or with the error. Tells the feed when `notify`. `ttlSeconds`: in place of the request's. */
  save(request: TelemetrySave, done: SaveDone, ttlSeconds?: number): void
  saveByUser(
    principal: Principal,
    entity: EntityId,
    groups: readonly TelemetryGroup[],
    ttlSeconds: number,
  ): Promise<void>
  /** Throws `invalid`: TOO_MANY_INTERVALS, NEGATIVE_INTERVAL, LIMIT_TOO_SMALL with the reference's texts, LIMIT_TOO_BIG. */
  history(entity: EntityId, request: HistoryRequest): Promise<Snapshot<PointsByKey>>
  latest(entity: EntityId, keys: readonly string[] | undefined): Promise<Snapshot<readonly DataPoint[]>>
  keys(entity: EntityId): Promise<readonly string[]>
  deleteByUser(
    principal: Principal,
    entity: EntityId,
    range: {
      readonly keys: readonly string[]
      readonly startTs: number
      readonly endTs: number
      readonly deleteLatest: boolean
      readonly rewriteLatest: boolean
    },
  ): Promise<DeletedKeys>
}
