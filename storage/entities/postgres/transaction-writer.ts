/**
 * Group commit over one connection: a group of our transactions is one of PostgreSQL's, with one sync and one round trip. Where one of them is refused, those before it are committed
 * without it, then it is judged as the first of the rest: so the order of calls is the order of effects.
 */
import type { MillraceError } from '../../../model/errors.ts'
import { GroupCommit } from '../../group-commit.ts'
import type { Outcome, PostgresConnection, PostgresQuery, PostgresResult } from '../../postgres/connection.ts'
import { textArray } from '../../postgres/binary-array.ts'
import { PostgresErrors, serverReport } from '../../postgres/errors.ts'
import { TRANSACTION_ID } from '../../postgres/snapshot-reads.ts'
import type { Statement, Written } from '../database.ts'
import { ENTITY_REFUSALS, EntityStoreErrors } from '../errors.ts'
import { aloneOf, type FusedInserts, type Unit } from './fused-inserts.ts'
import { refusalOf, storeError, type UniqueColumns } from './refusals.ts'
import { stepOf, type StatementNames, type Step } from './statement-queries.ts'

/** Queries waiting for the next commit; more are refused as retryable. */
const MAX_WAITING = 50_000
/** Queries in one commit at most, but for a single transaction that has more: bounds how long rows are locked. */
const MAX_QUERIES = 2_000
/** How often a commit that met others is tried, before its callers are told to: alone it meets no other process's. */
const MAX_ATTEMPTS = 5
/** Any number that no other lock of ours has. */
const LOCK_OF_COMMITS = 1_297_241_676
/** Of those that want that one to themselves: one after the other. */
const LOCK_OF_TURNS = 1_297_241_677
const ALONE_WITHIN_MS = 1000
/** Of a statement behind the one that failed. */
const TRANSACTION_ABORTED = '25P02'
/** A lock was not to be had within `lock_timeout`. */
const LOCK_NOT_AVAILABLE = '55P03'

interface Write {
  readonly steps: readonly Step[]
  readonly tenants: readonly string[]
}

/** What became of each write of a group. */
type Outcomes = Map<Write, Written | Error>

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
  private readonly fused: FusedInserts
  private readonly group: GroupCommit<Write, Outcomes>

  constructor(connection: PostgresConnection, names: StatementNames, unique: UniqueColumns, fused: FusedInserts) {
    this.connection = connection
    this.names = names
    this.unique = unique
    this.fused = fused
    this.group = new GroupCommit({
      name: 'The entity store',
      refusals: ENTITY_REFUSALS,
      maxPending: MAX_WAITING,
      maxGroup: MAX_QUERIES,
      write: (writes) => this.commitAll(writes),
    })
  }

  async write(statements: readonly Statement[]): Promise<Written> {
    const steps = statements.map((statement) => stepOf(statement, this.names))
    const tenants = statements.flatMap(({ holdsTenant }) => (holdsTenant === undefined ? [] : [holdsTenant]))
    const write = { steps, tenants }
    const weight = steps.reduce((sum, { queries }) => sum + queries.length, 0)
    const outcome = (await this.group.add(write, weight)).get(write)
    if (outcome === undefined) throw EntityStoreErrors.LOST({ reason: 'a transaction without an outcome' })
    if (outcome instanceof Error) throw outcome
    return outcome
  }

  /** Waits for what was accepted. Idempotent. */
  async close(): Promise<void> {
    await this.group.close()
    await this.connection.close()
  }

  private async commitAll(writes: readonly Write[]): Promise<Outcomes> {
    const outcomes: Outcomes = new Map()
    await this.commit(writes, outcomes)
    return outcomes
  }

  /** Gives every write of the group its outcome. */
  private async commit(group: readonly Write[], outcomes: Outcomes): Promise<void> {
    let rest = group
    // Where one is refused, those behind it may be for the same reason: each is sent a few times, not once for each of them.
    let size = group.length
    let isFused = true
    while (rest.length > 0) {
      const some = rest.slice(0, size)
      const units = isFused ? this.fused.unitsOf(some) : some.map(aloneOf)
      const attempt = await this.attempt(some, units)
      if (attempt.kind === 'failed') {
        for (const write of rest) outcomes.set(write, storeError(attempt.error))
        return
      }
      if (attempt.kind === 'committed') {
        committed(units, attempt, outcomes)
        rest = rest.slice(some.length)
        size *= 2
        continue
      }
      // Which of them it was is known when each stands alone.
      if (units.length < some.length) {
        isFused = false
        continue
      }
      const { index, step } = locate(some, attempt.place)
      const [first] = some
      if (index > 0) await this.commit(some.slice(0, index), outcomes)
      else if (first !== undefined) {
        const { error } = attempt
        outcomes.set(first, step === undefined ? storeError(error) : refusalOf(step.statement, error, this.unique))
      }
      rest = rest.slice(Math.max(1, index))
      size = Math.max(1, size >> 1)
    }
  }

  private async attempt(group: readonly Write[], units: readonly Unit<Write>[]): Promise<Attempt> {
    const queries = units.flatMap((unit) => unit.queries)
    const held = holding(group)
    let lock = BESIDE_OTHERS
    for (let attempt = 1; ; attempt++) {
      const result = await this.transaction([BEGIN, ...lock, TRANSACTION_ID, ...held], queries)
      const isConflict = result.kind !== 'committed' && result.error.code === 'postgres.CONFLICT'
      if (!isConflict) return result
      if (attempt === MAX_ATTEMPTS) return { kind: 'failed', error: result.error }
      lock = lock === ALONE && isLockDenied(result.error) ? BESIDE_OTHERS : ALONE
    }
  }

  /** One transaction in one round trip. Where the connection breaks on the way, nobody knows whether it was committed. */
  private async transaction(first: readonly PostgresQuery[], queries: readonly PostgresQuery[]): Promise<Attempt> {
    let outcomes: readonly Outcome<Row>[]
    try {
      outcomes = await this.connection.queries<Row>([...first, ...queries, COMMIT])
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
      const place = index - first.length
      const isOfQuery = place >= 0 && place < queries.length && !error.isOutage
      return isOfQuery && serverReport(error.cause)?.code !== TRANSACTION_ABORTED
        ? { kind: 'refused', place, error }
        : { kind: 'failed', error }
    }
    const id = results[first.indexOf(TRANSACTION_ID)]?.rows[0]?.['id']
    if (results.at(-1)?.command !== 'COMMIT' || typeof id !== 'number') {
      return { kind: 'failed', error: PostgresErrors.FAILED({ reason: 'the transaction was not committed' }) }
    }
    return { kind: 'committed', sequence: id, results: results.slice(first.length, -1) }
  }
}

