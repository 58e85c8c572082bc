/**
 * Lanes that fail again and again wait here instead of in the queue's memory and in the link's log. A lane is parked whole: its failed message first,
 * all others behind it, durably, before the link hears that they are settled; what comes of it later is put behind. When its pause is over its
 * first message is tried alone; once that succeeds the others follow side by side, and the lane is the queue's again.
 *
 * Each partition of the link has a store of its own, so that a partition takes its parked lanes along.
 */
import type { Clock } from '../../model/clock.ts'
import { erasedOfAll, type Erased } from '../../model/erased.ts'
import type { Message } from '../../model/message.ts'
import { Burial } from '../link/burial.ts'
import type { LetterKeeper, NewLetter } from '../link/dead-letters.ts'
import type { LinkEventListener } from '../link/events.ts'
import { MAIN_QUEUE, type Delivery } from '../link/link.ts'
import { Pauses } from '../queue/pauses.ts'
import { hashOf } from '../link/partition.ts'
import type { ParkingControl } from './control.ts'
import { LaneBook } from './lane-book.ts'
import { ParkedDelivery, type ParkedLane } from './parked-lane.ts'
import { listOf, NO_FIGURES, type ParkedPage, type ParkedQuery, type ParkingFigures } from './parked-list.ts'
import type { ParkedStore } from './parked-store.ts'
import type { ParkedEntry } from './stored-lane.ts'
import { Shares, type ShareBounds } from './shares.ts'
import { Turns } from './turns.ts'

/** A queue as seen from here. */
export interface ParkingQueue {
  readonly queueName: string
  /** For what it tries out of parking: its room is not to be full of it. A message takes one, and one more for each 4 KiB. */
  readonly parkedPlaces: number
  /** Takes messages of a lane to try them, in their order. */
  resume(deliveries: readonly ParkedDelivery[]): void
  /** It is durable here: the link may forget it. */
  parked(delivery: Delivery): void
  /** Its partition is another's by now: nothing became of it here. */
  lost(delivery: Delivery): void
}

export interface ParkingOptions {
  readonly clock: Clock
  readonly letters: LetterKeeper
  readonly partitionOf: (message: Message) => number
  readonly bounds: ShareBounds
  /** Places for parked messages in process, over all queues. */
  readonly maxInProcess: number
  /** Hears of every change of the tenants whose share is full. */
  readonly onFull: (full: ReadonlySet<string>) => void
  /** What a person on call should know; must not throw. */
  readonly onEvent: LinkEventListener
}

/** A try that comes next, and whose. */
export interface ParkedAttempt {
  readonly delivery: Delivery
  readonly attempt: number
}

/** Messages of one lane in process at once, when they follow one that succeeded. */
const FOLLOWERS = 256
/** A draining lane takes one of so many parts of the places that its tenant has left. */
const SHARERS = 4
const FIRST_LOOK_MS = 1000
/** Lanes found at a start are not all tried at once. */
const LOOKS = 64
/** Characters of why a lane is parked: each block that has a message of it says so, and a script may throw any text. */
const MAX_WHY = 500
const LOOK_PAUSE_MS = 50

export class Parking implements ParkingControl {
  readonly shares: Shares
  private readonly options: ParkingOptions
  private readonly stores = new Map<number, ParkedStore>()
  private readonly lanes = new LaneBook((queueName) => this.queueCalled(queueName)?.queueName)
  private readonly queues = new Map<string, ParkingQueue>()
  private readonly pauses: Pauses<ParkedLane>
  private readonly burial: Burial
  private readonly turns: Turns
  private isClosing = false
  /** The link may deliver what was parked before a crash, whatever became of it since. */
  private mayRecur = false
  private readonly counts = { returned: 0, tries: 0, buried: 0 }

  constructor(options: ParkingOptions) {
    this.options = options
    this.shares = new Shares(options.bounds, options.onFull)
    this.pauses = new Pauses(options.clock, (lanes) => this.makeReady(lanes))
    this.turns = new Turns({
      clock: options.clock,
      maxPlaces: options.maxInProcess,
      placesOf: (queueName) => this.queueCalled(queueName)?.parkedPlaces ?? 0,
    })
    this.burial = new Burial(options.letters, options.clock, options.onEvent)
  }

