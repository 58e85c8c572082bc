/**
 * Commits whose answer never came: the change may be there, may not, or may come to be there in a moment, as the server may still be at
 * it. Whoever cached what was there before looks again, at once and some more times until that moment is over.
 */
import type { Clock, TimerHandle } from '../../model/clock.ts'
import { isMillraceError } from '../../model/errors.ts'

/** The last look is behind every time-out that the databases have for a transaction. */
export const LOOK_AGAIN_MS: readonly number[] = [1_000, 10_000, 60_000]
/** Refused before anything was sent. */
const NEVER_SENT = new Set(['entities.OVERLOADED', 'entities.CLOSED'])

export class CommitDoubts {
  private readonly clock: Clock
  private readonly timers = new Set<TimerHandle>()

  constructor(clock: Clock) {
    this.clock = clock
  }

  /** The commit as it is; where nobody knows what became of it, `lookAgain` is called before it rejects, and later again. Must not throw. */
  async watch<Value>(commit: Promise<Value>, lookAgain: () => void): Promise<Value> {
    try {
      return await commit
    } catch (error) {
      if (isInDoubt(error)) this.doubt(lookAgain)
      throw error
    }
  }

  close(): void {
    for (const timer of this.timers) timer.cancel()
    this.timers.clear()
  }

  private doubt(lookAgain: () => void): void {
    lookAgain()
    for (const delayMs of LOOK_AGAIN_MS) {
      const timer = this.clock.after(delayMs, () => {
        this.timers.delete(timer)
        lookAgain()
      })
      this.timers.add(timer)
    }
  }
}

/** What was refused for what it is was undone. */
function isInDoubt(error: unknown): boolean {
  return !isMillraceError(error) || !(error.kind === 'invalid' || error.kind === 'denied' || NEVER_SENT.has(error.code))
}
