/** How much of what waits to be stored is each tenant's: messages, and bytes. */
import type { Message } from '../../model/message.ts'

/** What a message takes in memory beside its bytes. */
const OVERHEAD = 256

/** Of messages, in their order; bytes. */
export type Sizes = Pick<readonly number[], 'at'>

interface Waiting {
  messages: number
  bytes: number
}

export class TenantWaiting {
  private readonly byTenant = new Map<string, Waiting>()
  private lastTenant = ''
  private last: Waiting = { messages: 0, bytes: 0 }

  isOver(tenantId: string, messages: number, bytes: number): boolean {
    const waiting = this.byTenant.get(tenantId)
    return waiting !== undefined && (waiting.messages >= messages || waiting.bytes >= bytes)
  }

  add(tenantId: string, size: number): void {
    // Messages of one tenant come one behind the other mostly: the map is asked where they do not.
    if (tenantId !== this.lastTenant) this.turnTo(tenantId)
    this.last.messages++
    this.last.bytes += size + OVERHEAD
  }

  /** Stored or refused, whichever; `sizes` are those that they were added with. */
  remove(messages: readonly Message[], sizes: Sizes): void {
    let index = 0
    // Without an entry for each: this is once a message.
    for (const { tenantId } of messages) {
      if (tenantId !== this.lastTenant) this.turnTo(tenantId)
      this.last.bytes -= (sizes.at(index++) ?? 0) + OVERHEAD
      if (--this.last.messages === 0) this.forget(tenantId)
    }
  }

  private forget(tenantId: string): void {
    this.byTenant.delete(tenantId)
    this.lastTenant = ''
  }

  private turnTo(tenantId: string): void {
    let waiting = this.byTenant.get(tenantId)
    if (waiting === undefined) {
      waiting = { messages: 0, bytes: 0 }
      this.byTenant.set(tenantId, waiting)
    }
    this.lastTenant = tenantId
    this.last = waiting
  }
}
