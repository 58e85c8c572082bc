/**
 * Queries that compare, sort by or search in latest telemetry, which another store keeps: candidates are looked at here, by columns where
 * that tells, value by value otherwise.
 */
import type { EntityCountQuery, EntityDataQuery, EntityKey, EntitySort, KeyFilter } from '../../model/entity-query.ts'
import { containsText } from '../../model/contains-text.ts'
import { valueText } from '../../model/entry-json.ts'
import type { LatestColumn } from '../../model/latest-column.ts'
import type { SearchedEntity } from '../../storage/entities/queries/entity-queries.ts'
import { isInOrder } from '../../storage/entities/queries/plans.ts'
import type { EntitySelection, SelectedEntity } from '../../storage/entities/queries/query.ts'
import { ATTRIBUTE_KEY_SCOPES } from './attribute-keys.ts'
import { isRounded, readCandidateValues, valueAt } from './candidate-values.ts'
import { QueryErrors } from './errors.ts'
import { firstPlaces, matchingPlaces } from './latest-columns.ts'
import { inPieces } from './pieces.ts'
import { comparedField, comparedValue, matches } from './predicates.ts'
import type { EntityValues, ValueStores } from './query-values.ts'

/** Entities whose latest telemetry one query looks at. */
const MAX_CANDIDATES = 200_000

/** The only field that is not short. */
const LONG_FIELD = 'additionalInfo'
/** Of the texts by which all that match are sorted. */
const MAX_SORTED_BYTES = 64 * 2 ** 20

/** Of the ends of texts to which latest telemetry is joined: each is as long as the text that is looked for. */
const MAX_TAIL_BYTES = 64 * 2 ** 20
/** A letter as the entity store escapes it, at most. */
const BYTES_OF_LETTER = 6

export interface ResolvedQuery {
  readonly selection: EntitySelection
  readonly sort: EntitySort | undefined
  readonly search: string | undefined
}

export interface Bounds {
  readonly limit: number
  readonly offset: number
}

type Asked = EntityCountQuery & Partial<Pick<EntityDataQuery, 'fields' | 'latest'>>

/** Those whose columns are looked at, in order. */
interface Candidates {
  readonly ids: readonly string[]
  /** Where a text is searched: what the entity store says of each. */
  readonly searched: readonly SearchedEntity[] | undefined
}

/** How many match, and the ids of a page of them; or of all, where the entity store is to sort them. */
interface ColumnMatches {
  readonly total: number
  readonly isSorted: boolean
  readonly ids: readonly string[]
  /** How many these were found among. */
  readonly candidates: number
}

/** Where none is asked for, so that pages go together. */
const BY_ID: EntitySort = { key: { type: 'ENTITY_FIELD', key: 'id' }, direction: 'ASC' }

const isLatest = (key: EntityKey): boolean => key.type === 'TIME_SERIES'

export function needsTelemetry(
  query: Pick<EntityDataQuery, 'latest'>,
  { selection, sort, search }: ResolvedQuery,
): boolean {
  if (selection.filters.some(({ key }) => isLatest(key))) return true
  if (sort !== undefined && isLatest(sort.key)) return true
  return search !== undefined && query.latest.length > 0
}

export class TelemetrySearch {
  private readonly parts: ValueStores

  constructor(parts: ValueStores) {
    this.parts = parts
  }

  async count(query: EntityCountQuery, selection: EntitySelection): Promise<number> {
    const resolved = { selection, sort: undefined, search: undefined }
    const places = await this.inColumns(query, resolved, { limit: 0, offset: 0 })
    return places?.total ?? (await this.candidates(query, resolved)).matching.length
  }

