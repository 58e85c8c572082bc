/**
 * Single rows, read on the caller's thread: one by its id costs a tenth of its way to the SQLite thread and back, and waits behind nothing
 * (`docs/reports/reads-profile.md`). Each statement sees every commit that was acknowledged before it.
 */
import { DatabaseSync } from 'node:sqlite'
import type { SqlValue } from '../database.ts'
import { PreparedStatements, rowsOf } from './prepared-statements.ts'

export class Lookups {
  private readonly database: DatabaseSync
  private readonly statements: PreparedStatements
  private isClosed = false

  /** The file is there. */
  constructor(file: string) {
    this.database = new DatabaseSync(file, { readOnly: true })
    // The event loop waits for nobody.
    this.database.exec('pragma busy_timeout = 0')
    this.statements = new PreparedStatements(this.database)
  }

  /** Undefined where it cannot be told now: the SQLite thread can, or says why not. */
  rows(sql: string, parameters: readonly SqlValue[]): readonly unknown[] | undefined {
    if (this.isClosed) return undefined
    try {
      return rowsOf(this.statements.of(sql), parameters)
    } catch {
      return undefined
    }
  }

  close(): void {
    if (this.isClosed) return
    this.isClosed = true
    this.database.close()
  }
}
