/**
 * Figures of the last half to whole minute in a fixed 2.5 KiB: two halves of counts in buckets that grow by a fifth. Nothing is
 * kept a message; a batch costs three increments.
 */
import type { Clock } from '../../model/clock.ts'
import type { Distribution } from '../../model/worker-pool.ts'

const HALF_MS = 30_000
const STEPS_AN_OCTAVE = 4
/** Upper edge of the first bucket; ms or messages. */
const LEAST = 1 / 64
/** The last bucket begins above 2^20: a quarter of an hour. */
const BUCKETS = 26 * STEPS_AN_OCTAVE + 1

class Half {
  private readonly counts = new Uint32Array(BUCKETS)
  private count = 0
  sum = 0
  private most = 0

  add(value: number): void {
    const bucket = value <= LEAST ? 0 : Math.min(BUCKETS - 1, Math.ceil(Math.log2(value / LEAST) * STEPS_AN_OCTAVE))
    this.counts[bucket] = (this.counts[bucket] ?? 0) + 1
    this.count++
    this.sum += value
    if (value > this.most) this.most = value
  }

  clear(): void {
    if (this.count === 0) return
    this.counts.fill(0)
    this.count = 0
    this.sum = 0
    this.most = 0
  }

  with(other: Half): Distribution {
    const count = this.count + other.count
    const most = Math.max(this.most, other.most)
    if (count === 0) return { mean: 0, p50: 0, p99: 0, most: 0 }
    const quantile = (part: number): number => {
      let left = Math.ceil(count * part)
      for (let bucket = 0; bucket < BUCKETS - 1; bucket++) {
        left -= (this.counts[bucket] ?? 0) + (other.counts[bucket] ?? 0)
        if (left <= 0) return Math.min(most, LEAST * 2 ** (bucket / STEPS_AN_OCTAVE))
      }
      return most
    }
    return { mean: (this.sum + other.sum) / count, p50: quantile(0.5), p99: quantile(0.99), most }
  }
}

class Halves {
  readonly queueWaitMs = new Half()
  readonly runMs = new Half()
  readonly batchMessages = new Half()

  clear(): void {
    this.queueWaitMs.clear()
    this.runMs.clear()
    this.batchMessages.clear()
  }
}

export interface WindowReport {
  readonly windowMs: number
  readonly messagesPerSecond: number
  readonly queueWaitMs: Distribution
  readonly runMs: Distribution
  readonly batchMessages: Distribution
  /** Run time of all batches, ms. */
  readonly busyMs: number
}

export class WorkWindow {
  private readonly clock: Clock
  private readonly startedAt: number
  private present = new Halves()
  private before = new Halves()
  /** When `present` began. */
  private presentFrom: number

  constructor(clock: Clock) {
    this.clock = clock
    this.startedAt = this.presentFrom = clock.monotonic()
  }

  addBatch(messages: number, queueWaitMs: number, runMs: number): void {
    this.turn()
    this.present.queueWaitMs.add(queueWaitMs)
    this.present.runMs.add(runMs)
    this.present.batchMessages.add(messages)
  }

  /** Run time in the window, ms. */
  busyMs(): number {
    this.turn()
    return this.present.runMs.sum + this.before.runMs.sum
  }

  report(): WindowReport {
    const now = this.turn()
    const from = Math.max(this.startedAt, this.presentFrom - HALF_MS)
    const windowMs = Math.max(1, now - from)
    const { present, before } = this
    return {
      windowMs,
      messagesPerSecond: ((present.batchMessages.sum + before.batchMessages.sum) / windowMs) * 1000,
      queueWaitMs: present.queueWaitMs.with(before.queueWaitMs),
      runMs: present.runMs.with(before.runMs),
      batchMessages: present.batchMessages.with(before.batchMessages),
      busyMs: this.busyMs(),
    }
  }

  private turn(): number {
    const now = this.clock.monotonic()
    const age = now - this.presentFrom
    if (age < HALF_MS) return now
    const oldest = this.before
    this.before = this.present
    this.present = oldest
    oldest.clear()
    // What is older than a whole window goes at once.
    if (age >= 2 * HALF_MS) this.before.clear()
    this.presentFrom += Math.floor(age / HALF_MS) * HALF_MS
    return now
  }
}
