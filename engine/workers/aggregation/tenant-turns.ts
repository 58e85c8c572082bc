/**
 * So many pieces of work at a time: tenants take turns by the time that theirs took. One tenant leaves half of the places to others. What waits is
 * bounded by tenant.
 */
import type { Clock } from '../../../model/clock.ts'
import { FairTurns, type Competitor } from '../fair-turns.ts'
import { AggregationErrors } from './errors.ts'

export interface TenantTurnsOptions {
  readonly clock: Clock
  /** Pieces of work at a time. */
  readonly places: number
  /** Pieces of one tenant that may wait. */
  readonly waitingBound: number
}

interface TenantLine extends Competitor {
  readonly waiting: (() => Promise<void>)[]
  running: number
}

/** Weight of the time that a piece took before; ms that the first one is expected to take. */
const MEMORY = 0.9
const FIRST_EXPECTED_MS = 1

export class TenantTurns {
  running = 0
  waiting = 0
  private readonly options: TenantTurnsOptions
  private readonly tenants = new FairTurns<TenantLine>()
  private expectedMs = FIRST_EXPECTED_MS
  private isDispatching = false
  private idle: (() => void)[] = []

  constructor(options: TenantTurnsOptions) {
    this.options = options
  }

  /** Begins on a later turn of the event loop, when it is the tenant's. Rejects with `BUSY`, and with what the work rejects with. */
  run<Result>(tenantId: string, work: () => Promise<Result>): Promise<Result> {
    const line = this.tenants.join(tenantId, () => ({ virtualTime: 0, active: 0, waiting: [], running: 0 }))
    const { waitingBound } = this.options
    if (line.waiting.length >= waitingBound) {
      return Promise.reject(AggregationErrors.BUSY({ waiting: line.waiting.length, limit: waitingBound }))
    }
    return new Promise<Result>((resolve, reject) => {
      line.waiting.push(() => work().then(resolve, reject))
      line.active++
      this.waiting++
      this.dispatchSoon()
    })
  }

  /** Pieces of the tenant that wait. */
  waitingOf(tenantId: string): number {
    return this.tenants.find(tenantId)?.waiting.length ?? 0
  }

  /** Resolves when nothing waits and nothing is under way. */
  drained(): Promise<void> {
    if (this.running === 0 && this.waiting === 0) return Promise.resolve()
    return new Promise((resolve) => this.idle.push(resolve))
  }

  private dispatchSoon(): void {
    if (this.isDispatching) return
    this.isDispatching = true
    this.options.clock.soon(() => {
      this.isDispatching = false
      this.dispatch()
    })
  }

  private dispatch(): void {
    const { places } = this.options
    const share = Math.max(1, Math.floor(places / 2))
    while (this.running < places) {
      const line = this.tenants.next(({ waiting, running }) => waiting.length > 0 && running < share)
      const work = line?.waiting.shift()
      if (line === undefined || work === undefined) return
      void this.start(line, work)
    }
  }

  private async start(line: TenantLine, work: () => Promise<void>): Promise<void> {
    const { clock } = this.options
    const startedAt = clock.monotonic()
    // Charged beforehand, or the same tenant would get all that is free.
    const expected = this.expectedMs
    line.virtualTime += expected
    line.running++
    this.running++
    this.waiting--
    await work()
    const tookMs = clock.monotonic() - startedAt
    line.virtualTime += tookMs - expected
    this.expectedMs = this.expectedMs * MEMORY + tookMs * (1 - MEMORY)
    line.running--
    line.active--
    this.running--
    if (this.waiting > 0) this.dispatchSoon()
    else if (this.running === 0) for (const resolve of this.idle.splice(0)) resolve()
  }
}
