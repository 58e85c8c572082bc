/**
 * A script that keeps running into its limits is put aside, so that it does not hold up the pool. After three such errors within a
 * minute the breaker opens and calls fail at once. After a minute one message is tried: if it passes the breaker closes, else it
 * stays open for twice as long, up to a quarter of an hour. Source: `rule-engine.md` 6.3.
 */
import type { Clock } from '../../../model/clock.ts'
import type { BreakerReport, BreakerState } from '../../../model/worker-pool.ts'

export const STRIKE_LIMIT = 3
/** Strikes further apart are not counted together; also how long the breaker stays open at first. */
export const STRIKE_MEMORY_MS = 60_000
export const LONGEST_OPEN_MS = 16 * STRIKE_MEMORY_MS

/** May this call run? `trial`: with one message only, and {@link Breaker.endTrial} must follow. */
export type Pass = 'run' | 'trial' | 'refused'

export class Breaker {
  private readonly clock: Clock
  private strikes = 0
  private lastStrike = Number.NEGATIVE_INFINITY
  /** Undefined while closed. */
  private openedAt: number | undefined
  private openForMs = STRIKE_MEMORY_MS
  private trial = false
  private trips = 0

  constructor(clock: Clock) {
    this.clock = clock
  }

  get state(): BreakerState {
    if (this.openedAt === undefined) return 'closed'
    return this.retryInMs() > 0 ? 'open' : 'half-open'
  }

  /** True while calls fail at once: open, or half-open with the trial under way. */
  get refuses(): boolean {
    return this.openedAt !== undefined && (this.trial || this.retryInMs() > 0)
  }

  pass(): Pass {
    if (this.openedAt === undefined) return 'run'
    if (this.refuses) return 'refused'
    this.trial = true
    return 'trial'
  }

  /** `passed` undefined: the trial could not be made, the next call makes it. */
  endTrial(passed: boolean | undefined): void {
    this.trial = false
    if (passed === undefined) return
    if (passed) {
      this.openedAt = undefined
      this.openForMs = STRIKE_MEMORY_MS
      this.strikes = 0
      return
    }
    this.openForMs = Math.min(LONGEST_OPEN_MS, this.openForMs * 2)
    this.openedAt = this.clock.monotonic()
    this.trips++
  }

  /** Counts `weight` errors: one that ended a sandbox process counts for all. */
  strike(weight = 1): void {
    const now = this.clock.monotonic()
    if (now - this.lastStrike >= STRIKE_MEMORY_MS) this.strikes = 0
    this.strikes += weight
    this.lastStrike = now
    // While a trial is under way its own end decides.
    if (this.strikes < STRIKE_LIMIT || this.trial) return
    if (this.openedAt === undefined) this.trips++
    this.openedAt = now
  }

  report(): BreakerReport {
    return { state: this.state, retryInMs: this.retryInMs(), trips: this.trips }
  }

  private retryInMs(): number {
    return this.openedAt === undefined ? 0 : Math.max(0, this.openedAt + this.openForMs - this.clock.monotonic())
  }
}
