/**
 * Rows of one entity's table: reads by conditions, pages with joined names, and the statements of a change. What a row means is said by
 * the declaration (`services/entities`).
 */
import { CompiledQuery, sql, type RawBuilder } from 'kysely'
import type { Page, PageQuery } from '../../../model/entities.ts'
import type { EntityDatabase, SqlValue, Statement } from '../database.ts'
import { checkPageQuery, readCounted } from '../paging.ts'
import { allColumns, type EntityTable, type Row } from './entity-table.ts'
import { columnOf, columnsOf, RowSql, sortColumn, valueOf, type Condition, type Join, type RowPage } from './row-sql.ts'

export type { Among, Condition, Join, RowPage, Searched } from './row-sql.ts'

/** SQLite takes 32,766 parameters a statement; a list is cut into pieces of this many. */
const VALUES_PER_READ = 1_000

/** Of one table. */
const MAX_TEXTS = 200
const TEXTS = new WeakMap<EntityTable, Map<string, Map<string, string>>>()

/** Stores of one table are made again and again: they share these. Each database has words of its own. */
function textsOf({ foldFunction }: EntityDatabase, table: EntityTable): Map<string, string> {
  const ofTable = TEXTS.get(table) ?? new Map<string, Map<string, string>>()
  TEXTS.set(table, ofTable)
  const texts = ofTable.get(foldFunction) ?? new Map<string, string>()
  ofTable.set(foldFunction, texts)
  return texts
}

const ASKED = new WeakMap<EntityDatabase, Map<string, Promise<Row | undefined>>>()

/** Reads of this turn. */
function askedOf(database: EntityDatabase): Map<string, Promise<Row | undefined>> {
  const asked = ASKED.get(database) ?? new Map<string, Promise<Row | undefined>>()
  ASKED.set(database, asked)
  return asked
}

type Equality = Extract<Condition, { readonly is: SqlValue }>

function isEqual(condition: Condition): condition is Equality {
  return 'is' in condition
}

function isById([first, ...others]: readonly Condition[]): boolean {
  return first !== undefined && others.length === 0 && isEqual(first) && first.column === 'id'
}

function shapeOf(where: readonly Condition[]): string {
  return where
    .map((condition) => (isEqual(condition) ? `${condition.column}${condition.is === null ? ' null' : ''}` : '?'))
    .join(',')
}

export interface RowErrors {
  /** By the columns of the unique index, as `columns.join(', ')`. */
  readonly taken: Readonly<Record<string, () => Error>>
  /** Another change came between. */
  readonly overtaken: () => Error
}

export class RowStore {
  private readonly database: EntityDatabase
  private readonly table: EntityTable
  private readonly errors: RowErrors
  private readonly columns: readonly string[]
  private readonly parts: RowSql
  private readonly constraints: Readonly<Record<string, () => Error>>
  /** The text of queries that differ in their parameters alone: building one costs more than running it. */
  private readonly texts: Map<string, string>

  constructor(database: EntityDatabase, table: EntityTable, errors: RowErrors) {
    this.database = database
    this.table = table
    this.errors = errors
    this.columns = allColumns(table).map(({ name }) => name)
    this.constraints = Object.fromEntries(
      Object.entries(errors.taken).map(([columns, taken]) => [this.constraintName(columns), taken]),
    )
    this.parts = new RowSql(database, table, this.columns)
    this.texts = textsOf(database, table)
  }

  async find(where: readonly Condition[]): Promise<Row | undefined> {
    const query = () => this.compiled(sql`${this.selection([])} ${this.parts.filter(where)} limit 1`)
    const known = this.known(`find ${shapeOf(where)}`, where, query)
    const atOnce = isById(where) ? this.database.lookUp?.(known) : undefined
    return atOnce === undefined ? this.shared(known) : atOnce[0]
  }

  /** Many who ask for the same in one turn are answered by one read: nothing can be acknowledged between them. */
  private shared(query: CompiledQuery<Row>): Promise<Row | undefined> {
    const values = query.parameters.map((value) => `${typeof value} ${String(value).length} ${String(value)}`)
    const key = `${query.sql}\n${values.join('\n')}`
    const asked = askedOf(this.database)
    const known = asked.get(key)
    if (known !== undefined) return known
    const found = this.database.read(query).then(({ rows }) => rows[0])
    asked.set(key, found)
    queueMicrotask(() => asked.delete(key))
    return found
  }

