/**
 * Which parked lane is tried next, and how many of their messages are in process: large ones count for several, as in the queue that tries them.
 * Queues and tenants take turns. A tenant has no more of a queue's places than are left, so that there is always one for the next tenant.
 */
import type { ParkedLane } from './parked-lane.ts'
import type { ParkedStore } from './parked-store.ts'
import { placesFor, type ParkedEntry } from './stored-lane.ts'

interface QueueTurns {
  /** By tenant, the first to come first. */
  readonly ready: Map<string, ParkedLane[]>
  taken: number
  readonly takenBy: Map<string, number>
}

export interface TurnsOptions {
  /** Places over all queues. */
  readonly maxPlaces: number
  /** Those of a queue; 0 where nobody tries its lanes now. */
  readonly placesOf: (queueName: string) => number
}

export class Turns {
  /** In process. */
  messages = 0
  private readonly options: TurnsOptions
  private readonly byQueue = new Map<string, QueueTurns>()
  private taken = 0

  constructor(options: TurnsOptions) {
    this.options = options
  }

  /** The lane is ready, behind the others of its tenant. */
  lineUp(lane: ParkedLane): void {
    lane.state = 'ready'
    const { queueName, tenantId } = lane.stored
    const { ready } = this.turnsOf(queueName)
    const own = ready.get(tenantId)
    if (own === undefined) ready.set(tenantId, [lane])
    else own.push(lane)
  }

  /** Begins with lanes that are ready while there are places. `begin` may give places back. */
  handOut(begin: (lane: ParkedLane) => void): void {
    for (let isIdle = false; !isIdle;) {
      isIdle = true
      for (const [queueName, turns] of this.byQueue) {
        for (const tenantId of [...turns.ready.keys()]) {
          const lane = this.next(queueName, turns, tenantId)
          if (lane === undefined) continue
          isIdle = false
          begin(lane)
        }
      }
    }
  }

  /** Places that the lane's tenant may still take of its queue. */
  placesLeft({ stored: { queueName, tenantId } }: ParkedLane): number {
    const turns = this.turnsOf(queueName)
    const left = Math.min(this.options.placesOf(queueName) - turns.taken, this.options.maxPlaces - this.taken)
    const own = turns.takenBy.get(tenantId) ?? 0
    // As many again as it has would leave less than it has.
    return own < left ? Math.ceil((left - own) / 2) : 0
  }

  /** What is given up needs no queue. */
  hasPlace(lane: ParkedLane): boolean {
    return this.placesLeft(lane) > 0 || (lane.isGivenUp && this.options.placesOf(lane.stored.queueName) === 0)
  }

  enter(lane: ParkedLane, entries: readonly ParkedEntry[]): void {
    let places = 0
    for (const entry of entries) places += placesFor(entry)
    lane.out += entries.length
    lane.places += places
    this.messages += entries.length
    this.change(lane, places)
  }

  /** A message of the lane is no longer in process. */
  leave(lane: ParkedLane, entry: ParkedEntry): void {
    // Its store was given up, and all of it with it.
    if (lane.out === 0) return
    const places = placesFor(entry)
    lane.out--
    lane.places -= places
    this.messages--
    this.change(lane, -places)
  }

  /** The store is another process's. */
  drop(store: ParkedStore, lanes: Iterable<ParkedLane>): void {
    for (const { ready } of this.byQueue.values()) {
      for (const [tenantId, waiting] of ready) {
        const kept = waiting.filter((lane) => lane.store !== store)
        if (kept.length > 0) ready.set(tenantId, kept)
        else ready.delete(tenantId)
      }
    }
    for (const lane of lanes) {
      this.messages -= lane.out
      const { places } = lane
      lane.out = 0
      lane.places = 0
      this.change(lane, -places)
    }
  }

  get isWaiting(): boolean {
    for (const { ready } of this.byQueue.values()) if (ready.size > 0) return true
    return false
  }

  /** Takes the next lane of a tenant that may be tried now. */
  private next(queueName: string, { ready }: QueueTurns, tenantId: string): ParkedLane | undefined {
    const lanes = ready.get(tenantId)
    const lane = lanes?.[0]
    if (lanes === undefined || lane === undefined) return undefined
    if (lane.state === 'ready' && !this.hasPlace(lane)) return undefined
    lanes.shift()
    if (lanes.length === 0) ready.delete(tenantId)
    // It rests again meanwhile.
    return lane.state === 'ready' ? lane : this.next(queueName, this.turnsOf(queueName), tenantId)
  }

  private change({ stored: { queueName, tenantId } }: ParkedLane, places: number): void {
    const turns = this.turnsOf(queueName)
    this.taken += places
    turns.taken += places
    const own = (turns.takenBy.get(tenantId) ?? 0) + places
    if (own > 0) turns.takenBy.set(tenantId, own)
    else turns.takenBy.delete(tenantId)
    if (turns.ready.size === 0 && turns.takenBy.size === 0) this.byQueue.delete(queueName)
  }

  private turnsOf(queueName: string): QueueTurns {
    let turns = this.byQueue.get(queueName)
    if (turns === undefined) this.byQueue.set(queueName, (turns = { ready: new Map(), taken: 0, takenBy: new Map() }))
    return turns
  }
}
