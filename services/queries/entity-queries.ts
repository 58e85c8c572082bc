/**
 * Entity queries: which entities a caller sees that match, with their values. What the entity store can answer it answers; the
 * rest is in `telemetry-search.ts`. Source: `rest-api.md` 7.
 */
import type { Clock } from '../../model/clock.ts'
import type { Page } from '../../model/entities.ts'
import type {
  EntityCountQuery,
  EntityData,
  EntityDataQuery,
  EntityKey,
  EntityPageLink,
  LatestValues,
} from '../../model/entity-query.ts'
import type { EntityId } from '../../model/entity-id.ts'
import type { Principal } from '../../model/principal.ts'
import type { EntitySelection, SelectedEntity } from '../../storage/entities/queries/query.ts'
import type { EntityQueryService, FoundKeys, WantedKeys } from './entity-query-service.ts'
import { QueryErrors } from './errors.ts'
import { readValues, shownValues, type ValueStores } from './query-values.ts'
import type { QueryResolver } from './resolve.ts'
import { needsTelemetry, TelemetrySearch, type Bounds, type ResolvedQuery } from './telemetry-search.ts'

/** Entities whose keys are looked up. */
const MAX_ENTITIES_FOR_KEYS = 100
/** Rows of one page: a larger one is served as pages of this size. */
const MAX_QUERY_PAGE = 10_000

export interface EntityQueryParts extends ValueStores {
  readonly clock: Clock
  readonly resolver: QueryResolver
}

export class EntityQueries implements EntityQueryService {
  private readonly parts: EntityQueryParts
  private readonly telemetry: TelemetrySearch

  constructor(parts: EntityQueryParts) {
    this.parts = parts
    this.telemetry = new TelemetrySearch(parts)
  }

  async count(principal: Principal, query: EntityCountQuery, options = { isDynamic: false }): Promise<number> {
    const selection = await this.parts.resolver.selection(principal, query, {
      keys: query.keyFilters.map(({ key }) => key),
      isDynamic: options.isDynamic,
      isNumber: query.keyFilters.length === 0,
    })
    if (!needsTelemetry({ latest: [] }, { selection, sort: undefined, search: undefined }))
      return this.parts.entities.queries.count(selection)
    return this.telemetry.count(query, selection)
  }

  async find(
    principal: Principal,
    query: EntityDataQuery,
    /** What the caller reads beside what the query names. */
    reads: readonly EntityKey[] = [],
  ): Promise<Page<EntityData>> {
    const { page } = query.page
    const resolved = await this.resolved(principal, query, reads)
    const { total, rows } = needsTelemetry(query, resolved)
      ? await this.telemetry.page(query, resolved, resolved.bounds)
      : await this.stored(query, resolved, resolved.bounds)
    const totalPages = Math.ceil(total / resolved.bounds.limit)
    return { data: await this.shown(query, rows), totalPages, totalElements: total, hasNext: page + 1 < totalPages }
  }

  /** Which are on the page that `find` answers, without how many there are and what `find` shows of them. */
  async entitiesOnPage(
    principal: Principal,
    query: EntityDataQuery,
    reads: readonly EntityKey[] = [],
  ): Promise<readonly EntityId[]> {
    const resolved = await this.resolved(principal, query, reads)
    const { sort, bounds } = resolved
    const rows = needsTelemetry(query, resolved)
      ? (await this.telemetry.page(query, resolved, bounds)).rows
      : await this.parts.entities.queries.find(searchedIn(query, resolved), { sort, ...bounds }, [])
    return rows.map(({ entityType, id }) => ({ entityType, id }))
  }

  private async resolved(
    principal: Principal,
    query: EntityDataQuery,
    reads: readonly EntityKey[],
  ): Promise<ResolvedQuery & { readonly bounds: Bounds }> {
    const { page, sort, textSearch } = query.page
    const pageSize = pageSizeOf(query.page)
    const sortKeys = sort === undefined ? [] : [sort.key]
    const keys = [...reads, ...query.latest, ...query.keyFilters.map(({ key }) => key), ...sortKeys]
    const selection = await this.parts.resolver.selection(principal, query, { keys, isDynamic: true })
    const search = textSearch === undefined || textSearch.trim() === '' ? undefined : textSearch
    return { selection, sort, search, bounds: { limit: pageSize, offset: page * pageSize } }
  }

