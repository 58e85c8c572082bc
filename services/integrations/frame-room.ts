/** Bytes of frames that came and are not stored yet: bounded, and a tenant has a part of them. */
export class FrameRoom {
  private readonly maxBytes: number
  private readonly maxTenantBytes: number
  private used = 0
  private readonly ofTenants = new Map<string, number>()
  private waiting: (() => void)[] = []

  constructor(maxBytes: number, tenantPart: number) {
    this.maxBytes = maxBytes
    this.maxTenantBytes = maxBytes * tenantPart
  }

  get bytes(): number {
    return this.used
  }

  /** What stands in the way; undefined: the bytes are taken. An empty room takes any frame. */
  enter(tenantId: string, bytes: number): 'tenant' | 'all' | undefined {
    const own = this.ofTenants.get(tenantId) ?? 0
    if (own > 0 && own + bytes > this.maxTenantBytes) return 'tenant'
    if (this.used > 0 && this.used + bytes > this.maxBytes) return 'all'
    this.used += bytes
    this.ofTenants.set(tenantId, own + bytes)
    return undefined
  }

  leave(tenantId: string, bytes: number): void {
    this.used -= bytes
    const own = (this.ofTenants.get(tenantId) ?? 0) - bytes
    if (own > 0) this.ofTenants.set(tenantId, own)
    else this.ofTenants.delete(tenantId)
    const { waiting } = this
    this.waiting = []
    for (const listener of waiting) listener()
  }

  /** Calls back once, when something left. */
  onRoom(listener: () => void): void {
    this.waiting.push(listener)
  }
}
