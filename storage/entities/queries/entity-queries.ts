/** Entity queries: counts, pages, and the attributes of what was found. Read beside the commits, as they may look at many rows. */
import { sql, type Selectable } from 'kysely'
import { isEntityType, type EntityType } from '../../../model/entity-id.ts'
import { scopeOf, typedValue } from '../attribute-columns.ts'
import type { ScopedAttribute } from '../attributes.ts'
import { isAttributeType, type EntityKey, type EntitySort, type KeyFilter } from '../../../model/entity-query.ts'
import type { EntityDatabase } from '../database.ts'
import type { AttributeTable } from '../schema.ts'
import type { EntityOrder, EntitySelection, SelectedEntity } from './query.ts'
import { indexStretches } from './attribute-index.ts'
import { ownerCounts, ownersOfPage, tenantOfOwners, type OwnerCount } from './owner-pages.ts'
import { QueryPlans } from './plans.ts'
import { containsSql, type Sql } from './predicates-sql.ts'
import { SelectionSql, UNSURE } from './selection-sql.ts'

export interface OwnedAttribute extends Pick<ScopedAttribute, 'scope'> {
  readonly entityId: string
  readonly attribute: ScopedAttribute
}

const UUID_LENGTH = 36
const ID: EntityKey = { type: 'ENTITY_FIELD', key: 'id' }
/** Ids of one read of attributes. */
const IDS_PER_READ = 1_000
/** So many rows of SQLite come as one text: as rows they would cost three times as much (`benchmarks/entity-query`). */
const MANY_ROWS = 1_000

/** In PostgreSQL: it sorts all entities on several processors, and looks ids up one by one. */
const MAX_SORTED_BY_ID = 0.1

export interface TextSearch {
  readonly text: string
  readonly fields: readonly string[]
  readonly attributes: readonly EntityKey[]
  readonly tails: boolean
}

export interface SearchedEntity {
  readonly id: string
  /** Unsure where an attribute is a number that SQL writes otherwise. */
  readonly holds: boolean | 'unsure'
  readonly tail: string
}

interface FoundRows {
  /** Without those that went after they were found. */
  readonly rows: readonly SelectedEntity[]
  readonly found: number
}

export class EntityQueryRepository {
  private readonly database: EntityDatabase
  private readonly plans: QueryPlans

  constructor(database: EntityDatabase) {
    this.database = database
    this.plans = new QueryPlans(database)
  }

  async count(selection: EntitySelection): Promise<number> {
    if (selection.sources.length === 0) return 0
    return this.countOf((await this.plans.of(selection)).counted)
  }

  /** With these fields of each; '' and null are the same to callers. */
  async find(
    selection: EntitySelection,
    order: EntityOrder,
    fields: readonly string[],
  ): Promise<readonly SelectedEntity[]> {
    if (selection.sources.length === 0) return []
    const { found, walk } = await this.plans.of(selection, order)
    return (await this.rowsOf(found, order, fields, walk)).rows
  }

  /**
   * The ids alone, in this order, or in the one that is read fastest. Of sources of one type. They come as one text: as rows they would cost ten times as much
   * (`benchmarks/entity-query`).
   */
  async ids(selection: EntitySelection, sort: EntitySort | undefined, limit: number): Promise<readonly string[]> {
    if (selection.sources.length === 0) return []
    const { counted, found } = await this.plans.of(selection, { sort, limit, offset: 0 })
    // Where no order is wanted, ids are read as they are counted.
    return this.idsOf(sort === undefined ? counted : found, { sort, limit, offset: 0 })
  }

