/** Parking as the checker watches it; and the place where a test plants a bug to show that the checker finds it. */
import type { Message } from '../../model/message.ts'
import type { Delivery } from '../../engine/link/link.ts'
import type { ParkedStore } from '../../engine/parking/parked-store.ts'
import type { ParkedDelivery } from '../../engine/parking/parked-lane.ts'
import { Parking, type ParkedAttempt, type ParkingOptions, type ParkingQueue } from '../../engine/parking/parking.ts'
import type { Checker } from './checker.ts'
import type { PlantedBug } from './watched-link.ts'

export class WatchedParking extends Parking {
  private readonly checker: Checker
  private readonly bug: PlantedBug | undefined
  private readonly moved = new Set<string>()

  constructor(options: ParkingOptions, checker: Checker, bug: PlantedBug | undefined) {
    super(options)
    this.checker = checker
    this.bug = bug
  }

  readonly isParked = (message: Message): boolean => this.moved.has(message.id)

  override open(store: ParkedStore): void {
    if (this.bug === 'parked after the settle') {
      const append = store.append.bind(store)
      store.append = (...entry) => {
        append(...entry).catch(() => undefined)
        return Promise.resolve()
      }
    }
    super.open(store)
  }

  override takes(queue: ParkingQueue, delivery: Delivery): boolean {
    if (this.bug === 'what comes overtakes its parked lane') return false
    const takes = super.takes(queue, delivery)
    if (takes) this.moved.add(delivery.message.id)
    return takes
  }

  override park(
    queue: ParkingQueue,
    key: string,
    attempts: readonly ParkedAttempt[],
    why: string,
    pauseMs: number,
  ): void {
    for (const { delivery } of attempts) this.moved.add(delivery.message.id)
    super.park(queue, key, attempts, why, pauseMs)
  }

  override done(delivery: ParkedDelivery): void {
    this.checker.isOver(delivery.message)
    super.done(delivery)
  }

  override bury(delivery: ParkedDelivery, attempt: number, reason: string): void {
    this.checker.isOver(delivery.message)
    super.bury(delivery, attempt, reason)
  }
}
