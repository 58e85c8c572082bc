/**
 * JavaScript for rule nodes: compiled and run in isolates, in processes of their own, behind the pool's threads. This is the
 * one door to it. Source: `rule-engine.md` 6.1 to 6.3.
 */
import type { Clock } from '../../../model/clock.ts'
import { createThreadPool } from '../../workers/thread-pool.ts'
import { errorText } from '../../../model/errors.ts'
import { ScriptErrors } from '../errors.ts'
import type { CompiledScript, ScriptKind, ScriptSource } from '../script.ts'
import { Dispatcher } from './dispatcher.ts'
import type { SandboxAnswer, SandboxLimits, SandboxRequest, ScriptIdentity } from './protocol.ts'
import { ScriptLane, type LaneLimits } from './script-lane.ts'
import { checkSource } from './source-check.ts'
import { StrikeRecord } from './strikes.ts'
import { runTask, type SandboxPool, type TaskFigures } from './task-runner.ts'

export interface JavaScriptWorkersOptions {
  readonly clock: Clock
  /** Threads of the pool, each with one sandbox process. */
  readonly threads: number
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
  /** Since the start: messages run, batches they went in, errors of time, memory and size, sandbox processes that died. */
  readonly messages: number
  readonly batches: number
  readonly strikes: number
  readonly deaths: number
}

export interface JavaScriptWorkers {
  /** Throws `SCRIPT_BODY`, `SCRIPT_SYNTAX` with line and column, `POOL_UNAVAILABLE`. */
  compile<Kind extends ScriptKind>(source: ScriptSource<Kind>): Promise<CompiledScript<Kind>>
  figures(): JavaScriptFigures
  /** Lets messages under way end; what comes later fails with `POOL_UNAVAILABLE`. Idempotent. */
  close(): Promise<void>
}

/** Tasks handed to each thread: one is worked on while the next is already there. */
const TASKS_A_THREAD = 2
const ISOLATES = 64
/** A script's context takes 0.25 MiB: at most some 40 % of a tenant's heap is theirs. */
const SCRIPTS_A_MB = 1.5
const BATCH_MESSAGES = 512
const BATCH_CHARACTERS = 1_000_000

/** Starts no thread until the first script is compiled. `startPool` is for tests that let sandboxes die. */
export function createJavaScriptWorkers(
  options: JavaScriptWorkersOptions,
  startPool: (limits: SandboxLimits) => SandboxPool = (limits) => startThreads(limits, options.threads),
): JavaScriptWorkers {
  const resultLimit = options.resultLimit ?? 300_000
  const { memoryLimitMb, timeoutMs, clock } = options
  const laneLimits: LaneLimits = {
    argumentsLimit: options.argumentsLimit ?? 100_000,
    resultLimit,
    memoryLimitMb,
    timeoutMs,
    batchMessages: BATCH_MESSAGES,
    batchCharacters: BATCH_CHARACTERS,
  }
  let pool: SandboxPool | undefined
  const thePool = (): SandboxPool =>
    (pool ??= startPool({
      memoryLimitMb,
      timeoutMs,
      resultLimit,
      isolates: ISOLATES,
      scripts: Math.ceil(memoryLimitMb * SCRIPTS_A_MB),
    }))
  const counts: TaskFigures & { messages: number; batches: number } = { messages: 0, batches: 0, strikes: 0, deaths: 0 }
  const dispatcher = new Dispatcher({
    slots: options.threads * TASKS_A_THREAD,
    queueBound: options.queueBound,
    clock,
    run(lane, task) {
      counts.batches++
      counts.messages += task.messages.length
      return runTask(lane, task, thePool(), counts)
    },
  })
  let lastScriptId = 0
  let scripts = 0
  let closing: Promise<void> | undefined

  async function closeAll(): Promise<void> {
    await dispatcher.drained()
    await pool?.close()
  }

  return {
    async compile(source) {
      checkSource(source.body, options.bodyLimit ?? 50_000)
      if (closing !== undefined) throw ScriptErrors.POOL_UNAVAILABLE({ reason: 'closed' })
      const { tenantId, kind, body } = source
      const identity: ScriptIdentity = { scriptId: ++lastScriptId, tenantId, kind, body }
      await compileOnce(thePool(), identity)
      scripts++
      const lane = new ScriptLane(identity, new StrikeRecord(clock), laneLimits)
      let closed = false
      return {
        runBatch(messages, result) {
          const reason = closing !== undefined ? 'workers are closed' : closed ? 'script is closed' : undefined
          const waiting = dispatcher.refusal(tenantId, messages.length)
          if (reason !== undefined || waiting !== undefined) {
            const error =
              reason !== undefined
                ? ScriptErrors.POOL_UNAVAILABLE({ reason })
                : ScriptErrors.POOL_FULL({ waiting, limit: options.queueBound })
            messages.forEach((_, index) => result.error(index, error))
            return
          }
          if (messages.length === 0) return
          const reported = lane.add(kind, messages, result)
          dispatcher.added(lane, messages.length)
          return reported
        },
        close() {
          if (!closed) scripts--
          closed = true
        },
      }
    },
    figures: () => ({ scripts, waiting: dispatcher.waiting, ...counts }),
    close: () => (closing ??= closeAll()),
  }
}

function startThreads(limits: SandboxLimits, threads: number): SandboxPool {
  return createThreadPool<SandboxRequest, SandboxAnswer>({
    entry: new URL('./sandbox-thread.ts', import.meta.url),
    threads,
    // Compilations of a whole tenant's chains may come at once, beside the tasks under way.
    queueBound: 10_000,
    workerData: limits,
  })
}

/** A script that breaks the sandbox by being compiled is refused; a sandbox that died for another reason is asked once more. */
async function compileOnce(pool: SandboxPool, identity: ScriptIdentity): Promise<void> {
  let reason = ''
  for (let attempt = 0; attempt < 2; attempt++) {
    let answer: SandboxAnswer
    try {
      answer = await pool.run({ type: 'compile', ...identity })
    } catch (error) {
      throw ScriptErrors.POOL_UNAVAILABLE({ reason: errorText(error) }, error)
    }
    if (answer.type === 'refused') throw ScriptErrors.SCRIPT_SYNTAX({ ...answer.fault })
    if (answer.type !== 'died') return
    reason = answer.reason
  }
  throw ScriptErrors.POOL_UNAVAILABLE({ reason })
}
