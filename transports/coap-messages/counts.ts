/** Figures of messages since the start; each only grows. */
export interface MessageCounts {
  malformed: number
  duplicates: number
  notified: number
  retransmitted: number
  /** Messages to a client that it never acknowledged. */
  lost: number
}

export function newMessageCounts(): MessageCounts {
  return { malformed: 0, duplicates: 0, notified: 0, retransmitted: 0, lost: 0 }
}