  async values(entities: readonly EntityId[], keys: readonly EntityKey[]): Promise<ReadonlyMap<string, LatestValues>> {
    const values = await readValues(this.parts, entities, keys)
    const shown = entities.map(
      ({ entityType, id }) => [id, shownValues({ entityType, id, fields: [] }, [], keys, values, 0)] as const,
    )
    return new Map(shown)
  }

  async keys(principal: Principal, query: EntityDataQuery, { timeSeries, scopes }: WantedKeys): Promise<FoundKeys> {
    const { page, pageSize } = query.page
    const limit = Math.min(pageSize, MAX_ENTITIES_FOR_KEYS)
    const bound = { ...query, page: { ...query.page, page, pageSize: limit }, latest: [], fields: [] }
    const reads: EntityKey[] = timeSeries ? [{ type: 'TIME_SERIES', key: '' }] : []
    if (scopes.length > 0) reads.push({ type: 'ATTRIBUTE', key: '' })
    const { data } = await this.find(principal, bound, reads)
    const ids = data.map(({ entity }) => entity.id)
    const points = timeSeries ? await Promise.all(ids.map((id) => this.parts.timeSeries.latest(id, undefined))) : []
    const held = scopes.length === 0 ? [] : await this.parts.entities.queries.attributesOf(ids)
    const byScope = scopes.map((scope) => {
      const ofScope = held.filter((each) => each.scope === scope).map(({ attribute }) => attribute)
      return [scope, newestByKey(ofScope, ({ lastUpdateTs }) => lastUpdateTs)] as const
    })
    return {
      entityTypes: [...new Set(data.map(({ entity }) => entity.entityType))],
      timeSeries: newestByKey(
        points.flatMap(({ value }) => value),
        ({ ts }) => ts,
      ),
      attributes: new Map(byScope),
    }
  }

  private async stored(
    query: EntityDataQuery,
    resolved: ResolvedQuery,
    bounds: Bounds,
  ): Promise<{ readonly total: number; readonly rows: readonly SelectedEntity[] }> {
    const { queries } = this.parts.entities
    return queries.page(searchedIn(query, resolved), { sort: resolved.sort, ...bounds }, query.fields)
  }

  private async shown(query: EntityDataQuery, rows: readonly SelectedEntity[]): Promise<readonly EntityData[]> {
    const values = await readValues(this.parts, rows, query.latest)
    const now = this.parts.clock.now()
    return rows.map((row) => ({
      entity: { entityType: row.entityType, id: row.id },
      latest: shownValues(row, query.fields, query.latest, values, now),
    }))
  }
}

function searchedIn(query: EntityDataQuery, { selection, search }: ResolvedQuery): EntitySelection {
  return search === undefined ? selection : { ...selection, search: { text: search, fields: query.fields } }
}

/** As it is served. Throws PAGE_SIZE, PAGE_NUMBER, PAGE_TOO_FAR. */
export function pageSizeOf({ page, pageSize: asked }: Pick<EntityPageLink, 'page' | 'pageSize'>): number {
  if (asked < 1) throw QueryErrors.PAGE_SIZE({ pageSize: asked })
  if (page < 0) throw QueryErrors.PAGE_NUMBER({ page })
  const pageSize = Math.min(asked, MAX_QUERY_PAGE)
  // Databases count rows in 64 bits.
  if (page * pageSize > Number.MAX_SAFE_INTEGER) throw QueryErrors.PAGE_TOO_FAR({ page })
  return pageSize
}

/** In the order of their keys. */
function newestByKey<Value extends { readonly key: string }>(
  values: readonly Value[],
  timeOf: (value: Value) => number,
): readonly Value[] {
  const newest = new Map<string, Value>()
  for (const value of values) {
    const known = newest.get(value.key)
    if (known === undefined || timeOf(value) > timeOf(known)) newest.set(value.key, value)
  }
  return [...newest.values()].sort((a, b) => (a.key < b.key ? -1 : 1))
}