  async page(
    query: EntityDataQuery,
    resolved: ResolvedQuery,
    { limit, offset }: Bounds,
  ): Promise<{ readonly total: number; readonly rows: readonly SelectedEntity[] }> {
    const found = await this.inColumns(query, resolved, { limit, offset })
    if (found === undefined) {
      const { matching, isLong } = await this.candidates(query, resolved)
      const page = matching.slice(offset, offset + limit)
      const ids = page.map(({ id }) => id)
      return {
        total: matching.length,
        rows: isLong ? await this.parts.entities.queries.fieldsOf(resolved.selection, ids, query.fields) : page,
      }
    }
    const { total, ids, isSorted } = found
    if (isSorted)
      return { total, rows: await this.parts.entities.queries.fieldsOf(resolved.selection, ids, query.fields) }
    return { total, rows: await this.sortedPage(resolved, found, { limit, offset }, query.fields) }
  }

  /** Of these, in the order that the entity store has. */
  private async sortedPage(
    { selection, sort }: ResolvedQuery,
    { ids, candidates }: Pick<ColumnMatches, 'ids' | 'candidates'>,
    bounds: Bounds,
    fields: readonly string[],
  ): Promise<readonly SelectedEntity[]> {
    const { limit, offset } = bounds
    if (limit === 0 || ids.length <= offset) return []
    if (!this.parts.entities.queries.sortsById(ids.length, candidates)) {
      const kept = { ...selection, filters: partsOf(selection).inStore }
      const wanted = new Set(ids)
      const all = await this.parts.entities.queries.ids(kept, sort ?? BY_ID, MAX_CANDIDATES + 1)
      const page = all.filter((id) => wanted.has(id)).slice(offset, offset + limit)
      return this.parts.entities.queries.fieldsOf(selection, page, fields)
    }
    const sources = selection.sources.map((source) => ({ ...source, ids }))
    return this.parts.entities.queries.find({ ...selection, sources, filters: [] }, { sort, ...bounds }, fields)
  }

  /** How many match, and the ids of a page of them; undefined where columns of latest values do not tell. */
  private async inColumns(
    query: Asked,
    { selection, sort, search }: ResolvedQuery,
    { limit, offset }: Bounds,
  ): Promise<ColumnMatches | undefined> {
    const { entities, timeSeries } = this.parts
    const [source] = selection.sources
    const isOfOneType = selection.sources.length === 1 && source?.table.entityType !== 'ENTITY_VIEW'
    if (timeSeries.latestColumn === undefined || !isOfOneType || search?.includes('%') === true) return undefined
    const { inStore, here } = partsOf(selection)
    const ofLatest = here.filter(({ key }) => isLatest(key))
    const others = here.filter(({ key }) => !isLatest(key))
    const order = sort !== undefined && isLatest(sort.key) ? sort : undefined
    const kept = { ...selection, filters: inStore }
    // Where no index has the order, those that match are sorted alone.
    const isSorted = order !== undefined || search !== undefined || (sort !== undefined && isInOrder(sort))
    const shown = search === undefined ? [] : (query.latest ?? []).filter(isLatest)
    const most = search === undefined || shown.length === 0 ? MAX_CANDIDATES : mostSearched(search)
    const inOrderOf = order === undefined && isSorted ? (sort ?? BY_ID) : undefined
    const { ids, searched } = await this.columnCandidates({ selection: kept, sort: inOrderOf, search }, query, most + 1)
    if (ids.length > most) throw QueryErrors.TOO_MANY({ limit: most })
    const keys = [...ofLatest.map(({ key }) => key), ...(order === undefined ? [] : [order.key]), ...shown]
    const columns = new Map<string, LatestColumn>()
    for (const { key } of keys) if (!columns.has(key)) columns.set(key, await timeSeries.latestColumn(ids, key))
    let places = matchingPlaces(ids.length, ofLatest, selection.operation, columns)
    if (others.length > 0) {
      // Any of them is enough: those that the entity store finds belong to it too.
      const found = new Set(await entities.queries.ids({ ...kept, filters: others }, undefined, MAX_CANDIDATES + 1))
      const matching = new Set(places)
      places = [...ids.keys()].filter((place) => matching.has(place) || found.has(ids[place] ?? ''))
    }
    if (searched !== undefined && search !== undefined) {
      const shownColumns = shown.flatMap(({ key }) => columns.get(key) ?? [])
      places = await this.searchedPlaces(query, selection, { text: search, searched, places, columns: shownColumns })
    }
    const matches = { total: places.length, isSorted, candidates: ids.length }
    if (!isSorted) return { ...matches, ids: places.map((place) => ids[place] ?? '') }
    const page = order === undefined ? places : firstPlaces(places, ids, order, columns, offset + limit)
    return { ...matches, ids: page.slice(offset, offset + limit).map((place) => ids[place] ?? '') }
  }

