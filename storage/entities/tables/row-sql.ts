/** The parts of queries over rows of a table: conditions, joins, searches and orders, in SQL of both databases. */
import { sql, type RawBuilder } from 'kysely'
import type { PageQuery } from '../../../model/entities.ts'
import type { SqlValue } from '../database.ts'
import { containsText } from '../../../model/contains-text.ts'
import { EntityStoreErrors } from '../errors.ts'
import { containsSql, type SqlDialect } from '../queries/predicates-sql.ts'
import type { EntityTable, Row } from './entity-table.ts'

/** A column of the table, or `join.column`. */
export type Condition =
  | { readonly column: string; readonly is: SqlValue }
  | { readonly column: string; readonly in: readonly SqlValue[] }
  | { readonly column: string; readonly after: SqlValue }
  /** Another value, or none. */
  | { readonly column: string; readonly isNot: string | number }
  /** The text is a part of its text, letter for letter. */
  | { readonly column: string; readonly holds: string }
  /** Both belong to the range. */
  | { readonly column: string; readonly from: SqlValue; readonly to: SqlValue }
  /** Named by a row of another table: of those that match, its column has the value. */
  | { readonly column: string; readonly among: Among }
  /** A part of the text, in whatever case. */
  | { readonly column: string; readonly contains: string }
  | { readonly column: string; readonly isSet: true }
  | { readonly anyOf: readonly Condition[] }

export interface Among {
  readonly table: string
  readonly column: string
  readonly where: Row
}

/** A row of another table that a column names, for what a list shows of it. */
export interface Join {
  readonly alias: string
  readonly table: string
  /** Of this table. */
  readonly column: string
  /** Beside the id: more that must hold, as constants (`{ scope: 1, key: 'active' }`), for tables keyed by more. */
  readonly idColumn?: string
  readonly and?: Readonly<Record<string, SqlValue>>
  /** What is shown of it, each under a name of its own. */
  readonly shows: Readonly<Record<string, string>>
}

/** Found by what rows of another table say that rows between the two name. */
export interface Searched {
  readonly column: string
  readonly through: { readonly table: string; readonly from: string; readonly to: string }
  readonly table: string
  readonly columns: readonly string[]
}

/** A column that holds one of these words alone: which of them hold the text is seen without a look at any row. */
export interface SearchedWords {
  readonly column: string
  readonly words: readonly string[]
}

export interface RowPage {
  readonly where: readonly Condition[]
  readonly joins?: readonly Join[]
  /** Property of the API to column. */
  readonly sort: Readonly<Record<string, string>>
  readonly search: readonly (string | Searched | SearchedWords)[]
  readonly query: PageQuery
  /** Orders before what the query says. */
  readonly first?: readonly { readonly column: string; readonly direction: 'ASC' | 'DESC' }[]
}

/** Written out, as databases differ: what is absent comes where the reference has it. */
export const DIRECTIONS = { ASC: sql`asc nulls last`, DESC: sql`desc nulls first` } as const

export class RowSql {
  private readonly dialect: SqlDialect
  private readonly table: EntityTable
  private readonly columns: readonly string[]

  constructor(dialect: SqlDialect, table: EntityTable, columns: readonly string[]) {
    this.dialect = dialect
    this.table = table
    this.columns = columns
  }

  selected(joins: readonly Join[]): RawBuilder<unknown> {
    const own = this.columns.map((name) => this.ref(name))
    const shown = joins.flatMap(({ alias, shows }) =>
      Object.entries(shows).map(([as, column]) => sql`${sql.ref(`${alias}.${column}`)} as ${sql.ref(as)}`),
    )
    return sql.join([...own, ...shown])
  }

  joined(joins: readonly Join[]): RawBuilder<unknown> {
    return sql.join(
      joins.map(({ alias, table, column, idColumn = 'id', and = {} }) => {
        const more = Object.keys(and).map((name) => sql` and ${sql.ref(`${alias}.${name}`)} = ${valueOf(and, name)}`)
        const on = sql`${sql.ref(`${alias}.${idColumn}`)} = ${this.ref(column)}`
        return sql`left join ${sql.table(table)} as ${sql.ref(alias)} on ${on}${sql.join(more, sql``)}`
      }),
      sql` `,
    )
  }

  filter(where: readonly Condition[], more: RawBuilder<unknown> | undefined = undefined): RawBuilder<unknown> {
    const parts = where.map((condition) => this.condition(condition))
    if (more !== undefined) parts.push(more)
    return parts.length === 0 ? sql`` : sql`where ${sql.join(parts, sql` and `)}`
  }

