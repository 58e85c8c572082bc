/**
 * How many calls to services outside are under way, by count and by bytes. A tenant has a share of the room, so that one whose service does not
 * answer leaves the rest to the others; who waits is let in tenant by tenant in turn.
 */
import { OutboundErrors } from './errors.ts'

export interface RoomLimits {
  readonly calls: number
  readonly bytes: number
  /** Of one tenant. */
  readonly tenantCalls: number
  readonly tenantBytes: number
  /** Calls of a tenant that wait; further ones are refused. */
  readonly tenantWaiting: number
}

export type RoomFigures = Readonly<Record<'calls' | 'bytes' | 'waiting', number>>

interface Waiter {
  readonly bytes: number
  readonly enter: (leave: () => void) => void
}

interface TenantShare {
  calls: number
  bytes: number
  readonly waiting: Set<Waiter>
}

export class CallRoom {
  private readonly limits: RoomLimits
  /** Of tenants with calls under way or waiting. */
  private readonly tenants = new Map<string, TenantShare>()
  private calls = 0
  private bytes = 0

  constructor(limits: RoomLimits) {
    this.limits = limits
  }

  get figures(): RoomFigures {
    let waiting = 0
    for (const share of this.tenants.values()) waiting += share.waiting.size
    return { calls: this.calls, bytes: this.bytes, waiting }
  }

  /**
   * Resolves with the way out when there is a place, to be taken once. Rejects when `signal` aborts before. Throws `CALL_TOO_BIG`, `TENANT_FULL`.
   */
  async enter(tenantId: string, bytes: number, signal: AbortSignal): Promise<() => void> {
    const { tenantBytes, tenantWaiting } = this.limits
    if (bytes > tenantBytes) throw OutboundErrors.CALL_TOO_BIG({ bytes, limit: tenantBytes })
    const share = this.shareOf(tenantId)
    if (share.waiting.size === 0 && this.hasPlace(share, bytes)) return this.admit(tenantId, share, bytes)
    if (share.waiting.size >= tenantWaiting) {
      throw OutboundErrors.TENANT_FULL({ waiting: share.waiting.size, limit: tenantWaiting })
    }
    return new Promise((resolve, reject) => {
      const giveUp = (): void => {
        share.waiting.delete(waiter)
        this.forgetIdle(tenantId, share)
        reject(signal.reason as Error)
      }
      const waiter: Waiter = {
        bytes,
        enter: (leave) => {
          signal.removeEventListener('abort', giveUp)
          resolve(leave)
        },
      }
      share.waiting.add(waiter)
      signal.addEventListener('abort', giveUp, { once: true })
    })
  }

  private hasPlace(share: TenantShare, bytes: number): boolean {
    const { limits } = this
    return (
      this.calls < limits.calls &&
      this.bytes + bytes <= limits.bytes &&
      share.calls < limits.tenantCalls &&
      share.bytes + bytes <= limits.tenantBytes
    )
  }

  private admit(tenantId: string, share: TenantShare, bytes: number): () => void {
    this.calls++
    this.bytes += bytes
    share.calls++
    share.bytes += bytes
    let hasLeft = false
    return () => {
      if (hasLeft) return
      hasLeft = true
      this.calls--
      this.bytes -= bytes
      share.calls--
      share.bytes -= bytes
      // Behind the others with as many calls.
      this.tenants.delete(tenantId)
      this.tenants.set(tenantId, share)
      this.forgetIdle(tenantId, share)
      this.letIn()
    }
  }

  private letIn(): void {
    for (let next = this.nextTenant(); next !== undefined; next = this.nextTenant()) {
      const [tenantId, share, waiter] = next
      share.waiting.delete(waiter)
      waiter.enter(this.admit(tenantId, share, waiter.bytes))
    }
  }

  /** Of those who wait and have a place, the one with the fewest calls. */
  private nextTenant(): readonly [string, TenantShare, Waiter] | undefined {
    let next: readonly [string, TenantShare, Waiter] | undefined
    for (const [tenantId, share] of this.tenants) {
      const [waiter] = share.waiting
      if (waiter === undefined || !this.hasPlace(share, waiter.bytes)) continue
      if (next === undefined || share.calls < next[1].calls) next = [tenantId, share, waiter]
    }
    return next
  }

  private shareOf(tenantId: string): TenantShare {
    const known = this.tenants.get(tenantId)
    if (known !== undefined) return known
    const share: TenantShare = { calls: 0, bytes: 0, waiting: new Set() }
    this.tenants.set(tenantId, share)
    return share
  }

  private forgetIdle(tenantId: string, share: TenantShare): void {
    if (share.calls === 0 && share.waiting.size === 0) this.tenants.delete(tenantId)
  }
}
