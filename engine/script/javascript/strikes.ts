/**
 * A script that keeps running into its limits is put aside for a while, so that it does not hold up the pool: after three
 * such errors its calls fail at once, until a minute has passed since the last one. Source: `rule-engine.md` 6.3.
 */
import type { Clock } from '../../../model/clock.ts'

export const STRIKE_LIMIT = 3
export const STRIKE_MEMORY_MS = 60_000

export class StrikeRecord {
  private readonly clock: Clock
  private count = 0
  private last = 0

  constructor(clock: Clock) {
    this.clock = clock
  }

  /** Counts `weight` errors: one that ended a sandbox process counts for all. */
  add(weight = 1): void {
    if (this.expired()) this.count = 0
    this.count += weight
    this.last = this.clock.monotonic()
  }

  get blocked(): boolean {
    return this.count >= STRIKE_LIMIT && !this.expired()
  }

  private expired(): boolean {
    return this.clock.monotonic() - this.last >= STRIKE_MEMORY_MS
  }
}
