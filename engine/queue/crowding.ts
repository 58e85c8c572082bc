/**
 * While the queue is full nobody's messages are taken. Where messages that give no outcome fill it, the tenants that hold more than their share
 * get them back after a shorter time than that of the queue: without a try being counted, so that no strategy skips or buries them.
 */
import type { Clock, TimerHandle } from '../../model/clock.ts'
import { QueueErrors } from './errors.ts'
import type { Packs } from './packs.ts'
import type { RoomRules } from './room-rules.ts'

/** Looks within the limit, so that what began just after the last look does not have it twice. */
const LOOKS = 4

export class Crowding {
  private readonly clock: Clock
  private readonly rules: RoomRules
  private readonly packs: Packs
  private timer: TimerHandle | undefined

  constructor(clock: Clock, rules: RoomRules, packs: Packs) {
    this.clock = clock
    this.rules = rules
    this.packs = packs
  }

  /** The queue may be full: once is enough until it is not. */
  watch(): void {
    if (this.timer !== undefined || !this.rules.isFull) return
    this.timer = this.clock.after(this.rules.crowdingTimeoutMs / LOOKS, () => {
      this.timer = undefined
      if (!this.rules.isFull) return
      this.giveBack()
      this.watch()
    })
  }

  close(): void {
    this.timer?.cancel()
  }

  private giveBack(): void {
    const limit = this.rules.crowdingTimeoutMs
    const error = QueueErrors.CROWDED({ limit })
    const startedBefore = this.clock.monotonic() - limit
    for (const pack of this.packs.all()) {
      if (pack.startedMs > startedBefore) continue
      for (const task of pack.tasks) if (this.rules.mustGiveBack(task)) task.fail(error)
    }
  }
}
