/**
 * The SQLite thread: owns the only connection that writes, so its reads and writes have one order, and every read can say up to which
 * commit it speaks. A disk that is slow to sync holds this thread, never the event loop's.
 */
import { DatabaseSync, type SQLInputValue, type StatementSync } from 'node:sqlite'
import { parentPort, workerData } from 'node:worker_threads'
import { errorText } from '../../../model/errors.ts'
import {
  READY,
  type Outcome,
  type PlainResult,
  type PlainStatement,
  type Reply,
  type Request,
  type WorkerSettings,
} from './protocol.ts'
import { PreparedStatements, rowsOf } from './prepared-statements.ts'

/** Refusals come together: after one so many groups have savepoints at once, and none of them runs twice. */
const CAREFUL_GROUPS = 16

class UnexpectedChanges extends Error {}

class SqliteThread {
  private readonly database: DatabaseSync
  private readonly prepared: PreparedStatements
  /** Counts commits since the start: the order in which changes became visible. */
  private sequence = 0
  private carefulGroups = 0

  constructor(settings: WorkerSettings) {
    const readOnly = settings.readOnly ?? false
    this.database = new DatabaseSync(settings.file, { readOnly })
    this.database.exec('pragma busy_timeout = 5000')
    if (!readOnly) {
      this.database.exec(`
        pragma journal_mode = wal;
        pragma synchronous = ${settings.synchronous};
        pragma foreign_keys = on;
        pragma secure_delete = on;
        pragma wal_autocheckpoint = 4000;
      `)
      this.requireWhole(settings.file)
      // 16 MiB of pages in the place of 2: a group of commits that touches more writes pages to the file before its end, and again.
      this.database.exec('pragma cache_size = -16384')
    } else {
      // For searches over much: 64 MiB of pages in the place of 2, as long as the thread is there.
      this.database.exec('pragma cache_size = -65536')
    }
    this.prepared = new PreparedStatements(this.database)
  }

  /** SQLite has no checksums: it would serve what is damaged, and write on over it. Some 0.2 s for 100,000 devices. */
  private requireWhole(file: string): void {
    const found = this.database
      .prepare('pragma integrity_check(3)')
      .all()
      .map((row) => String(row['integrity_check']))
    if (found[0] === 'ok') return
    throw new Error(
      `${file} is damaged (${found.join('; ')}): restore a backup, or what .recover of the sqlite3 program saves`,
    )
  }

  handle(request: Request): Reply {
    try {
      switch (request.kind) {
        case 'read': {
          const rows = rowsOf(this.prepared.of(request.sql), request.parameters)
          return { kind: 'rows', id: request.id, rows, sequence: this.sequence }
        }
        case 'write':
          return {
            kind: 'written',
            id: request.id,
            outcomes: this.commit(request.transactions),
            sequence: this.sequence,
          }
        case 'copy':
          this.database.prepare('vacuum into ?').run(request.file)
          return { kind: 'copied', id: request.id }
        case 'close':
          this.database.close()
          return { kind: 'closed', id: request.id }
      }
    } catch (error) {
      return { kind: 'error', id: request.id, reason: errorText(error) }
    }
  }

  /**
   * A savepoint for each transaction copies every page that it is the first to change: half of an import's processor time. Nearly all groups
   * hold no transaction that is refused, so a group runs without them, and from its start with them where one is.
   */
  private commit(transactions: readonly (readonly PlainStatement[])[]): Outcome[] {
    const outcomes =
      (this.carefulGroups > 0 ? undefined : this.inTransaction(() => this.runAll(transactions))) ??
      this.inTransaction(() => transactions.map((statements) => this.runInSavepoint(statements)))
    if (outcomes === undefined) throw new Error('a group whose savepoints gave no outcomes')
    const hasRefusal = outcomes.some(({ kind }) => kind !== 'done')
    this.carefulGroups = hasRefusal ? CAREFUL_GROUPS : Math.max(0, this.carefulGroups - 1)
    this.sequence++
    return outcomes
  }

  /** Rolled back where `run` throws or answers undefined. */
  private inTransaction(run: () => Outcome[] | undefined): Outcome[] | undefined {
    this.database.exec('begin immediate')
    try {
      const outcomes = run()
      this.database.exec(outcomes === undefined ? 'rollback' : 'commit')
      return outcomes
    } catch (error) {
      if (this.database.isTransaction) this.database.exec('rollback')
      throw error
    }
  }

  /** Undefined where one is refused. */
  private runAll(transactions: readonly (readonly PlainStatement[])[]): Outcome[] | undefined {
    try {
      return transactions.map((statements) => ({ kind: 'done', results: statements.map((each) => this.run(each)) }))
    } catch (error) {
      if (!this.database.isTransaction) throw error
      return undefined
    }
  }

  private runInSavepoint(statements: readonly PlainStatement[]): Outcome {
    const results: PlainResult[] = []
    this.database.exec('savepoint change')
    try {
      for (const statement of statements) results.push(this.run(statement))
      this.database.exec('release change')
      return { kind: 'done', results }
    } catch (error) {
      // A full disk or an I/O error ends the whole transaction by itself: then nothing of the group is committed.
      if (!this.database.isTransaction) throw error
      this.database.exec('rollback to change')
      this.database.exec('release change')
      return refusal(error, results.length)
    }
  }

  private run(statement: PlainStatement): PlainResult {
    const prepared = this.prepared.of(statement.sql)
    const result = this.execute(prepared, statement)
    if (statement.expectedChanges !== undefined && result.changes !== statement.expectedChanges)
      throw new UnexpectedChanges()
    return result
  }

  private execute(prepared: StatementSync, statement: PlainStatement): PlainResult {
    if (statement.parameterRows !== undefined) return runRows(prepared, statement.parameterRows)
    if (statement.returnsRows === true) {
      const rows = rowsOf(prepared, statement.parameters)
      return { changes: rows.length, rows, untouched: [] }
    }
    const { changes } = prepared.run(...statement.parameters)
    return { changes: Number(changes), rows: [], untouched: [] }
  }
}

function runRows(prepared: StatementSync, parameterRows: readonly (readonly SQLInputValue[])[]): PlainResult {
  const untouched: number[] = []
  let changes = 0
  for (const [index, parameters] of parameterRows.entries()) {
    const touched = Number(prepared.run(...parameters).changes)
    if (touched === 0) untouched.push(index)
    changes += touched
  }
  return { changes, rows: [], untouched }
}

function refusal(error: unknown, statement: number): Outcome {
  if (error instanceof UnexpectedChanges) return { kind: 'unexpected-changes', statement }
  const reason = errorText(error)
  const unique = /^UNIQUE constraint failed: (.*)$/.exec(reason)
  if (unique?.[1] !== undefined) return { kind: 'unique', statement, constraint: unique[1] }
  return { kind: 'failed', statement, reason }
}

const port = parentPort
if (port === null) throw new Error('This file runs as a worker thread')
const thread = new SqliteThread(workerData as WorkerSettings)
port.on('message', (requests: readonly Request[]) => {
  const replies = requests.map((request) => thread.handle(request))
  port.postMessage(replies)
  if (replies.some((reply) => reply.kind === 'closed')) port.close()
})
port.postMessage(READY)