  /** A partition is this process's: its parked lanes go on. Before any of its messages is delivered. */
  open(store: ParkedStore): void {
    this.stores.set(store.partition, store)
    this.mayRecur ||= store.hasOld
    store.onWeight = (tenantId, change) => this.shares.change(tenantId, change)
    let count = 0
    for (const stored of store.lanes()) {
      this.shares.change(stored.tenantId, stored.bytes)
      const lane = this.lanes.add(stored, store)
      this.pauses.pause(lane, FIRST_LOOK_MS + (count++ % LOOKS) * LOOK_PAUSE_MS)
    }
  }

  /** Whose lanes are here. */
  get partitions(): number[] {
    return [...this.stores.keys()]
  }

  /** The partition is another's: nothing that is done from now on counts. */
  drop(partition: number): ParkedStore | undefined {
    const store = this.stores.get(partition)
    if (store === undefined) return undefined
    store.stop()
    store.onWeight = () => undefined
    this.stores.delete(partition)
    const dropped = this.lanes.drop(store)
    for (const lane of dropped) {
      this.shares.change(lane.stored.tenantId, -lane.stored.bytes)
      lane.pausedUntilMs = undefined
    }
    this.turns.drop(store, dropped)
    this.handOut()
    return store
  }

  /** A queue is there; the returned function takes it away: its lanes are `Main`'s then. */
  attach(queue: ParkingQueue): () => void {
    const { queueName } = queue
    this.queues.set(queueName, queue)
    this.handOut()
    return () => {
      if (this.queues.get(queueName) === queue) this.queues.delete(queueName)
    }
  }

  /**
   * Takes a delivery whose lane is parked, or that was parked itself before a crash. False where it is the queue's. The queue hears when it
   * is durable; it may hear at once.
   */
  takes(queue: ParkingQueue, delivery: Delivery): boolean {
    if (this.lanes.size === 0 && !this.mayRecur) return false
    const { message } = delivery
    const store = this.stores.get(this.options.partitionOf(message))
    if (store === undefined) return false
    if (store.wasDone(message) || (this.mayRecur && this.lanes.isParked(store, message))) {
      queue.parked(delivery)
      return true
    }
    const lane = this.lanes.taking(store, queue.queueName, message)
    if (lane === undefined) return false
    this.putBehind(lane, queue, { delivery, attempt: delivery.attempt })
    return true
  }

  /** Parks a lane: `attempts` are all of it, in the order of the log, none of them in process. Its first try comes after the pause. */
  park(queue: ParkingQueue, key: string, attempts: readonly ParkedAttempt[], reason: string, pauseMs: number): void {
    const why = reason.slice(0, MAX_WHY).toWellFormed()
    const name = { queueName: queue.queueName, key, why, sinceMs: Math.round(this.options.clock.now()) }
    const parked = new Set<ParkedLane>()
    // First what is parked, so that nothing of its lane is in process when the others come behind it.
    for (const { delivery, attempt } of attempts) {
      if (!(delivery instanceof ParkedDelivery)) continue
      const { lane, entry } = delivery
      this.turns.leave(lane, entry)
      // Whoever lost the partition lost the note with it.
      if (attempt > entry.attempt) lane.store.tried(lane.stored, entry, attempt).catch(() => undefined)
      parked.add(lane)
    }
    for (const next of attempts) {
      const { delivery } = next
      if (delivery instanceof ParkedDelivery) continue
      const { message } = delivery
      const store = this.stores.get(this.options.partitionOf(message))
      if (store === undefined || delivery.isGone === true) {
        queue.lost(delivery)
        continue
      }
      const lane = this.lanes.open(store, name, message)
      parked.add(lane)
      this.putBehind(lane, queue, next)
    }
    for (const lane of parked) {
      lane.stored.why = why
      this.rest(lane, pauseMs)
    }
    this.handOut()
  }

  /** Whether the tenant may park more before its devices are refused. */
  hasRoomFor(tenantId: string): boolean {
    return !this.shares.full.has(tenantId)
  }

  /** The delivery is done with. */
  done(delivery: ParkedDelivery): void {
    const { lane, entry } = delivery
    lane.wentWell = true
    this.turns.leave(lane, entry)
    this.finish(lane, entry)
    this.goOn(lane)
    this.handOut()
  }

  /** The delivery becomes a dead letter. */
  bury(delivery: ParkedDelivery, attempt: number, reason: string): void {
    const { lane, entry, message } = delivery
    lane.wentWell = false
    this.turns.leave(lane, entry)
    this.buryEntry(lane, entry, { message, attempts: attempt, reason })
    this.goOn(lane)
    this.handOut()
  }

