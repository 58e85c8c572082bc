/** A lane that is parked, as this process deals with it; and its messages on their way through the queue. */
import type { Message } from '../../model/message.ts'
import type { Delivery } from '../link/link.ts'
import type { ParkedStore } from './parked-store.ts'
import type { ParkedEntry, StoredLane } from './stored-lane.ts'

/**
 * waiting: for its pause to end · ready: for its turn · trying: its first message is in process, alone · draining: that succeeded, the others
 * are in process, some at a time · returning: all are handed out, what comes goes to the queue behind them.
 */
export const LANE_STATES = ['waiting', 'ready', 'trying', 'draining', 'returning'] as const
export type LaneState = (typeof LANE_STATES)[number]

/** A message out of the store. It is settled, failed and buried at {@link Parking}, not at the link. */
export class ParkedDelivery implements Delivery {
  readonly message: Message
  readonly attempt: number
  readonly lane: ParkedLane
  readonly entry: ParkedEntry

  constructor(message: Message, lane: ParkedLane, entry: ParkedEntry) {
    this.message = message
    this.attempt = entry.attempt
    this.lane = lane
    this.entry = entry
  }

  get isGone(): boolean {
    return this.lane.store.isClosed
  }
}

export class ParkedLane {
  readonly stored: StoredLane
  readonly store: ParkedStore
  state: LaneState = 'waiting'
  /** In the clock's monotonic time. */
  pausedUntilMs: number | undefined
  /** Handed to the queue and not heard of again. */
  out = 0
  /** What these take of the places of the queue. */
  places = 0
  /** Messages that are being made durable. */
  arriving = 0
  /** The last message heard of succeeded: the others may follow side by side. */
  wentWell = false
  /** All of it is to become dead letters. */
  isGivenUp = false

  constructor(stored: StoredLane, store: ParkedStore) {
    this.stored = stored
    this.store = store
  }
}

/** Names a lane for those who manage it. */
export function idOf({ stored, store }: ParkedLane): string {
  return Buffer.from(JSON.stringify([store.partition, stored.queueName, stored.key])).toString('base64url')
}
