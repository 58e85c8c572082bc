/** Bounds on CoAP clients, each with the attack or mistake that it stops; times are those of RFC 7252, 4.8. */

export interface CoapLimits {
  /** Of a request, its blocks together; over it the answer is 4.13. */
  readonly maxPayloadBytes: number
  /** Largest block that is sent, 16 to 1024: a power of two. */
  readonly blockBytes: number
  /** Messages that are remembered, so that one that comes again is done once. Over it the oldest are forgotten. */
  readonly maxExchanges: number
  /** How long a message may come again. */
  readonly exchangeLifetimeMs: number
  /** A request that is not answered by then gets an empty acknowledgement, and its answer later. */
  readonly piggybackMs: number
  readonly acknowledgeTimeoutMs: number
  readonly acknowledgeRandomFactor: number
  readonly maxRetransmits: number
  /** Messages to one client that wait for the one before; over it its observation ends. */
  readonly maxQueuedMessages: number
  /** Requests and answers in blocks under way; over it 5.03. */
  readonly maxBlockTransfers: number
  /** Of them those of one tenant. */
  readonly maxBlockTransfersPerTenant: number
  /** Requests in blocks of those who have no token yet. */
  readonly maxStrangerTransfers: number
  /** Silence after which one is given up. */
  readonly blockTimeoutMs: number
  /** Devices that observe; over it 5.03. */
  readonly maxObservers: number
  readonly maxObserversPerTenant: number
  /** How long a device's call waits for the rule chain. */
  readonly serverCallTimeoutMs: number
}

export const DEFAULT_COAP_LIMITS: CoapLimits = Object.freeze({
  maxPayloadBytes: 65_536,
  blockBytes: 1024,
  maxExchanges: 100_000,
  exchangeLifetimeMs: 247_000,
  piggybackMs: 500,
  acknowledgeTimeoutMs: 2000,
  acknowledgeRandomFactor: 1.5,
  maxRetransmits: 4,
  maxQueuedMessages: 32,
  maxBlockTransfers: 1000,
  maxBlockTransfersPerTenant: 750,
  maxStrangerTransfers: 16,
  blockTimeoutMs: 60_000,
  maxObservers: 100_000,
  maxObserversPerTenant: 75_000,
  serverCallTimeoutMs: 10_000,
})
