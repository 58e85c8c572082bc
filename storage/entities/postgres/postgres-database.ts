/**
 * PostgreSQL behind {@link EntityDatabase}, for any number of processes. Commits are numbered by their transaction ids, which
 * rise from one commit of this process to the next and mean the same to all processes.
 */
import type { CompiledQuery, Kysely } from 'kysely'
import { PostgresConnection, type PostgresQuery } from '../../postgres/connection.ts'
import { migratePostgres } from '../../postgres/migrations.ts'
import { openPostgres, type OpenSettings } from '../../postgres/open.ts'
import { SnapshotReads } from '../../postgres/snapshot-reads.ts'
import { sqlValue, type EntityDatabase, type Read, type Statement, type Written } from '../database.ts'
import { POSTGRES, queryBuilder } from '../dialect.ts'
import { EntityStoreErrors } from '../errors.ts'
import type { Schema } from '../schema.ts'
import { columnTypes, FusedInserts } from './fused-inserts.ts'
import { storeError, type UniqueColumns } from './refusals.ts'
import type { EntityTable } from '../tables/entity-table.ts'
import { ENTITIES, ENTITIES_SHARED, FOLD_FUNCTION, tableComponent } from './schema.ts'
import { parameterOf, StatementNames } from './statement-queries.ts'
import { TableStatistics } from './table-statistics.ts'
import { TransactionWriter } from './transaction-writer.ts'

export interface PostgresDatabaseOptions extends OpenSettings {
  readonly clock: { now(): number }
  /** Connections for reads, beside the one that writes. */
  readonly readConnections?: number
  /** Declared tables, made and raised after the others. */
  readonly tables?: readonly EntityTable[]
}

const READ_CONNECTIONS = 3

/**
 * Connects and raises the schema; safe where several processes start at once. Throws `postgres.UNAVAILABLE` where no server answers
 * in time, `postgres.SCHEMA_NEWER`.
 */
export async function openPostgresDatabase(options: PostgresDatabaseOptions): Promise<EntityDatabase> {
  const writing = await openPostgres(options)
  try {
    const components = [ENTITIES, ENTITIES_SHARED, ...(options.tables ?? []).map(tableComponent)]
    for (const component of components) await migratePostgres(writing, component, options.clock.now())
    const names = new StatementNames()
    const fused = new FusedInserts(await columnTypes(writing), names)
    const writer = new TransactionWriter(writing, names, await uniqueColumns(writing), fused)
    const count = options.readConnections ?? READ_CONNECTIONS
    const reads = new SnapshotReads(Array.from({ length: count }, () => new PostgresConnection(options)))
    const tables = ['attribute', ...(options.tables ?? []).map(({ name }) => name)]
    const statistics = new TableStatistics({ tables, clock: options.clock, query: (query) => reads.read(query) })
    return new PostgresDatabase(writer, reads, names, statistics)
  } catch (error) {
    await writing.close()
    throw error
  }
}

class PostgresDatabase implements EntityDatabase {
  readonly builder: Kysely<Schema>
  readonly isShared = true
  readonly foldFunction = FOLD_FUNCTION
  private readonly writer: TransactionWriter
  private readonly reads: SnapshotReads
  private readonly names: StatementNames
  private readonly statistics: TableStatistics
  private closing: Promise<void> | undefined

  constructor(writer: TransactionWriter, reads: SnapshotReads, names: StatementNames, statistics: TableStatistics) {
    this.writer = writer
    this.reads = reads
    this.names = names
    this.statistics = statistics
    this.builder = queryBuilder(this, POSTGRES)
  }

  async read<Row>(query: CompiledQuery<Row>): Promise<Read<Row>> {
    try {
      return await this.reads.read<Row>(this.queryOf(query))
    } catch (error) {
      throw storeError(error)
    }
  }

  /** The server's reads hold up nothing; here a long one holds one of several connections. */
  async scan<Row>(query: CompiledQuery<Row>): Promise<readonly Row[]> {
    await this.statistics.refresh()
    try {
      return await this.reads.scan<Row>(this.queryOf(query))
    } catch (error) {
      throw storeError(error)
    }
  }

  /** Throws `CLOSED`. */
  private queryOf(query: CompiledQuery): PostgresQuery {
    if (this.closing !== undefined) throw EntityStoreErrors.CLOSED()
    const parameters = query.parameters.map((value) => parameterOf(sqlValue(value)))
    return this.names.query(query.sql, parameters)
  }

  write(statements: readonly Statement[]): Promise<Written> {
    return this.writer.write(statements)
  }

  close(): Promise<void> {
    this.closing ??= Promise.all([this.writer.close(), this.reads.close()]).then(() => undefined)
    return this.closing
  }
}

/** Names of unique indexes to `table.column, table.column`. */
async function uniqueColumns(connection: PostgresConnection): Promise<UniqueColumns> {
  const { rows } = await connection.query<{ index_name: string; columns: string }>({
    text: `select named.relname::text as index_name,
        string_agg(tables.relname || '.' || columns.attname, ', ' order by place.ordinality) as columns
      from pg_index indexes
      join pg_class named on named.oid = indexes.indexrelid
      join pg_class tables on tables.oid = indexes.indrelid
      join pg_namespace spaces on spaces.oid = tables.relnamespace and spaces.nspname = current_schema()
      cross join lateral unnest(indexes.indkey::smallint[]) with ordinality as place(number, ordinality)
      join pg_attribute columns on columns.attrelid = indexes.indrelid and columns.attnum = place.number
      where indexes.indisunique group by named.relname`,
  })
  return new Map(rows.map((row) => [row.index_name, row.columns]))
}
