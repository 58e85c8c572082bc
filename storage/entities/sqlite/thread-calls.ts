/** Requests to an SQLite thread and their answers: what is asked in one go travels as one list. */
import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import { awaitedLater } from '../../../model/awaited-later.ts'
import { errorText } from '../../../model/errors.ts'
import { threadArguments } from '../../../model/thread-arguments.ts'
import { EntityStoreErrors } from '../errors.ts'
import { READY, type Reply, type Request, type WorkerSettings } from './protocol.ts'

interface PendingReply {
  answer(reply: Reply): void
  reject(error: Error): void
}

/** Resolves once the database is open. Throws what the thread threw, and `LOST`. */
export async function startSqliteThread(settings: WorkerSettings, name: string): Promise<Worker> {
  const worker = new Worker(new URL('./sqlite-worker.ts', import.meta.url), {
    workerData: settings,
    name,
    execArgv: threadArguments(),
  })
  const [first] = (await once(worker, 'message')) as [unknown]
  if (first !== READY) throw EntityStoreErrors.LOST({ reason: 'its thread does not answer as it should' })
  return worker
}

export class ThreadCalls {
  /** Why nothing is answered any more. */
  ended: Error | undefined
  private readonly worker: Worker
  private readonly onEnd: (error: Error) => void
  private readonly pending = new Map<number, PendingReply>()
  private outgoing: Request[] = []
  private lastRequest = 0
  private isClosing = false

  /** `onEnd` hears once that the thread ended before it was closed. */
  constructor(worker: Worker, onEnd: (error: Error) => void) {
    this.worker = worker
    this.onEnd = onEnd
    worker.on('message', (replies: readonly Reply[]) => {
      for (const reply of replies) this.received(reply)
    })
    worker.on('error', (error) => this.end(EntityStoreErrors.LOST({ reason: errorText(error) }, error)))
    worker.on('exit', (code) => this.end(EntityStoreErrors.LOST({ reason: `its thread ended with code ${code}` })))
  }

  /** Requests without an answer. */
  get size(): number {
    return this.pending.size
  }

  request(make: (id: number) => Request): Promise<Reply> {
    if (this.ended !== undefined) return Promise.reject(this.ended)
    const id = ++this.lastRequest
    return new Promise((resolve, reject) => {
      this.pending.set(id, { answer: resolve, reject })
      this.outgoing.push(make(id))
      if (this.outgoing.length === 1) queueMicrotask(() => this.send())
    })
  }

  async rows(sql: string, parameters: Extract<Request, { kind: 'read' }>['parameters']) {
    const reply = await this.request((id) => ({ kind: 'read', id, sql, parameters }))
    if (reply.kind !== 'rows') throw EntityStoreErrors.LOST({ reason: `unexpected answer ${reply.kind} to a read` })
    return reply
  }

  /** Closes the database behind what was asked so far; resolves when the thread ended. */
  async close(): Promise<void> {
    this.isClosing = true
    if (this.ended !== undefined) return
    // It rejects where the thread dies, and so does the request.
    const exit = awaitedLater(once(this.worker, 'exit'))
    await this.request((id) => ({ kind: 'close', id }))
    await exit
  }

  /** A message between threads costs more than a small query. */
  private send(): void {
    this.worker.postMessage(this.outgoing)
    this.outgoing = []
  }

  private received(reply: Reply): void {
    const pending = this.pending.get(reply.id)
    if (pending === undefined) return
    this.pending.delete(reply.id)
    if (reply.kind === 'error') pending.reject(refusalOf(reply.reason))
    else pending.answer(reply)
  }

  private end(error: Error): void {
    const isFatal = this.ended === undefined && !this.isClosing
    this.ended ??= isFatal ? error : EntityStoreErrors.CLOSED()
    for (const pending of this.pending.values()) pending.reject(this.ended)
    this.pending.clear()
    if (isFatal) this.onEnd(error)
  }
}

/** Of patterns SQLite takes 50,000 bytes, and so much no text has that is looked for in earnest. */
function refusalOf(reason: string): Error {
  const cause = new Error(reason)
  if (reason.includes('pattern too complex')) return EntityStoreErrors.TEXT_TOO_LONG(undefined, cause)
  return EntityStoreErrors.FAILED({ reason }, cause)
}
