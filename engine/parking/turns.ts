/**
 * Which parked lane is tried next, and how many of their messages are in process: large ones count for several, as in the queue that tries them.
 * Queues and tenants take turns. A tenant has no more of a queue's places than are left, so that there is always one for the next tenant.
 *
 * Lanes that failed together are due together, again and again. So they begin a few at a time: the tries of a thousand lanes in one turn held
 * everybody's messages up for a tenth of a second.
 */
import type { Clock, TimerHandle } from '../../model/clock.ts'
import type { ParkedLane } from './parked-lane.ts'
import type { ParkedStore } from './parked-store.ts'
import { placesFor, type ParkedEntry } from './stored-lane.ts'

interface QueueTurns {
  /** By tenant, the first to come first. */
  readonly ready: Map<string, ParkedLane[]>
  taken: number
  readonly takenBy: Map<string, number>
}

/** So many lanes begin within {@link SLICE_MS}: a try takes some 0.1 ms, its note in the store included. */
const PER_SLICE = 32
const SLICE_MS = 10
/** What a busy thread missed comes with the next slice, up to so many: else it would hold parked lanes up for long. */
const MAX_MISSED = 4

export interface TurnsOptions {
  readonly clock: Clock
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
  /** Lanes that may begin still, of those that may since {@link sliceBeganMs}. */
  private left = 0
  private sliceBeganMs = -Infinity
  /** Until the next slice. */
  private timer: TimerHandle | undefined

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

  /** Begins with lanes that are ready while there are places, some now and the rest in slices. `begin` may give places back. */
  handOut(begin: (lane: ParkedLane) => void): void {
    if (this.timer !== undefined) return
    const now = this.options.clock.monotonic()
    if (now - this.sliceBeganMs >= SLICE_MS) this.beginSlice(now, 1)
    this.handOutSlice(begin)
  }

  /** Begins with nothing more by itself. */
  close(): void {
    this.timer?.cancel()
  }

  private beginSlice(now: number, slices: number): void {
    this.sliceBeganMs = now
    this.left = PER_SLICE * slices
  }

  private handOutSlice(begin: (lane: ParkedLane) => void): void {
    for (let isIdle = false; !isIdle;) {
      isIdle = true
      for (const [queueName, turns] of [...this.byQueue]) {
        for (const tenantId of [...turns.ready.keys()]) {
          if (this.left === 0) {
            // The next slice begins with another queue.
            this.putLast(queueName, turns)
            this.goOnLater(begin)
            return
          }
          const lane = this.next(queueName, turns, tenantId)
          if (lane === undefined) continue
          isIdle = false
          this.left--
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
    // Behind the other tenants.
    ready.delete(tenantId)
    if (lanes.length > 0) ready.set(tenantId, lanes)
    // It rests again meanwhile.
    return lane.state === 'ready' ? lane : this.next(queueName, this.turnsOf(queueName), tenantId)
  }

  private putLast(queueName: string, turns: QueueTurns): void {
    if (this.byQueue.get(queueName) !== turns) return
    this.byQueue.delete(queueName)
    this.byQueue.set(queueName, turns)
  }

  private goOnLater(begin: (lane: ParkedLane) => void): void {
    const { clock } = this.options
    this.timer = clock.after(Math.max(0, this.sliceBeganMs + SLICE_MS - clock.monotonic()), () => {
      this.timer = undefined
      const now = clock.monotonic()
      const missed = Math.floor((now - this.sliceBeganMs) / SLICE_MS)
      this.beginSlice(now, Math.min(MAX_MISSED, Math.max(1, missed)))
      this.handOutSlice(begin)
    })
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
