/**
 * JavaScript for rule nodes: compiled and run in isolates, in processes of their own, behind the pool's threads. This is the
 * one door to it. Source: `rule-engine.md` 6.1 to 6.3.
 */
import type { Clock } from '../../../model/clock.ts'
import { errorText } from '../../../model/errors.ts'
import type { Message } from '../../../model/message.ts'
import type { PoolSettings, PoolReport } from '../../../model/worker-pool.ts'
import type { ManagedPool } from '../../workers/admin.ts'
import { WorkerErrors, changedSettings } from '../../workers/settings.ts'
import { createThreadPool } from '../../workers/thread-pool.ts'
import { ScriptErrors } from '../errors.ts'
import {
  LONGEST_ARGUMENTS,
  type CompiledScript,
  type ScriptBatchResult,
  type ScriptKind,
  type ScriptSource,
} from '../script.ts'
import { STRIKE_LIMIT } from './breaker.ts'
import { Dispatcher } from './dispatcher.ts'
import type { SandboxAnswer, SandboxLimits, SandboxRequest, ScriptIdentity, TimedAnswer } from './protocol.ts'
import { ScriptLane, type LaneLimits, type LaneTask } from './script-lane.ts'
import { ScriptRegistry } from './script-registry.ts'
import { checkSource } from './source-check.ts'
import { runTask, type SandboxPool } from './task-runner.ts'

export interface JavaScriptWorkersOptions {
  readonly clock: Clock
  /** Most threads of the pool, each with one sandbox process. */
  readonly threads: number
  /** Threads that stay when there is nothing to do; default all. */
  readonly minThreads?: number
  /** After which a thread beyond those ends, ms; default a minute. */
  readonly idleTimeoutMs?: number
  /** Tasks handed out for each thread; default 2: one is worked on while the next is already there. */
  readonly concurrentTasks?: number
  /** Most messages in one task; default 512. */
  readonly batchMessages?: number
  /** Heap of one tenant in one sandbox process, MiB; at least 8. */
  readonly memoryLimitMb: number
  /** Time of one call into the sandbox, and so of one script; ms. */
  readonly timeoutMs: number
  /** Messages of one tenant that may wait for the pool. */
  readonly queueBound: number
  /** Characters; default 100,000. */
  readonly argumentsLimit?: number
  /** Characters; default 300,000. */
  readonly resultLimit?: number
  /** Characters; default 50,000. */
  readonly bodyLimit?: number
}

export interface JavaScriptFigures {
  readonly scripts: number
  readonly waiting: number
  /** Tasks under way, threads that are there, scripts that are put aside. */
  readonly running: number
  readonly threads: number
  readonly breakersOpen: number
  /** Since the start: messages run, batches they went in, errors of time, memory and size, sandbox processes that died. */
  readonly messages: number
  readonly batches: number
  readonly strikes: number
  readonly deaths: number
  /** Since the start: messages that failed, were stopped, failed since their script is put aside, found no room. */
  readonly errors: number
  readonly timeouts: number
  readonly blocked: number
  readonly refused: number
}

export interface JavaScriptWorkers extends ManagedPool {
  /** Throws `SCRIPT_BODY`, `SCRIPT_SYNTAX` with line and column, `POOL_UNAVAILABLE`. */
  compile<Kind extends ScriptKind>(source: ScriptSource<Kind>): Promise<CompiledScript<Kind>>
  figures(): JavaScriptFigures
  /** Lets messages under way end; what comes later fails with `POOL_UNAVAILABLE`. Idempotent. */
  close(): Promise<void>
}

/** Starts a pool; tests hand in one whose sandboxes die. */
export type StartPool = (limits: SandboxLimits, settings: PoolSettings) => SandboxPool

const ISOLATES = 64
/** A script's context takes 0.25 MiB: at most some 40 % of a tenant's heap is theirs. */
const SCRIPTS_A_MB = 1.5
const BATCH_CHARACTERS = 1_000_000

/** Starts no thread until the first script is compiled. */
export function createJavaScriptWorkers(
  options: JavaScriptWorkersOptions,
  startPool: StartPool = startThreads,
): JavaScriptWorkers {
  return new Workers(options, startPool)
}

