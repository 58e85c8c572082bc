/** Requests to one client, one after another: a constrained client has room for one (RFC 7252, 4.7). */
import { MessageErrors } from '../coap-messages/errors.ts'
import { Lwm2mErrors } from './errors.ts'

interface Job {
  readonly run: () => Promise<void>
  readonly drop: (error: Error) => void
}

export class RequestLine {
  private readonly limit: number
  private readonly jobs: Job[] = []
  private isBusy = false
  private isClosed = false

  constructor(limit: number) {
    this.limit = limit
  }

  /** After all before it. Rejects TOO_MANY_REQUESTS, CLOSED, and as `task` does. */
  run<Result>(task: () => Promise<Result>): Promise<Result> {
    if (this.isClosed) return Promise.reject(MessageErrors.CLOSED())
    if (this.jobs.length >= this.limit) return Promise.reject(Lwm2mErrors.TOO_MANY_REQUESTS({ limit: this.limit }))
    return new Promise((resolve, reject) => {
      this.jobs.push({ run: () => task().then(resolve, reject), drop: reject })
      this.next()
    })
  }

  /** What waits is told; what is under way ends by itself. */
  close(): void {
    this.isClosed = true
    for (const { drop } of this.jobs.splice(0)) drop(MessageErrors.CLOSED())
  }

  private next(): void {
    if (this.isBusy) return
    const job = this.jobs.shift()
    if (job === undefined) return
    this.isBusy = true
    void job.run().then(() => {
      this.isBusy = false
      this.next()
    })
  }
}