  private async columnCandidates(
    { selection, sort, search }: ResolvedQuery,
    { fields = [], latest = [] }: Asked,
    limit: number,
  ): Promise<Candidates> {
    const { queries } = this.parts.entities
    if (search === undefined) return { ids: await queries.ids(selection, sort, limit), searched: undefined }
    const attributes = latest.filter(({ type }) => type in ATTRIBUTE_KEY_SCOPES)
    const wanted = { text: search, fields, attributes, tails: latest.some(isLatest) }
    const searched = await queries.searched(selection, sort, limit, wanted)
    return { ids: searched.map(({ id }) => id), searched }
  }

  /** Those of the places that hold the text. */
  private async searchedPlaces(
    query: Asked,
    selection: EntitySelection,
    { text, searched, places, columns }: ColumnSearch,
  ): Promise<readonly number[]> {
    const folded = text.toLowerCase()
    const unsure = new Set<number>()
    const found = places.filter((place) => {
      const { holds = false, tail = '' } = searched[place] ?? {}
      if (holds === 'unsure' || columns.some((column) => isRounded(column, place))) unsure.add(place)
      else if (holds || columns.length === 0) return holds
      let joined = tail
      for (const column of columns) {
        const value = valueAt(column, place)
        if (value !== undefined) joined += valueText(value)
      }
      return joined.toLowerCase().includes(folded)
    })
    if (unsure.size === 0) return found
    const ids = [...unsure].map((place) => searched[place]?.id ?? '')
    const { fields = [], latest = [] } = query
    const sure = new Set<string>()
    await inPieces(
      ids,
      (some) => this.textBytes(selection, some, fields, latest),
      async (some) => {
        const rows = await this.parts.entities.queries.fieldsOf(selection, some, fields)
        const values = await readCandidateValues(this.parts, rows, latest)
        for (const row of rows) if (holdsText(row, text, fields, latest, values)) sure.add(row.id)
      },
    )
    const matching = new Set(found)
    return places.filter((place) => (unsure.has(place) ? sure.has(searched[place]?.id ?? '') : matching.has(place)))
  }

  /** All that match, in order; without their fields where those are long. Values are read for some at a time. */
  private async candidates(
    query: Asked,
    { selection, sort, search }: ResolvedQuery,
  ): Promise<{ readonly matching: readonly SelectedEntity[]; readonly isLong: boolean }> {
    const { fields: shown = [], latest = [] } = query
    const { inStore, here } = partsOf(selection)
    const fields = [...shown, ...here.filter(({ key }) => key.type === 'ENTITY_FIELD').map(({ key }) => key.key)]
    const isSortedHere = sort !== undefined && isLatest(sort.key)
    // Every other field is short.
    const isLong = fields.includes(LONG_FIELD)
    const found = await this.parts.entities.queries.find(
      { ...selection, filters: inStore },
      { sort: isSortedHere ? undefined : sort, limit: MAX_CANDIDATES + 1, offset: 0 },
      isLong ? [] : fields,
    )
    if (found.length > MAX_CANDIDATES) throw QueryErrors.TOO_MANY({ limit: MAX_CANDIDATES })
    const keys = [
      ...here.map(({ key }) => key),
      ...(isSortedHere ? [sort.key] : []),
      ...(search === undefined ? [] : latest),
    ]
    const matching: SelectedEntity[] = []
    const places: SortPlace[] = []
    let sortedBytes = 0
    const ids = found.map(({ id }) => id)
    await inPieces(
      ids,
      (some) => this.textBytes(selection, some, fields, keys),
      async (some, start) => {
        const held = found.slice(start, start + some.length)
        const rows = isLong ? await this.parts.entities.queries.fieldsOf(selection, some, fields) : held
        const values = await readCandidateValues(this.parts, rows, keys)
        for (const row of rows) {
          if (here.length > 0 && !matchesAll(row, here, selection.operation, fields, values)) continue
          if (search !== undefined && !holdsText(row, search, shown, latest, values)) continue
          const kept = isLong ? { ...row, fields: [] } : row
          if (!isSortedHere) {
            matching.push(kept)
            continue
          }
          const place = sortPlace(kept, sort, values)
          sortedBytes += 2 * place.text.length
          if (sortedBytes > MAX_SORTED_BYTES) throw QueryErrors.SORTED_TEXTS({ limit: MAX_SORTED_BYTES })
          places.push(place)
        }
      },
    )
    return { matching: isSortedHere ? sorted(places, sort) : matching, isLong }
  }

