/** The callers' end of the worker: questions out, answers back in order, and an error for everybody who waits when it dies. */
import { Worker } from 'node:worker_threads'
import type { Clock } from '../../../model/clock.ts'
import { threadArguments } from '../../../model/thread-arguments.ts'
import type { CoreFigures, CoreOptions } from './core.ts'
import { EmbeddedErrors } from './errors.ts'
import { errorFromWire, type Opened, type Question, type Reply, type Request } from './protocol.ts'
import type { WorkerStart } from './worker.ts'

interface Waiting {
  readonly resolve: (reply: Reply) => void
  readonly reject: (error: Error) => void
}

const NO_FIGURES: CoreFigures = {
  pointsWritten: 0,
  groupsWritten: 0,
  tailPoints: 0,
  logBytes: 0,
  databaseBytes: 0,
  damagedChunks: 0,
  moveFailures: 0,
  moveFailure: undefined,
  writeFailure: undefined,
}

export class WorkerPort {
  /** As of the last answer. */
  figures: CoreFigures = NO_FIGURES
  private readonly worker: Worker
  private readonly clock: Clock
  private readonly waiting = new Map<number, Waiting>()
  private readonly ended: Promise<void>
  private nextId = 1
  private closed: Promise<void> | undefined
  private death: Error | undefined

  /** Starts the worker and waits until the store is open. Throws what opening it threw. */
  static async open(
    options: CoreOptions,
    clock: Clock,
    heapMiB: number,
    onFatal?: (error: Error) => void,
  ): Promise<WorkerPort> {
    const start: WorkerStart = { options, now: clock.now() }
    const worker = new Worker(new URL('./worker.ts', import.meta.url), {
      workerData: start,
      name: 'timeseries',
      resourceLimits: { maxOldGenerationSizeMb: heapMiB },
      execArgv: threadArguments(),
    })
    const { opened } = await new Promise<Opened>((resolve, reject) => {
      worker.once('message', resolve)
      worker.once('error', reject)
    })
    if (opened === true) return new WorkerPort(worker, clock, onFatal)
    await worker.terminate()
    throw errorFromWire(opened)
  }

  private constructor(worker: Worker, clock: Clock, onFatal: ((error: Error) => void) | undefined) {
    this.worker = worker
    this.clock = clock
    worker.removeAllListeners('error')
    worker.on('message', (reply: Reply) => {
      this.receive(reply)
    })
    let failure: Error | undefined
    worker.on('error', (error) => {
      failure = error instanceof Error ? error : new Error(String(error))
    })
    this.ended = new Promise((resolve) => {
      worker.once('exit', (code) => {
        this.end(failure ?? new Error(`exit code ${code}`), onFatal)
        resolve()
      })
    })
  }

  /** Asks; rejects with the store's error, with BUSY over `limit` unanswered questions, CLOSED, or WORKER_DIED. */
  ask(question: Question, limit: number, transfer: readonly ArrayBufferLike[] = []): Promise<Reply> {
    if (this.death !== undefined) return Promise.reject(this.death)
    if (this.closed !== undefined && question.kind !== 'close') return Promise.reject(EmbeddedErrors.CLOSED())
    const pending = this.waiting.size
    if (pending >= limit) return Promise.reject(EmbeddedErrors.BUSY({ pending, limit }))
    return new Promise((resolve, reject) => {
      const request: Request = { id: this.nextId++, now: this.clock.now(), question }
      this.waiting.set(request.id, { resolve, reject })
      this.worker.postMessage(request, transfer as ArrayBuffer[])
    })
  }

  /** Answers what was asked, closes the store and ends the worker. Idempotent. */
  close(): Promise<void> {
    if (this.closed !== undefined) return this.closed
    if (this.death !== undefined) return (this.closed = this.ended)
    const closing = this.ask({ kind: 'close' }, Infinity).then(() => this.ended)
    this.closed = closing
    return closing
  }

  private receive(reply: Reply): void {
    this.figures = reply.figures
    const waiting = this.waiting.get(reply.id)
    this.waiting.delete(reply.id)
    if (reply.error === undefined) waiting?.resolve(reply)
    else waiting?.reject(errorFromWire(reply.error))
  }

  private end(cause: Error, onFatal: ((error: Error) => void) | undefined): void {
    const expected = this.closed !== undefined && this.waiting.size === 0
    const error = expected ? EmbeddedErrors.CLOSED() : EmbeddedErrors.WORKER_DIED({ reason: cause.message }, cause)
    this.death = error
    for (const waiting of this.waiting.values()) waiting.reject(error)
    this.waiting.clear()
    if (!expected) onFatal?.(error)
  }
}
