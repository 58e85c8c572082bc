/**
 * How many frames a session may be sent (`wsUpdatesPerSessionRateLimit`): over it a frame is dropped, and the first one dropped is answered
 * by an error in its place, until the session is under the limit again. Source: `websocket-api.md` 2.4.
 */

const TOO_MANY_UPDATES = 34

interface Bucket {
  readonly capacity: number
  readonly refillPerMs: number
  tokens: number
}

export class UpdateRate {
  private readonly buckets: readonly Bucket[]
  private filledAt: number
  private isOver = false

  /** `limits`: `capacity:seconds`, several joined by commas; '' is without limit. `now` is monotonic, in ms. */
  constructor(limits: string, now: number) {
    this.buckets = limits
      .split(',')
      .map((limit) => limit.split(':').map(Number))
      .filter(([capacity = 0, seconds = 0]) => capacity > 0 && seconds > 0)
      .map(([capacity = 0, seconds = 0]) => ({ capacity, refillPerMs: capacity / (seconds * 1000), tokens: capacity }))
    this.filledAt = now
  }

  /** What is to be sent in the place of the frame: itself, an error, or nothing. */
  admit(frame: string, now: number): string | undefined {
    if (this.buckets.length === 0) return frame
    this.fill(now)
    if (this.buckets.every(({ tokens }) => tokens >= 1)) {
      for (const bucket of this.buckets) bucket.tokens--
      this.isOver = false
      return frame
    }
    if (this.isOver) return undefined
    this.isOver = true
    return JSON.stringify({
      subscriptionId: commandIdOf(frame),
      errorCode: TOO_MANY_UPDATES,
      errorMsg: 'Too many updates!',
    })
  }

  private fill(now: number): void {
    const passed = now - this.filledAt
    this.filledAt = now
    for (const bucket of this.buckets)
      bucket.tokens = Math.min(bucket.capacity, bucket.tokens + passed * bucket.refillPerMs)
  }
}

/** Each of our frames begins with it. */
function commandIdOf(frame: string): number {
  return Number(/^\{"(?:subscriptionId|cmdId)":(-?\d+)/.exec(frame)?.[1] ?? 0)
}