  /** In the order of their ids. */
  async findAll(where: readonly Condition[], limit?: number): Promise<readonly Row[]> {
    const long = where.find((condition) => 'in' in condition && condition.in.length > VALUES_PER_READ)
    if (long !== undefined && 'in' in long) return this.findInPieces(where, long, limit)
    // Asked for in order, SQLite reads all rows of the tenant by their ids to find a few by their names.
    const end = limit === undefined ? sql`` : sql` order by ${this.parts.ref('id')}${sql.raw(` limit ${limit}`)}`
    const query = () => this.compiled(sql`${this.selection([])} ${this.parts.filter(where)}${end}`)
    const { rows } = await this.database.read(this.known(`all ${limit ?? ''} ${shapeOf(where)}`, where, query))
    return limit === undefined ? rows.toSorted(byId) : rows
  }

  /** Values of a column, each once, in their order; none of rows that have none. */
  async distinct(column: string, where: readonly Condition[]): Promise<readonly SqlValue[]> {
    const ref = this.parts.ref(column)
    const filter = this.parts.filter(where, sql`${ref} is not null`)
    const query = sql<{
      value: SqlValue
    }>`select distinct ${ref} as value from ${sql.table(this.table.name)} ${filter} order by value`
    const rows = await this.database.scan(query.compile(this.database.builder))
    return rows.map(({ value }) => value)
  }

  async count(where: readonly Condition[]): Promise<number> {
    const query = sql<{
      total: number
    }>`select count(*) as total from ${sql.table(this.table.name)} ${this.parts.filter(where)}`
    const { rows } = await this.database.read(query.compile(this.database.builder))
    return Number(rows[0]?.total ?? 0)
  }

  /** Read beside the commits: a search looks at every row. Throws `PAGE_SIZE`, `PAGE_NUMBER`, `SORT_PROPERTY`. */
  async page({ where, joins = [], sort, search, query, first = [] }: RowPage): Promise<Page<Row>> {
    checkPageQuery(query)
    const matching = this.parts.matching(search, query.textSearch)
    const filter = this.parts.filter(where, matching)
    const order = this.parts.order(sort, query, first)
    const looked = [...where.flatMap(columnsOf), ...(matching === undefined ? [] : search.map(columnOf))]
    const sorted = [...first.map(({ column }) => column), sortColumn(sort, query) ?? '']
    const from = (columns: readonly string[]) => {
      const needed = joins.filter(({ alias }) => columns.some((column) => column.startsWith(`${alias}.`)))
      return sql`from ${sql.table(this.table.name)} ${this.parts.joined(needed)} ${filter}`
    }
    const counting = sql<{ total: number }>`select count(*) as total ${from(looked)}`
    const offset = query.page === 0 ? sql`` : sql` offset ${query.page * query.pageSize}`
    // What is shown is looked up of the page alone (`benchmarks/entity-query`: a tenth of the time).
    const page = sql`select ${this.parts.ref('id')} as id ${from([...looked, ...sorted])} ${order} limit ${query.pageSize}${offset}`
    const rows = sql<Row>`select ${this.parts.selected(joins)} from (${page}) as found
      join ${sql.table(this.table.name)} on ${this.parts.ref('id')} = found.id ${this.parts.joined(joins)} ${order}`
    const { builder } = this.database
    return readCounted(this.database, query, counting.compile(builder), rows.compile(builder))
  }

  /** The different values of a text column, in their order; the search looks in them. Throws `PAGE_SIZE`, `PAGE_NUMBER`. */
  async pageOfValues(
    column: string,
    where: readonly Condition[],
    query: Omit<PageQuery, 'sortProperty'>,
  ): Promise<Page<string>> {
    checkPageQuery(query)
    const from = sql`from ${sql.table(this.table.name)} ${this.parts.filter(where, this.parts.matching([column], query.textSearch))}`
    const value = this.parts.ref(column)
    const counting = sql<{ total: number }>`select count(distinct ${value}) as total ${from}`
    const direction = query.sortOrder === 'DESC' ? sql`desc` : sql`asc`
    const values = sql<{ value: string }>`select ${value} as value ${from} group by ${value}
      order by ${value} ${direction} limit ${query.pageSize} offset ${query.page * query.pageSize}`
    const { builder } = this.database
    const page = await readCounted(this.database, query, counting.compile(builder), values.compile(builder))
    return { ...page, data: page.data.map((row) => row.value) }
  }

