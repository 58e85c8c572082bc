/** How much the nodes of a tenant remember: read from the store, counted here, and read again now and then, since other processes store too. */
import type { Clock } from '../../model/clock.ts'
import type { NodeStateStore } from './store.ts'

const AGAIN_MS = 60_000

interface Known {
  bytes: number
  /** Monotonic ms of the last look, whatever came of it. */
  readAt: number
}

export class TenantBytes {
  private readonly store: Pick<NodeStateStore, 'bytesOf'>
  private readonly clock: Clock
  private readonly tenants = new Map<string, Known>()
  private readonly reading = new Map<string, Promise<void>>()

  constructor(store: Pick<NodeStateStore, 'bytesOf'>, clock: Clock) {
    this.store = store
    this.clock = clock
  }

  of(tenantId: string): number {
    return this.tenants.get(tenantId)?.bytes ?? 0
  }

  grew(tenantId: string, bytes: number): void {
    const known = this.tenants.get(tenantId)
    if (known !== undefined) known.bytes += bytes
  }

  /** Undefined where it is known; it may be a while old, and is then read again beside. */
  know(tenantId: string): Promise<void> | undefined {
    const known = this.tenants.get(tenantId)
    if (known === undefined) return this.read(tenantId)
    const now = this.clock.monotonic()
    if (now - known.readAt > AGAIN_MS) {
      known.readAt = now
      // Where the store does not answer, what was counted stands until the next look.
      this.read(tenantId).catch(() => undefined)
    }
    return undefined
  }

  /** What was counted of the tenant may be wrong; of all, where none is given. */
  doubt(tenantId?: string): void {
    if (tenantId === undefined) this.tenants.clear()
    else this.tenants.delete(tenantId)
  }

  private read(tenantId: string): Promise<void> {
    const reading = this.reading.get(tenantId)
    if (reading !== undefined) return reading
    const read = this.store
      .bytesOf(tenantId)
      .then((bytes) => void this.tenants.set(tenantId, { bytes, readAt: this.clock.monotonic() }))
      .finally(() => this.reading.delete(tenantId))
    this.reading.set(tenantId, read)
    return read
  }
}
