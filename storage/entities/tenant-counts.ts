/** How many rows of a table a tenant has, and the steps that hold a transaction to a number of them. */
import { sql, type RawBuilder } from 'kysely'
import { sqlValue, type EntityDatabase, type Statement } from './database.ts'

export class TenantCountRepository {
  private readonly database: EntityDatabase

  constructor(database: EntityDatabase) {
    this.database = database
  }

  async count(tenantId: string, table: string): Promise<number> {
    const query = sql<{ total: number }>`select ${countOf(tenantId, table)} as total`
    const { rows } = await this.database.read(query.compile(this.database.builder))
    return Number(rows[0]?.total ?? 0)
  }

  /**
   * The tenant's row is taken first: whoever else adds to what it has waits, so that the count in the second step sees what they added.
   */
  guard(tenantId: string, table: string, limit: number, otherwise: () => Error): readonly Statement[] {
    const taken = sql`update tenant set title = title where id = ${tenantId}`
    const counted = sql`update tenant set title = title where id = ${tenantId} and ${countOf(tenantId, table)} < ${limit}`
    return [this.statement(taken), { ...this.statement(counted), expect: { changes: 1, otherwise } }]
  }

  private statement(query: RawBuilder<unknown>): Statement {
    const { sql: text, parameters } = query.compile(this.database.builder)
    return { sql: text, parameters: parameters.map(sqlValue) }
  }
}

function countOf(tenantId: string, table: string): RawBuilder<unknown> {
  return sql`(select count(*) from ${sql.table(table)} where tenant_id = ${tenantId})`
}
