/**
 * SQLite behind {@link EntityDatabase}. Group commit: exactly one write is in flight, and all transactions that arrive
 * meanwhile share the next commit and its sync; each is undone alone when it fails.
 */
import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import type { CompiledQuery, Kysely } from 'kysely'
import { errorText, isMillraceError, type MillraceError } from '../../../model/errors.ts'
import { sqlValue, type EntityDatabase, type Read, type Statement, type Written } from '../database.ts'
import { queryBuilder, SQLITE } from '../dialect.ts'
import { EntityStoreErrors } from '../errors.ts'
import type { Schema } from '../schema.ts'
import { READY, type Outcome, type PlainStatement, type Reply, type Request, type WorkerSettings } from './protocol.ts'

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

interface PendingReply {
  answer(reply: Reply): void
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
  const worker = new Worker(new URL('./sqlite-worker.ts', import.meta.url), {
    workerData: settings,
    name: 'entities',
    execArgv: ['--disable-warning=ExperimentalWarning'],
  })
  const [first] = (await once(worker, 'message')) as [unknown]
  if (first !== READY) throw EntityStoreErrors.LOST({ reason: 'its thread does not answer as it should' })
  return new SqliteDatabase(worker, { onFatal, onTrouble })
}

export class SqliteDatabase implements EntityDatabase {
  readonly builder: Kysely<Schema>
  readonly isShared = false
  /** The thread has put JavaScript's in place of SQLite's own. */
  readonly foldFunction = 'lower'
  private readonly worker: Worker
  private readonly listeners: SqliteListeners
  private isTroubled = false
  private readonly pending = new Map<number, PendingReply>()
  private outgoing: Request[] = []
  private waiting: WaitingWrite[] = []
  private writing = false
  private lastRequest = 0
  private ended: Error | undefined
  private closing: Promise<void> | undefined
  private readonly idleListeners: (() => void)[] = []

  constructor(worker: Worker, listeners: SqliteListeners = {}) {
    this.worker = worker
    this.listeners = listeners
    this.builder = queryBuilder(this, SQLITE)
    worker.on('message', (replies: readonly Reply[]) => {
      for (const reply of replies) this.received(reply)
    })
    worker.on('error', (error) => this.end(EntityStoreErrors.LOST({ reason: errorText(error) }, error)))
    worker.on('exit', (code) => this.end(EntityStoreErrors.LOST({ reason: `its thread ended with code ${code}` })))
  }

  async read<Row>(query: CompiledQuery<Row>): Promise<Read<Row>> {
    if (this.closing !== undefined) throw EntityStoreErrors.CLOSED()
    if (this.pending.size >= MAX_READS)
      throw EntityStoreErrors.OVERLOADED({ waiting: this.pending.size, limit: MAX_READS })
    const reply = await this.request((id) => ({
      kind: 'read',
      id,
      sql: query.sql,
      parameters: query.parameters.map(sqlValue),
    }))
    if (reply.kind !== 'rows') throw EntityStoreErrors.LOST({ reason: `unexpected answer ${reply.kind} to a read` })
    return { rows: reply.rows as readonly Row[], sequence: reply.sequence }
  }

  write(statements: readonly Statement[]): Promise<Written> {
    if (this.closing !== undefined) return Promise.reject(EntityStoreErrors.CLOSED())
    if (this.ended !== undefined) return Promise.reject(this.ended)
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
    await this.drained()
    if (this.ended !== undefined) return
    const exit = once(this.worker, 'exit')
    await this.request((id) => ({ kind: 'close', id }))
    await exit
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
      const reply = await this.request((id) => ({ kind: 'write', id, transactions }))
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

  private request(make: (id: number) => Request): Promise<Reply> {
    if (this.ended !== undefined) return Promise.reject(this.ended)
    const id = ++this.lastRequest
    return new Promise((resolve, reject) => {
      this.pending.set(id, { answer: resolve, reject })
      this.outgoing.push(make(id))
      if (this.outgoing.length === 1) queueMicrotask(() => this.send())
    })
  }

  /** What was asked in one go is one message: a message between threads costs more than a small query. */
  private send(): void {
    this.worker.postMessage(this.outgoing)
    this.outgoing = []
  }

  private received(reply: Reply): void {
    const pending = this.pending.get(reply.id)
    if (pending === undefined) return
    this.pending.delete(reply.id)
    if (reply.kind === 'error')
      pending.reject(EntityStoreErrors.FAILED({ reason: reply.reason }, new Error(reply.reason)))
    else pending.answer(reply)
  }

  private end(error: Error): void {
    const isFatal = this.ended === undefined && this.closing === undefined
    this.ended ??= isFatal ? error : EntityStoreErrors.CLOSED()
    for (const pending of this.pending.values()) pending.reject(this.ended)
    this.pending.clear()
    if (isFatal) this.listeners.onFatal?.(error)
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
