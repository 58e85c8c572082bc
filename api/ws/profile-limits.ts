/** What the profile of a session's tenant allows it. Source: `websocket-api.md` 2.4. */
import type { TenantLimits } from '../../services/entities/tenant-limits.ts'

/** 0 is without limit. */
export interface Shares {
  readonly tenant: number
  readonly customer: number
  /** Of a customer. */
  readonly regularUser: number
  readonly publicUser: number
}

export interface ProfileLimits {
  readonly sessions: Shares
  /** The commands TIMESERIES and ATTRIBUTES, which each name one entity. */
  readonly subscriptions: Shares
  /** Frames that wait for a slow client; 0 leaves it to the server. */
  readonly pendingFrames: number
  /** `capacity:seconds`, several joined by commas; '' is without limit. */
  readonly updates: string
}

const NO_SHARES: Shares = { tenant: 0, customer: 0, regularUser: 0, publicUser: 0 }
/** Of whoever has no tenant. */
export const NO_PROFILE: ProfileLimits = {
  sessions: NO_SHARES,
  subscriptions: NO_SHARES,
  pendingFrames: 0,
  updates: '',
}

export function profileLimitsOf(limits: TenantLimits): ProfileLimits {
  return {
    sessions: {
      tenant: limits.maxWsSessionsPerTenant,
      customer: limits.maxWsSessionsPerCustomer,
      regularUser: limits.maxWsSessionsPerRegularUser,
      publicUser: limits.maxWsSessionsPerPublicUser,
    },
    subscriptions: {
      tenant: limits.maxWsSubscriptionsPerTenant,
      customer: limits.maxWsSubscriptionsPerCustomer,
      regularUser: limits.maxWsSubscriptionsPerRegularUser,
      publicUser: limits.maxWsSubscriptionsPerPublicUser,
    },
    pendingFrames: limits.wsMsgQueueLimitPerSession,
    updates: limits.wsUpdatesPerSessionRateLimit ?? '',
  }
}
