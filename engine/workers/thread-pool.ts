/**
 * The pool of worker threads, piscina behind one interface. A task is a batch; its worth is measured in hundreds of
 * messages, never one.
 */
import type { Piscina } from 'piscina'
import { awaitedLater } from '../../model/awaited-later.ts'
import { defineErrors, errorText } from '../../model/errors.ts'
import { threadArguments } from '../../model/thread-arguments.ts'

export const ThreadPoolErrors = defineErrors('workers', {
  POOL_CLOSED: { kind: 'retryable', status: 503, text: 'worker pool is closed' },
  TASK_LOST: { kind: 'retryable', status: 503, text: 'worker task was lost: {reason}' },
})

export interface ThreadPoolOptions {
  /** The module whose default export handles a task. */
  readonly entry: URL
  /** Most threads. */
  readonly threads: number
  /** Threads that stay when there is nothing to do; default all. */
  readonly minThreads?: number
  /** After which (ms) a thread beyond those ends; default a minute. */
  readonly idleTimeoutMs?: number
  /** Tasks waiting for a thread beyond those being worked on; more are refused with `TASK_LOST`. */
  readonly queueBound: number
  /** Handed to every thread as piscina's `workerData`. */
  readonly workerData: unknown
}

export interface ThreadPool<Request, Answer> {
  /**
   * Rejects with `POOL_CLOSED` or `TASK_LOST` (the thread died, its queue is full, or `signal` ended the task and its thread); a dead thread is
   * replaced, beyond `minThreads` with the next task.
   */
  run(request: Request, signal?: AbortSignal): Promise<Answer>
  /** Threads that are there now. */
  readonly threads: number
  /** Lets tasks under way and waiting end, then ends the threads. Idempotent. */
  close(): Promise<void>
}

/** Starts the threads at once, as soon as piscina is loaded: most processes never need it. */
export function createThreadPool<Request, Answer>(options: ThreadPoolOptions): ThreadPool<Request, Answer> {
  let pool: Piscina<Request, Answer> | undefined
  const starting = awaitedLater(startPool<Request, Answer>(options).then((started) => (pool = started)))
  let closing: Promise<void> | undefined
  let running = 0
  let ended: (() => void) | undefined
  async function close(): Promise<void> {
    if (running > 0) await new Promise<void>((resolve) => (ended = resolve))
    await (await starting).close()
  }
  return {
    async run(request, signal) {
      if (closing !== undefined) throw ThreadPoolErrors.POOL_CLOSED()
      running++
      try {
        return await (pool ?? (await starting)).run(request, signal === undefined ? undefined : { signal })
      } catch (error) {
        throw ThreadPoolErrors.TASK_LOST({ reason: errorText(error) }, error)
      } finally {
        if (--running === 0) ended?.()
      }
    },
    get threads() {
      return pool?.threads.length ?? 0
    },
    close() {
      return (closing ??= close())
    },
  }
}

async function startPool<Request, Answer>(options: ThreadPoolOptions): Promise<Piscina<Request, Answer>> {
  const { Piscina } = await import('piscina')
  return new Piscina<Request, Answer>({
    filename: options.entry.href,
    minThreads: options.minThreads ?? options.threads,
    maxThreads: options.threads,
    idleTimeout: options.idleTimeoutMs ?? 60_000,
    maxQueue: options.queueBound,
    workerData: options.workerData,
    execArgv: threadArguments(),
    recordTiming: false,
  })
}