  insert(row: Row): Statement {
    const text = this.text('insert', () => {
      const names = sql.join(this.columns.map((name) => sql.ref(name)))
      const values = sql.join(this.columns.map((name) => valueOf(row, name)))
      return sql`insert into ${sql.table(this.table.name)} (${names}) values (${values})`
    })
    return { sql: text, parameters: this.columns.map((name) => valueOf(row, name)), constraints: this.constraints }
  }

  /**
   * Only while that row of another table is as it is said; the transaction is undone otherwise. Where processes share the table, who changes that
   * row waits for the commit, and sees the new one then.
   */
  insertWhile(row: Row, held: { readonly table: string; readonly where: Row }, otherwise: () => Error): Statement {
    const columns = Object.keys(held.where)
    const text = this.text(`insert while ${held.table} ${columns.join(',')}`, () => {
      const names = sql.join(this.columns.map((name) => sql.ref(name)))
      const values = sql.join(this.columns.map((name) => valueOf(row, name)))
      const equal = columns.map((name) => sql`${sql.ref(name)} = ${valueOf(held.where, name)}`)
      const lock = this.database.isShared ? sql` for share` : sql``
      const there = sql`select 1 from ${sql.table(held.table)} where ${sql.join(equal, sql` and `)}${lock}`
      return sql`insert into ${sql.table(this.table.name)} (${names}) select ${values} where exists (${there})`
    })
    const parameters = [
      ...this.columns.map((name) => valueOf(row, name)),
      ...columns.map((name) => valueOf(held.where, name)),
    ]
    return { sql: text, parameters, constraints: this.constraints, expect: { changes: 1, otherwise } }
  }

  /** All in one statement; a row that is there already stays. */
  insertAll(rows: readonly Row[]): Statement {
    const names = sql.join(this.columns.map((name) => sql.ref(name)))
    const [first] = rows
    const values = sql.join(this.columns.map((name) => valueOf(first ?? {}, name)))
    const query = sql`insert into ${sql.table(this.table.name)} (${names}) values (${values}) on conflict (id) do nothing`
    return {
      ...this.statement(query),
      parameters: [],
      parameterRows: rows.map((row) => this.columns.map((name) => valueOf(row, name))),
      bulk: allColumns(this.table).map(({ name, type }) => ({ name, type, isKey: name === 'id' })),
    }
  }

  /** Replaces the version before this one. */
  update(row: Row): Statement {
    const changed = this.columns.filter((name) => name !== 'id')
    const id = valueOf(row, 'id')
    const before = Number(valueOf(row, 'version')) - 1
    const text = this.text('update', () => {
      const set = sql.join(changed.map((name) => sql`${sql.ref(name)} = ${valueOf(row, name)}`))
      return sql`update ${sql.table(this.table.name)} set ${set} where id = ${id} and version = ${before}`
    })
    return {
      sql: text,
      parameters: [...changed.map((name) => valueOf(row, name)), id, before],
      constraints: this.constraints,
      expect: { changes: 1, otherwise: this.errors.overtaken },
    }
  }

  delete({ id, version }: { readonly id: string; readonly version: number }): Statement {
    const query = sql`delete from ${sql.table(this.table.name)} where id = ${id} and version = ${version}`
    return { ...this.statement(query), expect: { changes: 1, otherwise: this.errors.overtaken } }
  }

  /** Changes nothing: whoever changes the row waits for the end of the transaction, which is undone where the row is gone. */
  hold({ id }: { readonly id: string }, otherwise: () => Error): Statement {
    const query = sql`update ${sql.table(this.table.name)} set version = version where id = ${id}`
    return { ...this.statement(query), expect: { changes: 1, otherwise } }
  }

  /** Changes nothing; undoes the transaction where the column's sum over the tenant's rows is above the limit. */
  requireSum(
    row: { readonly id: string; readonly tenantId: string },
    column: string,
    limit: number,
    otherwise: () => Error,
  ): Statement {
    const table = sql.table(this.table.name)
    const sum = sql`(select coalesce(sum(${sql.ref(column)}), 0) from ${table} where tenant_id = ${row.tenantId})`
    const query = sql`update ${table} set version = version where id = ${row.id} and ${sum} <= ${limit}`
    return { ...this.statement(query), expect: { changes: 1, otherwise } }
  }

