/**
 * Reads that are done again because something may have been missed: of all subscriptions at once, but a few at a time, so that
 * the stores are not asked everything in one moment. Tenants are served in turn, and none has more than a half of the places: what one asks
 * for in thousands holds nobody else up.
 */
import type { Clock } from '../../model/clock.ts'

const AT_A_TIME = 32
const OF_A_TENANT = AT_A_TIME / 2
/** After a read that failed. */
const RETRY_MS = 1000

export interface Rereadable {
  /** Rejects where the store does not answer: it is called again. */
  readAgain(): Promise<void>
  readonly isClosed: boolean
}

/** As a session sees them: of its own tenant. */
export interface TenantRereads {
  /** Once for all who ask before its turn comes; while it is read, once more when that has ended. */
  ask(subscription: Rereadable): void
  /** It is closed: nothing keeps it. */
  forget(subscription: Rereadable): void
  /** A store does not answer, which every subscription that asks it would say. */
  failed(error: unknown): void
}

interface Queue {
  readonly waiting: Set<Rereadable>
  readonly underWay: Set<Rereadable>
}

export class Rereads {
  private readonly clock: Clock
  private readonly report: (error: unknown) => void
  private isFailing = false
  /** Of each tenant that has any; whose turn is next comes first. */
  private readonly queues = new Map<string, Queue>()
  private underWay = 0

  /** `report` hears of the first read that fails after one that did not. */
  constructor(clock: Clock, report: (error: unknown) => void) {
    this.clock = clock
    this.report = report
  }

  of(tenantId: string): TenantRereads {
    return {
      ask: (subscription) => this.ask(tenantId, subscription),
      forget: (subscription) => this.forget(tenantId, subscription),
      failed: (error) => this.failed(error),
    }
  }

  private ask(tenantId: string, subscription: Rereadable): void {
    const queue = this.queues.get(tenantId)
    if (queue === undefined) this.queues.set(tenantId, { waiting: new Set([subscription]), underWay: new Set() })
    else queue.waiting.add(subscription)
    this.begin()
  }

  private forget(tenantId: string, subscription: Rereadable): void {
    this.queues.get(tenantId)?.waiting.delete(subscription)
    this.dropIdle(tenantId)
  }

  private failed(error: unknown): void {
    if (!this.isFailing) this.report(error)
    this.isFailing = true
  }

  /** Who is served goes to the end of the map, so that the loop comes to it again: until the places are taken, or nobody may have one. */
  private begin(): void {
    for (const [tenantId, queue] of this.queues) {
      if (this.underWay >= AT_A_TIME) return
      const next = nextOf(queue)
      if (next === undefined) continue
      this.queues.delete(tenantId)
      this.queues.set(tenantId, queue)
      queue.waiting.delete(next)
      queue.underWay.add(next)
      this.underWay++
      void this.run(tenantId, queue, next)
    }
  }

  private async run(tenantId: string, queue: Queue, subscription: Rereadable): Promise<void> {
    try {
      await subscription.readAgain()
      this.isFailing = false
    } catch (error) {
      this.failed(error)
      this.clock.after(RETRY_MS, () => {
        if (!subscription.isClosed) this.ask(tenantId, subscription)
      })
    } finally {
      this.underWay--
      queue.underWay.delete(subscription)
      this.dropIdle(tenantId)
      this.begin()
    }
  }

  private dropIdle(tenantId: string): void {
    const queue = this.queues.get(tenantId)
    if (queue?.waiting.size === 0 && queue.underWay.size === 0) this.queues.delete(tenantId)
  }
}

/** A slow one that asks again and again would take every place: one that is read waits until that has ended. */
function nextOf({ waiting, underWay }: Queue): Rereadable | undefined {
  if (underWay.size >= OF_A_TENANT) return undefined
  for (const subscription of waiting) if (!underWay.has(subscription)) return subscription
  return undefined
}