  /** A page of the parked lanes that this process has, in a lasting order. */
  list(query: ParkedQuery): ParkedPage {
    return listOf(this.lanes.all(), query, this.options.clock)
  }

  retryNow(id: string, tenantId: string | undefined): boolean {
    return this.wake(this.lanes.find(id, tenantId))
  }

  giveUp(id: string, tenantId: string | undefined): boolean {
    const lane = this.lanes.find(id, tenantId)
    if (lane !== undefined) lane.isGivenUp = true
    return this.wake(lane)
  }

  /** Takes what is done with out of the files too. Parking goes on meanwhile. */
  async eraseRemoved(): Promise<Erased> {
    const parts: Erased[] = []
    for (const store of [...this.stores.values()]) {
      const closed = (error: unknown): Erased => {
        if (store.isClosed)
          return { isGone: false, rest: 'parked lanes went to another process meanwhile: erase again' }
        throw error
      }
      parts.push(await store.eraseDone().catch(closed))
    }
    return erasedOfAll(parts)
  }

  figures(): ParkingFigures {
    const figures = {
      ...NO_FIGURES,
      ...this.counts,
      parked: this.lanes.made,
      bytes: this.shares.total,
      fullTenants: this.shares.full.size,
    }
    let messages = 0
    for (const { stored } of this.lanes.all()) messages += stored.entries.length
    return { ...figures, lanes: this.lanes.size, messages, inProcess: this.turns.messages }
  }

  /** Tries nothing more; letters that are under way are waited for. The stores are closed by whoever opened them. */
  async close(): Promise<void> {
    this.isClosing = true
    this.pauses.cancel()
    this.turns.close()
    await this.burial.close()
  }

  private putBehind(lane: ParkedLane, queue: ParkingQueue, { delivery, attempt }: ParkedAttempt): void {
    const { message } = delivery
    const { store, stored } = lane
    if (stored.find(message.sequence, hashOf(message.id)) !== undefined) {
      queue.parked(delivery)
      return
    }
    if (this.shares.isOverflowing(stored.tenantId)) {
      const reason = 'what its tenant may park is full'
      this.counts.buried++
      this.burial.bury({ message, attempts: attempt, reason }, () => queue.parked(delivery))
      return
    }
    lane.arriving++
    store.append(stored, message, attempt).then(
      () => {
        lane.arriving--
        queue.parked(delivery)
        this.arrived(lane)
      },
      () => {
        lane.arriving--
        queue.lost(delivery)
      },
    )
  }

  private rest(lane: ParkedLane, pauseMs: number): void {
    lane.state = 'waiting'
    for (const entry of lane.stored.entries) entry.isOut = false
    lane.wentWell = false
    if (this.isClosing || lane.store.isClosed) return
    this.pauses.pause(lane, lane.isGivenUp ? 0 : pauseMs)
  }

  /** A message of the lane is durable. Where it was the lane's turn and nothing was, it has its turn now. */
  private arrived(lane: ParkedLane): void {
    if (lane.out > 0 || lane.store.isClosed) return
    if (lane.state !== 'trying' && lane.state !== 'draining') return
    this.turns.lineUp(lane)
    this.handOut()
  }

  private makeReady(lanes: readonly ParkedLane[]): void {
    for (const lane of lanes) if (!lane.store.isClosed && lane.state === 'waiting') this.turns.lineUp(lane)
    this.handOut()
  }

  private wake(lane: ParkedLane | undefined): boolean {
    if (lane?.state === 'waiting') {
      lane.pausedUntilMs = undefined
      this.makeReady([lane])
    }
    return lane !== undefined
  }

  private handOut(): void {
    if (this.isClosing || !this.turns.isWaiting) return
    this.turns.handOut((lane) => {
      lane.state = 'trying'
      this.begin(lane)
    })
  }

  /** The lanes of a queue that is gone are `Main`'s. */
  private queueCalled(queueName: string): ParkingQueue | undefined {
    return this.queues.get(queueName) ?? this.queues.get(MAIN_QUEUE)
  }

  /** A lane whose turn it is goes on once nothing of it is in process; where its tenant has no place left, behind the tenant's others. */
  private goOn(lane: ParkedLane): void {
    const { out, store, state, stored } = lane
    if (out > 0 || store.isClosed || state === 'waiting' || state === 'ready') return
    if (stored.next(1, 1).length === 0 || this.turns.hasPlace(lane)) this.begin(lane)
    else this.turns.lineUp(lane)
  }

