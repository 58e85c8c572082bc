/**
 * Clients that are observed anew: a few at once in all and of a tenant, because all come back together after their proxy was restarted. The
 * others wait, each client once; tenants take turns.
 */
import type { TenantShares } from '../tenant-shares.ts'

interface Waiting {
  readonly begin: () => void
  next: Waiting | undefined
}

/** Not an array: taking the first of many from one moves all the others. */
interface Queue {
  first: Waiting
  last: Waiting
}

export class RenewalTurns {
  private readonly shares: TenantShares
  /** By tenant, in the order of their turns. */
  private readonly queues = new Map<string, Queue>()
  private waitingClients = 0

  constructor(shares: TenantShares) {
    this.shares = shares
  }

  get waiting(): number {
    return this.waitingClients
  }

  /** Begins at once where there is room. Rejects as `task` does. */
  async run<Result>(tenantId: string, task: () => Promise<Result>): Promise<Result> {
    if (!this.shares.take(tenantId)) await this.waitFor(tenantId)
    try {
      return await task()
    } finally {
      this.shares.give(tenantId)
      this.beginNext()
    }
  }

  private waitFor(tenantId: string): Promise<void> {
    this.waitingClients++
    return new Promise((begin) => {
      const waiting: Waiting = { begin, next: undefined }
      const queue = this.queues.get(tenantId)
      if (queue === undefined) this.queues.set(tenantId, { first: waiting, last: waiting })
      else queue.last = queue.last.next = waiting
    })
  }

  private beginNext(): void {
    for (const [tenantId, queue] of this.queues) {
      if (!this.shares.take(tenantId)) continue
      const { begin, next } = queue.first
      this.queues.delete(tenantId)
      if (next !== undefined) this.queues.set(tenantId, { ...queue, first: next })
      this.waitingClients--
      return begin()
    }
  }
}
