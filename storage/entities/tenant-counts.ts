/** How many rows of a table a tenant has, as triggers count them, and the step that holds a transaction to a number of them. */
import { sql, type RawBuilder } from 'kysely'
import { sqlValue, type EntityDatabase, type Statement } from './database.ts'
import { NO_WRITER } from './tables/count-triggers.ts'

export class TenantCountRepository {
  private readonly database: EntityDatabase

  constructor(database: EntityDatabase) {
    this.database = database
  }

  /** `table`: one that is declared as counted. */
  async count(tenantId: string, table: string): Promise<number> {
    const query = sql<{ total: number }>`select ${countOf(tenantId, table)} as total`
    const { rows } = await this.database.read(query.compile(this.database.builder))
    return Number(rows[0]?.total ?? 0)
  }

  /** Goes before what adds one: whoever else adds to what the tenant has waits, so what they added is counted. */
  guard(tenantId: string, table: string, limit: number, otherwise: () => Error): Statement {
    const query = sql`select 1 as one where ${countOf(tenantId, table)} < ${limit}`
    return { ...this.statement(query), isQuery: true, holdsTenant: tenantId, expect: { changes: 1, otherwise } }
  }

  /** What writers of a shared database counted that are gone becomes one row a tenant and table. At any time, by any process. */
  async fold(): Promise<void> {
    if (!this.database.isShared) return
    const query = sql`
      with gone as (
        delete from tenant_count
          where writer <> ${NO_WRITER} and writer not in (select pid from pg_stat_activity) returning tenant_id, kind, n
      )
      insert into tenant_count (tenant_id, kind, writer, n)
        select tenant_id, kind, cast(${NO_WRITER} as bigint), sum(n) from gone group by tenant_id, kind order by tenant_id, kind
      on conflict (tenant_id, kind, writer) do update set n = tenant_count.n + excluded.n`
    await this.database.write([this.statement(query)])
  }

  private statement(query: RawBuilder<unknown>): Statement {
    const { sql: text, parameters } = query.compile(this.database.builder)
    return { sql: text, parameters: parameters.map(sqlValue) }
  }
}

function countOf(tenantId: string, table: string): RawBuilder<unknown> {
  return sql`(select coalesce(sum(n), 0) from tenant_count where tenant_id = ${tenantId} and kind = ${table})`
}
