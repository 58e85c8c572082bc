/**
 * Where values of many entities become one: a small job at once, a large one as a batch on threads of its own, so that the event loop goes on.
 * Jobs come in the turns of their tenants (`tenant-turns.ts`), which also bound how many are in memory: a full pool makes the next ones wait.
 */
import type { Clock } from '../../../model/clock.ts'
import { errorText } from '../../../model/errors.ts'
import { summarized, summaryCostUs, type SummaryJob, type SummaryResult } from '../../../model/group-summary.ts'
import { createThreadPool, type ThreadPool } from '../thread-pool.ts'
import type { TimedSummary } from './aggregation-thread.ts'
import { AggregationErrors } from './errors.ts'
import { TenantTurns } from './tenant-turns.ts'

export interface AggregationWorkersOptions {
  readonly clock: Clock
  /** Most threads. None runs while there is nothing for it. */
  readonly threads: number
  /** After which an idle thread ends, ms; default a minute. */
  readonly idleTimeoutMs?: number
  /** Jobs that take longer (estimated, microseconds) go to the pool; default {@link INLINE_US}. */
  readonly inlineUs?: number
  /** Aggregations of one tenant that may wait; default 1,000. */
  readonly waitingBound?: number
}

export interface AggregationFigures {
  /** Aggregations whose turn has not come, and those under way with their reads. */
  readonly waiting: number
  readonly running: number
  readonly threads: number
  /** Since the start: jobs done at once, jobs done by the pool, their entities, aggregations for which there was no room. */
  readonly inline: number
  readonly pooled: number
  readonly entities: number
  readonly refused: number
  /** Since the start: milliseconds that threads computed. */
  readonly pooledMs: number
}

export type SummaryPool = ThreadPool<SummaryJob, TimedSummary>

/** What a job may hold up the event loop for; the way to a thread and back costs about as much (`benchmarks/aggregation`). */
export const INLINE_US = 500
/** Aggregations at a time for each thread: while one computes another one reads. */
const PLACES_A_THREAD = 2
/** A thread that ended under a task was ended from outside: it is asked once more. */
const TRIES = 2

export class AggregationWorkers {
  private readonly options: AggregationWorkersOptions
  private readonly startPool: () => SummaryPool
  private readonly turns: TenantTurns
  private pool: SummaryPool | undefined
  private readonly totals = { inline: 0, pooled: 0, entities: 0, refused: 0, pooledMs: 0 }
  private closing: Promise<void> | undefined

  /** Starts no thread until the first large job. Tests hand in a pool whose threads die. */
  constructor(options: AggregationWorkersOptions, startPool: () => SummaryPool = () => startThreads(options)) {
    this.options = options
    this.startPool = startPool
    this.turns = new TenantTurns({
      clock: options.clock,
      places: Math.max(2, options.threads * PLACES_A_THREAD),
      waitingBound: options.waitingBound ?? 1_000,
    })
  }

  /** See `TenantTurns.run`. */
  async inTurn<Result>(tenantId: string, work: () => Promise<Result>): Promise<Result> {
    if (this.closing !== undefined) throw AggregationErrors.POOL_UNAVAILABLE({ reason: 'closed' })
    let hasBegun = false
    try {
      return await this.turns.run(tenantId, () => {
        hasBegun = true
        return work()
      })
    } catch (error) {
      if (!hasBegun) this.totals.refused++
      throw error
    }
  }

  /** Only in a turn. Rejects with `POOL_UNAVAILABLE`. */
  async summarize(job: SummaryJob): Promise<SummaryResult> {
    const { totals } = this
    totals.entities += job.size
    if (summaryCostUs(job) <= (this.options.inlineUs ?? INLINE_US)) {
      totals.inline++
      return summarized(job)
    }
    totals.pooled++
    const { result, runMs } = await this.ask(job)
    totals.pooledMs += runMs
    return result
  }

  figures(): AggregationFigures {
    const { waiting, running } = this.turns
    return { waiting, running, threads: this.pool?.threads ?? 0, ...this.totals }
  }

  /** Lets what waits and is under way end. Idempotent. */
  close(): Promise<void> {
    return (this.closing ??= this.turns.drained().then(() => this.pool?.close()))
  }

  private async ask(job: SummaryJob): Promise<TimedSummary> {
    for (let attempt = 1; ; attempt++) {
      try {
        return await (this.pool ??= this.startPool()).run(job)
      } catch (error) {
        if (attempt >= TRIES) throw AggregationErrors.POOL_UNAVAILABLE({ reason: errorText(error) }, error)
      }
    }
  }
}

function startThreads({ threads, idleTimeoutMs }: AggregationWorkersOptions): SummaryPool {
  return createThreadPool<SummaryJob, TimedSummary>({
    entry: new URL('./aggregation-thread.ts', import.meta.url),
    threads,
    minThreads: 0,
    ...(idleTimeoutMs === undefined ? {} : { idleTimeoutMs }),
    // There are no more jobs than turns.
    queueBound: threads * PLACES_A_THREAD + 2,
    workerData: undefined,
  })
}