  private condition(condition: Condition): RawBuilder<unknown> {
    if ('anyOf' in condition)
      return sql`(${sql.join(
        condition.anyOf.map((one) => this.condition(one)),
        sql` or `,
      )})`
    const column = this.ref(condition.column)
    if ('in' in condition) return condition.in.length === 0 ? sql`1 = 0` : sql`${column} in (${sql.join(condition.in)})`
    if ('contains' in condition) return this.like(column, condition.contains)
    if ('isSet' in condition) return sql`${column} is not null`
    if ('isNot' in condition) return sql`(${column} is null or ${column} <> ${condition.isNot})`
    // A pattern would fold letters in one of the databases.
    if ('holds' in condition) return sql`replace(${column}, ${condition.holds}, '') <> ${column}`
    if ('after' in condition) return sql`${column} > ${condition.after}`
    if ('among' in condition) {
      const { table, column: named, where } = condition.among
      const parts = Object.keys(where).map((name) => sql`${sql.ref(name)} = ${valueOf(where, name)}`)
      return sql`${column} in (select ${sql.ref(named)} from ${sql.table(table)} where ${sql.join(parts, sql` and `)})`
    }
    if ('from' in condition) return sql`${column} between ${condition.from} and ${condition.to}`
    return condition.is === null ? sql`${column} is null` : sql`${column} = ${condition.is}`
  }

  matching(search: RowPage['search'], text: string | undefined): RawBuilder<unknown> | undefined {
    if (text === undefined || text.trim() === '' || search.length === 0) return undefined
    const like = (column: RawBuilder<unknown>) => this.like(column, text)
    const matches = search.map((searched) => {
      if (typeof searched === 'string') return like(this.ref(searched))
      if ('words' in searched) {
        const { column, words } = searched
        return this.condition({ column, in: words.filter((word) => containsText(word, text)) })
      }
      const { column, through, table, columns } = searched
      const found = sql.join(
        columns.map((name) => like(sql.ref(`${table}.${name}`))),
        sql` or `,
      )
      const named = sql.ref(`${through.table}.${through.to}`)
      const from = sql`${sql.table(through.table)} join ${sql.table(table)} on ${sql.ref(`${table}.id`)} = ${named}`
      return sql`${this.ref(column)} in (select ${sql.ref(`${through.table}.${through.from}`)} from ${from} where ${found})`
    })
    return sql`(${sql.join(matches, sql` or `)})`
  }

  private like(column: RawBuilder<unknown>, text: string): RawBuilder<unknown> {
    return containsSql(this.dialect, column, text)
  }

  order(
    sort: Readonly<Record<string, string>>,
    query: PageQuery,
    first: NonNullable<RowPage['first']>,
  ): RawBuilder<unknown> {
    const { sortProperty, sortOrder } = query
    const before = first.map(({ column, direction }) => sql`${this.ref(column)} ${DIRECTIONS[direction]}, `)
    const start = sql`order by ${sql.join(before, sql``)}`
    const byId = sql`${this.ref('id')}`
    const column = sortColumn(sort, query)
    if (column === undefined)
      return sql`${start}${byId}${sortProperty === 'id' && sortOrder === 'DESC' ? sql` desc` : sql``}`
    return sql`${start}${this.ref(column)} ${DIRECTIONS[sortOrder ?? 'ASC']}, ${byId}`
  }

  ref(column: string): RawBuilder<unknown> {
    return sql.ref(column.includes('.') ? column : `${this.table.name}.${column}`)
  }
}

/** Undefined for the id. Throws `SORT_PROPERTY`. */
export function sortColumn(sort: RowPage['sort'], { sortProperty }: PageQuery): string | undefined {
  if (sortProperty === undefined || sortProperty === '' || sortProperty === 'id') return undefined
  const column = Object.hasOwn(sort, sortProperty) ? sort[sortProperty] : undefined
  if (column === undefined) throw EntityStoreErrors.SORT_PROPERTY({ property: sortProperty })
  return column
}

export function columnsOf(condition: Condition): readonly string[] {
  return 'anyOf' in condition ? condition.anyOf.flatMap(columnsOf) : [condition.column]
}

export function columnOf(searched: RowPage['search'][number]): string {
  return typeof searched === 'string' ? searched : searched.column
}

export function valueOf(row: Row, name: string): SqlValue {
  const value = row[name]
  if (value === undefined) throw EntityStoreErrors.FAILED({ reason: `no value for the column ${name}` })
  return value
}
