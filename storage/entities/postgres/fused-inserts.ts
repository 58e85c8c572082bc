/**
 * Transactions of one commit that insert into the same tables, such as the lines of an import: their rows go as one statement a table. PostgreSQL
 * plans, runs triggers and answers once for all of them, and so does our side. What it refuses is sent again one by one: only then it is
 * known whose fault it was.
 */
import { fitsLong } from '../../../model/value.ts'
import { bigIntArray, doubleArray, textArray } from '../../postgres/binary-array.ts'
import type { Parameter, PostgresConnection, PostgresQuery, PostgresResult } from '../../postgres/connection.ts'
import type { SqlValue, Statement, StatementResult } from '../database.ts'
import { expectingSql, parameterOf, stepOf, type StatementNames, type Step } from './statement-queries.ts'

type Row = Readonly<Record<string, unknown>>

/** What goes to the server together: a transaction, or several as one. */
export interface Unit<Write> {
  readonly writes: readonly Write[]
  readonly queries: readonly PostgresQuery[]
  /** Of each write, in their order. */
  resultsOf(results: readonly PostgresResult<Row>[]): readonly (readonly StatementResult[])[]
}

interface Fusable {
  readonly steps: readonly Step[]
}

/** An insert of one row that can be one of many. */
interface Template {
  readonly arrays: readonly ArrayType[]
  /** Behind the arrays stand the parameters of a condition that all rows share. */
  readonly sql: string
}

/** The same step of several transactions. */
interface FusedStep {
  readonly query: PostgresQuery
  /** Of each of them. */
  resultsOf(result: PostgresResult<Row> | undefined): readonly StatementResult[]
}

const NOTHING: StatementResult = { changes: 0, rows: [], untouched: [] }

interface ArrayType {
  readonly name: string
  /** Whether an array can hold it. What it can not hold the server refuses: alone, so that it costs nobody else. */
  readonly takes: (value: SqlValue) => boolean
  readonly of: (values: readonly SqlValue[]) => Parameter
}

const TYPES: Readonly<Record<string, ArrayType>> = {
  text: {
    name: 'text[]',
    takes: () => true,
    of: (values) => textArray(values.map((value) => (value === null ? null : String(value)))),
  },
  bigint: {
    name: 'bigint[]',
    takes: (value) => value === null || (typeof value === 'bigint' ? fitsLong(value) : Number.isSafeInteger(value)),
    of: (values) => bigIntArray(values.map((value) => (typeof value === 'string' ? BigInt(value) : value))),
  },
  'double precision': {
    name: 'double precision[]',
    takes: (value) => typeof value !== 'string',
    of: (values) => doubleArray(values.map((value) => (value === null ? null : Number(value)))),
  },
}

/** Statements are few and repeated; what is beyond is looked at each time. */
const MAX_TEMPLATES = 500
/** Letters of rows that go together: a message of the protocol has a gibibyte at most, and all texts are there once more while it is made. */
const MAX_LETTERS = 4 << 20
const PLACEHOLDERS = String.raw`((?:\$\d+(?:, )?)+)`
const INSERT = new RegExp(
  String.raw`^insert into "(\w+)" \(([^()]+)\) (?:values \(${PLACEHOLDERS}\)|select ${PLACEHOLDERS} (where exists \(.+\)))( returning "id")?$`,
)

/** Columns by `table.column`, with their types. */
export type ColumnTypes = ReadonlyMap<string, string>

export async function columnTypes(connection: PostgresConnection): Promise<ColumnTypes> {
  const { rows } = await connection.query<{ name: string; type: string }>({
    text: `select tables.relname || '.' || columns.attname as name, format_type(columns.atttypid, null) as type
      from pg_attribute columns
      join pg_class tables on tables.oid = columns.attrelid and tables.relkind in ('r', 'p')
      join pg_namespace spaces on spaces.oid = tables.relnamespace and spaces.nspname = current_schema()
      where columns.attnum > 0 and not columns.attisdropped`,
  })
  return new Map(rows.map(({ name, type }) => [name, type]))
}

export class FusedInserts {
  private readonly types: ColumnTypes
  private readonly names: StatementNames
  /** By the text of the insert; undefined where it cannot be fused. */
  private readonly templates = new Map<string, Template | undefined>()

  constructor(types: ColumnTypes, names: StatementNames) {
    this.types = types
    this.names = names
  }

  /** In their order; neighbours that do the same are one. */
  unitsOf<Write extends Fusable>(writes: readonly Write[]): readonly Unit<Write>[] {
    const units: Unit<Write>[] = []
    for (let start = 0; start < writes.length;) {
      const run = this.runFrom(writes, start)
      const fused = run.length > 1 ? this.fused(run) : undefined
      units.push(...(fused === undefined ? run.map(aloneOf) : [fused]))
      start += run.length
    }
    return units
  }

  private runFrom<Write extends Fusable>(writes: readonly Write[], start: number): readonly Write[] {
    const first = writes[start]
    if (first === undefined) return []
    let end = start + 1
    let room = MAX_LETTERS - lettersOf(first)
    if (first.steps.every(({ statement }) => statement.bulk !== undefined || this.templateOf(statement) !== undefined))
      for (let next = writes[end]; next !== undefined && this.isAlike(first, next); next = writes[++end])
        if ((room -= lettersOf(next)) < 0) break
    return writes.slice(start, end)
  }

