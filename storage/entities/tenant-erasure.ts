/** Takes away every row that a tenant owns: one statement a table, in an order that no reference stands against. */
import { sql, type RawBuilder } from 'kysely'
import { NULL_UUID } from '../../model/entity-id.ts'
import { deleteAttachedOfAll } from './attached.ts'
import type { EntityDatabase, SqlValue, Statement, Written } from './database.ts'

/** A table with `id` and `tenant_id`. */
export interface OwnedTable {
  readonly name: string
  /** Tables whose rows its rows name by foreign keys. */
  readonly references: readonly string[]
  /** Whether its rows are entities, with series and what hangs on them. */
  readonly hasEntities: boolean
}

export interface Erasure {
  readonly statements: readonly Statement[]
  /** The ids of the entities that went, by table, from what the commit of the statements handed back. */
  erased(written: Pick<Written, 'results'>): ReadonlyMap<string, readonly string[]>
}

export class TenantErasureRepository {
  private readonly database: EntityDatabase

  constructor(database: EntityDatabase) {
    this.database = database
  }

  /** Notes the clean-up of their series, too. `now`: Unix ms. */
  of(tenantId: string, tables: readonly OwnedTable[], now: number): Erasure {
    if (tenantId === NULL_UUID) throw new RangeError('what belongs to the system is not a tenant’s')
    const statements: Statement[] = []
    const deletions = new Map<string, number>()
    for (const { name, hasEntities } of childrenFirst(tables)) {
      const table = sql.table(name)
      const rows = sql`select id from ${table} where tenant_id = ${tenantId}`
      if (hasEntities)
        statements.push(
          this.statement(sql`insert into cleanup (entity_id) ${rows} on conflict (entity_id) do nothing`),
          ...deleteAttachedOfAll(this.database, rows),
        )
      if (name === 'device') {
        const changed = sql`select id, cast(${now} as bigint) from ${table} where tenant_id = ${tenantId}`
        statements.push(this.statement(sql`insert into credential_change (device_id, changed_time) ${changed}`))
      }
      const deletion = sql`delete from ${table} where tenant_id = ${tenantId}`
      if (hasEntities) {
        deletions.set(name, statements.length)
        statements.push({ ...this.statement(sql`${deletion} returning id`), returnsRows: true })
      } else statements.push(this.statement(deletion))
    }
    return {
      statements,
      erased: ({ results }) =>
        new Map([...deletions].map(([name, place]) => [name, (results[place]?.rows ?? []).map(idOf)])),
    }
  }

  private statement(query: RawBuilder<unknown>): Statement {
    const { sql: text, parameters } = query.compile(this.database.builder)
    return { sql: text, parameters: parameters as readonly SqlValue[] }
  }
}

function idOf(row: unknown): string {
  return typeof row === 'object' && row !== null && 'id' in row ? String(row.id) : ''
}

/** What refers before what it refers to. */
function childrenFirst(tables: readonly OwnedTable[]): readonly OwnedTable[] {
  const byName = new Map(tables.map((table) => [table.name, table]))
  const parentsFirst: OwnedTable[] = []
  const seen = new Set<string>()
  const visit = (table: OwnedTable): void => {
    if (seen.has(table.name)) return
    seen.add(table.name)
    for (const name of table.references) {
      const parent = byName.get(name)
      if (parent !== undefined) visit(parent)
    }
    parentsFirst.push(table)
  }
  for (const table of tables) visit(table)
  return parentsFirst.reverse()
}
