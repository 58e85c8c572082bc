/**
 * What happens to an actor whose behaviour threw. The batch that failed is reported and not handed out again: its sender
 * decides. What waits in the mailbox stays there through a restart and its back-off, within the mailbox's bound.
 */
import type { Random } from '../../model/clock.ts'

/**
 * restart: a fresh behaviour after the back-off · resume: the same behaviour goes on, for errors that cannot have spoiled
 * its state · stop: the actor ends · escalate: the parent fails in its place (a root actor: the system is told).
 */
export type Directive = 'restart' | 'resume' | 'stop' | 'escalate'

export interface SupervisionPolicy {
  decide(error: unknown): Directive
  readonly minBackoffMs: number
  readonly maxBackoffMs: number
  /** More restarts than this within `windowMs` escalate. */
  readonly maxRestarts: number
  readonly windowMs: number
}

export const DEFAULT_SUPERVISION: SupervisionPolicy = {
  decide: () => 'restart',
  minBackoffMs: 100,
  maxBackoffMs: 10_000,
  maxRestarts: 10,
  windowMs: 60_000,
}

/** Counts the restarts of one actor; made when it first fails. */
export class RestartCounter {
  private count = 0
  private windowStart = 0

  /** The back-off before the next restart in ms, or undefined when there were too many. */
  next(policy: SupervisionPolicy, nowMs: number, random: Random | undefined): number | undefined {
    if (this.count === 0 || nowMs - this.windowStart > policy.windowMs) {
      this.count = 0
      this.windowStart = nowMs
    }
    if (this.count >= policy.maxRestarts) return undefined
    const backoff = Math.min(policy.maxBackoffMs, policy.minBackoffMs * 2 ** this.count)
    this.count++
    // Jitter, so that actors which failed together do not come back to the same store together.
    return random === undefined ? backoff : backoff * (0.8 + 0.4 * random.next())
  }
}
