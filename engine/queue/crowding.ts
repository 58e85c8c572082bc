/**
 * A queue is crowded while little of its room is left. Whoever holds most of it then makes room for tenants that hold little, before the
 * queue is full and nobody's messages are taken: its next messages are parked, each with all of its lane, without a try being counted, so that
 * no strategy skips or buries them. Such messages need not fail: they come faster than they succeed.
 *
 * A full queue is crowded for everybody: a tenant over its share gives back what it has in process for long.
 */
import type { Clock, TimerHandle } from '../../model/clock.ts'
import { QueueErrors } from './errors.ts'
import type { Lane } from './lane.ts'
import type { Packs } from './packs.ts'
import type { RoomRules } from './room-rules.ts'
import type { Task } from './task.ts'

/** Between two looks at a crowded queue: what a look costs grows with what is held. */
const LOOK_MS = 25
/** What began so lately may end by itself: a message that is fast is not begun twice. */
const YOUNG_MS = 250
/** Looks within the time for messages that give no outcome, so that what began just after the last look does not have it twice. */
const LOOKS = 4

export class Crowding {
  private readonly clock: Clock
  private readonly rules: RoomRules
  private readonly packs: Packs
  /** To be parked once nothing of them is in process. */
  private readonly leaving = new Set<Lane<Task>>()
  /** Who holds as much makes room; undefined while nobody has to. */
  private limit: number | undefined
  private lookedMs = -Infinity
  /** What the last look at the tenants said. */
  private seenLimit: number | undefined
  /** As it was at the last look. */
  private wasCrowded = false
  private timer: TimerHandle | undefined
  private longTimer: TimerHandle | undefined

  constructor(clock: Clock, rules: RoomRules, packs: Packs) {
    this.clock = clock
    this.rules = rules
    this.packs = packs
  }

  /** Of a tenant of whom a message comes. Cheap where nothing is crowded. */
  mustMakeRoom(tenantId: string): boolean {
    // Large messages, or those of a small queue, may fill it within one batch.
    if (!this.wasCrowded && this.rules.isCrowded) this.look()
    return this.limit !== undefined && this.rules.mayMakeRoom(tenantId, this.limit)
  }

  /** The lane waits to be parked: what it has in process is given back soon. */
  leave(lane: Lane<Task>): void {
    this.leaving.add(lane)
    this.watch()
  }

  /** The lanes are no more. */
  forget(): void {
    this.leaving.clear()
  }

  /** Before messages are taken. */
  look(): void {
    this.wasCrowded = this.rules.isCrowded
    if (!this.wasCrowded) {
      this.limit = undefined
      return
    }
    const now = this.clock.monotonic()
    if (now - this.lookedMs >= LOOK_MS) {
      this.lookedMs = now
      this.seenLimit = this.rules.crowdingLimit()
    }
    // Crowded again within the pause, it has no time to wait for the next look.
    this.limit = this.seenLimit
  }

  /** The queue may be full, or lanes are to leave: once is enough until it is not so. */
  watch(): void {
    this.look()
    if (this.leaving.size > 0) {
      this.timer ??= this.clock.after(LOOK_MS, () => {
        this.timer = undefined
        this.giveBackLanes()
        this.watch()
      })
    }
    if (this.longTimer !== undefined || !this.mustGiveBack) return
    this.longTimer = this.clock.after(this.rules.crowdingTimeoutMs / LOOKS, () => {
      this.longTimer = undefined
      if (!this.mustGiveBack) return
      this.giveBackOld()
      this.watch()
    })
  }

  close(): void {
    this.timer?.cancel()
    this.longTimer?.cancel()
  }

  private get mustGiveBack(): boolean {
    return this.rules.isFull || this.limit !== undefined
  }

  private giveBackLanes(): void {
    for (const lane of this.leaving) if (lane.inFlight === 0 || lane.parkFor === undefined) this.leaving.delete(lane)
    if (this.leaving.size === 0) return
    const error = QueueErrors.MADE_ROOM()
    this.each(YOUNG_MS, (task) => {
      if (this.leaving.has(task.lane)) task.fail(error)
    })
  }

  private giveBackOld(): void {
    const limit = this.rules.crowdingTimeoutMs
    const error = QueueErrors.CROWDED({ limit })
    const isOld = this.isAged(limit)
    this.each(limit, (task) => {
      if (isOld(task) && this.rules.mustGiveBack(task)) task.fail(error)
    })
  }

  /** What waits for its turn does not hang: it gives its room back where somebody else needs it. */
  private isAged(ageMs: number): (task: Task) => boolean {
    if (this.limit !== undefined) return () => true
    const begunBefore = this.clock.monotonic() - ageMs
    return ({ sinceMs = Infinity }) => sinceMs <= begunBefore
  }

  /** Of packs that are in process for so long at least. */
  private each(ageMs: number, give: (task: Task) => void): void {
    const startedBefore = this.clock.monotonic() - ageMs
    for (const pack of this.packs.all()) {
      if (pack.startedMs > startedBefore) continue
      for (const task of pack.tasks) give(task)
    }
  }
}
