/** Rows that hang on an entity of any type by its id alone, where no foreign key can hold them: they go with it. */
import { sql, type RawBuilder } from 'kysely'
import { sqlValue, type EntityDatabase, type Statement } from './database.ts'

interface AttachedRows {
  readonly table: string
  /** Holds the id of the entity. */
  readonly column: string
}

/** A table of such rows is one line here; a row of the table of a line above may already be gone. */
const ATTACHED: readonly AttachedRows[] = [
  { table: 'attribute', column: 'entity_id' },
  { table: 'relation', column: 'from_id' },
  { table: 'relation', column: 'to_id' },
  { table: 'alarm', column: 'originator_id' },
  { table: 'entity_alarm', column: 'entity_id' },
  { table: 'calculated_field', column: 'owner_id' },
  { table: 'node_state', column: 'entity_id' },
  { table: 'node_state', column: 'rule_chain_id' },
  { table: 'node_output', column: 'entity_id' },
  { table: 'node_output', column: 'rule_chain_id' },
]

/** Steps of the transaction that deletes the entity. */
export function deleteAttached(database: EntityDatabase, entityId: string): readonly Statement[] {
  return deletions(database, sql`= ${entityId}`)
}

/** The same of many: `ids` is a query for them. */
export function deleteAttachedOfAll(database: EntityDatabase, ids: RawBuilder<unknown>): readonly Statement[] {
  return deletions(database, sql`in (${ids})`)
}

/** What hangs on it but its own values: for the transaction in which it becomes another tenant's. */
export function deleteLinks(database: EntityDatabase, entityId: string): readonly Statement[] {
  return deletions(
    database,
    sql`= ${entityId}`,
    ATTACHED.filter(({ table }) => table !== 'attribute'),
  )
}

function deletions(
  database: EntityDatabase,
  condition: RawBuilder<unknown>,
  tables: readonly AttachedRows[] = ATTACHED,
): readonly Statement[] {
  return tables.map(({ table, column }) => {
    const query = sql`delete from ${sql.table(table)} where ${sql.ref(column)} ${condition}`
    const { sql: text, parameters } = query.compile(database.builder)
    return { sql: text, parameters: parameters.map(sqlValue) }
  })
}
