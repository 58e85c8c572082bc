/**
 * Entity queries: which entities a caller sees that match, with their values. What the entity store can answer it answers; where latest
 * telemetry is filtered, sorted by or searched, which another store keeps, candidates are looked at here. Source: `rest-api.md` 7.
 */
import type { Clock } from '../../model/clock.ts'
import type { Page } from '../../model/entities.ts'
import type {
  EntityCountQuery,
  EntityData,
  EntityDataQuery,
  EntityKey,
  LatestValues,
  EntitySort,
  KeyFilter,
} from '../../model/entity-query.ts'
import type { EntityId } from '../../model/entity-id.ts'
import type { Principal } from '../../model/principal.ts'
import { valueText } from '../../model/entry-json.ts'
import type { LatestColumn } from '../../model/latest-column.ts'
import type { EntitySelection, SelectedEntity } from '../../storage/entities/queries/query.ts'
import type { EntityQueryService, FoundKeys, WantedKeys } from './entity-query-service.ts'
import { QueryErrors } from './errors.ts'
import { firstPlaces, matchingPlaces } from './latest-columns.ts'
import { comparedField, comparedValue, matches } from './predicates.ts'
import { readValues, shownValues, type EntityValues, type ValueStores } from './query-values.ts'
import type { QueryResolver } from './resolve.ts'

/** Entities whose latest telemetry one query looks at. */
const MAX_CANDIDATES = 200_000
/** Entities whose keys are looked up. */
const MAX_ENTITIES_FOR_KEYS = 100
/** Rows of one page: a larger one is served as pages of this size. */
export const MAX_QUERY_PAGE = 10_000

export interface EntityQueryParts extends ValueStores {
  readonly clock: Clock
  readonly resolver: QueryResolver
}

interface Resolved {
  readonly selection: EntitySelection
  readonly sort: EntitySort | undefined
  readonly search: string | undefined
}

const isLatest = (key: EntityKey): boolean => key.type === 'TIME_SERIES'

export class EntityQueries implements EntityQueryService {
  private readonly parts: EntityQueryParts

  constructor(parts: EntityQueryParts) {
    this.parts = parts
  }

  async count(principal: Principal, query: EntityCountQuery, options = { isDynamic: false }): Promise<number> {
    const selection = await this.parts.resolver.selection(principal, query, {
      keys: query.keyFilters.map(({ key }) => key),
      isDynamic: options.isDynamic,
      // What is followed (WebSocket, dynamic) is followed in one tenant.
      isNumber: !options.isDynamic && query.keyFilters.length === 0,
    })
    if (!selection.filters.some(({ key }) => isLatest(key))) return this.parts.entities.queries.count(selection)
    const resolved = { selection, sort: undefined, search: undefined }
    const places = await this.inColumns(resolved, { limit: 0, offset: 0 })
    return places?.total ?? (await this.candidates(query, resolved)).length
  }

  async find(
    principal: Principal,
    query: EntityDataQuery,
    /** What the caller reads beside what the query names. */
    reads: readonly EntityKey[] = [],
  ): Promise<Page<EntityData>> {
    const { page, pageSize: asked, sort, textSearch } = query.page
    if (asked < 1) throw QueryErrors.PAGE_SIZE({ pageSize: asked })
    if (page < 0) throw QueryErrors.PAGE_NUMBER({ page })
    const pageSize = Math.min(asked, MAX_QUERY_PAGE)
    const sortKeys = sort === undefined ? [] : [sort.key]
    const keys = [...reads, ...query.latest, ...query.keyFilters.map(({ key }) => key), ...sortKeys]
    const selection = await this.parts.resolver.selection(principal, query, { keys, isDynamic: true })
    const search = textSearch === undefined || textSearch.trim() === '' ? undefined : textSearch
    const resolved = { selection, sort, search }
    const bounds = { limit: pageSize, offset: page * pageSize }
    const { total, rows } = needsTelemetry(query, resolved)
      ? await this.lookedAt(query, resolved, bounds)
      : await this.stored(query, resolved, bounds)
    const totalPages = Math.ceil(total / pageSize)
    return { data: await this.shown(query, rows), totalPages, totalElements: total, hasNext: page + 1 < totalPages }
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
    { selection, sort, search }: Resolved,
    bounds: { readonly limit: number; readonly offset: number },
  ): Promise<{ readonly total: number; readonly rows: readonly SelectedEntity[] }> {
    const { queries } = this.parts.entities
    const searched = search === undefined ? selection : { ...selection, search: { text: search, fields: query.fields } }
    return queries.page(searched, { sort, ...bounds }, query.fields)
  }

