/** Waits until something is so, for a bounded time. */
import type { Clock, TimerHandle } from '../../model/clock.ts'

interface Waiter {
  readonly isOver: () => boolean
  readonly resolve: () => void
  readonly timer: TimerHandle
}

export class Waiting {
  private readonly clock: Clock
  private readonly waiters = new Set<Waiter>()
  private isClosed = false

  constructor(clock: Clock) {
    this.clock = clock
  }

  /** Resolves when it is so, with true, or when the time is over, with whether it is so by then. */
  until(isOver: () => boolean, waitMs: number): Promise<boolean> {
    if (isOver()) return Promise.resolve(true)
    if (this.isClosed) return Promise.resolve(false)
    return new Promise((resolve) => {
      const timer = this.clock.after(waitMs, () => this.end(waiter))
      const waiter: Waiter = { isOver, timer, resolve: () => resolve(isOver()) }
      this.waiters.add(waiter)
    })
  }

  /** Something has changed. */
  wake(): void {
    for (const waiter of [...this.waiters]) if (waiter.isOver()) this.end(waiter)
  }

  /** Nobody waits any longer. */
  close(): void {
    this.isClosed = true
    for (const waiter of [...this.waiters]) this.end(waiter)
  }

  private end(waiter: Waiter): void {
    waiter.timer.cancel()
    this.waiters.delete(waiter)
    waiter.resolve()
  }
}
