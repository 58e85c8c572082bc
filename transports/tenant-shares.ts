/** Places that tenants share: at most so many in all, and no tenant more than its share, so that one can not fill them for the others. */
export class TenantShares {
  private readonly total: number
  private readonly perTenant: number
  private readonly counts = new Map<string, number>()
  private taken = 0

  constructor(total: number, perTenant: number) {
    this.total = total
    this.perTenant = perTenant
  }

  /** Places that are taken, of all tenants. */
  get size(): number {
    return this.taken
  }

  /** Whether `take` would give them now. */
  hasRoom(tenantId: string, places: number): boolean {
    return this.taken + places <= this.total && (this.counts.get(tenantId) ?? 0) + places <= this.perTenant
  }

  /** False where that is more than the tenant's share, or than what is left: nothing is counted then. */
  take(tenantId: string, places = 1): boolean {
    if (!this.hasRoom(tenantId, places)) return false
    this.counts.set(tenantId, (this.counts.get(tenantId) ?? 0) + places)
    this.taken += places
    return true
  }

  /** Gives back places that were taken. */
  give(tenantId: string, places = 1): void {
    const count = this.counts.get(tenantId) ?? 0
    if (count < places) throw new Error(`a place given back that tenant ${tenantId} never took`)
    if (count === places) this.counts.delete(tenantId)
    else this.counts.set(tenantId, count - places)
    this.taken -= places
  }
}
