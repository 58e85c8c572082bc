/**
 * What is left of entities outside the stores: messages that failed and wait in parked lanes, and dead letters. A parked lane is given up, which makes
 * letters of it in a while; letters are removed.
 */
import type { DeadLetters } from '../../engine/link/dead-letters.ts'
import type { ParkingControl } from '../../engine/parking/control.ts'

const LANES = 1_000
const LETTERS = 500

export class Remains {
  private readonly deadLetters: DeadLetters
  private readonly parked: ParkingControl

  constructor(deadLetters: DeadLetters, parked: ParkingControl) {
    this.deadLetters = deadLetters
    this.parked = parked
  }

  /** Of entities, and of tenants all; whether nothing is left. */
  async erase(ids: ReadonlySet<string>): Promise<boolean> {
    const lanes = await this.giveUpLanes(ids)
    await this.removeLetters(ids)
    return lanes === 0
  }

  private async giveUpLanes(ids: ReadonlySet<string>): Promise<number> {
    let found = 0
    let isAll = true
    for (let offset = 0; ; offset += LANES) {
      const { lanes, total, isPart = false } = await this.parked.list({ tenantId: undefined, offset, limit: LANES })
      isAll &&= !isPart
      for (const lane of lanes) {
        if (!ids.has(lane.originatorId) && !ids.has(lane.tenantId)) continue
        found++
        await this.parked.giveUp(lane.id, lane.tenantId)
      }
      const isLast = offset + lanes.length >= total
      // Lanes that nobody lists now may be theirs: one of them is as good as found.
      if (isLast || lanes.length === 0) return isLast && isAll ? found : found + 1
    }
  }

  private async removeLetters(ids: ReadonlySet<string>): Promise<void> {
    let after: number | undefined
    while (this.deadLetters.count > 0) {
      const letters = await this.deadLetters.list({ limit: LETTERS, ...(after === undefined ? {} : { after }) })
      for (const { id, message } of letters) {
        if (ids.has(message.originator.id) || ids.has(message.tenantId)) await this.deadLetters.remove(id)
      }
      after = letters.at(-1)?.id
      if (letters.length < LETTERS) return
    }
  }
}
