/** What alarm queries answer. Source: `rest-api.md` 7.6. */
import type { AlarmCountQuery, AlarmDataQuery } from '../../model/alarm-query.ts'
import type { Page } from '../../model/entities.ts'
import type { EntityId } from '../../model/entity-id.ts'
import type { EntityFilter, LatestValues } from '../../model/entity-query.ts'
import type { JsonObject } from '../../model/json.ts'
import type { Principal } from '../../model/principal.ts'

/** Entities whose alarms one query looks at: the first that match. */
export const MAX_ALARM_ENTITIES = 10_000

/** A query for the entities whose alarms are looked at. */
export type AskedEntities = AlarmCountQuery & { readonly filter: EntityFilter } & Partial<
    Pick<AlarmDataQuery, 'latest' | 'page'>
  >

/** What the entities of a query are. */
export interface AlarmEntities {
  /** In their order. */
  readonly entities: readonly EntityId[]
  /** With those that are too many. */
  readonly total: number
}

export interface AlarmData {
  readonly id: string
  /** As lists show it. */
  readonly info: JsonObject
  /** On which it was found: not its originator where it propagates. */
  readonly entity: EntityId
  /** Of that entity. */
  readonly latest: LatestValues
}

export interface AlarmQueryService {
  /** Throws `PAGE_SIZE`, `PAGE_NUMBER`, `PAGE_TOO_FAR`, `SORT_PROPERTY`. */
  find(principal: Principal, query: AlarmDataQuery): Promise<Page<AlarmData>>
  count(principal: Principal, query: AlarmCountQuery): Promise<number>
  /** The entities of a query, as far as the caller may read what the query shows of them. */
  entitiesOf(principal: Principal, query: AskedEntities): Promise<AlarmEntities>
  /** The alarms of these entities, which were found for this caller. Throws as `find` does. */
  pageOf(principal: Principal, query: AlarmDataQuery, entities: readonly EntityId[]): Promise<Page<AlarmData>>
  /** Of these entities; undefined for all that the caller sees. */
  countOf(principal: Principal, query: AlarmCountQuery, entities: readonly EntityId[] | undefined): Promise<number>
}
