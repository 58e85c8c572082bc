/**
 * SQLite behind {@link EntityDatabase}. Group commit: exactly one write is in flight, and all transactions that arrive
 * meanwhile share the next commit and its sync; each is undone alone when it fails.
 */
import type { Worker } from 'node:worker_threads'
import type { CompiledQuery, Kysely } from 'kysely'
import { errorText, isMillraceError, type MillraceError } from '../../../model/errors.ts'
import { sqlValue, type EntityDatabase, type Read, type Statement, type Written } from '../database.ts'
import { queryBuilder, SQLITE } from '../dialect.ts'
import { EntityStoreErrors } from '../errors.ts'
import type { Schema } from '../schema.ts'
import type { Outcome, PlainStatement, WorkerSettings } from './protocol.ts'
import { SideThread } from './side-thread.ts'
import { startSqliteThread, ThreadCalls } from './thread-calls.ts'

/** Transactions waiting for the next commit; more are refused as retryable. */
const MAX_WAITING = 50_000
/** Reads that have no answer yet; more are refused as retryable. */
const MAX_READS = 50_000
/** Transactions in one commit: bounds how long a read waits behind it. */
const MAX_GROUP = 2_000

interface WaitingWrite {
  readonly statements: readonly Statement[]
  resolve(written: Written): void
  reject(error: Error): void
}

export interface SqliteListeners {
  /** Hears once that the thread ended before the close. */
  readonly onFatal?: ((error: Error) => void) | undefined
  /** Hears why commits fail when they begin to, and undefined when one succeeds again. */
  readonly onTrouble?: ((reason: string | undefined) => void) | undefined
}

export async function openSqliteDatabase(options: WorkerSettings & SqliteListeners): Promise<SqliteDatabase> {
  const { onFatal, onTrouble, ...settings } = options
  const worker = await startSqliteThread(settings, 'entities')
  // Nobody else sees a database in memory.
  const side = settings.file === ':memory:' ? undefined : new SideThread(settings.file)
  return new SqliteDatabase(worker, { onFatal, onTrouble }, side)
}

export class SqliteDatabase implements EntityDatabase {
  readonly builder: Kysely<Schema>
  readonly isShared = false
  /** The thread has put JavaScript's in place of SQLite's own. */
  readonly foldFunction = 'lower'
  private readonly calls: ThreadCalls
  private readonly side: SideThread | undefined
  private readonly listeners: SqliteListeners
  private isTroubled = false
  private waiting: WaitingWrite[] = []
  private writing = false
  private closing: Promise<void> | undefined
  private readonly idleListeners: (() => void)[] = []

  constructor(worker: Worker, listeners: SqliteListeners = {}, side?: SideThread) {
    this.calls = new ThreadCalls(worker, (error) => this.listeners.onFatal?.(error))
    this.side = side
    this.listeners = listeners
    this.builder = queryBuilder(this, SQLITE)
  }

  async read<Row>(query: CompiledQuery<Row>): Promise<Read<Row>> {
    if (this.closing !== undefined) throw EntityStoreErrors.CLOSED()
    if (this.calls.size >= MAX_READS) throw EntityStoreErrors.OVERLOADED({ waiting: this.calls.size, limit: MAX_READS })
    const reply = await this.calls.rows(query.sql, query.parameters.map(sqlValue))
    return { rows: reply.rows as readonly Row[], sequence: reply.sequence }
  }

  async scan<Row>(query: CompiledQuery<Row>): Promise<readonly Row[]> {
    if (this.side === undefined) return (await this.read(query)).rows
    if (this.closing !== undefined) throw EntityStoreErrors.CLOSED()
    return (await this.side.read(query.sql, query.parameters.map(sqlValue))) as readonly Row[]
  }

  /** Writes a consistent copy beside the commits, with all that was acknowledged before. The file must not be there; it is not synced. */
  async copyTo(file: string): Promise<void> {
    if (this.closing !== undefined || this.side === undefined) throw EntityStoreErrors.CLOSED()
    await this.side.copyTo(file)
  }

