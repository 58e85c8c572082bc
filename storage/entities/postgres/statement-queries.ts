/** Steps of a transaction as queries that can all be sent at once, and their answers as the steps' results. */
import { bigIntArray, doubleArray, textArray } from '../../postgres/binary-array.ts'
import type { Parameter, PostgresQuery, PostgresResult } from '../../postgres/connection.ts'
import { toPostgresText } from '../../postgres/text.ts'
import type { BulkColumn, SqlValue, Statement, StatementResult } from '../database.ts'
import { EXPECT_FUNCTION } from './schema.ts'

/** One step: its queries, and what their results mean. */
export interface Step {
  readonly statement: Statement
  readonly queries: readonly PostgresQuery[]
  resultOf(results: readonly PostgresResult<Row>[]): StatementResult
}

type Row = Readonly<Record<string, unknown>>

/** Statements are few and repeated; pages with odd filters make the rest and are not prepared. */
const MAX_PREPARED = 500

/** Names for texts, so that a connection prepares each once. */
export class StatementNames {
  private readonly names = new Map<string, string>()

  query(text: string, parameters: readonly Parameter[]): PostgresQuery {
    const name = this.nameOf(text)
    return name === undefined ? { text, parameters } : { text, parameters, name }
  }

  private nameOf(text: string): string | undefined {
    const known = this.names.get(text)
    if (known !== undefined || this.names.size >= MAX_PREPARED) return known
    const name = `s${this.names.size}`
    this.names.set(text, name)
    return name
  }
}

export function stepOf(statement: Statement, names: StatementNames): Step {
  if (statement.bulk !== undefined) return bulkStep(statement, statement.bulk, names)
  if (statement.parameterRows !== undefined) return rowsStep(statement, statement.parameterRows, names)
  const parameters = statement.parameters.map(parameterOf)
  if (statement.expect === undefined || statement.returnsRows === true) {
    return { statement, queries: [names.query(statement.sql, parameters)], resultOf: ([result]) => plainResult(result) }
  }
  return {
    statement,
    queries: [names.query(expecting(statement, statement.expect.changes), parameters)],
    resultOf: countedResult,
  }
}

export function parameterOf(value: SqlValue): Parameter {
  return typeof value === 'string' ? toPostgresText(value) : value
}

/** Fails by itself where it touches another number of rows: nothing comes back before the commit is sent. */
function expecting({ sql, isQuery }: Statement, changes: number): string {
  return expectingSql(`${sql}${isQuery === true ? '' : ' returning 1'}`, String(changes))
}

/** `changes`: a number, or the placeholder of one. */
export function expectingSql(sql: string, changes: string): string {
  return `with touched as (${sql})
    select ${EXPECT_FUNCTION}(count(*), ${changes}) as changes from touched`
}

function plainResult(result: PostgresResult<Row> | undefined): StatementResult {
  return { changes: result?.count ?? 0, rows: result?.rows ?? [], untouched: [] }
}

function countedResult([result]: readonly PostgresResult<Row>[]): StatementResult {
  return { changes: Number(result?.rows[0]?.['changes'] ?? 0), rows: [], untouched: [] }
}

function rowsStep(statement: Statement, rows: readonly (readonly SqlValue[])[], names: StatementNames): Step {
  return {
    statement,
    queries: rows.map((row) => names.query(statement.sql, row.map(parameterOf))),
    resultOf: (results) => ({
      changes: results.reduce((sum, { count }) => sum + count, 0),
      rows: [],
      untouched: results.flatMap(({ count }, index) => (count === 0 ? [index] : [])),
    }),
  }
}

interface PlacedRow {
  readonly place: number
  readonly values: readonly SqlValue[]
  readonly key: string
}

/** All rows as one query; rows of one key follow each other in queries of their own, as one query touches a row once only. */
function bulkStep(statement: Statement, columns: readonly BulkColumn[], names: StatementNames): Step {
  const keyColumns = columns.filter(({ isKey }) => isKey)
  const text = bulkSql(statement.sql, columns, keyColumns)
  const rounds = roundsOf(statement.parameterRows ?? [], columns)
  return {
    statement,
    queries: rounds.map((round) => names.query(text, columnArrays(round, columns))),
    resultOf: (results) => {
      const untouched = rounds.flatMap((round, index) => {
        const touched = new Set(results[index]?.rows.map((row) => keyOf(keyColumns.map(({ name }) => row[name]))))
        return round.filter(({ key }) => !touched.has(key)).map(({ place }) => place)
      })
      const changes = results.reduce((sum, { count }) => sum + count, 0)
      return { changes, rows: [], untouched: untouched.sort((a, b) => a - b) }
    },
  }
}

/** Sorted within a round, so that processes that meet lock rows in one order. */
function roundsOf(rows: readonly (readonly SqlValue[])[], columns: readonly BulkColumn[]): PlacedRow[][] {
  const seen = new Map<string, number>()
  const rounds: PlacedRow[][] = []
  for (const [place, values] of rows.entries()) {
    const key = keyOf(values.filter((_, index) => columns[index]?.isKey))
    const round = seen.get(key) ?? 0
    seen.set(key, round + 1)
    const placed = (rounds[round] ??= [])
    placed.push({ place, values, key })
  }
  for (const round of rounds) round.sort((a, b) => (a.key < b.key ? -1 : 1))
  return rounds
}

function keyOf(values: readonly unknown[]): string {
  return values.map(String).join('\u0000')
}

const SQL_TYPES = { text: 'text', integer: 'bigint', double: 'double precision' } as const

function bulkSql(sql: string, columns: readonly BulkColumn[], keyColumns: readonly BulkColumn[]): string {
  const arrays = columns.map(({ type }, index) => `$${index + 1}::${SQL_TYPES[type]}[]`)
  const text = sql.replace(/ values \((?:\$\d+(?:, )?)+\)/, ` select * from unnest(${arrays.join(', ')})`)
  if (text === sql) throw new TypeError('A statement in bulk inserts one row of placeholders')
  return `${text} returning ${keyColumns.map(({ name }) => `"${name}"`).join(', ')}`
}

function columnArrays(round: readonly PlacedRow[], columns: readonly BulkColumn[]): Buffer[] {
  return columns.map(({ type }, column) => {
    const values = round.map((row) => row.values[column] ?? null)
    switch (type) {
      case 'text':
        return textArray(values.map((value) => (value === null ? null : String(value))))
      case 'double':
        return doubleArray(values.map((value) => (value === null ? null : Number(value))))
      case 'integer':
        return bigIntArray(values.map((value) => (typeof value === 'string' ? BigInt(value) : value)))
    }
  })
}
