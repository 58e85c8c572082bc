/** Bounds on CoAP clients, beside those on messages. */
import { DEFAULT_MESSAGE_LIMITS, type MessageLimits } from '../coap-messages/limits.ts'

export interface CoapLimits extends MessageLimits {
  /** Requests and answers in blocks under way; over it 5.03. */
  readonly maxBlockTransfers: number
  /** Of them those of one tenant. */
  readonly maxBlockTransfersPerTenant: number
  /** Devices that observe; over it 5.03. */
  readonly maxObservers: number
  readonly maxObserversPerTenant: number
  /** How long a device's call waits for the rule chain. */
  readonly serverCallTimeoutMs: number
}

export const DEFAULT_COAP_LIMITS: CoapLimits = Object.freeze({
  ...DEFAULT_MESSAGE_LIMITS,
  maxBlockTransfers: 1000,
  maxBlockTransfersPerTenant: 750,
  maxObservers: 100_000,
  maxObserversPerTenant: 75_000,
  serverCallTimeoutMs: 10_000,
})
