/**
 * Pages of rows, read beside the commits: a search looks at every row. Checks the query (`rest-api.md` 2.4, 3.2), filters by text, sorts by one of the allowed properties with
 * the id as tie-breaker, and counts.
 */
import { sql, type CompiledQuery, type RawBuilder, type SelectQueryBuilder } from 'kysely'
import type { Page, PageQuery } from '../../model/entities.ts'
import type { EntityDatabase } from './database.ts'
import { EntityStoreErrors } from './errors.ts'

/** A sort property of the API to the column it means, with its table: `device.name`. */
export type SortColumns = Readonly<Record<string, string>>

export interface PageShape {
  readonly idColumn: string
  readonly sort: SortColumns
  /** Columns in which the text search looks. */
  readonly search: readonly string[]
}

export function checkPageQuery(query: PageQuery): void {
  if (!Number.isSafeInteger(query.pageSize) || query.pageSize < 1)
    throw EntityStoreErrors.PAGE_SIZE({ pageSize: query.pageSize })
  if (!Number.isSafeInteger(query.page) || query.page < 0) throw EntityStoreErrors.PAGE_NUMBER({ page: query.page })
}

/** Throws `PAGE_SIZE`, `PAGE_NUMBER`, `SORT_PROPERTY`. */
export async function readPage<Joined, Tables extends keyof Joined, Row, Item>(
  database: EntityDatabase,
  filtered: SelectQueryBuilder<Joined, Tables, Row>,
  shape: PageShape,
  query: PageQuery,
  itemOf: (row: Row) => Item,
): Promise<Page<Item>> {
  checkPageQuery(query)
  const matching = withTextSearch(filtered, shape, query.textSearch, sql.raw(database.foldFunction))
  const counting = matching.clearSelect().select(sql<number>`count(*)`.as('total'))
  const sortColumn = sortColumnOf(shape, query.sortProperty)
  let rows = matching
  // Written out, as databases differ: what is absent comes where the reference has it.
  if (sortColumn !== undefined) {
    rows = rows.orderBy(sql.ref(sortColumn), (order) =>
      query.sortOrder === 'DESC' ? order.desc().nullsFirst() : order.asc().nullsLast(),
    )
  }
  rows = rows.orderBy(sql.ref(shape.idColumn), 'asc').limit(query.pageSize)
  if (query.page > 0) rows = rows.offset(query.page * query.pageSize)
  const page = await readCounted(database, query, counting.$castTo<{ total: number }>().compile(), rows.compile())
  return { ...page, data: page.data.map(itemOf) }
}

/**
 * The rows of a page, with how many there are in all. A server does both at once; the one thread that reads SQLite counts only where the page
 * does not tell: one that is not full is the last.
 */
export async function readCounted<Row>(
  database: EntityDatabase,
  query: Bounds,
  counting: CompiledQuery<{ total: number }>,
  rows: CompiledQuery<Row>,
): Promise<Page<Row>> {
  const count = async () => Number((await database.scan(counting))[0]?.total ?? 0)
  if (database.isShared) {
    const [total, found] = await Promise.all([count(), database.scan(rows)])
    return pageOf(query, { total, rows: found })
  }
  const found = await database.scan(rows)
  const isLast = found.length < query.pageSize && (found.length > 0 || query.page === 0)
  return pageOf(query, { total: isLast ? query.page * query.pageSize + found.length : await count(), rows: found })
}

type Bounds = Pick<PageQuery, 'page' | 'pageSize'>

export function pageOf<Found>(
  { page, pageSize }: Bounds,
  { total, rows }: { readonly total: number; readonly rows: readonly Found[] },
): Page<Found> {
  const totalPages = Math.ceil(total / pageSize)
  return { data: rows, totalPages, totalElements: total, hasNext: page + 1 < totalPages }
}

function sortColumnOf(shape: PageShape, property: string | undefined): string | undefined {
  if (property === undefined || property === '') return undefined
  if (property === 'id') return shape.idColumn
  const column = Object.hasOwn(shape.sort, property) ? shape.sort[property] : undefined
  if (column === undefined) throw EntityStoreErrors.SORT_PROPERTY({ property })
  return column
}

function withTextSearch<Joined, Tables extends keyof Joined, Row>(
  query: SelectQueryBuilder<Joined, Tables, Row>,
  shape: PageShape,
  text: string | undefined,
  fold: RawBuilder<unknown>,
): SelectQueryBuilder<Joined, Tables, Row> {
  if (text === undefined || text.trim() === '') return query
  const pattern = `%${text.replace(/[\\%_]/g, (special) => `\\${special}`)}%`
  const matches = shape.search.map(
    (column) => sql<boolean>`${fold}(${sql.ref(column)}) like ${fold}(${pattern}) escape '\\'`,
  )
  return query.where(sql<boolean>`(${sql.join(matches, sql` or `)})`)
}