  write(statements: readonly Statement[]): Promise<Written> {
    if (this.closing !== undefined) return Promise.reject(EntityStoreErrors.CLOSED())
    if (this.calls.ended !== undefined) return Promise.reject(this.calls.ended)
    if (this.waiting.length >= MAX_WAITING) {
      return Promise.reject(EntityStoreErrors.OVERLOADED({ waiting: this.waiting.length, limit: MAX_WAITING }))
    }
    return new Promise((resolve, reject) => {
      this.waiting.push({ statements, resolve, reject })
      if (!this.writing) void this.writeWaiting()
    })
  }

  close(): Promise<void> {
    this.closing ??= this.drainAndClose()
    return this.closing
  }

  private async drainAndClose(): Promise<void> {
    await Promise.all([this.drained(), this.side?.close()])
    await this.calls.close()
  }

  private async drained(): Promise<void> {
    while (this.writing) await new Promise<void>((resolve) => this.idleListeners.push(resolve))
  }

  private async writeWaiting(): Promise<void> {
    this.writing = true
    while (this.waiting.length > 0) {
      const group = this.waiting.splice(0, MAX_GROUP)
      await this.commit(group)
    }
    this.writing = false
    for (const listener of this.idleListeners.splice(0)) listener()
  }

  private async commit(group: readonly WaitingWrite[]): Promise<void> {
    try {
      const transactions = group.map((write) => write.statements.map(plainStatement))
      const reply = await this.calls.request((id) => ({ kind: 'write', id, transactions }))
      if (reply.kind !== 'written')
        throw EntityStoreErrors.LOST({ reason: `unexpected answer ${reply.kind} to a write` })
      this.reportTrouble(undefined)
      for (const [index, write] of group.entries()) settle(write, reply.outcomes[index], reply.sequence)
    } catch (error) {
      if (!isLost(error)) this.reportTrouble(error instanceof Error && error.cause !== undefined ? error.cause : error)
      const refusal = isLost(error) ? error : EntityStoreErrors.UNAVAILABLE({ reason: errorText(error) }, error)
      for (const write of group) write.reject(refusal)
    }
  }

  /** Once a change: the callers hear of each commit. */
  private reportTrouble(failure: unknown): void {
    if (this.isTroubled === (failure !== undefined)) return
    this.isTroubled = failure !== undefined
    this.listeners.onTrouble?.(failure === undefined ? undefined : errorText(failure))
  }
}

/** The thread ended, or the store is closed: no disk error, and told as what it is. */
function isLost(error: unknown): error is MillraceError {
  return isMillraceError(error) && error.kind === 'terminal'
}

function plainStatement(statement: Statement): PlainStatement {
  return {
    sql: statement.sql,
    parameters: statement.parameters,
    parameterRows: statement.parameterRows,
    returnsRows: statement.returnsRows,
    expectedChanges: statement.expect?.changes,
  }
}

function settle(write: WaitingWrite, outcome: Outcome | undefined, sequence: number): void {
  if (outcome === undefined) write.reject(EntityStoreErrors.LOST({ reason: 'a transaction without an outcome' }))
  else if (outcome.kind === 'done') write.resolve({ sequence, results: outcome.results })
  else write.reject(refusalOf(write.statements[outcome.statement], outcome))
}

function refusalOf(statement: Statement | undefined, outcome: Exclude<Outcome, { kind: 'done' }>): Error {
  switch (outcome.kind) {
    case 'unexpected-changes':
      return statement?.expect?.otherwise() ?? EntityStoreErrors.FAILED()
    case 'unique':
      return (
        statement?.constraints?.[outcome.constraint]?.() ??
        EntityStoreErrors.CONSTRAINT({ constraint: outcome.constraint })
      )
    case 'failed':
      return outcome.reason.includes('constraint failed')
        ? EntityStoreErrors.CONSTRAINT({ constraint: outcome.reason })
        : EntityStoreErrors.FAILED({ reason: outcome.reason }, new Error(outcome.reason))
  }
}
