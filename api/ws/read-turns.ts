/**
 * Reads of history for clients: a few at a time in all, of one tenant and of one session, since each may hold megabytes. The others wait;
 * sessions take turns.
 */
import { CommandErrors } from './errors.ts'

export interface ReadLimits {
  /** Reads under way. */
  readonly total: number
  readonly perTenant: number
  readonly perSession: number
}

interface Waiting {
  readonly begin: () => void
  readonly drop: () => void
}

/** The reads of one session. */
export interface SessionReads {
  /** Begins at once where there is room. Rejects SESSION_ENDED where the session ends before its turn comes. */
  run<Result>(read: () => Promise<Result>): Promise<Result>
  /** Drops what waits. */
  end(): void
}

interface Queue {
  readonly tenant: string
  readonly waiting: Waiting[]
  underWay: number
}

export class ReadTurns {
  private readonly limits: ReadLimits
  private readonly ofTenants = new Map<string, number>()
  /** Sessions that wait, in the order of their turns. */
  private readonly queues = new Set<Queue>()
  private underWay = 0

  constructor(limits: ReadLimits) {
    this.limits = limits
  }

  /** Reads that run and that wait. */
  get figures(): { readonly readsUnderWay: number; readonly sessionsWaitingToRead: number } {
    return { readsUnderWay: this.underWay, sessionsWaitingToRead: this.queues.size }
  }

  forSession(tenant: string): SessionReads {
    const queue: Queue = { tenant, waiting: [], underWay: 0 }
    return {
      run: async (read) => {
        if (!this.hasRoom(queue)) {
          await new Promise<void>((resolve, reject) => {
            queue.waiting.push({ begin: resolve, drop: () => reject(CommandErrors.SESSION_ENDED()) })
            this.queues.add(queue)
          })
        } else this.take(queue)
        try {
          return await read()
        } finally {
          this.give(queue)
        }
      },
      end: () => {
        this.queues.delete(queue)
        for (const { drop } of queue.waiting.splice(0)) drop()
      },
    }
  }

  private hasRoom({ tenant, underWay }: Queue): boolean {
    const { total, perTenant, perSession } = this.limits
    return this.underWay < total && underWay < perSession && (this.ofTenants.get(tenant) ?? 0) < perTenant
  }

  private take(queue: Queue): void {
    this.underWay++
    queue.underWay++
    this.ofTenants.set(queue.tenant, (this.ofTenants.get(queue.tenant) ?? 0) + 1)
  }

  private give(queue: Queue): void {
    this.underWay--
    queue.underWay--
    const left = (this.ofTenants.get(queue.tenant) ?? 1) - 1
    if (left === 0) this.ofTenants.delete(queue.tenant)
    else this.ofTenants.set(queue.tenant, left)
    this.next()
  }

  private next(): void {
    for (const queue of this.queues) {
      if (!this.hasRoom(queue)) continue
      const next = queue.waiting.shift()
      this.queues.delete(queue)
      if (queue.waiting.length > 0) this.queues.add(queue)
      if (next === undefined) continue
      this.take(queue)
      next.begin()
      return
    }
  }
}