  private async lookedAt(
    query: EntityDataQuery,
    resolved: Resolved,
    { limit, offset }: { readonly limit: number; readonly offset: number },
  ): Promise<{ readonly total: number; readonly rows: readonly SelectedEntity[] }> {
    const found = await this.inColumns(resolved, { limit, offset })
    if (found === undefined) {
      const rows = await this.candidates(query, resolved)
      return { total: rows.length, rows: rows.slice(offset, offset + limit) }
    }
    const { total, ids } = found
    const sources = resolved.selection.sources.map((source) => ({ ...source, ids }))
    const bounds = { sort: undefined, limit, offset: 0 }
    const { queries } = this.parts.entities
    const rows = await queries.find({ ...resolved.selection, sources, filters: [] }, bounds, query.fields)
    const byId = new Map(rows.map((row) => [row.id, row]))
    return { total, rows: ids.flatMap((id) => byId.get(id) ?? []) }
  }

  /** How many match, and the ids of a page of them; undefined where columns of latest values do not tell. */
  private async inColumns(
    { selection, sort, search }: Resolved,
    { limit, offset }: { readonly limit: number; readonly offset: number },
  ): Promise<{ readonly total: number; readonly ids: readonly string[] } | undefined> {
    const { entities, timeSeries } = this.parts
    const { inStore, here } = partsOf(selection)
    const [source] = selection.sources
    const isOfOneType = selection.sources.length === 1 && source?.table.entityType !== 'ENTITY_VIEW'
    if (timeSeries.latestColumn === undefined || search !== undefined || !isOfOneType) return undefined
    if (!here.every(({ key }) => isLatest(key))) return undefined
    const order = sort !== undefined && isLatest(sort.key) ? sort : undefined
    const kept = { ...selection, filters: inStore }
    const ids = await entities.queries.ids(kept, order === undefined ? sort : undefined, MAX_CANDIDATES + 1)
    if (ids.length > MAX_CANDIDATES) throw QueryErrors.TOO_MANY({ limit: MAX_CANDIDATES })
    const keys = new Set([...here, ...(order === undefined ? [] : [order])].map(({ key }) => key.key))
    const columns = new Map<string, LatestColumn>()
    for (const key of keys) columns.set(key, await timeSeries.latestColumn(ids, key))
    const places = matchingPlaces(ids.length, here, selection.operation, columns)
    const page = order === undefined ? places : firstPlaces(places, ids, order, columns, offset + limit)
    return { total: places.length, ids: page.slice(offset, offset + limit).map((place) => ids[place] ?? '') }
  }

