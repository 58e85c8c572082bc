/**
 * A mailbox: what RxJS pushes in comes out as batches. Everything offered while the owner was busy is the next batch; an
 * idle owner gets its batch on the next shared turn. Bounded: a full mailbox refuses (`offer` returns false) and counts.
 *
 * A swap of plain arrays and one turn for all mailboxes: a `Subject` with `concatMap` per actor costs some 20 times the
 * memory and is quadratic in its backlog. `benchmarks/mailbox` shows both.
 *
 * The Observable alone is loaded: all of RxJS is 220 modules that nothing here uses.
 */
import type { Observer } from 'rxjs'
import { Observable } from 'rxjs/internal/Observable'
import type { Clock } from '../../model/clock.ts'

/** Gets a mailbox's batches. Must not throw. */
export interface BatchReceiver<T> {
  /** The array is the receiver's own; the mailbox does not touch it again. */
  batch(values: readonly T[]): void
  /** The source completed, or failed with `error`; all that was offered before has been handed out. */
  closed(error: unknown): void
}

interface Drainable {
  drain(): void
}

/** Hands out the batches of all mailboxes of one system, once a turn of the clock. */
export class SharedTurn {
  private readonly clock: Clock
  private ready: Drainable[] = []
  private spare: Drainable[] = []
  private isScheduled = false

  constructor(clock: Clock) {
    this.clock = clock
  }

  add(mailbox: Drainable): void {
    this.ready.push(mailbox)
    if (this.isScheduled) return
    this.isScheduled = true
    this.clock.soon(this.run)
  }

  private readonly run = (): void => {
    const running = this.ready
    this.ready = this.spare
    this.isScheduled = false
    let drained = 0
    try {
      for (const mailbox of running) {
        drained++
        mailbox.drain()
      }
    } finally {
      // One that throws reaches the process's handler: those behind it have their turn all the same, the next one.
      if (drained < running.length) for (const mailbox of running.slice(drained)) this.add(mailbox)
      running.length = 0
      this.spare = running
    }
  }
}

export interface MailboxOptions {
  /** Most messages that wait in the normal lane; the priority lane has the same bound of its own. */
  readonly capacity: number
}

export class Mailbox<T> implements Observer<T> {
  private readonly turn: SharedTurn
  private readonly capacity: number
  /** Made when the first message comes: an idle mailbox holds no array. */
  private normal: T[] | undefined
  private urgent: T[] | undefined
  private receiver: BatchReceiver<T> | undefined
  private isQueued = false
  private isPaused = false
  private isClosed = false
  private failure: unknown
  private droppedCount = 0

  constructor(turn: SharedTurn, options: MailboxOptions) {
    this.turn = turn
    this.capacity = options.capacity
  }

  /** Puts a message in the normal lane. False, and counted as dropped, when the mailbox is full or closed. */
  offer(value: T): boolean {
    return this.put('normal', value)
  }

  /** Puts a message in the priority lane: handed out before all that waits in the normal one. */
  offerUrgent(value: T): boolean {
    return this.put('urgent', value)
  }

  /** RxJS's way in. An `Observer` has no way to refuse: a source that must not lose uses {@link offer}. */
  next(value: T): void {
    this.offer(value)
  }

  error(failure: unknown): void {
    this.close(failure)
  }

  complete(): void {
    this.close(undefined)
  }

  /** Messages waiting in both lanes. */
  get size(): number {
    return (this.normal?.length ?? 0) + (this.urgent?.length ?? 0)
  }

  get dropped(): number {
    return this.droppedCount
  }

  /** The batches as a stream; one subscriber at a time, batches wait while there is none. */
  get batches(): Observable<readonly T[]> {
    return new Observable((subscriber) => {
      this.connect({
        batch: (values) => subscriber.next(values),
        closed: (error) => (error === undefined ? subscriber.complete() : subscriber.error(error)),
      })
      return () => this.disconnect()
    })
  }

  /** The same without RxJS's objects: what an actor uses, of which there are 100,000. Throws when somebody is connected. */
  connect(receiver: BatchReceiver<T>): void {
    if (this.receiver !== undefined) throw new Error('a mailbox has one receiver')
    this.receiver = receiver
    this.wake()
  }

  disconnect(): void {
    this.receiver = undefined
  }

  /** Holds batches back while the receiver works on one; what is offered meanwhile waits, within the bound. */
  pause(): void {
    this.isPaused = true
  }

  resume(): void {
    this.isPaused = false
    this.wake()
  }

  /** Takes out everything that waits, urgent first: for whoever stops the receiver and answers for the rest. */
  takeAll(): T[] {
    const all = (this.urgent ?? []).concat(this.normal ?? [])
    this.urgent = undefined
    this.normal = undefined
    return all
  }

  /** Called by the shared turn. */
  drain(): void {
    this.isQueued = false
    try {
      this.handOut('urgent')
      this.handOut('normal')
    } finally {
      // Where a receiver threw, the rest has the next turn.
      this.wake()
    }
    if (this.isClosed && this.size === 0 && !this.isPaused) this.notifyClosed()
  }

  private put(lane: 'urgent' | 'normal', value: T): boolean {
    const values = this[lane]
    if (this.isClosed || (values?.length ?? 0) >= this.capacity) {
      this.droppedCount++
      return false
    }
    // One place: most batches hold one message, and an empty array makes room for seventeen when it grows.
    if (values === undefined) this[lane] = [value]
    else values.push(value)
    if (!this.isQueued) this.wake()
    return true
  }

  private handOut(lane: 'urgent' | 'normal'): void {
    const values = this[lane]
    if (values === undefined || values.length === 0 || this.isPaused || this.receiver === undefined) return
    this[lane] = undefined
    this.receiver.batch(values)
  }

  private wake(): void {
    if (this.isQueued || this.isPaused || this.receiver === undefined) return
    if (this.size === 0 && !this.isClosed) return
    this.isQueued = true
    this.turn.add(this)
  }

  private close(failure: unknown): void {
    if (this.isClosed) return
    this.isClosed = true
    this.failure = failure
    this.wake()
  }

  private notifyClosed(): void {
    const receiver = this.receiver
    this.receiver = undefined
    receiver?.closed(this.failure)
  }
}
