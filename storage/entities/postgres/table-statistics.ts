/**
 * What PostgreSQL knows of how many rows there are. Its own housekeeping looks once a minute, if it is on: until then it plans for tables as
 * empty as they were, and a search over 100,000 devices that were just imported takes minutes (`benchmarks/entity-query`). So searches look
 * first, and have tables analyzed that have grown much.
 */
import type { PostgresQuery, PostgresResult } from '../../postgres/connection.ts'

const LOOK_AFTER_MS = 1_000
/** After tables were analyzed: where that is of no use, as a role that may not gets a warning alone, it is not tried all the time. */
const ANALYZE_AFTER_MS = 10_000
/** Pages of 8 KiB; tables below are read fast, whatever the plan. */
const SMALL_PAGES = 32

/** By size, which is known at once; the counts of rows come late. */
const GROWN = `select relname::text as name from pg_class
  where relnamespace = current_schema()::regnamespace and relkind = 'r' and relname = any($1::text[])
    and pg_relation_size(oid) / current_setting('block_size')::bigint > 1.25 * greatest(relpages, 0) + ${SMALL_PAGES}`

export interface TableStatisticsParts {
  readonly tables: readonly string[]
  readonly clock: { now(): number }
  query<Row>(query: PostgresQuery): Promise<Pick<PostgresResult<Row>, 'rows'>>
}

export class TableStatistics {
  private readonly parts: TableStatisticsParts
  private nextLook = -Infinity
  private looking: Promise<void> | undefined

  constructor(parts: TableStatisticsParts) {
    this.parts = parts
  }

  /** Resolves when a query may be planned. Never rejects: a query that is planned badly still answers. */
  async refresh(): Promise<void> {
    if (this.looking === undefined) {
      if (this.parts.clock.now() < this.nextLook) return
      this.looking = this.look().finally(() => (this.looking = undefined))
    }
    await this.looking
  }

  private async look(): Promise<void> {
    let pause = LOOK_AFTER_MS
    try {
      const parameters = [`{${this.parts.tables.join(',')}}`]
      const { rows } = await this.parts.query<{ name: string }>({ name: 'grown-tables', text: GROWN, parameters })
      if (rows.length > 0) {
        pause = ANALYZE_AFTER_MS
        const names = rows.map(({ name }) => `"${name}"`)
        // Another process that does it too is not waited for.
        await this.parts.query({ text: `analyze (skip_locked) ${names.join(', ')}` })
      }
    } catch {
      // The search itself says what is wrong with the server.
    }
    this.nextLook = this.parts.clock.now() + pause
  }
}
