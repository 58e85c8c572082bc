/** The work of a pool, a tenant or a script: its window and its totals. */
import type { Clock } from '../../model/clock.ts'
import type { WorkReport, WorkTotals } from '../../model/worker-pool.ts'
import { WorkWindow } from './work-window.ts'

/** One finished batch. */
export interface BatchWork {
  readonly messages: number
  readonly queueWaitMs: number
  /** 0 where nothing ran: all of its messages were refused before. */
  readonly runMs: number
  readonly errors: number
  readonly timeouts: number
  readonly memoryErrors: number
  readonly blocked: number
  readonly deaths: number
}

export class WorkFigures {
  private readonly window: WorkWindow
  private readonly totals = {
    messages: 0,
    batches: 0,
    errors: 0,
    timeouts: 0,
    memoryErrors: 0,
    blocked: 0,
    refused: 0,
    deaths: 0,
  }

  constructor(clock: Clock) {
    this.window = new WorkWindow(clock)
  }

  add(batch: BatchWork): void {
    const { totals } = this
    totals.messages += batch.messages
    totals.batches++
    totals.errors += batch.errors
    totals.timeouts += batch.timeouts
    totals.memoryErrors += batch.memoryErrors
    totals.blocked += batch.blocked
    totals.deaths += batch.deaths
    if (batch.runMs > 0) this.window.addBatch(batch.messages, batch.queueWaitMs, batch.runMs)
  }

  /** Messages that failed at once. */
  addBlocked(messages: number): void {
    this.totals.messages += messages
    this.totals.errors += messages
    this.totals.blocked += messages
  }

  addRefused(messages: number): void {
    this.totals.refused += messages
  }

  busyMs(): number {
    return this.window.busyMs()
  }

  counted(): WorkTotals {
    return { ...this.totals }
  }

  report(threads: number): WorkReport {
    const { busyMs, ...window } = this.window.report()
    return { ...window, utilisation: Math.min(1, busyMs / (window.windowMs * threads)), totals: this.counted() }
  }
}
