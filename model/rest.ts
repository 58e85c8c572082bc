/** A pause of somebody who works in turns, so that more goes into the next turn. Whoever knows that there is enough ends it early. */
import type { Clock } from './clock.ts'

export class Rest {
  private wake: (() => void) | undefined

  /** Resolves after so many ms, or when it is ended. One at a time. */
  take(clock: Pick<Clock, 'after'>, ms: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = clock.after(ms, () => this.end())
      this.wake = () => {
        this.wake = undefined
        timer.cancel()
        resolve()
      }
    })
  }

  end(): void {
    this.wake?.()
  }
}
