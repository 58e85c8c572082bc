/** The parked lanes of this process, over all partitions: which of them a message belongs to. */
import type { Message } from '../../model/message.ts'
import { MAIN_QUEUE } from '../link/link.ts'
import { hashOf } from '../link/partition.ts'
import { idOf, ParkedLane } from './parked-lane.ts'
import type { ParkedStore } from './parked-store.ts'
import type { StoredLane } from './stored-lane.ts'

/** A lane that a queue parks. */
export interface ParkedName {
  readonly queueName: string
  readonly key: string
  readonly why: string
  /** Unix ms. */
  readonly sinceMs: number
}

export class LaneBook {
  /** Lanes that were made. */
  made = 0
  private readonly lanes = new Map<StoredLane, ParkedLane>()
  private readonly triedBy: (queueName: string) => string | undefined

  /** `triedBy` names the queue that tries the lanes of another one, which may be gone. */
  constructor(triedBy: (queueName: string) => string | undefined) {
    this.triedBy = triedBy
  }

  get size(): number {
    return this.lanes.size
  }

  all(): Iterable<ParkedLane> {
    return this.lanes.values()
  }

  add(stored: StoredLane, store: ParkedStore): ParkedLane {
    const lane = new ParkedLane(stored, store)
    this.lanes.set(stored, lane)
    return lane
  }

  remove({ stored }: ParkedLane): void {
    this.lanes.delete(stored)
  }

  /** Takes out those of a store that is given up. */
  drop(store: ParkedStore): readonly ParkedLane[] {
    const dropped = [...this.lanes.values()].filter((lane) => lane.store === store)
    for (const lane of dropped) this.remove(lane)
    return dropped
  }

  /** By its id; of that tenant where there is one. */
  find(id: string, tenantId: string | undefined): ParkedLane | undefined {
    for (const lane of this.lanes.values()) {
      if (idOf(lane) === id && (tenantId === undefined || lane.stored.tenantId === tenantId)) return lane
    }
    return undefined
  }

  /** Whether the message itself is parked. */
  isParked(store: ParkedStore, message: Message): boolean {
    for (const key of keysOf(message))
      for (const stored of store.lanesOf(key))
        if (stored.find(message.sequence, hashOf(message.id)) !== undefined) return true
    return false
  }

  /** The lane behind which a message of the queue waits. */
  taking(store: ParkedStore, queueName: string, message: Message): ParkedLane | undefined {
    for (const key of keysOf(message)) {
      const lane = this.among(store, key, queueName, message, ({ state }) => state !== 'returning')
      if (lane !== undefined) return lane
    }
    return undefined
  }

  /** The lane in which the message is parked: a new one where there is none. */
  open(store: ParkedStore, { queueName, key, why, sinceMs }: ParkedName, message: Message): ParkedLane {
    // A queue that is to go may still have something of its lane in process, and tells of it.
    const mayBe = ({ out, stored }: ParkedLane): boolean => out === 0 || stored.queueName === queueName
    const lane = this.among(store, key, queueName, message, mayBe)
    if (lane !== undefined) return lane
    const { tenantId, originator } = message
    const originatorType = key === message.orderKey ? originator.entityType : 'TENANT'
    this.made++
    return this.add(store.openLane({ queueName, key, tenantId, originatorType, why, sinceMs }), store)
  }

  /** The lane of that queue; else of the message's; else of a queue that is gone, where it is this one that tries its lanes now. */
  private among(
    store: ParkedStore,
    key: string,
    queueName: string,
    { queueName: ownName = MAIN_QUEUE }: Message,
    mayBe: (lane: ParkedLane) => boolean,
  ): ParkedLane | undefined {
    let other: ParkedLane | undefined
    for (const stored of store.lanesOf(key)) {
      const lane = this.lanes.get(stored)
      if (lane === undefined || !mayBe(lane)) continue
      if (stored.queueName === queueName) return lane
      if (stored.queueName === ownName) other = lane
      else if (this.triedBy(stored.queueName) === queueName) other ??= lane
    }
    return other
  }
}

/** A lane is an originator's or a tenant's. */
function keysOf({ orderKey, tenantId }: Message): readonly string[] {
  return [orderKey, tenantId]
}
