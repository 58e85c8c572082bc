/**
 * Group commit over one connection: exactly one transaction of PostgreSQL is in flight, and all of ours that arrive meanwhile share the
 * next one and its sync; the whole of it is one round trip. Where one of them is refused, those before it are committed
 * without it, then it is judged as the first of the rest: so the order of calls is the order of effects.
 */
import type { MillraceError } from '../../../model/errors.ts'
import type { Outcome, PostgresConnection, PostgresQuery, PostgresResult } from '../../postgres/connection.ts'
import { PostgresErrors, serverReport } from '../../postgres/errors.ts'
import { TRANSACTION_ID } from '../../postgres/snapshot-reads.ts'
import type { Statement, Written } from '../database.ts'
import { EntityStoreErrors } from '../errors.ts'
import { refusalOf, storeError, type UniqueColumns } from './refusals.ts'
import { stepOf, type StatementNames, type Step } from './statement-queries.ts'

/** Transactions waiting for the next commit; more are refused as retryable. */
const MAX_WAITING = 50_000
/** Queries in one commit at most, but for a single transaction that has more: bounds how long rows are locked. */
const MAX_QUERIES = 2_000
/** How often a commit that met those of other processes is tried, before its callers are told to. */
const MAX_ATTEMPTS = 5
/** Of a statement behind the one that failed. */
const TRANSACTION_ABORTED = '25P02'

interface WaitingWrite {
  readonly steps: readonly Step[]
  readonly queries: readonly PostgresQuery[]
  resolve(written: Written): void
  reject(error: Error): void
}

type Row = Readonly<Record<string, unknown>>

type Attempt =
  | { readonly kind: 'committed'; readonly sequence: number; readonly results: readonly PostgresResult<Row>[] }
  /** The query at this place among those of the group was refused; nothing was committed. */
  | { readonly kind: 'refused'; readonly place: number; readonly error: MillraceError }
  | { readonly kind: 'failed'; readonly error: MillraceError }

export class TransactionWriter {
  private readonly connection: PostgresConnection
  private readonly names: StatementNames
  private readonly unique: UniqueColumns
  private waiting: WaitingWrite[] = []
  private running: Promise<void> | undefined
  private closed = false

  constructor(connection: PostgresConnection, names: StatementNames, unique: UniqueColumns) {
    this.connection = connection
    this.names = names
    this.unique = unique
  }

  write(statements: readonly Statement[]): Promise<Written> {
    if (this.closed) return Promise.reject(EntityStoreErrors.CLOSED())
    if (this.waiting.length >= MAX_WAITING) {
      return Promise.reject(EntityStoreErrors.OVERLOADED({ waiting: this.waiting.length, limit: MAX_WAITING }))
    }
    const steps = statements.map((statement) => stepOf(statement, this.names))
    const queries = steps.flatMap((step) => step.queries)
    return new Promise((resolve, reject) => {
      this.waiting.push({ steps, queries, resolve, reject })
      this.running ??= this.run()
    })
  }

  /** Waits for what was accepted. Idempotent. */
  async close(): Promise<void> {
    this.closed = true
    await this.running
    await this.connection.close()
  }

  private async run(): Promise<void> {
    // One microtask, so that what arrives in the same turn goes together.
    await Promise.resolve()
    while (this.waiting.length > 0) await this.commit(this.takeGroup())
    this.running = undefined
  }

  private takeGroup(): readonly WaitingWrite[] {
    let queries = 0
    let count = 0
    for (const write of this.waiting) {
      queries += write.queries.length
      if (count > 0 && queries > MAX_QUERIES) break
      count++
    }
    return this.waiting.splice(0, count)
  }

  /** Settles every write of the group. */
  private async commit(group: readonly WaitingWrite[]): Promise<void> {
    let rest = group
    while (rest.length > 0) {
      const attempt = await this.attempt(rest)
      if (attempt.kind === 'committed') {
        resolveAll(rest, attempt)
        return
      }
      if (attempt.kind === 'failed') {
        for (const write of rest) write.reject(storeError(attempt.error))
        return
      }
      const { index, step } = locate(rest, attempt.place)
      if (index > 0) await this.commit(rest.slice(0, index))
      else
        rest[0]?.reject(
          step === undefined ? storeError(attempt.error) : refusalOf(step.statement, attempt.error, this.unique),
        )
      rest = rest.slice(Math.max(1, index))
    }
  }

  private async attempt(group: readonly WaitingWrite[]): Promise<Attempt> {
    const queries = group.flatMap((write) => write.queries)
    for (let attempt = 1; ; attempt++) {
      const result = await this.transaction(queries)
      const isConflict = result.kind !== 'committed' && result.error.code === 'postgres.CONFLICT'
      if (!isConflict) return result
      if (attempt === MAX_ATTEMPTS) return { kind: 'failed', error: result.error }
    }
  }

  /** One transaction in one round trip. Where the connection breaks on the way, nobody knows whether it was committed. */
  private async transaction(queries: readonly PostgresQuery[]): Promise<Attempt> {
    let outcomes: readonly Outcome<Row>[]
    try {
      outcomes = await this.connection.queries<Row>([BEGIN, TRANSACTION_ID, ...queries, COMMIT])
    } catch (error) {
      return { kind: 'failed', error: error as MillraceError }
    }
    const results: PostgresResult<Row>[] = []
    for (const [index, outcome] of outcomes.entries()) {
      if (!('error' in outcome)) {
        results.push(outcome)
        continue
      }
      const { error } = outcome
      const place = index - 2
      const isOfQuery = place >= 0 && place < queries.length && !error.isOutage
      return isOfQuery && serverReport(error.cause)?.code !== TRANSACTION_ABORTED
        ? { kind: 'refused', place, error }
        : { kind: 'failed', error }
    }
    const id = results[1]?.rows[0]?.['id']
    if (results.at(-1)?.command !== 'COMMIT' || typeof id !== 'number') {
      return { kind: 'failed', error: PostgresErrors.FAILED({ reason: 'the transaction was not committed' }) }
    }
    return { kind: 'committed', sequence: id, results: results.slice(2, -1) }
  }
}

const BEGIN: PostgresQuery = { text: 'begin' }
const COMMIT: PostgresQuery = { text: 'commit' }

function resolveAll(
  group: readonly WaitingWrite[],
  { sequence, results }: Extract<Attempt, { kind: 'committed' }>,
): void {
  let at = 0
  for (const write of group) {
    const stepResults = write.steps.map((step) => {
      const ofStep = results.slice(at, at + step.queries.length)
      at += step.queries.length
      return step.resultOf(ofStep)
    })
    write.resolve({ sequence, results: stepResults })
  }
}

/** The write and the step that the query at this place belongs to. */
function locate(group: readonly WaitingWrite[], place: number): { index: number; step: Step | undefined } {
  let end = 0
  for (const [index, write] of group.entries()) {
    for (const step of write.steps) {
      end += step.queries.length
      if (place < end) return { index, step }
    }
  }
  return { index: 0, step: undefined }
}