  private isAlike(first: Fusable, other: Fusable): boolean {
    return (
      other.steps.length === first.steps.length &&
      other.steps.every(({ statement }, index) => {
        const like = first.steps[index]?.statement
        if (like === undefined || statement.sql !== like.sql) return false
        if (statement.bulk !== undefined) return like.bulk !== undefined
        const template = this.templateOf(statement)
        if (template === undefined) return false
        const shared = sharedOf(statement, template)
        return sharedOf(like, template).every((value, place) => value === shared[place])
      })
    )
  }

  /** Undefined where two of them write the same row: their order counts then. */
  private fused<Write extends Fusable>(run: readonly Write[]): Unit<Write> | undefined {
    const [first] = run
    const steps = (first?.steps ?? []).map((_, index) =>
      this.stepOf(run.flatMap((write) => write.steps[index]?.statement ?? [])),
    )
    const known = steps.filter((step) => step !== undefined)
    if (known.length < steps.length) return undefined
    const resultsOf = (results: readonly PostgresResult<Row>[]) => {
      const ofSteps = known.map((step, index) => step.resultsOf(results[index]))
      return run.map((_, place) => ofSteps.map((all): StatementResult => all[place] ?? NOTHING))
    }
    return { writes: run, queries: known.map(({ query }) => query), resultsOf }
  }

  private stepOf(statements: readonly Statement[]): FusedStep | undefined {
    const [first] = statements
    if (first?.bulk !== undefined) return this.bulkOf(first, statements)
    return {
      query: this.queryOf(statements),
      resultsOf: (result) =>
        statements.map(({ returnsRows }, place) => {
          const row = returnsRows === true ? result?.rows[place] : undefined
          return { changes: 1, rows: row === undefined ? [] : [row], untouched: [] }
        }),
    }
  }

  private bulkOf(first: Statement, statements: readonly Statement[]): FusedStep | undefined {
    const rowsOf = ({ parameterRows = [] }: Statement) => parameterRows
    const step = stepOf({ ...first, parameterRows: statements.flatMap(rowsOf) }, this.names)
    const [query] = step.queries
    if (query === undefined || step.queries.length > 1) return undefined
    const resultsOf = (result: PostgresResult<Row> | undefined) => {
      const untouched = new Set(step.resultOf(result === undefined ? [] : [result]).untouched)
      let at = 0
      return statements.map((statement) => {
        const places = rowsOf(statement).map((_, place) => at + place)
        const own = places.filter((place) => untouched.has(place)).map((place) => place - at)
        at += places.length
        return { changes: places.length - own.length, rows: [], untouched: own }
      })
    }
    return { query, resultsOf }
  }

  private queryOf(statements: readonly Statement[]): PostgresQuery {
    const [first] = statements
    const template = first && this.templateOf(first)
    if (first === undefined || template === undefined) throw new TypeError('An insert without a form for many rows')
    const { arrays, sql } = template
    const columns = arrays.map(({ of }, column) => of(statements.map(({ parameters }) => parameters[column] ?? null)))
    const parameters = [...columns, ...sharedOf(first, template).map(parameterOf)]
    if (first.expect === undefined) return this.names.query(sql, parameters)
    const counted = expectingSql(`${sql} returning 1`, `$${parameters.length + 1}::bigint`)
    return this.names.query(counted, [...parameters, statements.length])
  }

  private templateOf(statement: Statement): Template | undefined {
    const { sql, parameters, parameterRows, bulk, expect, isQuery, returnsRows = false } = statement
    if (parameterRows !== undefined || bulk !== undefined || isQuery === true) return undefined
    if (expect !== undefined && (expect.changes !== 1 || returnsRows)) return undefined
    const template = this.known(sql)
    return template?.arrays.every(({ takes }, column) => takes(parameters[column] ?? null)) === true
      ? template
      : undefined
  }

  private known(sql: string): Template | undefined {
    if (this.templates.has(sql)) return this.templates.get(sql)
    const template = this.parsed(sql)
    if (this.templates.size < MAX_TEMPLATES) this.templates.set(sql, template)
    return template
  }

  private parsed(sql: string): Template | undefined {
    const [, table = '', names = '', values, selected = '', condition = '', returning = ''] = INSERT.exec(sql) ?? []
    if (table === '') return undefined
    const columns = names.split(', ').map((name) => TYPES[this.types.get(`${table}.${name.replaceAll('"', '')}`) ?? ''])
    const known = columns.filter((type) => type !== undefined)
    const placeholders = known.map((_, index) => `$${index + 1}`).join(', ')
    if (known.length !== columns.length || (values ?? selected) !== placeholders) return undefined
    const arrays = known.map(({ name }, index) => `$${index + 1}::${name}`).join(', ')
    const rows = `select * from unnest(${arrays}) ${condition}`.trimEnd()
    return { arrays: known, sql: `insert into "${table}" (${names}) ${rows}${returning}` }
  }
}

function sharedOf({ parameters }: Statement, { arrays }: Template): readonly SqlValue[] {
  return parameters.slice(arrays.length)
}

function lettersOf({ steps }: Fusable): number {
  let count = 0
  for (const { statement } of steps)
    for (const row of [statement.parameters, ...(statement.parameterRows ?? [])])
      for (const value of row) if (typeof value === 'string') count += value.length
  return count
}

/** A transaction by itself. */
export function aloneOf<Write extends Fusable>(write: Write): Unit<Write> {
  const resultsOf = (results: readonly PostgresResult<Row>[]) => {
    let at = 0
    const ofSteps = write.steps.map((step) => step.resultOf(results.slice(at, (at += step.queries.length))))
    return [ofSteps]
  }
  return { writes: [write], queries: write.steps.flatMap((step) => step.queries), resultsOf }
}