  private async idsOf(selection: EntitySelection, { sort, limit, offset }: EntityOrder): Promise<readonly string[]> {
    const built = new SelectionSql(this.database, selection)
    const where = built.where()
    const order = sort === undefined ? undefined : built.order(sort)
    const looked = sort === undefined ? selection.filters.map(({ key }) => key.type) : [sort.key.type]
    const isByAttributes = looked.some(isAttributeType)
    const by =
      order !== undefined ? sql` order by ${order.by}` : isByAttributes ? sql`` : this.fastOrder(built, selection)
    const from = isByAttributes ? built.fromInAnyOrder() : built.from()
    const rows = sql`select e.id as id from ${from}${order?.join ?? sql``}${where}${by}${boundsSql(limit, offset)}`
    const joined = this.database.isShared ? sql`string_agg(id, '')` : sql`group_concat(id, '')`
    const query = sql<{ ids: string | null }>`select ${joined} as ids from (${rows}) as found`
    const [row] = await this.database.scan(query.compile(this.database.builder))
    const text = row?.ids ?? ''
    return Array.from({ length: text.length / UUID_LENGTH }, (_, place) =>
      text.slice(place * UUID_LENGTH, (place + 1) * UUID_LENGTH),
    )
  }

  /** Whether so many of the entities, by their ids, are sorted sooner than all of them. */
  sortsById(ids: number, entities: number): boolean {
    return !this.database.isShared || ids <= entities * MAX_SORTED_BY_ID
  }

  /**
   * SQLite has them by id else. By age they are as their latest values came into memory, where those by id are looked up half as fast;
   * PostgreSQL reads its table as it was written. With filters on attributes the order of these, by id,
   * saves more.
   */
  private fastOrder(built: SelectionSql, { driver }: EntitySelection): Sql {
    return this.database.isShared || driver !== undefined ? sql`` : sql` order by ${built.field('createdTime')}`
  }

  /**
   * Looks for the text in fields and attributes, joined. With `tails`, all come, each with the end of what it was looked for in: what the
   * caller joins to it may go on there. The text has no `%`.
   */
  async searched(
    selection: EntitySelection,
    sort: EntitySort | undefined,
    limit: number,
    { text, fields, attributes, tails }: TextSearch,
  ): Promise<readonly SearchedEntity[]> {
    if (selection.sources.length === 0) return []
    const { found } = await this.plans.of(selection, { sort, limit, offset: 0 })
    const built = new SelectionSql(this.database, found)
    const joined = built.joinedText(fields, attributes)
    const where = built.where()
    const order = built.order(sort)
    const inner = sql`select e.id as id, ${joined.text} as whole from ${built.from()}${joined.join}${order.join}${where} order by ${order.by}`
    const { isShared } = this.database
    // An escaped letter is six.
    const length = sql.lit(text.length * (isShared ? 6 : 1))
    const tail = !tails ? sql`''` : isShared ? sql`right(whole, ${length})` : sql`substr(whole, -${length})`
    const isUnsure = sql`${sql.raw(isShared ? 'strpos' : 'instr')}(whole, ${sql.lit(UNSURE)}) > 0`
    const holds = sql`case when ${isUnsure} then 2 when ${containsSql(this.database, sql.ref('whole'), text)} then 1 else 0 end`
    const looked = tails ? sql`${inner} limit ${limit}` : inner
    // Made once: SQLite would join the texts anew for each use.
    const all = sql`with looked as materialized (${looked}) select id, ${holds} as holds, ${tail} as tail from looked`
    const kept = tails ? all : sql`select * from (${all}) as matching where holds > 0`
    const rows = await this.rows(sql`${kept} limit ${limit}`, ['id', 'holds', 'tail'], limit)
    return rows.map(([id, held, end]) => ({
      id: String(id),
      holds: held === 2 ? 'unsure' : held === 1,
      tail: String(end ?? ''),
    }))
  }

