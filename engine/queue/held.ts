/** What a queue holds, in all and by tenant: messages, and their weight. Who held something lately is remembered with nothing. */
import type { Clock } from '../../model/clock.ts'
import type { Delivery } from '../link/link.ts'
import { weightOf } from './weight.ts'

/** For how long at least a tenant is known of whom nothing is held: most devices send more often. */
const REMEMBERED_MS = 600_000
/** Beyond it, who holds nothing is forgotten at the next look. */
const MAX_REMEMBERED = 100_000

interface Holding {
  weight: number
  /** It held something since the last time that the idle ones were forgotten. */
  isRecent: boolean
}

/** Of the tenants that hold something or did so lately. */
export interface Extremes {
  readonly least: number
  readonly most: number
}

export class Held {
  count = 0
  weight = 0
  private readonly clock: Clock
  private readonly byTenant = new Map<string, Holding>()
  private lastTenant: string | undefined
  private last: Holding = { weight: 0, isRecent: false }
  private forgotMs: number

  constructor(clock: Clock) {
    this.clock = clock
    this.forgotMs = clock.monotonic()
  }

  add(delivery: Delivery): void {
    this.change(delivery, 1, weightOf(delivery))
    this.last.isRecent = true
  }

  remove(delivery: Delivery): void {
    this.change(delivery, -1, -weightOf(delivery))
  }

  /** Something of it waits where there is no room. True where it was not known. */
  expect({ message: { tenantId } }: Delivery): boolean {
    if (tenantId === this.lastTenant) return false
    const isNew = !this.byTenant.has(tenantId)
    this.turnTo(tenantId)
    this.last.isRecent = true
    return isNew
  }

  weightOfTenant(tenantId: string): number {
    return this.byTenant.get(tenantId)?.weight ?? 0
  }

  /** Looks at every tenant: not for each message. */
  extremes(): Extremes {
    let least = Infinity
    let most = 0
    for (const { weight } of this.byTenant.values()) {
      if (weight < least) least = weight
      if (weight > most) most = weight
    }
    return { least, most }
  }

  /** Called now and then. */
  forgetIdle(): void {
    const now = this.clock.monotonic()
    const isCrowded = this.byTenant.size > MAX_REMEMBERED
    if (now - this.forgotMs < REMEMBERED_MS && !isCrowded) return
    this.forgotMs = now
    this.lastTenant = undefined
    for (const [tenantId, holding] of this.byTenant) {
      if (holding.weight <= 0 && (isCrowded || !holding.isRecent)) this.byTenant.delete(tenantId)
      else holding.isRecent = holding.weight > 0
    }
  }

  private change({ message: { tenantId } }: Delivery, count: number, weight: number): void {
    // Messages of one tenant come one behind the other mostly: the map is asked where they do not.
    if (tenantId !== this.lastTenant) this.turnTo(tenantId)
    this.count += count
    this.weight += weight
    this.last.weight += weight
  }

  private turnTo(tenantId: string): void {
    let holding = this.byTenant.get(tenantId)
    if (holding === undefined) this.byTenant.set(tenantId, (holding = { weight: 0, isRecent: false }))
    this.lastTenant = tenantId
    this.last = holding
  }
}
