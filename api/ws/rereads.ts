/**
 * Reads that are done again because something may have been missed: of all subscriptions at once, but a few at a time, so that
 * the stores are not asked everything in one moment.
 */
import type { Clock } from '../../model/clock.ts'

const AT_A_TIME = 32
/** After a read that failed. */
const RETRY_MS = 1000

export interface Rereadable {
  /** Rejects where the store does not answer: it is called again. */
  readAgain(): Promise<void>
  readonly isClosed: boolean
}

export class Rereads {
  private readonly clock: Clock
  private readonly waiting = new Set<Rereadable>()
  private underWay = 0

  constructor(clock: Clock) {
    this.clock = clock
  }

  /** Once for all who ask before its turn comes. */
  ask(subscription: Rereadable): void {
    this.waiting.add(subscription)
    this.begin()
  }

  /** It is closed: nothing keeps it. */
  forget(subscription: Rereadable): void {
    this.waiting.delete(subscription)
  }

  private begin(): void {
    for (const subscription of this.waiting) {
      if (this.underWay >= AT_A_TIME) return
      this.waiting.delete(subscription)
      this.underWay++
      void this.run(subscription)
    }
  }

  private async run(subscription: Rereadable): Promise<void> {
    try {
      await subscription.readAgain()
    } catch {
      this.clock.after(RETRY_MS, () => {
        if (!subscription.isClosed) this.ask(subscription)
      })
    } finally {
      this.underWay--
      this.begin()
    }
  }
}
