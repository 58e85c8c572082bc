/**
 * Tables that are not Millrace's: an operator makes them, one schema for each tenant. The schema's name is made of the tenant's id, so
 * whatever a chain names as its table lies in that schema. Rows are put by primary key, so that a message that comes twice is one row.
 */
import { defineErrors } from '../../model/errors.ts'
import { PostgresConnection, resultOf, type Outcome, type PostgresQuery } from './connection.ts'
import { PostgresErrors, serverReport } from './errors.ts'
import { toPostgresText } from './text.ts'

export const CustomTableErrors = defineErrors('custom-tables', {
  NAME_INVALID: {
    kind: 'invalid',
    status: 400,
    text: "'{name}' is no name of a {what}: up to {limit} letters, digits and _ are expected, the first a letter",
  },
  COLUMN_TWICE: { kind: 'invalid', status: 400, text: "the column '{column}' is named twice" },
  COLUMNS: { kind: 'invalid', status: 400, text: '{count} columns are named: 1 to {limit} are expected' },
  NO_TABLE: {
    kind: 'invalid',
    status: 400,
    text: 'there is no table {table}: the administrator of the server makes it',
  },
  NO_COLUMN: { kind: 'invalid', status: 400, text: "the table {table} has no column '{column}'" },
  NO_KEY: {
    kind: 'invalid',
    status: 400,
    text: 'the table {table} has no primary key: a message that comes twice would be two rows',
  },
  KEY_UNFILLED: {
    kind: 'invalid',
    status: 400,
    text: "the column '{column}' of the primary key of {table} gets no value",
  },
  ROW_REFUSED: { kind: 'invalid', status: 400, text: 'the table {table} refuses the row: {reason}' },
})

/** What a name begins with, as the reference has it. */
const PREFIX = 'cs_tb_'
/** Set for rows with a time to live. */
export const EXPIRES = 'expires_at'
/** PostgreSQL cuts longer names, and two of them would be one. */
const MAX_NAME_CHARACTERS = 63
const MAX_COLUMNS = 64
/** A statement has at most 65,535 parameters. */
const ROWS_PER_STATEMENT = 500
/** SQLSTATE classes of a statement that will not pass as it is: data, constraints, names and rights. */
const REFUSAL_CLASSES = new Set(['22', '23', '42', '44'])
const EXPIRED_PER_STATEMENT = 10_000

export interface TableTarget {
  readonly tenantId: string
  readonly name: string
  readonly columns: readonly string[]
  readonly ttlSeconds: number
}

interface Column {
  readonly name: string
  readonly type: string
  readonly isKey: boolean
}

/** A table that was looked at: what its statements are made of. Every name in it is checked and quoted. */
export interface KnownTable {
  /** As errors name it. */
  readonly shown: string
  readonly columns: readonly Column[]
  readonly ttlSeconds: number
}

export interface CustomTablesSettings {
  readonly url: string
  /** How long a statement may take: a table that is locked gives the connection back after it. */
  readonly answerWithinMs: number
  readonly connections: number
}

/** As many callers at a time as there are connections. Connections are made when they are needed. */
export class PostgresCustomTables {
  private readonly free: PostgresConnection[]
  private readonly all: readonly PostgresConnection[]

  constructor({ url, answerWithinMs, connections }: CustomTablesSettings) {
    const settings = { url, answerWithinMs, applicationName: 'millrace custom tables' }
    this.all = Array.from({ length: connections }, () => new PostgresConnection(settings))
    this.free = [...this.all]
  }

