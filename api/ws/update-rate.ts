/**
 * How many frames a session may be sent (`wsUpdatesPerSessionRateLimit`): over it a frame is dropped, and the first one dropped is answered
 * by an error in its place, until the session is under the limit again. Source: `websocket-api.md` 2.4.
 */
import { RateBuckets } from '../../model/rates.ts'

const TOO_MANY_UPDATES = 34

export class UpdateRate {
  private readonly buckets: RateBuckets
  private readonly reached: () => void
  private isOver = false

  /** `limits` as a tenant's profile has them. `now` is monotonic, in ms. `reached` hears of the first frame of each run that is dropped. */
  constructor(limits: string, now: number, reached: () => void) {
    this.buckets = new RateBuckets(limits, now)
    this.reached = reached
  }

  /** What is to be sent in the place of the frame: itself, an error, or nothing. */
  admit(frame: string, now: number): string | undefined {
    if (this.buckets.admit(now)) {
      this.isOver = false
      return frame
    }
    if (this.isOver) return undefined
    this.isOver = true
    this.reached()
    return JSON.stringify({
      subscriptionId: commandIdOf(frame),
      errorCode: TOO_MANY_UPDATES,
      errorMsg: 'Too many updates!',
    })
  }
}

/** Each of our frames begins with it. */
function commandIdOf(frame: string): number {
  return Number(/^\{"(?:subscriptionId|cmdId)":(-?\d+)/.exec(frame)?.[1] ?? 0)
}
