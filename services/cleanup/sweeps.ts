/** Work that is looked for again and again, a bounded piece at a time: old rows to remove, jobs to go on with. */
import type { Clock, TimerHandle } from '../../model/clock.ts'
import { errorText } from '../../model/errors.ts'
import type { Report } from '../changes/outbox.ts'

export interface SweepParts {
  readonly clock: Clock
  readonly report: Report
  /** What is told where a sweep fails; it is tried again after the interval. */
  readonly failure: string
  readonly intervalMs: number
  /** While there is more. */
  readonly pauseMs: number
  /** Does a bounded piece; whether there is more. */
  readonly sweep: () => Promise<boolean>
}

/** One sweep at a time. */
export class Sweeps {
  private readonly parts: SweepParts
  private timer: TimerHandle | undefined
  private underWay: Promise<void> | undefined
  private isAskedAgain = false
  private isClosed = false

  constructor(parts: SweepParts) {
    this.parts = parts
  }

  /** The first sweep comes after the interval. */
  start(): void {
    this.sweepIn(this.parts.intervalMs)
  }

  /** Sweeps now; where one is under way, right behind it. */
  soon(): void {
    if (this.underWay === undefined) this.sweepIn(0)
    else this.isAskedAgain = true
  }

  /** Resolves when what is under way has ended. Never rejects. Idempotent. */
  async close(): Promise<void> {
    this.isClosed = true
    this.timer?.cancel()
    await this.underWay
  }

  private sweepIn(ms: number): void {
    if (this.isClosed) return
    this.timer?.cancel()
    this.timer = this.parts.clock.after(ms, () => {
      this.underWay = this.sweep()
    })
  }

  private async sweep(): Promise<void> {
    const { sweep, report, failure, intervalMs, pauseMs } = this.parts
    let next = intervalMs
    try {
      if (await sweep()) next = pauseMs
    } catch (error) {
      report(failure, { error: errorText(error) })
    }
    this.underWay = undefined
    this.sweepIn(this.isAskedAgain ? 0 : next)
    this.isAskedAgain = false
  }
}