  /** The same, with how many there are in all. */
  async page(
    selection: EntitySelection,
    order: EntityOrder,
    fields: readonly string[],
  ): Promise<{ readonly total: number; readonly rows: readonly SelectedEntity[] }> {
    if (selection.sources.length === 0) return { total: 0, rows: [] }
    const ownersTenant = tenantOfOwners(selection, order.sort)
    if (ownersTenant !== undefined && (await this.plans.hasFewOwners(ownersTenant)))
      return this.pageByOwner(selection, ownersTenant, order, fields)
    const { counted, found, matches, walk } = await this.plans.of(selection, order)
    if (this.database.isShared && matches > order.offset + order.limit) {
      // More pages follow: the total is not known by this one. A server does both at once.
      const [{ rows }, total] = await Promise.all([this.rowsOf(found, order, fields, walk), this.countOf(counted)])
      return { total, rows }
    }
    const { rows, found: seen } = await this.rowsOf(found, order, fields, walk)
    const isLast = seen < order.limit && (seen > 0 || order.offset === 0)
    return { total: isLast ? order.offset + seen : await this.countOf(counted), rows }
  }

  private async pageByOwner(
    selection: EntitySelection,
    tenantId: string,
    order: EntityOrder,
    fields: readonly string[],
  ): Promise<{ readonly total: number; readonly rows: readonly SelectedEntity[] }> {
    const direction = order.sort?.direction ?? 'ASC'
    const { counted, found } = await this.plans.of(selection)
    // On SQLite what is counted is merged by id, and each owner would be looked up once more.
    const owned = this.database.isShared ? counted : found
    const query = sql<OwnerCount>`${ownerCounts(this.database, owned, tenantId, { direction })}`
    const counts = await this.database.scan(query.compile(this.database.builder))
    const total = counts.reduce((sum, { entities }) => sum + entities, 0)
    const { owners, skipped, haveOneName } = ownersOfPage(counts, order)
    if (owners.length === 0) return { total, rows: [] }
    const sources = selection.sources.map((source) => ({ ...source, owners }))
    // Of few owners there are few entities: to look at each is cheaper than at all that match.
    const driver = counted.driver?.way === 'probed' ? counted.driver : undefined
    const sort = haveOneName ? { key: ID, direction } : order.sort
    const { rows } = await this.rowsOf(
      { ...selection, sources, driver },
      { ...order, sort, offset: order.offset - skipped },
      fields,
    )
    return { total, rows }
  }

  private async countOf(selection: EntitySelection): Promise<number> {
    const built = new SelectionSql(this.database, selection)
    const where = built.where()
    return this.number(sql`select count(*) as total from ${built.fromInAnyOrder()}${where}`)
  }

  private async rowsOf(
    selection: EntitySelection,
    order: EntityOrder,
    fields: readonly string[],
    walk?: KeyFilter,
  ): Promise<FoundRows> {
    const { sort, limit } = order
    if (
      !this.database.isShared &&
      walk === undefined &&
      sort !== undefined &&
      isAttributeType(sort.key.type) &&
      limit > 0
    ) {
      const ids = await this.idsOf(selection, order)
      return { rows: await this.fieldsOf(selection, ids, fields), found: ids.length }
    }
    const query =
      walk === undefined ? this.sorted(selection, order, fields) : this.walked(selection, walk, order, fields)
    const names = ['id', 'entity_type', ...fields.map((_, place) => `v${place}`)]
    const found = await this.rows(query, names, order.limit)
    const rows = found.map(([id, entityType, ...values]) => ({
      id: String(id),
      entityType: typeOf(entityType),
      fields: fields.map((_, place) => values[place] ?? null),
    }))
    return { rows, found: rows.length }
  }

  /** In the order of the ids, without those that are gone. */
  async fieldsOf(
    { sources: all }: Pick<EntitySelection, 'sources'>,
    ids: readonly string[],
    fields: readonly string[],
  ): Promise<readonly SelectedEntity[]> {
    if (ids.length === 0) return []
    const sources = all.map((source) => ({ ...source, ids }))
    const bounds = { sort: undefined, limit: ids.length, offset: 0 }
    const { rows } = await this.rowsOf({ sources, filters: [], operation: 'AND' }, bounds, fields)
    const byId = new Map(rows.map((row) => [row.id, row]))
    return ids.flatMap((id) => byId.get(id) ?? [])
  }

