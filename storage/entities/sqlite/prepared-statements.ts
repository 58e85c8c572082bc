/** What every connection to the file has alike: prepared statements, the rows they answer, and lower case beyond ASCII. */
import type { DatabaseSync, SQLInputValue, StatementSync } from 'node:sqlite'

/** Statements are few and repeated; pages with odd filters make the rest. */
const MAX_PREPARED = 500

export class PreparedStatements {
  private readonly database: DatabaseSync
  private readonly known = new Map<string, StatementSync>()

  constructor(database: DatabaseSync) {
    this.database = database
    // SQLite's own lower() knows ASCII only; text search must find É by é as PostgreSQL does.
    database.function('lower', { deterministic: true }, (text: SQLInputValue | undefined) =>
      typeof text === 'string' ? text.toLowerCase() : (text ?? null),
    )
  }

  of(sql: string): StatementSync {
    const known = this.known.get(sql)
    if (known !== undefined) return known
    if (this.known.size >= MAX_PREPARED) this.known.clear()
    const statement = this.database.prepare(sql)
    this.known.set(sql, statement)
    return statement
  }
}

/** Integers are numbers where those hold each digit, bigints beyond. */
export function rowsOf(statement: StatementSync, parameters: readonly SQLInputValue[]): unknown[] {
  statement.setReadBigInts(true)
  const rows = statement.all(...parameters)
  for (const row of rows) {
    for (const column of Object.keys(row)) {
      const value = row[column]
      if (typeof value === 'bigint' && value <= Number.MAX_SAFE_INTEGER && value >= Number.MIN_SAFE_INTEGER) {
        row[column] = Number(value)
      }
    }
  }
  return rows
}
