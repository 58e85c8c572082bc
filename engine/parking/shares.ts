/**
 * How many bytes of parked messages each tenant has, and whose share is full: that tenant's devices are refused until there is room again. The bound
 * in all is shared out among those who have parked messages.
 */
export interface ShareBounds {
  /** Of all tenants together. */
  readonly maxBytes: number
  /** Of one tenant. */
  readonly maxTenantBytes: number
}

/** Full until it is below this part, so that senders are not let in and refused at every message. */
const OPEN_AGAIN = 0.9
/** What the log still had when a share was found full has room up to so many times the share. */
const OVERFLOW = 2

export class Shares {
  total = 0
  private readonly bounds: ShareBounds
  private readonly onFull: (full: ReadonlySet<string>) => void
  private readonly bytes = new Map<string, number>()
  private readonly fullOnes = new Set<string>()

  /** `onFull` hears of every change of {@link full}. */
  constructor(bounds: ShareBounds, onFull: (full: ReadonlySet<string>) => void) {
    this.bounds = bounds
    this.onFull = onFull
  }

  get full(): ReadonlySet<string> {
    return this.fullOnes
  }

  of(tenantId: string): number {
    return this.bytes.get(tenantId) ?? 0
  }

  /** Nothing more of this tenant fits: what comes becomes a dead letter. */
  isOverflowing(tenantId: string): boolean {
    return this.of(tenantId) >= OVERFLOW * this.limitOf()
  }

  change(tenantId: string, change: number): void {
    this.total += change
    const bytes = this.of(tenantId) + change
    if (bytes > 0) this.bytes.set(tenantId, bytes)
    else this.bytes.delete(tenantId)
    this.look(tenantId)
    // The bound in all is shared out anew: it may be another's turn.
    if (this.total >= this.bounds.maxBytes || this.fullOnes.size > 1)
      for (const other of this.bytes.keys()) this.look(other)
  }

  private limitOf(): number {
    const { maxBytes, maxTenantBytes } = this.bounds
    const isCrowded = this.total >= maxBytes * OPEN_AGAIN
    return isCrowded ? Math.min(maxTenantBytes, maxBytes / Math.max(1, this.bytes.size)) : maxTenantBytes
  }

  private look(tenantId: string): void {
    const isFull = this.fullOnes.has(tenantId)
    const limit = this.limitOf() * (isFull ? OPEN_AGAIN : 1)
    const mustBeFull = this.of(tenantId) >= limit && this.of(tenantId) > 0
    if (mustBeFull === isFull) return
    if (mustBeFull) this.fullOnes.add(tenantId)
    else this.fullOnes.delete(tenantId)
    this.onFull(this.fullOnes)
  }
}
