/**
 * The pool of worker threads, piscina behind one interface. A task is a batch; its worth is measured in hundreds of
 * messages, never one.
 */
import { Piscina } from 'piscina'
import { defineErrors, errorText } from '../../model/errors.ts'

export const ThreadPoolErrors = defineErrors('workers', {
  POOL_CLOSED: { kind: 'retryable', status: 503, text: 'worker pool is closed' },
  TASK_LOST: { kind: 'retryable', status: 503, text: 'worker task was lost: {reason}' },
})

export interface ThreadPoolOptions {
  /** The module whose default export handles a task. */
  readonly entry: URL
  readonly threads: number
  /** Tasks waiting for a thread beyond those being worked on; more are refused with `TASK_LOST`. */
  readonly queueBound: number
  /** Handed to every thread as piscina's `workerData`. */
  readonly workerData: unknown
}

export interface ThreadPool<Request, Answer> {
  /** Rejects with `POOL_CLOSED` or `TASK_LOST` (the thread died, its queue is full); a dead thread is replaced. */
  run(request: Request): Promise<Answer>
  /** Lets tasks under way end, then ends the threads. Idempotent. */
  close(): Promise<void>
}

/** Starts the threads at once. */
export function createThreadPool<Request, Answer>(options: ThreadPoolOptions): ThreadPool<Request, Answer> {
  const pool = new Piscina<Request, Answer>({
    filename: options.entry.href,
    minThreads: options.threads,
    maxThreads: options.threads,
    maxQueue: options.queueBound,
    workerData: options.workerData,
    // Nothing here needs a process-wide flag, and one that only the main thread may have would stop a thread's start.
    execArgv: ['--disable-warning=ExperimentalWarning'],
    recordTiming: false,
  })
  let closing: Promise<void> | undefined
  return {
    async run(request) {
      if (closing !== undefined) throw ThreadPoolErrors.POOL_CLOSED()
      try {
        return await pool.run(request)
      } catch (error) {
        throw ThreadPoolErrors.TASK_LOST({ reason: errorText(error) }, error)
      }
    },
    close() {
      return (closing ??= pool.close())
    },
  }
}