  /** Rejects with {@link CustomTableErrors} where rows of such columns can not be put. */
  async open({ tenantId, name, columns, ttlSeconds }: TableTarget): Promise<KnownTable> {
    const table = PREFIX + checkedName(name, 'table', MAX_NAME_CHARACTERS - PREFIX.length)
    const wanted = wantedColumns(columns, ttlSeconds)
    const schema = schemaOf(tenantId)
    const found = await this.onOne((connection) => connection.query<Column>(columnsOf(schema, table)))
    const shown = `${schema}.${table}`
    if (found.rows.length === 0) throw CustomTableErrors.NO_TABLE({ table: shown })
    const known = new Map(found.rows.map((column) => [column.name, column]))
    const keys = found.rows.filter(({ isKey }) => isKey)
    if (keys.length === 0) throw CustomTableErrors.NO_KEY({ table: shown })
    for (const { name: column } of keys) {
      if (!wanted.includes(column)) throw CustomTableErrors.KEY_UNFILLED({ table: shown, column })
    }
    const filled = wanted.map((column) => {
      const there = known.get(column)
      if (there === undefined) throw CustomTableErrors.NO_COLUMN({ table: shown, column })
      return there
    })
    return { shown, columns: filled, ttlSeconds }
  }

  /** An error for each row that the table does not take. Rejects where the server does not serve. */
  async write(
    table: KnownTable,
    rows: readonly (readonly (string | null)[])[],
  ): Promise<readonly (Error | undefined)[]> {
    const outcomes: (Error | undefined)[] = []
    await this.onOne(async (connection) => {
      for (let at = 0; at < rows.length; at += ROWS_PER_STATEMENT) {
        outcomes.push(...(await writePiece(connection, table, rows.slice(at, at + ROWS_PER_STATEMENT))))
      }
    })
    return outcomes
  }

  /** Removes rows whose time is over, a bounded piece of each table; whether there is more. */
  async removeExpired(): Promise<boolean> {
    return this.onOne(async (connection) => {
      const { rows } = await connection.query<{ schema: string; name: string }>({ text: TABLES_THAT_EXPIRE })
      let hasMore = false
      for (const { schema, name } of rows) {
        const table = `${quoted(schema)}.${quoted(name)}`
        const text = `delete from ${table} where ctid in (select ctid from ${table} where ${EXPIRES} < now() limit ${EXPIRED_PER_STATEMENT})`
        // One that is locked, or no longer there, leaves the others.
        const [outcome] = await connection.queries([{ text }])
        hasMore ||= outcome !== undefined && 'count' in outcome && outcome.count === EXPIRED_PER_STATEMENT
      }
      return hasMore
    })
  }

  async close(): Promise<void> {
    await Promise.all(this.all.map((connection) => connection.close()))
  }

  private async onOne<Result>(run: (connection: PostgresConnection) => Promise<Result>): Promise<Result> {
    const connection = this.free.pop()
    if (connection === undefined) throw PostgresErrors.BUSY({ waiting: this.all.length, limit: this.all.length })
    try {
      return await run(connection)
    } finally {
      this.free.push(connection)
    }
  }
}

/** The schema of a tenant's tables. */
export function schemaOf(tenantId: string): string {
  return `tenant_${tenantId.replaceAll('-', '').toLowerCase()}`
}

function checkedName(name: string, what: string, limit: number): string {
  if (!/^[A-Za-z][A-Za-z0-9_]*$/.test(name) || name.length > limit)
    throw CustomTableErrors.NAME_INVALID({ name, what, limit })
  // As SQL reads a name without quotes.
  return name.toLowerCase()
}

function wantedColumns(columns: readonly string[], ttlSeconds: number): readonly string[] {
  const { length: count } = columns
  if (count === 0 || count > MAX_COLUMNS) throw CustomTableErrors.COLUMNS({ count, limit: MAX_COLUMNS })
  const wanted = columns.map((column) => checkedName(column, 'column', MAX_NAME_CHARACTERS))
  if (ttlSeconds > 0) wanted.push(EXPIRES)
  const twice = wanted.find((column, index) => wanted.indexOf(column) !== index)
  if (twice !== undefined) throw CustomTableErrors.COLUMN_TWICE({ column: twice })
  return wanted
}

/** Checked before; quoted all the same. */
function quoted(name: string): string {
  return `"${name.replaceAll('"', '""')}"`
}

