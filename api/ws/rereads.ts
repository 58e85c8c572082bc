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
  private readonly report: (error: unknown) => void
  private isFailing = false
  private readonly waiting = new Set<Rereadable>()
  private readonly underWay = new Set<Rereadable>()

  /** `report` hears of the first read that fails after one that did not. */
  constructor(clock: Clock, report: (error: unknown) => void) {
    this.clock = clock
    this.report = report
  }

  /** Once for all who ask before its turn comes; while it is read, once more when that has ended. */
  ask(subscription: Rereadable): void {
    this.waiting.add(subscription)
    this.begin()
  }

  /** It is closed: nothing keeps it. */
  forget(subscription: Rereadable): void {
    this.waiting.delete(subscription)
  }

  /** A store does not answer, which every subscription that asks it would say. */
  failed(error: unknown): void {
    if (!this.isFailing) this.report(error)
    this.isFailing = true
  }

  private begin(): void {
    for (const subscription of this.waiting) {
      if (this.underWay.size >= AT_A_TIME) return
      // A slow one that asks again and again would take every place.
      if (this.underWay.has(subscription)) continue
      this.waiting.delete(subscription)
      this.underWay.add(subscription)
      void this.run(subscription)
    }
  }

  private async run(subscription: Rereadable): Promise<void> {
    try {
      await subscription.readAgain()
      this.isFailing = false
    } catch (error) {
      this.failed(error)
      this.clock.after(RETRY_MS, () => {
        if (!subscription.isClosed) this.ask(subscription)
      })
    } finally {
      this.underWay.delete(subscription)
      this.begin()
    }
  }
}
