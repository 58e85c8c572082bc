/** What a tenant sees and does about messages that failed: parked lanes and dead letters, kept in memory. */
import type { Erased } from '../model/erased.ts'
import { Message } from '../model/message.ts'
import type { DeadLetter, DeadLetters, LetterQuery } from '../engine/link/dead-letters.ts'
import type { ParkingControl } from '../engine/parking/control.ts'
import type { ParkedLaneView, ParkedPage, ParkedQuery } from '../engine/parking/parked-list.ts'

/** Parked lanes in memory: what a tenant did to them is remembered. */
export class TestParkedLanes implements ParkingControl {
  readonly lanes: ParkedLaneView[] = []
  readonly done: string[] = []

  async list({ tenantId, offset, limit }: ParkedQuery): Promise<ParkedPage> {
    const found = this.lanes.filter((lane) => tenantId === undefined || lane.tenantId === tenantId)
    return { lanes: found.slice(offset, offset + limit), total: found.length }
  }

  async retryNow(id: string, tenantId: string | undefined): Promise<boolean> {
    return this.act('retry', id, tenantId)
  }

  async giveUp(id: string, tenantId: string | undefined): Promise<boolean> {
    return this.act('give up', id, tenantId)
  }

  eraseRemoved(): Promise<Erased> {
    return Promise.resolve({ isGone: true })
  }

  private act(what: string, id: string, tenantId: string | undefined): boolean {
    const isThere = this.lanes.some((lane) => lane.id === id && (tenantId === undefined || lane.tenantId === tenantId))
    if (isThere && tenantId !== undefined) this.done.push(`${what} ${id}`)
    return isThere
  }
}

/** Dead letters in memory: replayed ones are remembered by id. */
export class TestDeadLetters implements DeadLetters {
  readonly letters: DeadLetter[] = []
  readonly replayed: number[] = []

  get count(): number {
    return this.letters.length
  }

  async list({ tenantId, after = 0, limit }: LetterQuery): Promise<DeadLetter[]> {
    const isOf = ({ message }: DeadLetter): boolean => tenantId === undefined || message.tenantId === tenantId
    return this.letters.filter((letter) => letter.id > after && isOf(letter)).slice(0, limit)
  }

  async read(id: number): Promise<DeadLetter | undefined> {
    return this.letters.find((letter) => letter.id === id)
  }

  async replay(id: number): Promise<boolean> {
    this.replayed.push(id)
    return this.remove(id)
  }

  async remove(id: number): Promise<boolean> {
    const index = this.letters.findIndex((letter) => letter.id === id)
    if (index >= 0) this.letters.splice(index, 1)
    return index >= 0
  }

  eraseRemoved(): Promise<Erased> {
    return Promise.resolve({ isGone: true })
  }
}

/** A message of the tenant that had no value. */
export function letterOf(id: number, tenantId: string): DeadLetter {
  const originator = { entityType: 'DEVICE', id: `device of ${tenantId}` } as const
  const message = new Message({
    id: `message ${id}`,
    ts: id,
    type: 'POST_TELEMETRY_REQUEST',
    tenantId,
    originator,
    metadata: {},
    data: '{}',
  })
  return { id, message, reason: 'no value', time: id, attempts: 1 }
}
