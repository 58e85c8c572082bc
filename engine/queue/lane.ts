/**
 * Messages whose order counts (`lanes.ts`), in the order of the log. Healthy, they are in process side by side up to a bound. Once one
 * has failed, nothing further starts; when those in process have ended, the failed ones are tried again one by one, the oldest first,
 * and the rest goes on when none is left.
 */
import type { Delivery } from '../link/link.ts'
import { weightOf } from './weight.ts'

/** What waits in a lane: the queue's tasks. */
export interface Waiting {
  readonly delivery: Delivery
}

/** Of a lane in which nothing waits, or nothing has failed: most lanes live for one message. */
const NONE: never[] = []

export class Lane<Task extends Waiting> {
  readonly key: string
  inFlight = 0
  /** When the next retry is due, in the queue's time; undefined while none is waited for. */
  pausedUntilMs: number | undefined
  /** Failures in a row that were no fault of the message. */
  outages = 0
  /** Late tries in a row at whose end senders were held up. */
  failedUnderBackpressure = 0
  /** Why it is to be parked as soon as nothing of it is in process. */
  parkFor: string | undefined
  /** The one message in process is a failed one on its next try. */
  private isRetrying = false
  /** Of what waits. */
  waitingWeight = 0
  private waiting: Task[] = NONE
  private head = 0
  private failed: Task[] = NONE

  constructor(key: string) {
    this.key = key
  }

  get isIdle(): boolean {
    return this.inFlight === 0 && this.failed.length === 0 && this.waitingCount === 0
  }

  get waitingCount(): number {
    return this.waiting.length - this.head
  }

  /** Something failed and is not done with: nothing new may start. */
  get hasFailed(): boolean {
    return this.failed.length > 0 || this.isRetrying
  }

  ended(): void {
    this.inFlight--
    this.isRetrying = false
  }

  wait(task: Task): void {
    // One place: most lanes hold one message, and an empty array makes room for seventeen when it grows.
    if (this.waiting === NONE) this.waiting = [task]
    else this.waiting.push(task)
    this.waitingWeight += weightOf(task.delivery)
  }

  /** Puts a failed message back, in the order of the log. */
  putBack(task: Task): void {
    const sequence = task.delivery.message.sequence
    if (this.failed === NONE) this.failed = []
    let index = this.failed.length
    while (index > 0 && (this.failed[index - 1]?.delivery.message.sequence ?? 0) > sequence) index--
    this.failed.splice(index, 0, task)
  }

  /** Takes out what is not in process, in no order. */
  takeWaiting(): Task[] {
    const waiting = [...this.waiting.slice(this.head), ...this.failed]
    this.waiting = NONE
    this.head = 0
    this.waitingWeight = 0
    this.failed = NONE
    return waiting
  }

  /** What may start now, or undefined. */
  next(maxInFlight: number): Task | undefined {
    if (this.hasFailed) {
      if (this.inFlight > 0 || this.pausedUntilMs !== undefined) return undefined
      this.isRetrying = true
      return this.failed.shift()
    }
    if (this.inFlight >= maxInFlight) return undefined
    const first = this.waiting[this.head]
    if (first === undefined) return undefined
    this.waitingWeight -= weightOf(first.delivery)
    if (++this.head === this.waiting.length) {
      this.waiting = NONE
      this.head = 0
    } else if (this.head >= 1024 && this.head * 2 > this.waiting.length) {
      this.waiting = this.waiting.slice(this.head)
      this.head = 0
    }
    return first
  }
}
