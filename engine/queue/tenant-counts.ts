/** How the tries of messages ended, by tenant, since they were asked for last: what queue statistics are made of. */

export interface TenantCounts {
  successful: number
  /** Failed, or out of time, and tried again. */
  retriedFailed: number
  retriedTimedOut: number
  /** The same, and given up. */
  failed: number
  timedOut: number
}

export type CountName = keyof TenantCounts

/** More tenants than that in one interval are not counted. */
const MAX_TENANTS = 100_000

export class CountsByTenant {
  private byTenant = new Map<string, TenantCounts>()
  private lastTenant = ''
  private last: TenantCounts = nothing()

  note(tenantId: string, what: CountName): void {
    // Messages of one tenant come one behind the other mostly: the map is asked where they do not.
    if (tenantId !== this.lastTenant) this.turnTo(tenantId)
    this.last[what]++
  }

  /** Those since the last call. */
  take(): ReadonlyMap<string, Readonly<TenantCounts>> {
    const taken = this.byTenant
    this.byTenant = new Map()
    this.lastTenant = ''
    this.last = nothing()
    return taken
  }

  private turnTo(tenantId: string): void {
    let counts = this.byTenant.get(tenantId)
    if (counts === undefined) {
      counts = nothing()
      if (this.byTenant.size < MAX_TENANTS) this.byTenant.set(tenantId, counts)
    }
    this.lastTenant = tenantId
    this.last = counts
  }
}

function nothing(): TenantCounts {
  return { successful: 0, retriedFailed: 0, retriedTimedOut: 0, failed: 0, timedOut: 0 }
}
