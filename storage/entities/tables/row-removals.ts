/** Rows that gather, such as those of the audit log, go when they are old or too many. */
import { sql } from 'kysely'
import type { EntityDatabase } from '../database.ts'
import type { EntityTable } from './entity-table.ts'
import type { Condition, RowStore } from './row-store.ts'

export class RowRemovals {
  private readonly database: EntityDatabase
  private readonly table: string
  private readonly rows: Pick<RowStore, 'deleteOldest'>

  constructor(database: EntityDatabase, table: EntityTable, rows: Pick<RowStore, 'deleteOldest'>) {
    this.database = database
    this.table = table.name
    this.rows = rows
  }

  /** Removes at most `limit` of the rows older than `before` (Unix ms); answers how many went. */
  async removeOlder(before: number, limit: number): Promise<number> {
    let removed = 0
    for (const tenantId of await this.tenantsWithOlder(before)) {
      const older: Condition[] = [
        { column: 'tenant_id', is: tenantId },
        { column: 'created_time', from: 0, to: before - 1 },
      ]
      removed += await this.remove(older, limit - removed)
      if (removed >= limit) break
    }
    return removed
  }

  /** Removes the oldest rows of a tenant; answers how many went. */
  removeOldest(tenantId: string, count: number): Promise<number> {
    return this.remove([{ column: 'tenant_id', is: tenantId }], count)
  }

  /** From tenant to tenant along the index by tenant and time: one by time alone would cost each row that is put in. */
  private async tenantsWithOlder(before: number): Promise<readonly string[]> {
    const table = sql.table(this.table)
    const next = sql`select min(r.tenant_id) from ${table} as r where r.tenant_id > tenants.id`
    const oldest = sql`select min(r.created_time) from ${table} as r where r.tenant_id = tenants.id`
    const query = sql<{ id: string }>`with recursive tenants (id) as (select min(tenant_id) from ${table}
      union all select (${next}) from tenants where tenants.id is not null)
      select id from tenants where id is not null and (${oldest}) < ${before}`
    const rows = await this.database.scan(query.compile(this.database.builder))
    return rows.map(({ id }) => id)
  }

  private async remove(where: readonly Condition[], limit: number): Promise<number> {
    const { results } = await this.database.write([this.rows.deleteOldest(where, limit)])
    return results[0]?.changes ?? 0
  }
}