class Workers implements JavaScriptWorkers {
  readonly name = 'javascript'
  private readonly options: JavaScriptWorkersOptions
  private readonly startPool: StartPool
  private readonly registry: ScriptRegistry
  private readonly dispatcher: Dispatcher
  private readonly resultLimit: number
  private settings: PoolSettings
  /** Made once a change, since lanes read them for each message. */
  private limits: LaneLimits
  private pool: SandboxPool | undefined
  private strikes = 0
  private lastScriptId = 0
  /** Changes of the settings, one after the other. */
  private changing: Promise<void> = Promise.resolve()
  private closing: Promise<void> | undefined

  constructor(options: JavaScriptWorkersOptions, startPool: StartPool) {
    this.options = options
    this.startPool = startPool
    this.resultLimit = options.resultLimit ?? 300_000
    this.settings = settingsOf(options)
    this.limits = this.laneLimits()
    this.registry = new ScriptRegistry(options.clock)
    this.dispatcher = new Dispatcher(this.settings, (lane, task) => this.run(lane, task))
  }

  async compile<Kind extends ScriptKind>(source: ScriptSource<Kind>): Promise<CompiledScript<Kind>> {
    checkSource(source.body, this.options.bodyLimit ?? 50_000)
    if (this.closing !== undefined) throw ScriptErrors.POOL_UNAVAILABLE({ reason: 'closed' })
    const { tenantId, kind, body } = source
    const identity: ScriptIdentity = { scriptId: ++this.lastScriptId, tenantId, kind, body }
    await compileOnce(() => this.poolNow(), identity)
    const deployed = this.registry.add(
      source,
      ({ breaker, script, tenant }) =>
        new ScriptLane({
          identity,
          ruleChainId: source.ruleChainId ?? '',
          breaker,
          work: [this.registry.all, tenant, script],
          limits: () => this.limits,
          clock: this.options.clock,
        }),
    )
    let closed = false
    return {
      runBatch: (messages, result) => this.runBatch(deployed.lane, kind, messages, result, closed),
      close: () => {
        closed = true
        deployed.remove()
      },
    }
  }

  figures(): JavaScriptFigures {
    const { messages, batches, deaths, errors, timeouts, blocked, refused } = this.registry.all.counted()
    return {
      scripts: this.registry.size,
      waiting: this.dispatcher.waiting,
      running: this.dispatcher.running,
      threads: this.pool?.threads ?? 0,
      breakersOpen: this.registry.breakersOpen,
      messages,
      batches,
      strikes: this.strikes,
      deaths,
      errors,
      timeouts,
      blocked,
      refused,
    }
  }

  report(rows: number): PoolReport {
    const { registry, dispatcher, settings } = this
    return {
      name: this.name,
      settings,
      threads: this.pool?.threads ?? 0,
      scripts: registry.size,
      tenants: registry.tenantCount,
      waiting: dispatcher.waiting,
      running: dispatcher.running,
      breakersOpen: registry.breakersOpen,
      work: registry.all.report(settings.threads),
      busiestTenants: registry.busiestTenants(rows, settings.threads, (id) => dispatcher.waitingOf(id)),
      busiestScripts: registry.busiestScripts(rows, settings.threads),
    }
  }

  resize(change: Partial<PoolSettings>): Promise<void> {
    const changed = this.changing.then(() => this.change(change))
    this.changing = changed.catch(() => undefined)
    return changed
  }

  close(): Promise<void> {
    return (this.closing ??= this.closeAll())
  }

  /** A new pool takes over, the old one ends when its last task has: no message notices. */
  private async change(change: Partial<PoolSettings>): Promise<void> {
    if (this.closing !== undefined) throw WorkerErrors.STOPPING()
    const before = this.settings
    this.settings = changedSettings(before, change)
    this.limits = this.laneLimits()
    const old = this.pool
    if (old !== undefined && THREAD_SETTINGS.some((setting) => before[setting] !== this.settings[setting]))
      this.pool = this.start()
    this.dispatcher.change(this.settings)
    if (old !== this.pool) await old?.close()
  }

  private async closeAll(): Promise<void> {
    await this.dispatcher.drained()
    await this.changing
    await this.pool?.close()
  }

  private start(): SandboxPool {
    const { memoryLimitMb, timeoutMs } = this.settings
    const limits: SandboxLimits = {
      memoryLimitMb,
      timeoutMs,
      resultLimit: this.resultLimit,
      isolates: ISOLATES,
      scripts: Math.ceil(memoryLimitMb * SCRIPTS_A_MB),
    }
    return this.startPool(limits, this.settings)
  }

  private poolNow(): SandboxPool {
    return (this.pool ??= this.start())
  }