  /** What the texts of these entities take. A store that has columns bounds what it answers itself. */
  private async textBytes(
    { sources }: EntitySelection,
    ids: readonly string[],
    fields: readonly string[],
    keys: readonly EntityKey[],
  ): Promise<number> {
    const { entities, timeSeries } = this.parts
    let bytes = fields.includes(LONG_FIELD) ? await entities.queries.fieldTextBytes(sources, ids, LONG_FIELD) : 0
    for (const { type, key } of keys) {
      if (type in ATTRIBUTE_KEY_SCOPES) bytes += await entities.queries.attributeTextBytes(ids, key)
      else if (type === 'TIME_SERIES') bytes += (await timeSeries.latestTextBytes?.(ids, key)) ?? 0
    }
    return bytes
  }
}

/** As many as the ends of what they hold have room, but for short texts all that may be looked at. */
function mostSearched(text: string): number {
  return Math.max(1, Math.min(MAX_CANDIDATES, Math.floor(MAX_TAIL_BYTES / (BYTES_OF_LETTER * text.length))))
}

interface ColumnSearch {
  readonly text: string
  readonly searched: readonly SearchedEntity[]
  readonly places: readonly number[]
  /** Of the keys that are shown. */
  readonly columns: readonly LatestColumn[]
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

/** As the store's search. Latest telemetry is joined last. */
function holdsText(
  row: SelectedEntity,
  search: string,
  fields: readonly string[],
  latest: readonly EntityKey[],
  values: EntityValues,
): boolean {
  const texts = fields.map((_, place) => String(row.fields[place] ?? ''))
  for (const key of [...latest.filter((each) => !isLatest(each)), ...latest.filter(isLatest)]) {
    const value = values.of(row.id, key)
    if (value !== undefined) texts.push(valueText(value))
  }
  return containsText(texts.join(''), search)
}

interface SortPlace {
  readonly row: SelectedEntity
  readonly number: number | null
  readonly text: string
}

function sortPlace(row: SelectedEntity, { key }: EntitySort, values: EntityValues): SortPlace {
  const value = values.of(row.id, key)
  const compared = value && comparedValue(value)
  const flag = compared?.flag === undefined || compared.flag === null ? null : Number(compared.flag)
  const text = compared?.text ?? (value?.type === 'JSON' ? value.value : '')
  return { row, number: compared?.number ?? flag, text }
}

/** Numbers before texts; what is not there comes last ascending by number, first ascending by text, as the reference has it. */
function sorted(places: readonly SortPlace[], { direction }: EntitySort): readonly SelectedEntity[] {
  const sign = direction === 'DESC' ? -1 : 1
  const ordered = places.toSorted((a, b) => {
    if (a.number !== b.number) {
      if (a.number === null) return sign
      if (b.number === null) return -sign
      return a.number < b.number ? -sign : sign
    }
    if (a.text !== b.text) return a.text < b.text ? -sign : sign
    return a.row.id < b.row.id ? -sign : sign
  })
  return ordered.map(({ row }) => row)
}