  private sorted(selection: EntitySelection, { sort, limit, offset }: EntityOrder, fields: readonly string[]): Sql {
    const built = new SelectionSql(this.database, selection)
    const columns = fields.map((name, place) => sql`${built.field(name)} as ${sql.ref(`v${place}`)}`)
    const where = built.where()
    const order = built.order(sort)
    const selected = sql.join([sql`e.id as id`, sql`e.entity_type as entity_type`, ...columns])
    return sql`select ${selected} from ${built.from()}${order.join}${where} order by ${order.by}${boundsSql(limit, offset)}`
  }

  /** Of each stretch of the index as many as the page may show, in the index's order; together they are sorted once more. */
  private walked(
    selection: EntitySelection,
    filter: KeyFilter,
    { sort, limit, offset }: EntityOrder,
    fields: readonly string[],
  ): Sql {
    const isDescending = sort?.direction === 'DESC'
    const direction = sql.raw(isDescending ? 'desc' : 'asc')
    const stretches = indexStretches(filter).map((stretch, place) => {
      const built = new SelectionSql(this.database, selection, { filter, stretch })
      const columns = fields.map((name, number) => sql`${built.field(name)} as ${sql.ref(`v${number}`)}`)
      const number = sql`coalesce(e.double_value, e.long_value) as number`
      const selected = sql.join([sql`e.id as id`, sql`e.entity_type as entity_type`, ...columns, number])
      const where = built.where()
      const by = sql.join(['long_value', 'double_value', 'id'].map((name) => sql`${sql.ref(`e.${name}`)} ${direction}`))
      const first = sql`select ${selected} from ${built.from()}${where} order by ${by} limit ${offset + limit}`
      return sql`select * from (${first}) as ${sql.ref(`stretch${place}`)}`
    })
    const nulls = sql.raw(isDescending ? 'desc nulls first' : 'asc nulls last')
    return sql`select * from (${sql.join(stretches, sql` union all `)}) as walked
      order by number ${nulls}, id ${direction} limit ${limit} offset ${offset}`
  }

  /** The columns of a query, row by row: texts, and numbers that are safe integers. */
  private async rows(
    query: Sql,
    columns: readonly string[],
    most: number,
  ): Promise<readonly (readonly (string | number | null)[])[]> {
    if (this.database.isShared || most < MANY_ROWS) {
      const rows = sql<Record<string, string | number | null>>`${query}`
      const found = await this.database.scan(rows.compile(this.database.builder))
      return found.map((row) => columns.map((name) => row[name] ?? null))
    }
    const row = sql`json_array(${sql.join(columns.map((name) => sql.ref(name)))})`
    const joined = sql<{ found: string }>`select json_group_array(${row}) as found from (${query})`
    const [all] = await this.database.scan(joined.compile(this.database.builder))
    return JSON.parse(all?.found ?? '[]') as (string | number | null)[][]
  }

  private async number(counting: Sql): Promise<number> {
    const query = sql<{ total: number }>`${counting}`
    const [row] = await this.database.scan(query.compile(this.database.builder))
    return Number(row?.total ?? 0)
  }

  /** Of these entities, only these keys: in every scope. */
  async attributes(ids: readonly string[], keys: readonly string[]): Promise<readonly OwnedAttribute[]> {
    const found: OwnedAttribute[] = []
    if (keys.length === 0) return found
    for (let start = 0; start < ids.length; start += IDS_PER_READ) {
      const some = ids.slice(start, start + IDS_PER_READ)
      if (!this.database.isShared && ids.length >= MANY_ROWS) {
        for (const attribute of await this.attributesAsText(some, keys)) found.push(attribute)
        continue
      }
      const query = this.database.builder
        .selectFrom('attribute')
        .selectAll()
        .where('entity_id', 'in', some)
        .where('key', 'in', keys)
      for (const row of await this.database.scan(query.compile())) found.push(ownedAttribute(row))
    }
    return found
  }

