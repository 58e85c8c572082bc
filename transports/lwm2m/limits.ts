/** Bounds on LwM2M clients, beside those on messages. */
import { DEFAULT_MESSAGE_LIMITS, type MessageLimits } from '../coap-messages/limits.ts'

export interface Lwm2mLimits extends MessageLimits {
  /** Registered at once; over it 5.03. */
  readonly maxClients: number
  readonly maxClientsPerTenant: number
  /** Bodies in blocks under way. */
  readonly maxBlockTransfers: number
  readonly maxBlockTransfersPerTenant: number
  /** Addresses at which clients load packages. */
  readonly maxOfferedPackages: number
  readonly maxOfferedPackagesPerTenant: number
  /** Silence after which such an address ends. */
  readonly packageIdleMs: number
  /** Clients in the middle of a bootstrap; over it 5.03. */
  readonly maxBootstraps: number
  readonly maxBootstrapsPerTenant: number
  /** A client that takes longer is given up: it waits no longer itself (OMA LwM2M Core 1.1, 5.2.3: EXCHANGE_LIFETIME). */
  readonly bootstrapMs: number
  /** Requests for one client that wait for the one before. */
  readonly maxWaitingRequests: number
  /** Of one client. */
  readonly maxObservations: number
  readonly answerTimeoutMs: number
  /** Clients that are observed anew at once; the others wait. */
  readonly maxRenewals: number
  readonly maxRenewalsPerTenant: number
  /** A client whose address changes with each update is observed anew once in this time. */
  readonly renewalIntervalMs: number
  /** How long a client in queue mode listens after it was heard (RFC 7252, 4.8.2: MAX_TRANSMIT_WAIT). */
  readonly awakeMs: number
}

export const DEFAULT_LWM2M_LIMITS: Lwm2mLimits = Object.freeze({
  ...DEFAULT_MESSAGE_LIMITS,
  maxClients: 100_000,
  maxClientsPerTenant: 75_000,
  maxBlockTransfers: 1000,
  maxBlockTransfersPerTenant: 750,
  maxOfferedPackages: 100_000,
  maxOfferedPackagesPerTenant: 75_000,
  packageIdleMs: 3_600_000,
  maxBootstraps: 10_000,
  maxBootstrapsPerTenant: 7500,
  bootstrapMs: 247_000,
  maxWaitingRequests: 32,
  maxObservations: 256,
  answerTimeoutMs: 120_000,
  maxRenewals: 500,
  maxRenewalsPerTenant: 375,
  renewalIntervalMs: 600_000,
  awakeMs: 93_000,
})