/** Whatever the server's default is: who waited for a tenant must see what was committed meanwhile. */
const BEGIN: PostgresQuery = { text: 'begin isolation level read committed' }
const COMMIT: PostgresQuery = { text: 'commit' }

/**
 * Commits of all processes hold a lock together; one that PostgreSQL ended, since it had met another (a deadlock, say, of two deletions of the
 * same rows), is tried again with the lock to itself. Without it, it takes its first rows at once, and meets the same one again, which needs
 * those next: of two that changed 20 rows in opposite orders, one lost five times in a row.
 */
const BESIDE_OTHERS: readonly PostgresQuery[] = [
  { text: `select ${lockOf('pg_advisory_xact_lock_shared', LOCK_OF_COMMITS)}`, name: 'beside_others' },
]
/**
 * Who waits for it keeps everybody's next commit waiting: where a process stands still in a commit, only for so long. Who waits for its turn keeps
 * nobody waiting, and its time does not count: it may be behind several large commits.
 */
const ALONE: readonly PostgresQuery[] = [
  { text: `select ${lockOf('pg_advisory_xact_lock', LOCK_OF_TURNS)}` },
  { text: `set local lock_timeout = '${ALONE_WITHIN_MS}ms'` },
  { text: `select ${lockOf('pg_advisory_xact_lock', LOCK_OF_COMMITS)}` },
  { text: 'set local lock_timeout to default' },
]

/** Somebody had the lock for too long; the others of the class met another transaction at a row. */
function isLockDenied({ cause }: MillraceError): boolean {
  return serverReport(cause)?.code === LOCK_NOT_AVAILABLE
}

/** Of the schema: the database may hold others. */
function lockOf(kind: string, lock: number): string {
  return `${kind}(${lock}, hashtext(current_schema()))`
}

/** The rows of the tenants that the group holds, locked in the order of their ids as in every process. */
function holding(group: readonly Write[]): readonly PostgresQuery[] {
  const tenants = new Set(group.flatMap((write) => write.tenants))
  if (tenants.size === 0) return []
  const text = 'select 1 from tenant where id = any($1::text[]) order by id for no key update'
  return [{ text, parameters: [textArray([...tenants])], name: 'hold_tenants' }]
}

function committed(
  units: readonly Unit<Write>[],
  { sequence, results }: Extract<Attempt, { kind: 'committed' }>,
  outcomes: Outcomes,
): void {
  let at = 0
  for (const unit of units) {
    const ofWrites = unit.resultsOf(results.slice(at, (at += unit.queries.length)))
    for (const [index, write] of unit.writes.entries())
      outcomes.set(write, { sequence, results: ofWrites[index] ?? [] })
  }
}

/** The write and the step that the query at this place belongs to. */
function locate(group: readonly Write[], place: number): { index: number; step: Step | undefined } {
  let end = 0
  for (const [index, write] of group.entries()) {
    for (const step of write.steps) {
      end += step.queries.length
      if (place < end) return { index, step }
    }
  }
  return { index: 0, step: undefined }
}
