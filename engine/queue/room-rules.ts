/** When a lane gives its room back: it is parked, brought to its end without pauses, or its message becomes a dead letter. */
import { isBacklogFull } from '../link/errors.ts'
import type { Delivery } from '../link/link.ts'
import { ParkedDelivery } from '../parking/parked-lane.ts'
import type { Held } from './held.ts'
import type { Lane } from './lane.ts'
import { DEFAULT_QUEUE_SETTINGS, type QueueSettings } from './settings.ts'
import type { Task } from './task.ts'
import { isOwnLimit } from './verdict.ts'

/** What the rules look at. */
export interface RoomView {
  readonly settings: QueueSettings
  /** Whether lanes may be parked now. */
  readonly canPark: boolean
  /** Whether senders go on. */
  readonly isWritable: boolean
  readonly isFull: boolean
  /** Something is away or full for everybody, not by one tenant's own limit. */
  readonly isOutage: boolean
  readonly held: Pick<Held, 'weight' | 'weightOfTenant' | 'extremes'>
  /** Whether the tenant may park more before its devices are refused. */
  hasParkingRoom(tenantId: string): boolean
}

/** Of `maxHeld`: beyond it the queue is crowded. What is left is there for tenants that hold little, until the others have made room. */
const CROWDED = 0.75
/** Of it, what is tried out of parking: as much again is left for others. */
const PARKED_PLACES = 0.125
/** A tenant holds little where another holds so many times as much. */
const TIMES_LITTLE = 4
/** Who holds such a part of what the largest holds makes room too. */
const LARGE_PART = 0.5

const MAX_FAILED_UNDER_BACKPRESSURE = 3

export class RoomRules {
  private readonly queue: RoomView

  constructor(queue: RoomView) {
    this.queue = queue
  }

  get isFull(): boolean {
    return this.queue.isFull
  }

  /** In an outage nobody gains by another's making room. */
  get isCrowded(): boolean {
    const { settings, held } = this.queue
    return held.weight > settings.maxHeld * CROWDED && this.queue.canPark && !this.queue.isOutage
  }

  /** The weight from which on a tenant makes room; undefined where nobody holds little: none would gain by it. */
  crowdingLimit(): number | undefined {
    const { least, most } = this.queue.held.extremes()
    return least * TIMES_LITTLE < most ? most * LARGE_PART : undefined
  }

  /** What a tenant without room for parked messages parks becomes dead letters: it rather waits. */
  mayMakeRoom(tenantId: string, limit: number): boolean {
    return this.queue.held.weightOfTenant(tenantId) >= limit && this.queue.hasParkingRoom(tenantId)
  }

  get parkedPlaces(): number {
    return Math.max(1, Math.floor(this.queue.settings.maxHeld * PARKED_PLACES))
  }

  get crowdingTimeoutMs(): number {
    return this.queue.settings.crowdingTimeoutMs
  }

  /** What is tried out of its parked lane has the whole time, else it could never succeed. */
  mustGiveBack({ delivery }: Task): boolean {
    return !(delivery instanceof ParkedDelivery) && this.hasOverShare(delivery)
  }

  /** Its message failed and is to be retried. */
  mustPark({ delivery, attempt }: Task): boolean {
    const { canPark, settings } = this.queue
    if (delivery instanceof ParkedDelivery) return true
    return (canPark && attempt >= settings.triesBeforeParking) || this.hasOverShare(delivery)
  }

  /** Others go on beyond a tenant's own limit; and a full log has room again only once something leaves it. */
  mustParkInOutage({ delivery, lane, error }: Task): boolean {
    const { canPark, settings } = this.queue
    if (isOwnLimit(error)) return this.hasOverShare(delivery)
    return canPark && lane.outages >= settings.triesBeforeParking && isBacklogFull(error)
  }

  /** Of a lane that can not be parked: it waited as long as it would have been tried for another failure. */
  mustLeaveFullLog(lane: Lane<Task>, error: Error | undefined): boolean {
    return !this.queue.canPark && lane.outages >= DEFAULT_QUEUE_SETTINGS.retries && isBacklogFull(error)
  }

  hasOverShare({ message }: Delivery): boolean {
    const { canPark, settings } = this.queue
    return canPark && this.queue.held.weightOfTenant(message.tenantId) > settings.maxHeld * settings.tenantShare
  }

  /**
   * A lane that fills half of the room and can not be parked would hold up others: it is brought to its end without pauses. In an outage, and
   * with retries without end, it has no end to be brought to; a queue of one lane has no others.
   */
  isCrowding(lane: Lane<Task>): boolean {
    const { canPark, settings } = this.queue
    const isFull = lane.waitingWeight > settings.maxHeld / 2
    return isFull && !canPark && lane.outages === 0 && settings.retries !== Infinity && settings.submit !== 'SEQUENTIAL'
  }

  /**
   * Whether a message that is retried without end and can not be parked keeps the link from being emptied, so that in the end nobody could
   * send. It has had the tries that are enough elsewhere, and senders were held up at several in a row.
   */
  mustMakeRoom(lane: Lane<Task>, attempt: number): boolean {
    const { canPark, settings, isWritable } = this.queue
    if (canPark || settings.retries !== Infinity || attempt <= DEFAULT_QUEUE_SETTINGS.retries || isWritable) {
      lane.failedUnderBackpressure = 0
      return false
    }
    return ++lane.failedUnderBackpressure >= MAX_FAILED_UNDER_BACKPRESSURE
  }
}
