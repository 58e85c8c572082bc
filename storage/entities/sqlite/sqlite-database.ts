/**
 * SQLite behind {@link EntityDatabase}. Transactions of a group share one commit and its sync; each is undone alone when it fails.
 */
import type { Worker } from 'node:worker_threads'
import type { CompiledQuery, Kysely } from 'kysely'
import { errorText, isMillraceError, type MillraceError } from '../../../model/errors.ts'
import { GroupCommit } from '../../group-commit.ts'
import { sqlValue, type EntityDatabase, type Read, type Statement, type Written } from '../database.ts'
import { queryBuilder, SQLITE } from '../dialect.ts'
import { ENTITY_REFUSALS, EntityStoreErrors } from '../errors.ts'
import type { Schema } from '../schema.ts'
import type { Outcome, PlainStatement, Reply, WorkerSettings } from './protocol.ts'
import { Lookups } from './lookups.ts'
import { SideThread } from './side-thread.ts'
import { startSqliteThread, ThreadCalls } from './thread-calls.ts'

/** Transactions waiting for the next commit; more are refused as retryable. */
const MAX_WAITING = 50_000
/** Reads that have no answer yet; more are refused as retryable. */
const MAX_READS = 50_000
/** Transactions in one commit: bounds how long a read waits behind it. */
const MAX_GROUP = 2_000

type Transaction = readonly Statement[]

/** What became of each transaction of a group. */
type Outcomes = ReadonlyMap<Transaction, Written | Error>

export interface SqliteListeners {
  /** Hears once that the thread ended before the close. */
  readonly onFatal?: ((error: Error) => void) | undefined
  /** Hears why commits fail when they begin to, and undefined when one succeeds again. */
  readonly onTrouble?: ((reason: string | undefined) => void) | undefined
}

/** Other connections to the same file, which only read. */
interface ReadersBeside {
  readonly side: SideThread
  readonly lookups: Lookups
}

export async function openSqliteDatabase(options: WorkerSettings & SqliteListeners): Promise<SqliteDatabase> {
  const { onFatal, onTrouble, ...settings } = options
  const worker = await startSqliteThread(settings, 'entities')
  // Nobody else sees a database in memory.
  if (settings.file === ':memory:') return new SqliteDatabase(worker, { onFatal, onTrouble })
  const beside = { side: new SideThread(settings.file), lookups: new Lookups(settings.file) }
  return new SqliteDatabase(worker, { onFatal, onTrouble }, beside)
}

export class SqliteDatabase implements EntityDatabase {
  readonly builder: Kysely<Schema>
  readonly isShared = false
  /** The thread has put JavaScript's in place of SQLite's own. */
  readonly foldFunction = 'lower'
  private readonly calls: ThreadCalls
  private readonly side: SideThread | undefined
  private readonly lookups: Lookups | undefined
  private readonly listeners: SqliteListeners
  private isTroubled = false
  private readonly group: GroupCommit<Transaction, Outcomes>
  private closing: Promise<void> | undefined

  constructor(worker: Worker, listeners: SqliteListeners = {}, beside?: ReadersBeside) {
    this.calls = new ThreadCalls(worker, (error) => this.listeners.onFatal?.(error))
    this.side = beside?.side
    this.lookups = beside?.lookups
    this.listeners = listeners
    this.builder = queryBuilder(this, SQLITE)
    this.group = new GroupCommit({
      name: 'The entity store',
      refusals: ENTITY_REFUSALS,
      maxPending: MAX_WAITING,
      maxGroup: MAX_GROUP,
      write: (group) => this.commit(group),
    })
  }

  async read<Row>(query: CompiledQuery<Row>): Promise<Read<Row>> {
    if (this.closing !== undefined) throw EntityStoreErrors.CLOSED()
    if (this.calls.size >= MAX_READS) throw EntityStoreErrors.OVERLOADED({ waiting: this.calls.size, limit: MAX_READS })
    const reply = await this.calls.rows(query.sql, query.parameters.map(sqlValue))
    return { rows: reply.rows as readonly Row[], sequence: reply.sequence }
  }

  lookUp<Row>(query: CompiledQuery<Row>): readonly Row[] | undefined {
    if (this.closing !== undefined || this.calls.ended !== undefined) return undefined
    return this.lookups?.rows(query.sql, query.parameters.map(sqlValue)) as readonly Row[] | undefined
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

  async write(statements: readonly Statement[]): Promise<Written> {
    if (this.calls.ended !== undefined && this.closing === undefined) throw this.calls.ended
    // A copy: the same list may be given twice.
    const transaction = [...statements]
    const outcome = (await this.group.add(transaction)).get(transaction)
    if (outcome === undefined) throw EntityStoreErrors.LOST({ reason: 'a transaction without an outcome' })
    if (outcome instanceof Error) throw outcome
    return outcome
  }

  close(): Promise<void> {
    this.closing ??= this.drainAndClose()
    return this.closing
  }

  private async drainAndClose(): Promise<void> {
    this.lookups?.close()
    await Promise.all([this.group.close(), this.side?.close()])
    await this.calls.close()
  }

  private async commit(group: readonly Transaction[]): Promise<Outcomes> {
    try {
      const transactions = group.map((statements) => statements.map(plainStatement))
      const reply = await this.calls.request((id) => ({ kind: 'write', id, transactions }))
      if (reply.kind !== 'written')
        throw EntityStoreErrors.LOST({ reason: `unexpected answer ${reply.kind} to a write` })
      this.reportTrouble(undefined)
      return new Map(group.map((statements, index) => [statements, outcomeOf(statements, reply, index)]))
    } catch (error) {
      if (isLost(error)) throw error
      this.reportTrouble(error instanceof Error && error.cause !== undefined ? error.cause : error)
      throw EntityStoreErrors.UNAVAILABLE({ reason: errorText(error) }, error)
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
    // What a select finds is counted by its rows.
    returnsRows: statement.returnsRows === true || statement.isQuery === true,
    expectedChanges: statement.expect?.changes,
  }
}

function outcomeOf(
  statements: Transaction,
  { outcomes, sequence }: Extract<Reply, { kind: 'written' }>,
  index: number,
): Written | Error {
  const outcome = outcomes[index]
  if (outcome === undefined) return EntityStoreErrors.LOST({ reason: 'a transaction without an outcome' })
  if (outcome.kind === 'done') return { sequence, results: outcome.results }
  return refusalOf(statements[outcome.statement], outcome)
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