function columnsOf(schema: string, table: string): PostgresQuery {
  return {
    text: `select a.attname as name, format_type(a.atttypid, a.atttypmod) as type,
        coalesce(a.attnum = any (i.indkey), false) as "isKey"
      from pg_class c
      join pg_namespace n on n.oid = c.relnamespace
      join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
      left join pg_index i on i.indrelid = c.oid and i.indisprimary
      where n.nspname = $1 and c.relname = $2 and c.relkind in ('r', 'p')`,
    parameters: [schema, table],
  }
}

const TABLES_THAT_EXPIRE = `select n.nspname as schema, c.relname as name
  from pg_class c
  join pg_namespace n on n.oid = c.relnamespace
  join pg_attribute a on a.attrelid = c.oid and a.attname = '${EXPIRES}' and not a.attisdropped
  where c.relkind = 'r' and n.nspname ~ '^tenant_[0-9a-f]{32}$' and c.relname like 'cs\\_tb\\_%'`

type Row = readonly (string | null)[]

/** In one statement; where that is refused, row by row, so that each has its own outcome. */
async function writePiece(
  connection: PostgresConnection,
  table: KnownTable,
  rows: readonly Row[],
): Promise<readonly (Error | undefined)[]> {
  const [outcome] = await connection.queries([upsert(table, lastOfEachKey(table, rows))])
  if (refusalOf(outcome) === undefined) {
    resultOf(outcome)
    return rows.map(() => undefined)
  }
  const outcomes = await connection.queries(rows.map((row) => upsert(table, [row])))
  return outcomes.map((one) => {
    const reason = refusalOf(one)
    if (reason !== undefined) return CustomTableErrors.ROW_REFUSED({ table: table.shown, reason })
    resultOf(one)
    return undefined
  })
}

/** A statement may touch a row once, and all touch rows in one order, so that two processes do not wait for each other. */
function lastOfEachKey({ columns }: KnownTable, rows: readonly Row[]): readonly Row[] {
  const byKey = new Map(rows.map((row) => [JSON.stringify(row.filter((_, index) => columns[index]?.isKey)), row]))
  return [...byKey].toSorted(([one], [other]) => (one < other ? -1 : 1)).map(([, row]) => row)
}

function upsert({ shown, columns, ttlSeconds }: KnownTable, rows: readonly Row[]): PostgresQuery {
  const [schema = '', table = ''] = shown.split('.')
  const parameters: (string | null)[] = []
  const values = rows.map((row) => {
    const places = columns.map(({ name, type }, index) => {
      if (ttlSeconds > 0 && name === EXPIRES) return `now() + interval '${ttlSeconds} seconds'`
      const value = row[index] ?? null
      parameters.push(value === null ? null : toPostgresText(value))
      return `$${parameters.length}::text::${type}`
    })
    return `(${places.join(', ')})`
  })
  const names = columns.map(({ name }) => quoted(name))
  const keys = columns.filter(({ isKey }) => isKey).map(({ name }) => quoted(name))
  const set = columns.filter(({ isKey }) => !isKey).map(({ name }) => `${quoted(name)} = excluded.${quoted(name)}`)
  const text = `insert into ${quoted(schema)}.${quoted(table)} (${names.join(', ')}) values ${values.join(', ')}
    on conflict (${keys.join(', ')}) do ${set.length === 0 ? 'nothing' : `update set ${set.join(', ')}`}`
  return { text, parameters }
}

/** What the server says of a row that it will not take, however often it is sent. */
function refusalOf(outcome: Outcome<unknown> | undefined): string | undefined {
  if (outcome === undefined || !('error' in outcome)) return undefined
  const { code } = serverReport(outcome.error.cause) ?? {}
  // 21000: two of the rows have a key that only the server sees to be one.
  const isRefused = code !== undefined && (REFUSAL_CLASSES.has(code.slice(0, 2)) || code === '21000')
  return isRefused ? outcome.error.message : undefined
}
