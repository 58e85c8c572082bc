/**
 * How many calls a tenant may make, and each of its customers (`rest-api.md` 2.5): buckets that fill steadily, `100:1,2000:60` being a hundred
 * a second and two thousand a minute. Each process counts for itself, as the reference's do.
 */
import { lruMap } from '../model/lru-map.ts'
import type { Clock } from '../model/clock.ts'
import { defineErrors } from '../model/errors.ts'
import type { Principal } from '../model/principal.ts'
import { parseRates } from './entities/tenant-limits.ts'
import type { LimitsOfTenants } from './limits.ts'

const TOO_MANY = { kind: 'retryable', status: 429, restCode: 33 } as const

export const RateErrors = defineErrors('rate', {
  TENANT: { ...TOO_MANY, text: 'Too many requests for current tenant!' },
  CUSTOMER: { ...TOO_MANY, text: 'Too many requests for current customer!' },
})

/** Whose bucket was not asked for longest is forgotten: it was full by then. */
const MOST_BUCKETS = 100_000

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

  /** Whether there is room for one more, which is taken then. */
  admit(now: number): boolean {
    const passed = now - this.filledAt
    this.filledAt = now
    for (const bucket of this.buckets) bucket.tokens = Math.min(bucket.capacity, bucket.tokens + passed * bucket.perMs)
    if (this.buckets.some(({ tokens }) => tokens < 1)) return false
    for (const bucket of this.buckets) bucket.tokens--
    return true
  }
}

/** Of many callers, by their ids. */
export class RatesById {
  private readonly known = lruMap<{ readonly limits: string; readonly buckets: RateBuckets }>(MOST_BUCKETS)

  get size(): number {
    return this.known.size
  }

  /** A limit that was changed begins anew. */
  admit(id: string, limits: string | null, now: number): boolean {
    if (limits === null || limits === '') return true
    const known = this.known.get(id)
    if (known?.limits === limits) return known.buckets.admit(now)
    const buckets = new RateBuckets(limits, now)
    this.known.set(id, { limits, buckets })
    return buckets.admit(now)
  }
}

export class RestRates {
  private readonly limits: Pick<LimitsOfTenants, 'of'>
  private readonly clock: Clock
  private readonly tenants = new RatesById()
  private readonly customers = new RatesById()
  private refused = 0

  constructor(limits: Pick<LimitsOfTenants, 'of'>, clock: Clock) {
    this.limits = limits
    this.clock = clock
  }

  /** Counts a call. Throws `rate.TENANT`, `rate.CUSTOMER`; system administrators are not counted. */
  async check({ tenantId, customerId }: Pick<Principal, 'tenantId' | 'customerId'>): Promise<void> {
    if (tenantId === null) return
    const { tenantServerRestLimitsConfiguration, customerServerRestLimitsConfiguration } =
      await this.limits.of(tenantId)
    const now = this.clock.monotonic()
    if (!this.tenants.admit(tenantId, tenantServerRestLimitsConfiguration, now)) {
      this.refused++
      throw RateErrors.TENANT()
    }
    if (customerId === null || this.customers.admit(customerId, customerServerRestLimitsConfiguration, now)) return
    this.refused++
    throw RateErrors.CUSTOMER()
  }

  figures(): Readonly<Record<string, number>> {
    return { limited: this.tenants.size + this.customers.size, refused_total: this.refused }
  }
}
