/** How many sessions and subscriptions each tenant has. Source: `websocket-api.md` 2.4. */
import type { Principal } from '../../model/principal.ts'

/** 0 is without limit. */
export interface TenantLimits {
  /** Of all tenants together. */
  readonly sessions: number
  readonly sessionsPerTenant: number
  readonly subscriptionsPerTenant: number
}

interface Count {
  sessions: number
  subscriptions: number
}

/** System administrators count together, as the tenant they have not. */
const NO_TENANT = ''

export class TenantCounts {
  private readonly limits: TenantLimits
  private sessions = 0
  private readonly tenants = new Map<string, Count>()

  constructor(limits: TenantLimits) {
    this.limits = limits
  }

  /** False where the limit is reached: nothing is counted then. */
  addSession(principal: Principal): boolean {
    const count = this.countOf(principal)
    if (isReached(this.limits.sessions, this.sessions) || isReached(this.limits.sessionsPerTenant, count.sessions))
      return false
    count.sessions++
    this.sessions++
    return true
  }

  removeSession(principal: Principal): void {
    const count = this.countOf(principal)
    count.sessions--
    this.sessions--
    if (count.sessions === 0) this.tenants.delete(principal.tenantId ?? NO_TENANT)
  }

  /** False where the limit is reached: nothing is counted then. */
  addSubscription(principal: Principal): boolean {
    const count = this.countOf(principal)
    if (isReached(this.limits.subscriptionsPerTenant, count.subscriptions)) return false
    count.subscriptions++
    return true
  }

  removeSubscriptions(principal: Principal, count: number): void {
    this.countOf(principal).subscriptions -= count
  }

  get subscriptions(): number {
    let total = 0
    for (const { subscriptions } of this.tenants.values()) total += subscriptions
    return total
  }

  private countOf(principal: Principal): Count {
    const tenantId = principal.tenantId ?? NO_TENANT
    const known = this.tenants.get(tenantId)
    if (known !== undefined) return known
    const count = { sessions: 0, subscriptions: 0 }
    this.tenants.set(tenantId, count)
    return count
  }
}

function isReached(limit: number, count: number): boolean {
  return limit > 0 && count >= limit
}
