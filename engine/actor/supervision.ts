/**
 * What happens to an actor whose behaviour threw. The batch that failed is reported and not handed out again: its sender
 * decides. After a back-off the actor has a fresh behaviour; what waits in the mailbox stays there, within the mailbox's bound. An actor that
 * fails again and again is restarted again and again, at most once in the longest back-off.
 */
import type { Random } from '../../model/clock.ts'

export const MIN_BACKOFF_MS = 100
export const MAX_BACKOFF_MS = 10_000
/** An actor that did not fail for so long begins with the shortest back-off again. */
const QUIET_MS = 60_000
/** 100 ms doubled so often are beyond the longest back-off. */
const MAX_DOUBLINGS = 7

/** Counts the restarts of one actor; made when it first fails. */
export class RestartCounter {
  private count = 0
  private lastMs = 0

  /** The back-off before the next restart, ms. */
  next(nowMs: number, random: Random | undefined): number {
    if (nowMs - this.lastMs > QUIET_MS) this.count = 0
    this.lastMs = nowMs
    const backoff = Math.min(MAX_BACKOFF_MS, MIN_BACKOFF_MS * 2 ** Math.min(this.count++, MAX_DOUBLINGS))
    // Jitter, so that actors which failed together do not come back to the same store together.
    return random === undefined ? backoff : backoff * (0.8 + 0.4 * random.next())
  }
}