  private begin(lane: ParkedLane): void {
    const places = lane.isGivenUp ? FOLLOWERS : lane.wentWell ? this.placesOf(lane) : 1
    const waiting = lane.stored.next(Math.min(FOLLOWERS, places), places)
    if (waiting.length > 0) void this.takeOut(lane, waiting)
    else if (lane.arriving === 0) this.leave(lane)
    else lane.state = 'draining'
  }

  /** The lanes of a tenant share its places out: however many drain, each has a part of what is left, and one at least. */
  private placesOf(lane: ParkedLane): number {
    return Math.max(1, Math.floor(this.turns.placesLeft(lane) / SHARERS))
  }

  private leave(lane: ParkedLane): void {
    lane.state = 'returning'
    if (lane.stored.entries.length > 0) return
    this.lanes.remove(lane)
    lane.store.forgetLane(lane.stored)
    this.counts.returned++
  }

  /** For its queue, or for the dead letters where it was given up when it began. */
  private async takeOut(lane: ParkedLane, entries: readonly ParkedEntry[]): Promise<void> {
    const { isGivenUp } = lane
    this.turns.enter(lane, entries)
    for (const entry of entries) entry.isOut = true
    const messages = await this.read(lane, entries)
    const queue = this.queueCalled(lane.stored.queueName)
    if (lane.store.isClosed) return
    if (messages !== undefined && isGivenUp) this.buryAll(lane, entries, messages)
    else if (messages !== undefined && queue !== undefined) this.handOver(lane, entries, messages, queue)
    else {
      for (const entry of entries) this.turns.leave(lane, entry)
      this.rest(lane, FIRST_LOOK_MS)
      this.handOut()
    }
  }

  private handOver(
    lane: ParkedLane,
    entries: readonly ParkedEntry[],
    messages: readonly (Message | undefined)[],
    queue: ParkingQueue,
  ): void {
    const deliveries: ParkedDelivery[] = []
    for (const [index, entry] of entries.entries()) {
      const message = messages[index]
      if (message !== undefined) deliveries.push(new ParkedDelivery(message, lane, entry))
      else {
        // Damaged, and told so by who read it.
        this.turns.leave(lane, entry)
        this.finish(lane, entry)
      }
    }
    this.counts.tries += deliveries.length
    const isAll = lane.arriving === 0 && lane.stored.next(1, 1).length === 0
    lane.state = isAll && lane.wentWell ? 'returning' : lane.wentWell ? 'draining' : 'trying'
    if (deliveries.length > 0) queue.resume(deliveries)
    else this.goOn(lane)
    if (deliveries.length < entries.length) this.handOut()
  }

  /** Undefined where the store does not answer now. */
  private async read(lane: ParkedLane, entries: readonly ParkedEntry[]): Promise<(Message | undefined)[] | undefined> {
    try {
      return await Promise.all(entries.map((entry) => lane.store.read(entry)))
    } catch (error) {
      this.options.onEvent({ kind: 'read-failed', file: `parked messages of partition ${lane.store.partition}`, error })
      return undefined
    }
  }

  private buryAll(lane: ParkedLane, entries: readonly ParkedEntry[], messages: readonly (Message | undefined)[]): void {
    for (const entry of entries) this.turns.leave(lane, entry)
    for (const [index, entry] of entries.entries()) {
      const message = messages[index]
      const attempts = Math.max(1, entry.attempt - 1)
      const reason = `moved to the dead letters: ${lane.stored.why}`
      if (message === undefined) this.finish(lane, entry)
      else this.buryEntry(lane, entry, { message, attempts, reason })
    }
    this.goOn(lane)
    this.handOut()
  }

  /** The letter first, the note second: a crash between them makes the letter again, under the same id. */
  private buryEntry(lane: ParkedLane, entry: ParkedEntry, letter: NewLetter): void {
    entry.isOver = true
    this.counts.buried++
    this.burial.bury(letter, () => this.finish(lane, entry))
  }

  private finish(lane: ParkedLane, entry: ParkedEntry): void {
    lane.store.done(lane.stored, entry).then(
      () => {
        const isOver = lane.stored.entries.length === 0 && lane.out === 0 && lane.arriving === 0
        if (isOver && lane.state === 'returning') this.leave(lane)
      },
      // Its partition is another's: it will be tried there once more.
      () => undefined,
    )
  }
}