  private laneLimits(): LaneLimits {
    const { memoryLimitMb, timeoutMs, batchMessages } = this.settings
    return {
      argumentsLimit: this.options.argumentsLimit ?? LONGEST_ARGUMENTS,
      resultLimit: this.resultLimit,
      memoryLimitMb,
      timeoutMs,
      batchMessages,
      batchCharacters: BATCH_CHARACTERS,
    }
  }

  private async run(lane: ScriptLane, task: LaneTask): Promise<number> {
    const startedAt = this.options.clock.monotonic()
    const figures = await runTask(lane, task, () => this.poolNow())
    const took = this.options.clock.monotonic() - startedAt
    this.strikes += figures.strikes
    const messages = task.messages.length
    const queueWaitMs = startedAt - task.oldestAt + Math.max(0, took - figures.runMs)
    for (const work of lane.work) work.add({ ...figures, messages, queueWaitMs })
    return figures.usedMs
  }

  private runBatch<Kind extends ScriptKind>(
    lane: ScriptLane,
    kind: Kind,
    messages: readonly Message[],
    result: ScriptBatchResult<Kind>,
    scriptClosed: boolean,
  ): Promise<void> | undefined {
    const refusal = this.refusal(lane, messages.length, scriptClosed)
    if (refusal !== undefined) {
      messages.forEach((_, index) => result.error(index, refusal))
      return undefined
    }
    if (messages.length === 0) return undefined
    const reported = lane.add(kind, messages, result)
    this.dispatcher.added(lane, messages.length)
    return reported
  }

  /** Why none of so many messages is taken at all. */
  private refusal(lane: ScriptLane, count: number, scriptClosed: boolean): Error | undefined {
    if (this.closing !== undefined) return ScriptErrors.POOL_UNAVAILABLE({ reason: 'workers are closed' })
    if (scriptClosed) return ScriptErrors.POOL_UNAVAILABLE({ reason: 'script is closed' })
    if (lane.breaker.refuses && lane.idle) {
      for (const work of lane.work) work.addBlocked(count)
      return ScriptErrors.SCRIPT_BLOCKED({ limit: STRIKE_LIMIT })
    }
    const waiting = this.dispatcher.refusal(lane.identity.tenantId, count)
    if (waiting === undefined) return undefined
    for (const work of lane.work) work.addRefused(count)
    return ScriptErrors.POOL_FULL({ waiting, limit: this.settings.queueBound })
  }
}

/** Settings that threads and sandboxes are born with. */
const THREAD_SETTINGS = ['threads', 'minThreads', 'idleTimeoutMs', 'memoryLimitMb', 'timeoutMs'] as const

function settingsOf(options: JavaScriptWorkersOptions): PoolSettings {
  const { threads, memoryLimitMb, timeoutMs, queueBound } = options
  return {
    threads,
    minThreads: Math.min(threads, options.minThreads ?? threads),
    idleTimeoutMs: options.idleTimeoutMs ?? 60_000,
    concurrentTasks: options.concurrentTasks ?? 2,
    queueBound,
    batchMessages: options.batchMessages ?? 512,
    memoryLimitMb,
    timeoutMs,
  }
}

function startThreads(limits: SandboxLimits, settings: PoolSettings): SandboxPool {
  return createThreadPool<SandboxRequest, TimedAnswer>({
    entry: new URL('./sandbox-thread.ts', import.meta.url),
    threads: settings.threads,
    minThreads: settings.minThreads,
    idleTimeoutMs: settings.idleTimeoutMs,
    // Compilations of a whole tenant's chains may come at once, beside the tasks under way.
    queueBound: 10_000,
    workerData: limits,
  })
}

/** A script that breaks the sandbox by being compiled is refused; a sandbox that died for another reason is asked once more. */
async function compileOnce(poolNow: () => SandboxPool, identity: ScriptIdentity): Promise<void> {
  let reason = ''
  for (let attempt = 0; attempt < 2; attempt++) {
    let answer: SandboxAnswer
    try {
      answer = (await poolNow().run({ type: 'compile', ...identity })).answer
    } catch (error) {
      throw ScriptErrors.POOL_UNAVAILABLE({ reason: errorText(error) }, error)
    }
    if (answer.type === 'refused') throw ScriptErrors.SCRIPT_SYNTAX({ ...answer.fault })
    if (answer.type !== 'died') return
    reason = answer.reason
  }
  throw ScriptErrors.POOL_UNAVAILABLE({ reason })
}
