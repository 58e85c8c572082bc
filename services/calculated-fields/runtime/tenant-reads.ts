/** Reads of one tenant side by side, up to a bound: what many of its entities need waits for its own reads, and others' are not refused for them. */

const AT_ONCE = 100

interface Reads {
  running: number
  /** Oldest first. */
  readonly waiting: Set<() => void>
}

export class TenantReads {
  private readonly tenants = new Map<string, Reads>()

  async run<Value>(tenantId: string, read: () => Promise<Value>): Promise<Value> {
    const own = this.tenants.get(tenantId) ?? { running: 0, waiting: new Set<() => void>() }
    this.tenants.set(tenantId, own)
    if (own.running >= AT_ONCE) await new Promise<void>((resolve) => void own.waiting.add(resolve))
    else own.running++
    try {
      return await read()
    } finally {
      const [next] = own.waiting
      if (next !== undefined) {
        own.waiting.delete(next)
        next()
      } else if (--own.running === 0) this.tenants.delete(tenantId)
    }
  }
}