  /** All that match, in order. */
  private async candidates(
    query: EntityCountQuery & Partial<Pick<EntityDataQuery, 'fields' | 'latest'>>,
    { selection, sort, search }: Resolved,
  ): Promise<readonly SelectedEntity[]> {
    const { fields: shown = [], latest = [] } = query
    const { inStore, here } = partsOf(selection)
    const fields = [...shown, ...here.filter(({ key }) => key.type === 'ENTITY_FIELD').map(({ key }) => key.key)]
    const isSortedHere = sort !== undefined && isLatest(sort.key)
    const found = await this.parts.entities.queries.find(
      { ...selection, filters: inStore },
      { sort: isSortedHere ? undefined : sort, limit: MAX_CANDIDATES + 1, offset: 0 },
      fields,
    )
    if (found.length > MAX_CANDIDATES) throw QueryErrors.TOO_MANY({ limit: MAX_CANDIDATES })
    const keys = [
      ...here.map(({ key }) => key),
      ...(isSortedHere ? [sort.key] : []),
      ...(search === undefined ? [] : latest),
    ]
    const values = await readValues(this.parts, found, keys)
    const fits = (row: SelectedEntity): boolean =>
      (here.length === 0 || matchesAll(row, here, selection.operation, fields, values)) &&
      (search === undefined || holdsText(row, search, shown, latest, values))
    const matching = found.filter(fits)
    return isSortedHere ? sorted(matching, sort, values) : matching
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

function needsTelemetry(query: EntityDataQuery, { selection, sort, search }: Resolved): boolean {
  if (selection.filters.some(({ key }) => isLatest(key))) return true
  if (sort !== undefined && isLatest(sort.key)) return true
  return search !== undefined && query.latest.length > 0
}

/** Where all must hold, those that the store can look at it looks at. */
function partsOf({ filters, operation }: EntitySelection): {
  readonly inStore: readonly KeyFilter[]
  readonly here: readonly KeyFilter[]
} {
  if (!filters.some(({ key }) => isLatest(key))) return { inStore: filters, here: [] }
  if (operation === 'OR') return { inStore: [], here: filters }
  return { inStore: filters.filter(({ key }) => !isLatest(key)), here: filters.filter(({ key }) => isLatest(key)) }
}

function matchesAll(
  row: SelectedEntity,
  filters: readonly KeyFilter[],
  operation: 'AND' | 'OR',
  fields: readonly string[],
  values: EntityValues,
): boolean {
  const holds = ({ key, predicate }: KeyFilter): boolean => {
    if (key.type === 'ENTITY_FIELD')
      return matches(predicate, comparedField(row.fields[fields.indexOf(key.key)] ?? null))
    const value = values.of(row.id, key)
    return matches(predicate, value && comparedValue(value))
  }
  return operation === 'AND' ? filters.every(holds) : filters.some(holds)
}

/** `%` and `_` are as in the store's search: the first stands for any letters. */
function holdsText(
  row: SelectedEntity,
  search: string,
  fields: readonly string[],
  latest: readonly EntityKey[],
  values: EntityValues,
): boolean {
  const texts = fields.map((_, place) => String(row.fields[place] ?? ''))
  for (const key of latest) {
    const value = values.of(row.id, key)
    if (value !== undefined) texts.push(valueText(value))
  }
  let rest = texts.join('').toLowerCase()
  for (const part of search.toLowerCase().split('%')) {
    const at = rest.indexOf(part)
    if (at < 0) return false
    rest = rest.slice(at + part.length)
  }
  return true
}

/** Numbers before texts; what is not there comes last ascending by number, first ascending by text, as the reference has it. */
function sorted(
  rows: readonly SelectedEntity[],
  { key, direction }: EntitySort,
  values: EntityValues,
): readonly SelectedEntity[] {
  const placed = rows.map((row) => {
    const value = values.of(row.id, key)
    const compared = value && comparedValue(value)
    const flag = compared?.flag === undefined || compared.flag === null ? null : Number(compared.flag)
    const text = compared?.text ?? (value?.type === 'JSON' ? value.value : '')
    return { row, number: compared?.number ?? flag, text }
  })
  const sign = direction === 'DESC' ? -1 : 1
  placed.sort((a, b) => {
    if (a.number !== b.number) {
      if (a.number === null) return sign
      if (b.number === null) return -sign
      return a.number < b.number ? -sign : sign
    }
    if (a.text !== b.text) return a.text < b.text ? -sign : sign
    return a.row.id < b.row.id ? -sign : sign
  })
  return placed.map(({ row }) => row)
}
