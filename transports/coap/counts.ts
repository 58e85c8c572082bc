/** Figures since the start; each only grows. */
export interface CoapCounts {
  received: number
  acknowledged: number
  refused: number
  undecodable: number
  unauthenticated: number
  malformed: number
  duplicates: number
  notified: number
  retransmitted: number
  /** Messages to a client that it never acknowledged. */
  lost: number
}

export function newCounts(): CoapCounts {
  return {
    ...{ received: 0, acknowledged: 0, refused: 0, undecodable: 0, unauthenticated: 0 },
    ...{ malformed: 0, duplicates: 0, notified: 0, retransmitted: 0, lost: 0 },
  }
}