  /** Deletes all but so many of the newest rows with these values. */
  keepNewest(values: Row, count: number): Statement {
    const where = sql.join(
      Object.keys(values).map((name) => sql`${sql.ref(name)} = ${valueOf(values, name)}`),
      sql` and `,
    )
    const table = sql.table(this.table.name)
    const oldest = sql`(select created_time from ${table} where ${where} order by created_time desc limit 1 offset ${count - 1})`
    return this.statement(sql`delete from ${table} where ${where} and created_time < ${oldest}`)
  }

  deleteAll(where: readonly Condition[]): Statement {
    return this.statement(sql`delete from ${sql.table(this.table.name)} ${this.parts.filter(where)}`)
  }

  /** Of those that match the oldest by that column, at most `limit`. Processes that do so at the same time take different ones. */
  deleteOldest(where: readonly Condition[], limit: number, by = 'created_time'): Statement {
    const table = sql.table(this.table.name)
    const others = this.database.isShared ? sql` for update skip locked` : sql``
    const oldest = sql`select id from ${table} ${this.parts.filter(where)} order by ${this.parts.ref(by)} limit ${limit}${others}`
    return this.statement(sql`delete from ${table} where id in (${oldest})`)
  }

  /** Changes columns of all rows that match, each a change of its version. */
  updateAll(where: readonly Condition[], values: Row): Statement {
    const set = sql.join(Object.keys(values).map((name) => sql`${sql.ref(name)} = ${valueOf(values, name)}`))
    return this.statement(
      sql`update ${sql.table(this.table.name)} set ${set}, version = version + 1 ${this.parts.filter(where)}`,
    )
  }

  private async findInPieces(
    where: readonly Condition[],
    long: Extract<Condition, { readonly in: readonly SqlValue[] }>,
    limit = Infinity,
  ): Promise<readonly Row[]> {
    const others = where.filter((condition) => condition !== long)
    const found: Row[] = []
    const values = [...long.in].sort()
    for (let start = 0; start < values.length && found.length < limit; start += VALUES_PER_READ) {
      const piece = { column: long.column, in: values.slice(start, start + VALUES_PER_READ) }
      const left = limit === Infinity ? undefined : limit - found.length
      found.push(...(await this.findAll([...others, piece], left)))
    }
    return found
  }

  private compiled(query: RawBuilder<unknown>): CompiledQuery<Row> {
    return query.$castTo<Row>().compile(this.database.builder)
  }

  private statement(query: RawBuilder<unknown>): Statement {
    const { sql: text, parameters } = query.compile(this.database.builder)
    return { sql: text, parameters: parameters as readonly SqlValue[], constraints: this.constraints }
  }

  private text(name: string, query: () => RawBuilder<unknown>): string {
    const known = this.texts.get(name)
    if (known !== undefined) return known
    const { sql: text } = query().compile(this.database.builder)
    this.texts.set(name, text)
    return text
  }

  /** A read by conditions that values are equal: built once for each list of columns. */
  private known(name: string, where: readonly Condition[], query: () => CompiledQuery<Row>): CompiledQuery<Row> {
    if (!where.every(isEqual)) return query()
    const values = where.flatMap(({ is }) => (is === null ? [] : [is]))
    const text = this.texts.get(name)
    if (text !== undefined) return CompiledQuery.raw(text, values)
    const built = query()
    if (this.texts.size < MAX_TEXTS) this.texts.set(name, built.sql)
    return built
  }

  /** As databases report it: `asset.tenant_id, asset.name`. */
  private constraintName(columns: string): string {
    return columns
      .split(', ')
      .map((column) => `${this.table.name}.${column}`)
      .join(', ')
  }

  private selection(joins: readonly Join[]): RawBuilder<unknown> {
    return sql`select ${this.parts.selected(joins)} from ${sql.table(this.table.name)} ${this.parts.joined(joins)}`
  }
}

/** Ids are lower-case hex: their order is the same here and in both databases. */
function byId(one: Row, other: Row): number {
  return String(one['id']) < String(other['id']) ? -1 : 1
}
