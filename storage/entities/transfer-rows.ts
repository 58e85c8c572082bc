/** Rows of any table as they lie there: for taking a tenant along, and bringing it in again. */
import { sql, type CompiledQuery, type RawBuilder } from 'kysely'
import { sqlValue, type EntityDatabase, type SqlValue, type Statement } from './database.ts'
import { EntityStoreErrors } from './errors.ts'
import type { Row } from './tables/entity-table.ts'

export interface TransferTable {
  readonly name: string
  /** What identifies a row. */
  readonly keys: readonly string[]
  /** The column by which a row is a tenant's: `tenant_id`, or one that names a row of one of the tables, which is the tenant's. */
  readonly owner: { readonly column: string; readonly of: readonly string[] }
}

export class TransferRowRepository {
  private readonly database: EntityDatabase

  constructor(database: EntityDatabase) {
    this.database = database
  }

  /** In the order of their keys, behind a row's. */
  async page(
    table: TransferTable,
    tenantId: string,
    after: readonly SqlValue[] | undefined,
    limit: number,
  ): Promise<readonly Row[]> {
    const keys = sql.join(table.keys.map((key) => sql.ref(key)))
    const behind = after === undefined ? sql`` : sql` and (${keys}) > (${sql.join(after)})`
    const query = sql<Row>`select * from ${sql.table(table.name)} where ${owned(table, tenantId)}${behind}
      order by ${keys} limit ${limit}`
    return this.rows(query)
  }

  /** In their order, behind one. */
  async ids(table: TransferTable, tenantId: string, after: string, limit: number): Promise<readonly string[]> {
    const query = sql<Row>`select id from ${sql.table(table.name)} where ${owned(table, tenantId)} and id > ${after}
      order by id limit ${limit}`
    return (await this.rows(query)).map(({ id }) => String(id))
  }

  async count(table: TransferTable, tenantId: string): Promise<number> {
    const [row] = await this.rows(
      sql<Row>`select count(*) as total from ${sql.table(table.name)} where ${owned(table, tenantId)}`,
    )
    return Number(row?.['total'] ?? 0)
  }

  /** The row that has these values, whoever has it; null values are equal to none. */
  async find(table: string, values: Row): Promise<Row | undefined> {
    const [row] = await this.rows(sql<Row>`select * from ${sql.table(table)} where ${matches(values)} limit 1`)
    return row
  }

  /** Rows of a table that have these values, in the order of their keys. */
  async findAll(table: TransferTable, values: Row): Promise<readonly Row[]> {
    const keys = sql.join(table.keys.map((key) => sql.ref(key)))
    return this.rows(sql<Row>`select * from ${sql.table(table.name)} where ${matches(values)} order by ${keys}`)
  }

  /** Whether a row is the tenant's. */
  async isOwned(table: TransferTable, row: Row, tenantId: string): Promise<boolean> {
    const where = sql`${matches(keysOf(table, row))} and ${owned(table, tenantId)}`
    return (await this.rows(sql<Row>`select * from ${sql.table(table.name)} where ${where} limit 1`)).length > 0
  }

  /** Whose the entity of that id is, in any of the tables; null is the system. */
  async ownersOf(tables: readonly string[], id: string): Promise<readonly SqlValue[]> {
    const each = tables.map((table) =>
      table === 'tenant'
        ? sql`select id as tenant_id from tenant where id = ${id}`
        : sql`select tenant_id from ${sql.table(table)} where id = ${id}`,
    )
    return (await this.rows(sql<Row>`${sql.join(each, sql` union all `)}`)).map((row) => row['tenant_id'] ?? null)
  }

  insert(table: TransferTable, row: Row): Statement {
    const names = sql.join(Object.keys(row).map((name) => sql.ref(name)))
    return this.statement(sql`insert into ${sql.table(table.name)} (${names}) values (${sql.join(Object.values(row))})`)
  }

  /** `as`: what it must still have. Throws `VERSION_CONFLICT` where it was changed to something else, or is gone. */
  update(table: TransferTable, row: Row, as: Row = {}): Statement {
    const changed = Object.keys(row).filter((name) => !table.keys.includes(name))
    const set = sql.join(changed.map((name) => sql`${sql.ref(name)} = ${row[name] ?? null}`))
    const where = matches({ ...keysOf(table, row), ...as })
    const statement = this.statement(sql`update ${sql.table(table.name)} set ${set} where ${where}`)
    const otherwise = () => EntityStoreErrors.VERSION_CONFLICT({ entity: `A row of ${table.name}` })
    return { ...statement, expect: { changes: 1, otherwise } }
  }

  deleteAll(table: string, values: Row): Statement {
    return this.statement(sql`delete from ${sql.table(table)} where ${matches(values)}`)
  }

  private async rows(query: RawBuilder<Row>): Promise<readonly Row[]> {
    const compiled: CompiledQuery<Row> = query.compile(this.database.builder)
    return (await this.database.read(compiled)).rows
  }

  private statement(query: RawBuilder<unknown>): Statement {
    const { sql: text, parameters } = query.compile(this.database.builder)
    return { sql: text, parameters: parameters.map(sqlValue) }
  }
}

export function keysOf({ keys }: Pick<TransferTable, 'keys'>, row: Row): Row {
  return Object.fromEntries(keys.map((key) => [key, row[key] ?? null]))
}

function matches(values: Row): RawBuilder<unknown> {
  return sql.join(
    Object.entries(values).map(([name, value]) => sql`${sql.ref(name)} = ${value}`),
    sql` and `,
  )
}

function owned({ owner }: TransferTable, tenantId: string): RawBuilder<unknown> {
  const column = sql.ref(owner.column)
  if (owner.of.length === 0) return sql`${column} = ${tenantId}`
  const owners = owner.of.map((table) =>
    table === 'tenant'
      ? sql`select id from tenant where id = ${tenantId}`
      : sql`select id from ${sql.table(table)} where tenant_id = ${tenantId}`,
  )
  return sql`${column} in (${sql.join(owners, sql` union all `)})`
}
