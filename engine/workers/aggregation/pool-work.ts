/** What the threads of aggregations did, all together and for each tenant: of the tenants, those that asked last. */
import { LRUCache } from 'lru-cache'
import type { Clock } from '../../../model/clock.ts'
import type { PoolReport, TenantWork } from '../../../model/worker-pool.ts'
import { WorkFigures, type BatchWork } from '../work-figures.ts'

/** Tenants with figures of their own. */
const MAX_TENANTS = 1_000

export class PoolWork {
  private readonly clock: Clock
  private readonly all: WorkFigures
  private readonly tenants = new LRUCache<string, WorkFigures>({ max: MAX_TENANTS })

  constructor(clock: Clock) {
    this.clock = clock
    this.all = new WorkFigures(clock)
  }

  done(tenantId: string, entities: number, waitMs: number, runMs: number): void {
    this.add(tenantId, { ...NOTHING, messages: entities, queueWaitMs: waitMs, runMs })
  }

  /** `ranMs`: as long as it held its thread where it was ended, 0 where the thread was lost. */
  failed(tenantId: string, entities: number, ranMs: number): void {
    const isTimeout = ranMs > 0
    this.add(tenantId, {
      ...NOTHING,
      ...{ messages: entities, errors: entities, runMs: ranMs },
      ...(isTimeout ? { timeouts: entities } : { deaths: 1 }),
    })
  }

  /** An aggregation for which there was no room. */
  refused(tenantId: string): void {
    this.all.addRefused(1)
    this.of(tenantId).addRefused(1)
  }

  report(
    threads: number,
    rows: number,
    waitingOf: (tenantId: string) => number,
  ): Pick<PoolReport, 'work' | 'tenants' | 'busiestTenants'> {
    const busiestTenants = [...this.tenants.entries()]
      .map(([tenantId, work]) => ({ tenantId, work, busyMs: work.busyMs() }))
      .filter(({ busyMs }) => busyMs > 0)
      .sort((one, other) => other.busyMs - one.busyMs)
      .slice(0, rows)
      .map(({ tenantId, work }): TenantWork => ({
        ...{ tenantId, scripts: 0, waiting: waitingOf(tenantId), work: work.report(threads) },
      }))
    return { work: this.all.report(threads), tenants: this.tenants.size, busiestTenants }
  }

  private add(tenantId: string, batch: BatchWork): void {
    this.all.add(batch)
    this.of(tenantId).add(batch)
  }

  private of(tenantId: string): WorkFigures {
    const known = this.tenants.get(tenantId)
    if (known !== undefined) return known
    const made = new WorkFigures(this.clock)
    this.tenants.set(tenantId, made)
    return made
  }
}

const NOTHING: BatchWork = {
  ...{ messages: 0, queueWaitMs: 0, runMs: 0, errors: 0, timeouts: 0, memoryErrors: 0, blocked: 0, deaths: 0 },
}
