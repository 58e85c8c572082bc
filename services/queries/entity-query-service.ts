/** What entity queries answer. Source: `rest-api.md` 7. */
import type { EntityId, EntityType } from '../../model/entity-id.ts'
import type { Page } from '../../model/entities.ts'
import type {
  EntityCountQuery,
  EntityData,
  EntityDataQuery,
  EntityKey,
  LatestValues,
} from '../../model/entity-query.ts'
import type { Principal } from '../../model/principal.ts'
import type { Attribute, AttributeScope, DataPoint } from '../../model/value.ts'

export interface EntityQueryService {
  count(principal: Principal, query: EntityCountQuery, options?: { readonly isDynamic: boolean }): Promise<number>
  /** Throws PAGE_SIZE, PAGE_NUMBER, PAGE_TOO_FAR, TOO_MANY. */
  find(principal: Principal, query: EntityDataQuery): Promise<Page<EntityData>>
  /** Of entities that the caller was found to see: reads nothing else. */
  values(entities: readonly EntityId[], keys: readonly EntityKey[]): Promise<ReadonlyMap<string, LatestValues>>
  /** Which keys the first entities of the query have. */
  keys(principal: Principal, query: EntityDataQuery, wanted: WantedKeys): Promise<FoundKeys>
}

export interface WantedKeys {
  readonly timeSeries: boolean
  /** Empty for none. */
  readonly scopes: readonly AttributeScope[]
}

export interface FoundKeys {
  readonly entityTypes: readonly EntityType[]
  /** Each with its newest value. */
  readonly timeSeries: readonly DataPoint[]
  readonly attributes: ReadonlyMap<AttributeScope, readonly Attribute[]>
}
