/** Entity queries: counts, pages, and the attributes of what was found. Read beside the commits, as they may look at many rows. */
import { sql, type Selectable } from 'kysely'
import { isEntityType, type EntityType } from '../../../model/entity-id.ts'
import { scopeOf, typedValue } from '../attribute-columns.ts'
import type { ScopedAttribute } from '../attributes.ts'
import type { EntitySort, KeyFilter } from '../../../model/entity-query.ts'
import type { EntityDatabase } from '../database.ts'
import type { AttributeTable } from '../schema.ts'
import type { EntityOrder, EntitySelection, SelectedEntity } from './query.ts'
import { isIndexed, matchingIds } from './attribute-index.ts'
import { Estimates } from './estimates.ts'
import type { Sql } from './predicates-sql.ts'
import { SelectionSql } from './selection-sql.ts'

export interface OwnedAttribute extends Pick<ScopedAttribute, 'scope'> {
  readonly entityId: string
  readonly attribute: ScopedAttribute
}

/** Of what a filter matches so many are counted before a way is chosen. */
const MOST_COUNTED = 200_000
/** So few are looked up without a look at how many entities there are. */
const FEW_MATCHES = 500
const UUID_LENGTH = 36
/** Ids of one read of attributes. */
const IDS_PER_READ = 1_000

/** By which filter entities are looked up, if by one. */
interface QueryPlan {
  readonly counted: EntitySelection
  readonly found: EntitySelection
}

export class EntityQueryRepository {
  private readonly database: EntityDatabase
  private readonly estimates = new Estimates()

  constructor(database: EntityDatabase) {
    this.database = database
  }

  async count(selection: EntitySelection): Promise<number> {
    if (selection.sources.length === 0) return 0
    return this.countOf((await this.planOf(selection)).counted)
  }

  /** With these fields of each; '' and null are the same to callers. */
  async find(
    selection: EntitySelection,
    order: EntityOrder,
    fields: readonly string[],
  ): Promise<readonly SelectedEntity[]> {
    if (selection.sources.length === 0) return []
    return this.rowsOf((await this.planOf(selection, order)).found, order, fields)
  }

  /**
   * The ids alone, in this order. Of sources of one type. They come as one text: as rows they would cost ten times as much
   * (`benchmarks/entity-query`).
   */
  async ids(selection: EntitySelection, sort: EntitySort | undefined, limit: number): Promise<readonly string[]> {
    if (selection.sources.length === 0) return []
    const { found } = await this.planOf(selection, { sort, limit, offset: 0 })
    const built = new SelectionSql(this.database, found)
    const where = built.where()
    const order = sort === undefined ? undefined : built.order(sort)
    const by = order === undefined ? sql`` : sql` order by ${order.by}`
    const rows = sql`select e.id as id from ${built.from()}${order?.join ?? sql``}${where}${by} limit ${limit}`
    const joined = this.database.isShared ? sql`string_agg(id, '')` : sql`group_concat(id, '')`
    const query = sql<{ ids: string | null }>`select ${joined} as ids from (${rows}) as found`
    const [row] = await this.database.scan(query.compile(this.database.builder))
    const text = row?.ids ?? ''
    return Array.from({ length: text.length / UUID_LENGTH }, (_, place) =>
      text.slice(place * UUID_LENGTH, (place + 1) * UUID_LENGTH),
    )
  }

  /** The same, with how many there are in all. */
  async page(
    selection: EntitySelection,
    order: EntityOrder,
    fields: readonly string[],
  ): Promise<{ readonly total: number; readonly rows: readonly SelectedEntity[] }> {
    if (selection.sources.length === 0) return { total: 0, rows: [] }
    const { counted, found } = await this.planOf(selection, order)
    const rows = await this.rowsOf(found, order, fields)
    const isLast = rows.length < order.limit && (rows.length > 0 || order.offset === 0)
    return { total: isLast ? order.offset + rows.length : await this.countOf(counted), rows }
  }

  private async countOf(selection: EntitySelection): Promise<number> {
    const built = new SelectionSql(this.database, selection)
    const where = built.where()
    return this.number(sql`select count(*) as total from ${built.from()}${where}`)
  }

