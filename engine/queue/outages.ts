/** Lanes that wait for what is away or full: an outage begins with the first, and is over with the last. */
import type { Lane } from './lane.ts'
import type { Task } from './task.ts'
import { isOwnLimit } from './verdict.ts'

export class Outages {
  /** Lanes whose last failure was an outage. */
  private readonly away = new Set<Lane<Task>>()
  /** Those of them for which it is no limit of their tenant's own. */
  private readonly common = new Set<Lane<Task>>()
  private readonly onOutage: (failure: Error | undefined) => void

  constructor(onOutage: (failure: Error | undefined) => void) {
    this.onOutage = onOutage
  }

  /** Something is away or full for all tenants. */
  get isCommon(): boolean {
    return this.common.size > 0
  }

  /** Messages that were in process side by side meet one outage together: it counts once, before the lane's pause. */
  met(lane: Lane<Task>, failure: Error | undefined): void {
    if (this.away.size === 0) this.onOutage(failure)
    this.away.add(lane)
    if (isOwnLimit(failure)) this.common.delete(lane)
    else this.common.add(lane)
    if (lane.outages === 0 || lane.pausedUntilMs === undefined) lane.outages++
  }

  over(lane: Lane<Task>): void {
    if (lane.outages === 0) return
    lane.outages = 0
    this.away.delete(lane)
    this.common.delete(lane)
    if (this.away.size === 0) this.onOutage(undefined)
  }

  /** The lanes are no more. */
  forget(): void {
    for (const lane of [...this.away]) this.over(lane)
  }
}
