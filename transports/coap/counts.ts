import { newMessageCounts, type MessageCounts } from '../coap-messages/counts.ts'

/** Figures since the start; each only grows. */
export interface CoapCounts extends MessageCounts {
  received: number
  acknowledged: number
  refused: number
  undecodable: number
  unauthenticated: number
}

export function newCounts(): CoapCounts {
  return { ...newMessageCounts(), received: 0, acknowledged: 0, refused: 0, undecodable: 0, unauthenticated: 0 }
}
