/** Limits of rates as the reference writes them: `100:1,2000:60` is a hundred a second and two thousand a minute. */
import { lruMap } from './lru-map.ts'

export interface Rate {
  readonly capacity: number
  readonly seconds: number
}

/** `100:1,2000:60`: a hundred a second, and two thousand a minute. Undefined where the text is no rate limit; empty for none. */
export function parseRates(text: string | null): readonly Rate[] | undefined {
  if (text === null || text.trim() === '') return []
  const rates: Rate[] = []
  for (const part of text.split(',')) {
    const [, capacity, seconds] = /^\s*(\d{1,15}):(\d{1,9})\s*$/.exec(part) ?? []
    const rate = { capacity: Number(capacity), seconds: Number(seconds) }
    if (!(rate.capacity > 0 && rate.seconds > 0)) return undefined
    rates.push(rate)
  }
  return rates
}

/** Whose bucket was not asked for longest is forgotten: it was full by then. */
const MAX_BUCKETS = 100_000

interface Bucket {
  readonly capacity: number
  readonly perMs: number
  tokens: number
}

/** One caller's: all of its limits must have room. */
export class RateBuckets {
  private readonly buckets: readonly Bucket[]
  private filledAt: number

  /** `limits` as a profile has them; none where it has no text. `now` is monotonic, in ms. */
  constructor(limits: string | null, now: number) {
    this.buckets = (parseRates(limits) ?? []).map(({ capacity, seconds }) => ({
      capacity,
      perMs: capacity / (seconds * 1000),
      tokens: capacity,
    }))
    this.filledAt = now
  }

  /** Whether there is room for so many more, which is taken then: never for more than a capacity. */
  admit(now: number, count = 1): boolean {
    const passed = now - this.filledAt
    this.filledAt = now
    for (const bucket of this.buckets) bucket.tokens = Math.min(bucket.capacity, bucket.tokens + passed * bucket.perMs)
    if (this.buckets.some(({ tokens }) => tokens < count)) return false
    for (const bucket of this.buckets) bucket.tokens -= count
    return true
  }
}

/** Of many callers, by their ids. */
export class RatesById {
  private readonly known = lruMap<{ readonly limits: string; readonly buckets: RateBuckets }>(MAX_BUCKETS)

  get size(): number {
    return this.known.size
  }

  /** A limit that was changed begins anew. */
  admit(id: string, limits: string | null, now: number, count = 1): boolean {
    if (limits === null || limits === '') return true
    const known = this.known.get(id)
    if (known?.limits === limits) return known.buckets.admit(now, count)
    const buckets = new RateBuckets(limits, now)
    this.known.set(id, { limits, buckets })
    return buckets.admit(now, count)
  }
}
