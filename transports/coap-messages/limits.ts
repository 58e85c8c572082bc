/** Bounds on messages, each with the attack or mistake that it stops; times are those of RFC 7252, 4.8. */

export interface MessageLimits {
  /** Of a request or an answer, its blocks together; over it the answer is 4.13. */
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
  /** Requests in blocks of those who have no token yet, a tenth of them of one address. Over it the oldest is given up. */
  readonly maxStrangerTransfers: number
  /** Silence after which a transfer in blocks is given up. */
  readonly blockTimeoutMs: number
}

export const DEFAULT_MESSAGE_LIMITS: MessageLimits = Object.freeze({
  maxPayloadBytes: 65_536,
  blockBytes: 1024,
  maxExchanges: 100_000,
  exchangeLifetimeMs: 247_000,
  piggybackMs: 500,
  acknowledgeTimeoutMs: 2000,
  acknowledgeRandomFactor: 1.5,
  maxRetransmits: 4,
  maxQueuedMessages: 32,
  maxStrangerTransfers: 64,
  blockTimeoutMs: 60_000,
})
