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

  /** False where the tenant has its share, or no place is left: nothing is counted then. */
  take(tenantId: string): boolean {
    const count = this.counts.get(tenantId) ?? 0
    if (this.taken >= this.total || count >= this.perTenant) return false
    this.counts.set(tenantId, count + 1)
    this.taken++
    return true
  }

  /** Gives back one place that was taken. */
  give(tenantId: string): void {
    const count = this.counts.get(tenantId) ?? 0
    if (count <= 0) throw new Error(`a place given back that tenant ${tenantId} never took`)
    if (count === 1) this.counts.delete(tenantId)
    else this.counts.set(tenantId, count - 1)
    this.taken--
  }
}
