/**
 * Kysely over an {@link EntityDatabase}: reads go through, a single change is a transaction of one statement, and a
 * transaction held open is refused, so that nobody can write one by mistake.
 */
import {
  Kysely,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
  type CompiledQuery,
  type DatabaseConnection,
  type Dialect,
  type Driver,
  type QueryResult,
} from 'kysely'
import { sqlValue, type EntityDatabase } from './database.ts'
import { EntityStoreErrors } from './errors.ts'
import type { Schema } from './schema.ts'

type Execution = Pick<EntityDatabase, 'read' | 'write'>

/** What differs between databases: how a query is written. */
export type Language = Pick<Dialect, 'createAdapter' | 'createIntrospector' | 'createQueryCompiler'>

export function queryBuilder(execution: Execution, language: Language): Kysely<Schema> {
  return new Kysely<Schema>({ dialect: { ...language, createDriver: () => new StatementDriver(execution) } })
}

export const SQLITE: Language = {
  createAdapter: () => new PipeliningSqliteAdapter(),
  createIntrospector: (builder) => new SqliteIntrospector(builder),
  createQueryCompiler: () => new SqliteQueryCompiler(),
}

export const POSTGRES: Language = {
  createAdapter: () => new PostgresAdapter(),
  createIntrospector: (builder) => new PostgresIntrospector(builder),
  createQueryCompiler: () => new PostgresQueryCompiler(),
}

/** Reads may overlap: without this Kysely lets the next one start only after the answer to the one before. */
class PipeliningSqliteAdapter extends SqliteAdapter {
  override get supportsMultipleConnections(): boolean {
    return true
  }
}

class StatementDriver implements Driver {
  private readonly connection: StatementConnection

  constructor(execution: Execution) {
    this.connection = new StatementConnection(execution)
  }

  async init(): Promise<void> {}

  async acquireConnection(): Promise<DatabaseConnection> {
    return this.connection
  }

  async beginTransaction(): Promise<void> {
    throw EntityStoreErrors.TRANSACTION_HELD()
  }

  async commitTransaction(): Promise<void> {
    throw EntityStoreErrors.TRANSACTION_HELD()
  }

  async rollbackTransaction(): Promise<void> {
    throw EntityStoreErrors.TRANSACTION_HELD()
  }

  async releaseConnection(): Promise<void> {}

  async destroy(): Promise<void> {}
}

class StatementConnection implements DatabaseConnection {
  private readonly execution: Execution

  constructor(execution: Execution) {
    this.execution = execution
  }

  async executeQuery<Row>(query: CompiledQuery): Promise<QueryResult<Row>> {
    if (query.query.kind === 'SelectQueryNode') {
      const { rows } = await this.execution.read(query)
      return { rows: rows as Row[] }
    }
    const { results } = await this.execution.write([{ sql: query.sql, parameters: query.parameters.map(sqlValue) }])
    return { rows: [], numAffectedRows: BigInt(results[0]?.changes ?? 0) }
  }

  streamQuery<Row>(): AsyncIterableIterator<QueryResult<Row>> {
    throw new TypeError('Rows are read in pages, not streamed')
  }
}
