/**
 * Where values of many entities become one: a small job at once, a large one as a batch on threads of its own, so that the event loop goes on.
 * Jobs come in the turns of their tenants (`tenant-turns.ts`), which also bound how many are in memory: a full pool makes the next ones wait. A job that
 * does not end is ended with its thread.
 */
import type { Clock } from '../../../model/clock.ts'
import { errorText, isMillraceError } from '../../../model/errors.ts'
import { summarized, summaryCostUs, type SummaryJob, type SummaryResult } from '../../../model/group-summary.ts'
import type { PoolReport, PoolSettings } from '../../../model/worker-pool.ts'
import type { ManagedPool } from '../admin.ts'
import { WorkerErrors } from '../settings.ts'
import { createThreadPool, type ThreadPool } from '../thread-pool.ts'
import type { TimedSummary } from './aggregation-thread.ts'
import { AggregationErrors } from './errors.ts'
import { PoolWork } from './pool-work.ts'
import { TenantTurns } from './tenant-turns.ts'

export interface AggregationWorkersOptions {
  readonly clock: Clock
  /** Most threads. None runs while there is nothing for it. */
  readonly threads: number
  /** After which an idle thread ends, ms; default a minute. */
  readonly idleTimeoutMs?: number
  /** What one job may take on its thread, the thread's start included, ms; default 10 s. */
  readonly timeoutMs?: number
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
  /** Since the start: jobs done at once, jobs done by the pool, their entities, aggregations for which there was no room, jobs that were ended. */
  readonly inline: number
  readonly pooled: number
  readonly entities: number
  readonly refused: number
  readonly timedOut: number
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
const IDLE_TIMEOUT_MS = 60_000
const TIMEOUT_MS = 10_000
const WAITING_BOUND = 1_000

export class AggregationWorkers implements ManagedPool {
  readonly name = 'aggregation'
  private readonly clock: Clock
  private readonly settings: Pick<PoolSettings, 'threads' | 'minThreads' | 'idleTimeoutMs' | 'queueBound' | 'timeoutMs'>
  private readonly inlineUs: number
  private readonly startPool: () => SummaryPool
  private readonly turns: TenantTurns
  private readonly work: PoolWork
  private pool: SummaryPool | undefined
  /** Jobs that threads have; the others wait here, since a pool starts no thread for what waits in it when one is ended. */
  private computing = 0
  private readonly waitingJobs: (() => void)[] = []
  private readonly totals = { inline: 0, pooled: 0, entities: 0, refused: 0, timedOut: 0, pooledMs: 0 }
  private closing: Promise<void> | undefined

  /** Starts no thread until the first large job. Tests hand in a pool whose threads die. */
  constructor(options: AggregationWorkersOptions, startPool?: () => SummaryPool) {
    const { clock, threads, idleTimeoutMs = IDLE_TIMEOUT_MS, timeoutMs = TIMEOUT_MS } = options
    const { inlineUs = INLINE_US, waitingBound = WAITING_BOUND } = options
    this.clock = clock
    this.settings = { threads, minThreads: 0, idleTimeoutMs, queueBound: waitingBound, timeoutMs }
    this.inlineUs = inlineUs
    this.startPool = startPool ?? (() => startThreads(threads, idleTimeoutMs))
    this.turns = new TenantTurns({ clock, places: Math.max(2, threads * PLACES_A_THREAD), waitingBound })
    this.work = new PoolWork(clock)
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
      if (!hasBegun) {
        this.totals.refused++
        this.work.refused(tenantId)
      }
      throw error
    }
  }

  /** Only in a turn, of this tenant. Rejects with `POOL_UNAVAILABLE`, `TIMED_OUT`. */
  async summarize(job: SummaryJob, tenantId: string): Promise<SummaryResult> {
    const { totals } = this
    totals.entities += job.size
    if (summaryCostUs(job) <= this.inlineUs) {
      totals.inline++
      return summarized(job)
    }
    totals.pooled++
    const askedAt = this.clock.monotonic()
    if (this.computing >= this.settings.threads) await new Promise<void>((resolve) => this.waitingJobs.push(resolve))
    else this.computing++
    try {
      const { result, runMs } = await this.ask(job)
      totals.pooledMs += runMs
      this.work.done(tenantId, job.size, this.clock.monotonic() - askedAt - runMs, runMs)
      return result
    } catch (error) {
      this.work.failed(tenantId, job.size, isTimeout(error) ? this.settings.timeoutMs : 0)
      throw error
    } finally {
      const next = this.waitingJobs.shift()
      if (next === undefined) this.computing--
      else next()
    }
  }

  figures(): AggregationFigures {
    const { waiting, running } = this.turns
    return { waiting, running, threads: this.pool?.threads ?? 0, ...this.totals }
  }

  /** Of what threads computed: a message is an entity, a batch the entities of one aggregation. What waits are aggregations. */
  report(rows: number): PoolReport {
    const { waiting } = this.turns
    return {
      ...{
        name: this.name,
        settings: this.settings,
        threads: this.pool?.threads ?? 0,
        waiting,
        running: this.computing,
      },
      ...this.work.report(this.settings.threads, rows, (tenantId) => this.turns.waitingOf(tenantId)),
      ...{ scripts: 0, breakersOpen: 0, busiestScripts: [] },
    }
  }

  /** Rejects with `FIXED`. */
  resize(): Promise<void> {
    const settings = 'AGGREGATION_THREADS, AGGREGATION_TIMEOUT_MS'
    return Promise.reject(WorkerErrors.FIXED({ name: this.name, settings }))
  }

  /** Lets what waits and is under way end. Idempotent. */
  close(): Promise<void> {
    return (this.closing ??= this.turns.drained().then(() => this.pool?.close()))
  }

  private async ask(job: SummaryJob): Promise<TimedSummary> {
    for (let attempt = 1; ; attempt++) {
      const deadline = new AbortController()
      const timer = this.clock.after(this.settings.timeoutMs, () => deadline.abort())
      try {
        return await (this.pool ??= this.startPool()).run(job, deadline.signal)
      } catch (error) {
        if (deadline.signal.aborted) {
          this.totals.timedOut++
          throw AggregationErrors.TIMED_OUT({ ms: this.settings.timeoutMs }, error)
        }
        if (attempt >= TRIES) throw AggregationErrors.POOL_UNAVAILABLE({ reason: errorText(error) }, error)
      } finally {
        timer.cancel()
      }
    }
  }
}

function isTimeout(error: unknown): boolean {
  return isMillraceError(error) && error.isTimeout
}

function startThreads(threads: number, idleTimeoutMs: number): SummaryPool {
  return createThreadPool<SummaryJob, TimedSummary>({
    entry: new URL('./aggregation-thread.ts', import.meta.url),
    ...{ threads, minThreads: 0, idleTimeoutMs },
    // A thread that is ended may not be gone when the next job comes.
    queueBound: threads,
    workerData: undefined,
  })
}
