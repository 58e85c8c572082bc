/** How many sessions and subscriptions each tenant, customer and user has. Source: `websocket-api.md` 2.2 and 2.4. */
import { NULL_UUID } from '../../model/entity-id.ts'
import type { Principal } from '../../model/principal.ts'
import type { LiveCommand } from './define-command.ts'
import { NO_PROFILE, type ProfileLimits, type Shares } from './profile-limits.ts'

/** Of the server, for whatever profile a tenant has; 0 is without limit. */
export interface ServerLimits {
  /** Of all tenants together. */
  readonly sessions: number
  readonly sessionsPerTenant: number
  /** Of every kind of live command. */
  readonly subscriptionsPerTenant: number
}

interface Count {
  sessions: number
  /** Live commands of every kind. */
  live: number
  /** Those that profiles bound. */
  subscriptions: number
}

type Share = keyof Shares

/** As clients read them; the reference ends only the first with a mark. */
const NAMES: Readonly<Record<Share, string>> = {
  tenant: 'tenant',
  customer: 'customer',
  regularUser: 'regular user',
  publicUser: 'public user',
}

export class SessionCounts {
  private readonly limits: ServerLimits
  private sessions = 0
  private live = 0
  private readonly counts = new Map<string, Count>()

  constructor(limits: ServerLimits) {
    this.limits = limits
  }

  get subscriptions(): number {
    return this.live
  }

  /** Undefined once it is counted; else why it may not be, and nothing is counted. */
  addSession(principal: Principal, profile: ProfileLimits = NO_PROFILE): string | undefined {
    const { sessions, sessionsPerTenant } = this.limits
    const ofTenant = this.countOf('tenant', principal).sessions
    if (isReached(sessions, this.sessions) || isReached(sessionsPerTenant, ofTenant))
      return refusal('sessions', 'tenant')
    for (const share of sharesOf(principal))
      if (isReached(profile.sessions[share], this.countOf(share, principal).sessions)) return refusal('sessions', share)
    for (const share of sharesOf(principal)) this.counted(share, principal).sessions++
    this.sessions++
    return undefined
  }

  removeSession(principal: Principal): void {
    this.sessions--
    for (const share of sharesOf(principal)) this.give(share, principal, (count) => count.sessions--)
  }

  /** Undefined once it is counted; else why it may not be, and nothing is counted. */
  addSubscription(
    principal: Principal,
    command: Pick<LiveCommand, 'isSubscription'>,
    profile: ProfileLimits = NO_PROFILE,
  ): string | undefined {
    if (isReached(this.limits.subscriptionsPerTenant, this.countOf('tenant', principal).live))
      return refusal('subscriptions', 'tenant')
    if (command.isSubscription === true) {
      for (const share of sharesOf(principal))
        if (isReached(profile.subscriptions[share], this.countOf(share, principal).subscriptions))
          return refusal('subscriptions', share)
    }
    this.live++
    for (const share of sharesOf(principal)) {
      const count = this.counted(share, principal)
      count.live++
      if (command.isSubscription === true) count.subscriptions++
    }
    return undefined
  }

  removeSubscription(principal: Principal, command: Pick<LiveCommand, 'isSubscription'>): void {
    this.live--
    for (const share of sharesOf(principal)) {
      this.give(share, principal, (count) => {
        count.live--
        if (command.isSubscription === true) count.subscriptions--
      })
    }
  }

  private countOf(share: Share, principal: Principal): Readonly<Count> {
    return this.counts.get(keyOf(share, principal)) ?? { sessions: 0, live: 0, subscriptions: 0 }
  }

  private counted(share: Share, principal: Principal): Count {
    const key = keyOf(share, principal)
    const known = this.counts.get(key)
    if (known !== undefined) return known
    const count = { sessions: 0, live: 0, subscriptions: 0 }
    this.counts.set(key, count)
    return count
  }

  private give(share: Share, principal: Principal, change: (count: Count) => void): void {
    const count = this.counted(share, principal)
    change(count)
    if (count.sessions <= 0 && count.live <= 0) this.counts.delete(keyOf(share, principal))
  }
}

/** An administrator counts for the tenant alone. */
function sharesOf({ customerId, authority, userId }: Principal): readonly Share[] {
  if (authority !== 'CUSTOMER_USER' || customerId === null) return ['tenant']
  // Whoever came in by a public customer's link is nobody in particular.
  return ['tenant', 'customer', userId === NULL_UUID ? 'publicUser' : 'regularUser']
}

/** System administrators count together, as the tenant they have not. */
function keyOf(share: Share, { tenantId, customerId, userId, email }: Principal): string {
  if (share === 'tenant') return `tenant ${tenantId ?? ''}`
  return share === 'customer' ? `customer ${customerId ?? ''}` : `user ${userId} ${email}`
}

function refusal(what: 'sessions' | 'subscriptions', share: Share): string {
  return `Max ${NAMES[share]} ${what} limit reached${share === 'tenant' ? '!' : ''}`
}

function isReached(limit: number, count: number): boolean {
  return limit > 0 && count >= limit
}
