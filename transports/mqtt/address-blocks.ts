/**
 * Addresses whose log-ins failed too often in a row: their new connections are closed at once, for so long after the last failure. A log-in
 * that is good begins anew. Source: `device-api.md` 11.3.
 */
import type { Clock } from '../../model/clock.ts'

export interface BlockLimits {
  readonly failures: number
  readonly blockMs: number
}

/** Of these the one that failed longest ago is forgotten: who has more addresses is not stopped by address. */
const MAX_ADDRESSES = 10_000

interface Failures {
  readonly count: number
  readonly lastAt: number
}

export class AddressBlocks {
  private readonly clock: Pick<Clock, 'monotonic'>
  private readonly limits: BlockLimits
  /** Who failed last is last. */
  private readonly failures = new Map<string, Failures>()

  constructor(clock: Pick<Clock, 'monotonic'>, limits: BlockLimits) {
    this.clock = clock
    this.limits = limits
  }

  isBlocked(address: string): boolean {
    const failures = this.failures.get(address)
    if (failures === undefined || failures.count < this.limits.failures) return false
    if (this.clock.monotonic() - failures.lastAt < this.limits.blockMs) return true
    this.failures.delete(address)
    return false
  }

  failed(address: string): void {
    const count = (this.failures.get(address)?.count ?? 0) + 1
    this.failures.delete(address)
    this.failures.set(address, { count, lastAt: this.clock.monotonic() })
    if (this.failures.size <= MAX_ADDRESSES) return
    const { value } = this.failures.keys().next()
    if (value !== undefined) this.failures.delete(value)
  }

  succeeded(address: string): void {
    this.failures.delete(address)
  }
}
