/**
 * What repositories ask of a database: reads that say up to which commit they speak, and writes that are one list of
 * statements, so that no transaction is ever held open across awaits and several of them share one sync to the disk.
 */
import type { CompiledQuery, Kysely } from 'kysely'
import type { Schema } from './schema.ts'

export type SqlValue = null | number | bigint | string

/** The columns that `parameterRows` fill, for a database to which all rows travel as one: in the order of the placeholders. */
export interface BulkColumn {
  readonly name: string
  readonly type: 'text' | 'integer' | 'double'
  /** Whether it identifies the row together with the others that do. */
  readonly isKey: boolean
}

/** One step of a transaction. */
export interface Statement {
  readonly sql: string
  readonly parameters: readonly SqlValue[]
  /** Runs the statement once for each of these instead: the fast road for many like rows. */
  readonly parameterRows?: readonly (readonly SqlValue[])[]
  /** Of an `insert … values (…)`: its columns, each a placeholder of `values`. The same statement with all rows at once must mean the same. */
  readonly bulk?: readonly BulkColumn[]
  /** Hands back the rows of a `returning` clause. */
  readonly returnsRows?: boolean
  /** A select: with `expect`, what it finds is what it touches. */
  readonly isQuery?: boolean
  /**
   * The tenant to whose row no other process may commit something between this step and the commit. Taken for all transactions of a
   * commit at its beginning, in one order, so that processes that meet wait and never deadlock. With one process nothing to do.
   */
  readonly holdsTenant?: string
  /** How many rows must be touched; otherwise the whole transaction is undone and rejected with this error. */
  readonly expect?: { readonly changes: number; readonly otherwise: () => Error }
  /** The error for a broken unique constraint, by its columns: `device.tenant_id, device.name`. */
  readonly constraints?: Readonly<Record<string, () => Error>>
}

export interface StatementResult {
  readonly changes: number
  readonly rows: readonly unknown[]
  /** Places in `parameterRows` that touched no row. */
  readonly untouched: readonly number[]
}

export interface Written {
  /** The number of the commit that made the change durable and visible. */
  readonly sequence: number
  readonly results: readonly StatementResult[]
}

export interface Read<Row> {
  readonly rows: readonly Row[]
  /** Every commit up to this one is in the rows, none after it. */
  readonly sequence: number
}

export interface EntityDatabase {
  /** Builds queries; executes reads. Its transactions throw `TRANSACTION_HELD`. */
  readonly builder: Kysely<Schema>
  /** Whether other processes write here too: then what this one committed is not all there is, and ids do not come in order. */
  readonly isShared: boolean
  /** The SQL function that makes a text lower case, beyond ASCII too. */
  readonly foldFunction: string
  read<Row>(query: CompiledQuery<Row>): Promise<Read<Row>>
  /**
   * A read of a few rows by their ids at once, where the database is at hand: every commit that was acknowledged before the call is in them.
   * Undefined where `read` must be asked.
   */
  lookUp?<Row>(query: CompiledQuery<Row>): readonly Row[] | undefined
  /**
   * A read that may be long, such as a search: it holds up no commit and no other read. Every commit that was acknowledged before the call
   * is in the rows.
   */
  scan<Row>(query: CompiledQuery<Row>): Promise<readonly Row[]>
  /**
   * All or nothing, in order, durable at the configured level when it resolves. Transactions are independent of each
   * other and are applied in the order of the calls.
   */
  write(statements: readonly Statement[]): Promise<Written>
  close(): Promise<void>
}

type StatementOptions = Omit<Statement, 'sql' | 'parameters'>

/** The first row of a query by ids. */
export async function firstById<Row>(database: EntityDatabase, query: CompiledQuery<Row>): Promise<Row | undefined> {
  const rows = database.lookUp?.(query) ?? (await database.read(query)).rows
  return rows[0]
}

/** A built query as a step of a transaction. */
export function statementOf(query: { compile(): CompiledQuery }, options: StatementOptions = {}): Statement {
  const compiled = query.compile()
  return { sql: compiled.sql, parameters: compiled.parameters.map(sqlValue), ...options }
}

/** A query that was built once, with other parameters in the order of its placeholders. */
export function withParameters<Row>(query: CompiledQuery<Row>, parameters: readonly SqlValue[]): CompiledQuery<Row> {
  return { ...query, parameters }
}

export function sqlValue(value: unknown): SqlValue {
  if (value === null || typeof value === 'number' || typeof value === 'bigint' || typeof value === 'string')
    return value
  throw new TypeError(`A ${typeof value} cannot be stored in a column`)
}
