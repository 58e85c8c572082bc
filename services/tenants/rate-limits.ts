/**
 * How many calls a tenant may make, and each of its customers (`rest-api.md` 2.5): buckets that fill steadily, `100:1,2000:60` being a hundred
 * a second and two thousand a minute. Each process counts for itself, as the reference's do.
 */
import { entityId, type EntityId } from '../../model/entity-id.ts'
import type { Clock } from '../../model/clock.ts'
import { defineErrors } from '../../model/errors.ts'
import type { Principal } from '../../model/principal.ts'
import { RatesById } from '../../model/rates.ts'
import type { LimitsOfTenants } from './limits.ts'

const TOO_MANY = { kind: 'retryable', status: 429, restCode: 33 } as const

export const RateErrors = defineErrors('rate', {
  TENANT: { ...TOO_MANY, text: 'Too many requests for current tenant!' },
  CUSTOMER: { ...TOO_MANY, text: 'Too many requests for current customer!' },
})

/** A limit of a rate that somebody reached. */
export interface RateRefusal {
  readonly tenantId: string
  readonly api:
    | 'REST_REQUESTS_PER_TENANT'
    | 'REST_REQUESTS_PER_CUSTOMER'
    | 'WS_UPDATES_PER_SESSION'
    | 'TRANSPORT_MESSAGES_PER_TENANT'
    | 'TRANSPORT_MESSAGES_PER_DEVICE'
    | 'TRANSPORT_MESSAGES_PER_GATEWAY'
    | 'TRANSPORT_MESSAGES_PER_GATEWAY_DEVICE'
    | 'NOTIFICATION_REQUESTS'
    | 'NOTIFICATION_REQUESTS_PER_RULE'
  /** Whose limit it is; the tenant's where none is named. */
  readonly level?: EntityId
  readonly levelName?: string
}

export class RestRates {
  private readonly limits: Pick<LimitsOfTenants, 'of'>
  private readonly clock: Clock
  private readonly tenants = new RatesById()
  private readonly customers = new RatesById()
  private readonly reached: (refusal: RateRefusal) => void
  private refused = 0

  /** `reached` is called for each refusal: it must be quick. */
  constructor(limits: Pick<LimitsOfTenants, 'of'>, clock: Clock, reached: (refusal: RateRefusal) => void) {
    this.limits = limits
    this.clock = clock
    this.reached = reached
  }

  /** Counts a call. Throws `rate.TENANT`, `rate.CUSTOMER`; system administrators are not counted. */
  async check({ tenantId, customerId }: Pick<Principal, 'tenantId' | 'customerId'>): Promise<void> {
    if (tenantId === null) return
    const { tenantServerRestLimitsConfiguration, customerServerRestLimitsConfiguration } =
      await this.limits.of(tenantId)
    const now = this.clock.monotonic()
    if (!this.tenants.admit(tenantId, tenantServerRestLimitsConfiguration, now)) {
      this.refused++
      this.reached({ tenantId, api: 'REST_REQUESTS_PER_TENANT' })
      throw RateErrors.TENANT()
    }
    if (customerId === null || this.customers.admit(customerId, customerServerRestLimitsConfiguration, now)) return
    this.refused++
    this.reached({ tenantId, api: 'REST_REQUESTS_PER_CUSTOMER', level: entityId('CUSTOMER', customerId) })
    throw RateErrors.CUSTOMER()
  }

  figures(): Readonly<Record<string, number>> {
    return { limited: this.tenants.size + this.customers.size, refused_total: this.refused }
  }
}