  private async rowsOf(
    selection: EntitySelection,
    { sort, limit, offset }: EntityOrder,
    fields: readonly string[],
  ): Promise<readonly SelectedEntity[]> {
    const built = new SelectionSql(this.database, selection)
    const columns = fields.map((name, place) => sql`${built.field(name)} as ${sql.ref(`v${place}`)}`)
    const where = built.where()
    const order = built.order(sort)
    const bounds = offset === 0 ? sql` limit ${limit}` : sql` limit ${limit} offset ${offset}`
    const selected = sql.join([sql`e.id as id`, sql`e.entity_type as entity_type`, ...columns])
    const query = sql<Record<string, string | number | null>>`
      select ${selected} from ${built.from()}${order.join}${where} order by ${order.by}${bounds}`
    const rows = await this.database.scan(query.compile(this.database.builder))
    return rows.map((row) => ({
      id: String(row['id']),
      entityType: typeOf(row['entity_type']),
      fields: fields.map((_, place) => row[`v${place}`] ?? null),
    }))
  }

  /**
   * By the attributes that a filter matches, or by the entities in their order. PostgreSQL knows how many rows a condition finds: it may look
   * up by a filter, and chooses itself. SQLite does not, and is told. Measured by `benchmarks/entity-query`.
   */
  private async planOf(selection: EntitySelection, order?: EntityOrder): Promise<QueryPlan> {
    const { filters, operation, sources } = selection
    const usable = operation === 'OR' && filters.length > 1 ? [] : filters.filter(isIndexed)
    const [first] = usable
    if (first === undefined || sources.some(({ ids }) => ids !== undefined))
      return { counted: selection, found: selection }
    if (this.database.isShared) return { counted: { ...selection, driver: first }, found: selection }
    let matches = Infinity
    let driver = first
    for (const filter of usable) {
      const found = await this.estimates.of(JSON.stringify(filter), () => this.matchesOf(filter))
      if (found < matches) [matches, driver] = [found, filter]
    }
    const driven = { ...selection, driver }
    if (matches <= FEW_MATCHES) return { counted: driven, found: driven }
    const entities = await this.entitiesIn(selection)
    const counted = matches <= entities ? driven : selection
    const looked = ((order?.offset ?? 0) + (order?.limit ?? Infinity)) * (entities / matches)
    const isInOrder = order !== undefined && (order.sort === undefined || order.sort.key.type === 'ENTITY_FIELD')
    return { counted, found: isInOrder && looked < matches ? selection : counted }
  }

  /** How many the sources have in all, before their filters. */
  private async entitiesIn({ sources }: EntitySelection): Promise<number> {
    let total = 0
    for (const { table, tenantId } of sources) {
      const where = tenantId === undefined ? sql`` : sql` where ${sql.ref(table.tenantColumn)} = ${tenantId}`
      const rows = sql`select count(*) as total from ${sql.table(table.table)}${where}`
      total += await this.estimates.of(`${table.table} ${tenantId ?? ''}`, () => this.number(rows))
    }
    return total
  }

  private matchesOf(filter: KeyFilter): Promise<number> {
    return this.number(
      sql`select count(*) as total from (select 1 from (${matchingIds(filter)}) limit ${MOST_COUNTED})`,
    )
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
      const query = this.database.builder
        .selectFrom('attribute')
        .selectAll()
        .where('entity_id', 'in', ids.slice(start, start + IDS_PER_READ))
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

  /** All of these entities. */
  async attributesOf(ids: readonly string[]): Promise<readonly OwnedAttribute[]> {
    if (ids.length === 0) return []
    const query = this.database.builder.selectFrom('attribute').selectAll().where('entity_id', 'in', ids)
    return (await this.database.scan(query.compile())).map(ownedAttribute)
  }
}

function ownedAttribute(row: Selectable<AttributeTable>): OwnedAttribute {
  const scope = scopeOf(row.scope)
  const attribute = { key: row.key, ...typedValue(row), lastUpdateTs: Number(row.last_update_ts), scope }
  return { entityId: row.entity_id, scope, attribute }
}

function typeOf(value: unknown): EntityType {
  const text = String(value)
  if (!isEntityType(text)) throw new TypeError(`${text} is no entity type`)
  return text
}
