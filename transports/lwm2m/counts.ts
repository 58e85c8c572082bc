import { newMessageCounts, type MessageCounts } from '../coap-messages/counts.ts'

/** Figures since the start; each only grows. */
export interface Lwm2mCounts extends MessageCounts {
  /** Notifications, answers and packs whose values were to be stored. */
  received: number
  acknowledged: number
  refused: number
  undecodable: number
  unauthenticated: number
  /** Clients that took all that they were told, and those that did not. */
  bootstrapped: number
  bootstrapsFailed: number
  /** Values that a profile names and whose type nobody knows. */
  untyped: number
}

export function newCounts(): Lwm2mCounts {
  return {
    ...newMessageCounts(),
    ...{ received: 0, acknowledged: 0, refused: 0, undecodable: 0, unauthenticated: 0, untyped: 0 },
    ...{ bootstrapped: 0, bootstrapsFailed: 0 },
  }
}