  /** What the texts among {@link attributes} take, UTF-8. */
  async attributeTextBytes(ids: readonly string[], key: string): Promise<number> {
    let bytes = 0
    for (let start = 0; start < ids.length; start += IDS_PER_READ) {
      const some = sql.join(ids.slice(start, start + IDS_PER_READ).map((id) => sql`${id}`))
      bytes += await this.number(
        sql`select sum(octet_length(text_value)) as total from attribute where entity_id in (${some}) and key = ${key}`,
      )
    }
    return bytes
  }

  /** What a field takes that is a text, UTF-8; of these entities among the sources. */
  async fieldTextBytes(sources: EntitySelection['sources'], ids: readonly string[], field: string): Promise<number> {
    if (sources.length === 0 || ids.length === 0) return 0
    const ofIds = sources.map((source) => ({ ...source, ids }))
    const built = new SelectionSql(this.database, { sources: ofIds, filters: [], operation: 'AND' })
    const column = built.field(field)
    return this.number(sql`select sum(octet_length(${column})) as total from ${built.from()}`)
  }

  /** Of SQLite. Numbers are texts in it too, of which each digit counts. */
  private async attributesAsText(ids: readonly string[], keys: readonly string[]): Promise<readonly OwnedAttribute[]> {
    const double = sql`case when double_value is not null then printf('%!.17g', double_value) end`
    const row = sql`json_array(entity_id, scope, key, kind, cast(long_value as text), ${double}, text_value, last_update_ts)`
    const query = sql<{ found: string }>`select json_group_array(${row}) as found from attribute
      where entity_id in (select value from json_each(${JSON.stringify(ids)})) and key in (${sql.join(keys)})`
    const [all] = await this.database.scan(query.compile(this.database.builder))
    return (JSON.parse(all?.found ?? '[]') as AttributeText[]).map(
      ([entity_id, scope, key, kind, long, double, text_value, last_update_ts]) => {
        const long_value = long === null ? null : wholeNumber(long)
        const double_value = double === null ? null : Number(double)
        return ownedAttribute({ entity_id, scope, key, kind, long_value, double_value, text_value, last_update_ts })
      },
    )
  }

  /** All of these entities. */
  async attributesOf(ids: readonly string[]): Promise<readonly OwnedAttribute[]> {
    if (ids.length === 0) return []
    const query = this.database.builder.selectFrom('attribute').selectAll().where('entity_id', 'in', ids)
    return (await this.database.scan(query.compile())).map(ownedAttribute)
  }
}

function boundsSql(limit: number, offset: number): Sql {
  return offset === 0 ? sql` limit ${limit}` : sql` limit ${limit} offset ${offset}`
}

type AttributeRow = Pick<
  Selectable<AttributeTable>,
  'entity_id' | 'scope' | 'key' | 'kind' | 'long_value' | 'double_value' | 'text_value' | 'last_update_ts'
>
/** Its columns in this order. */
type AttributeText = [string, number, string, number, string | null, string | null, string | null, number]

function wholeNumber(text: string): number | bigint {
  const number = Number(text)
  return Number.isSafeInteger(number) ? number : BigInt(text)
}

function ownedAttribute(row: AttributeRow): OwnedAttribute {
  const scope = scopeOf(row.scope)
  const attribute = { key: row.key, ...typedValue(row), lastUpdateTs: Number(row.last_update_ts), scope }
  return { entityId: row.entity_id, scope, attribute }
}

function typeOf(value: unknown): EntityType {
  const text = String(value)
  if (!isEntityType(text)) throw new TypeError(`${text} is no entity type`)
  return text
}
