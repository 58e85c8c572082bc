/**
 * How long a node takes, as counts by size: four steps to each doubling, so that a percentile is at most a fifth too high. Fixed in
 * size, and cheap enough to be always on.
 */
const STEPS_A_DOUBLING = 4
const LEAST_MS = 0.001
/** Up to some 19 hours; longer counts as that. */
const STEPS = 36 * STEPS_A_DOUBLING

export interface LatencyFigures {
  /** Measured calls: of quick nodes one in many. */
  readonly measured: number
  /** Milliseconds. */
  readonly p50: number
  readonly p95: number
  readonly p99: number
  readonly max: number
}

const NONE: LatencyFigures = { measured: 0, p50: 0, p95: 0, p99: 0, max: 0 }

export class Latency {
  private counts: Float64Array | undefined
  private total = 0
  private max = 0

  /** `count` messages that took so long each. */
  add(ms: number, count = 1): void {
    this.counts ??= new Float64Array(STEPS)
    const step = ms <= LEAST_MS ? 0 : Math.min(STEPS - 1, Math.ceil(Math.log2(ms / LEAST_MS) * STEPS_A_DOUBLING))
    this.counts[step] = (this.counts[step] ?? 0) + count
    this.total += count
    if (ms > this.max) this.max = ms
  }

  figures(): LatencyFigures {
    if (this.counts === undefined) return NONE
    const { total, max } = this
    return { measured: total, p50: this.percentile(0.5), p95: this.percentile(0.95), p99: this.percentile(0.99), max }
  }

  /** Goes on counting where another stopped. */
  continueFrom(before: Latency): void {
    before.counts?.forEach((count, step) => {
      this.counts ??= new Float64Array(STEPS)
      this.counts[step] = (this.counts[step] ?? 0) + count
    })
    this.total += before.total
    this.max = Math.max(this.max, before.max)
  }

  private percentile(part: number): number {
    let left = this.total * part
    for (const [step, count] of (this.counts ?? []).entries()) {
      left -= count
      if (left <= 0) return Math.min(this.max, LEAST_MS * 2 ** (step / STEPS_A_DOUBLING))
    }
    return this.max
  }
}
