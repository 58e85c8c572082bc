/** Entity queries: counts, pages, and the attributes of what was found. Read beside the commits, as they may look at many rows. */
import { sql, type Selectable } from 'kysely'
import type { KeyFilter } from '../../../model/entity-query.ts'
import { isEntityType, type EntityType } from '../../../model/entity-id.ts'
import { scopeOf, typedValue } from '../attribute-columns.ts'
import type { ScopedAttribute } from '../attributes.ts'
import type { EntityDatabase } from '../database.ts'
import type { AttributeTable } from '../schema.ts'
import type { EntityOrder, EntitySelection, SelectedEntity } from './query.ts'
import { isIndexed, matching, SelectionSql } from './selection-sql.ts'

export interface OwnedAttribute extends Pick<ScopedAttribute, 'scope'> {
  readonly entityId: string
  readonly attribute: ScopedAttribute
}

/** Attributes by which entities are looked up one by one; with more it is quicker to look at all entities. */
const MOST_DRIVEN = 20_000
/** Ids of one read of attributes. */
const IDS_PER_READ = 1_000

export class EntityQueryRepository {
  private readonly database: EntityDatabase

  constructor(database: EntityDatabase) {
    this.database = database
  }

  async count(selection: EntitySelection): Promise<number> {
    if (selection.sources.length === 0) return 0
    const built = new SelectionSql(this.database, await this.driven(selection))
    const where = built.where()
    const query = sql<{ total: number }>`select count(*) as total from ${built.from()}${where}`
    const [row] = await this.database.scan(query.compile(this.database.builder))
    return Number(row?.total ?? 0)
  }

  /** With these fields of each; '' and null are the same to callers. */
  async find(
    selection: EntitySelection,
    { sort, limit, offset }: EntityOrder,
    fields: readonly string[],
  ): Promise<readonly SelectedEntity[]> {
    if (selection.sources.length === 0) return []
    const built = new SelectionSql(this.database, await this.driven(selection))
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
   * PostgreSQL knows how many rows a condition finds and chooses by it. SQLite does not: of the filters that an index answers it is given the one
   * that matches least, where that is few in all tenants together.
   */
  private async driven(selection: EntitySelection): Promise<EntitySelection> {
    const { filters, operation } = selection
    if (this.database.isShared || (operation === 'OR' && filters.length > 1)) return selection
    let least = MOST_DRIVEN + 1
    let driver: KeyFilter | undefined
    for (const filter of filters.filter(isIndexed)) {
      const query = sql<{ total: number }>`select count(*) as total from (select 1 ${matching(filter)} limit ${least})`
      const [row] = await this.database.scan(query.compile(this.database.builder))
      const total = Number(row?.total ?? 0)
      if (total < least) [least, driver] = [total, filter]
    }
    return driver === undefined ? selection : { ...selection, driver }
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
