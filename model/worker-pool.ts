/**
 * What an operator sees of worker pools and may change while they run. Each process shows its own. Figures cover a sliding
 * window of half a minute to a minute, totals the time since the start.
 */

/** All of it can be changed while the pool runs; no message is lost by it. */
export interface PoolSettings {
  /** Most threads. */
  readonly threads: number
  /** Threads that stay when there is nothing to do; the others end after `idleTimeoutMs`. */
  readonly minThreads: number
  readonly idleTimeoutMs: number
  /** Tasks handed out for each thread: one is worked on, the others are there when it ends. */
  readonly concurrentTasks: number
  /** Messages of one tenant that may wait. */
  readonly queueBound: number
  /** Most messages in one task. */
  readonly batchMessages: number
  /** Heap of one tenant on one thread, MiB. */
  readonly memoryLimitMb: number
  /** Time of one call, ms. */
  readonly timeoutMs: number
}

export type PoolSetting = keyof PoolSettings

export interface SettingRange {
  readonly least: number
  readonly most: number
  readonly unit: string
}

/** What each setting may be; all are whole numbers. */
export const POOL_SETTING_RANGES: Readonly<Record<PoolSetting, SettingRange>> = {
  threads: { least: 1, most: 256, unit: 'threads' },
  minThreads: { least: 1, most: 256, unit: 'threads' },
  idleTimeoutMs: { least: 1000, most: 86_400_000, unit: 'ms' },
  concurrentTasks: { least: 1, most: 64, unit: 'tasks a thread' },
  queueBound: { least: 100, most: 10_000_000, unit: 'messages a tenant' },
  batchMessages: { least: 1, most: 10_000, unit: 'messages' },
  memoryLimitMb: { least: 8, most: 4096, unit: 'MiB' },
  timeoutMs: { least: 10, most: 60_000, unit: 'ms' },
}

export const POOL_SETTINGS = Object.keys(POOL_SETTING_RANGES) as readonly PoolSetting[]

/** A quantity over the window; all 0 where nothing happened. */
export interface Distribution {
  readonly mean: number
  readonly p50: number
  /** At most a fifth above the true one. */
  readonly p99: number
  readonly most: number
}

export interface WorkTotals {
  readonly messages: number
  readonly batches: number
  /** Messages that failed, for whatever reason. */
  readonly errors: number
  readonly timeouts: number
  readonly memoryErrors: number
  /** Failed at once, because the breaker of their script was open. */
  readonly blocked: number
  /** Did not fit into the queue; they are tried again. */
  readonly refused: number
  /** Sandbox processes that died under a task. */
  readonly deaths: number
}

export interface WorkReport {
  /** What the window covers, ms. */
  readonly windowMs: number
  readonly messagesPerSecond: number
  /** From a message's arrival to its batch's start: of the oldest message in each batch. */
  readonly queueWaitMs: Distribution
  /** Of a batch. */
  readonly runMs: Distribution
  readonly batchMessages: Distribution
  /** Part of the time of all threads, 0 to 1. */
  readonly utilisation: number
  readonly totals: WorkTotals
}

export type BreakerState = 'closed' | 'open' | 'half-open'

export interface BreakerReport {
  readonly state: BreakerState
  /** Until a trial is allowed, ms; 0 where it is now, or where the breaker is closed. */
  readonly retryInMs: number
  /** Times it opened. */
  readonly trips: number
}

export interface TenantWork {
  readonly tenantId: string
  readonly scripts: number
  readonly waiting: number
  readonly work: WorkReport
}

/** A rule node's script. */
export interface ScriptWork {
  readonly tenantId: string
  readonly ruleChainId: string
  readonly ruleChainName: string
  readonly ruleNodeId: string
  readonly ruleNodeName: string
  readonly waiting: number
  readonly breaker: BreakerReport
  readonly work: WorkReport
}

export interface PoolReport {
  readonly name: string
  /** Those that the pool has. */
  readonly settings: Pick<PoolSettings, 'threads'> & Partial<PoolSettings>
  /** Threads that are there now. */
  readonly threads: number
  readonly scripts: number
  readonly tenants: number
  /** Messages. */
  readonly waiting: number
  /** Tasks under way. */
  readonly running: number
  readonly breakersOpen: number
  readonly work: WorkReport
  /** Those with most run time in the window, at most as many as were asked for. */
  readonly busiestTenants: readonly TenantWork[]
  /** Scripts whose breaker is not closed, then those with most run time. */
  readonly busiestScripts: readonly ScriptWork[]
}

export interface WorkerAdmin {
  /** With at most `rows` tenants and scripts each, default 20. */
  pools(rows?: number): readonly PoolReport[]
  /** Throws UNKNOWN_POOL. */
  pool(name: string, rows?: number): PoolReport
  /** Resolves when the change holds and what ran by the old settings has ended. Throws UNKNOWN_POOL, SETTING, SETTINGS_CONFLICT, FIXED, STOPPING. */
  resize(name: string, change: Partial<PoolSettings>): Promise<PoolReport>
}
