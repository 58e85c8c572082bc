/**
 * Brings the queues' records into the engine: all at start, and all again after each change, in the order of the changes. A change
 * made over the API is answered only when the engine works by it.
 */
import { errorText } from '../model/errors.ts'
import type { Clock, TimerHandle } from '../model/clock.ts'
import type { Queue } from '../model/entities.ts'
import type { Log } from '../model/log.ts'
import type { ChangeFeed } from '../engine/subscriptions/change.ts'
import type { StoredQueues } from '../services/queues/queues.ts'

/** After a failure the records are read again. */
const RETRY_MS = 5000

/** Works by these queues from now on: takes up those that are new, gives up those that are no more. */
export interface QueueRuntime {
  apply(queues: readonly Queue[]): void | Promise<void>
}

export interface QueueDeploymentParts {
  readonly queues: Pick<StoredQueues, 'all'>
  readonly runtime: QueueRuntime
  readonly clock: Clock
  readonly log: Log
}

export class QueueDeployment {
  private readonly parts: QueueDeploymentParts
  /** The newest application; none is begun before the one before it has ended. */
  private last: Promise<void> = Promise.resolve()
  /** Not begun yet: it will read what every change until then wrote. */
  private next: Promise<void> | undefined
  private retry: TimerHandle | undefined
  private isClosed = false
  private stops: (() => void)[] = []

  constructor(parts: QueueDeploymentParts) {
    this.parts = parts
  }

  /** Follows the feed, and applies every queue. Rejects where the records can not be read. */
  async start(feed: ChangeFeed): Promise<void> {
    this.stops = [feed.listenToAll(['queue-changed'], () => this.follow()), feed.onGap(() => this.follow())]
    await feed.settled()
    await this.apply()
  }

  /** Idempotent. */
  async close(): Promise<void> {
    this.isClosed = true
    this.retry?.cancel()
    for (const stop of this.stops.splice(0)) stop()
    await this.last.catch(() => undefined)
  }

  /** Resolves when all changes that are known by now are in force, or could not be. */
  settled(): Promise<void> {
    return this.last.catch(() => undefined)
  }

  private follow(): void {
    this.apply().catch((error: unknown) => {
      this.parts.log.error('queues could not be changed; they go on as they were', { reason: errorText(error) })
      this.retry?.cancel()
      if (!this.isClosed) this.retry = this.parts.clock.after(RETRY_MS, () => this.follow())
    })
  }

  private apply(): Promise<void> {
    if (this.next !== undefined) return this.next
    const before = this.last.catch(() => undefined)
    const applied = before.then(async () => {
      this.next = undefined
      if (this.isClosed) return
      const queues = await this.parts.queues.all()
      await this.parts.runtime.apply(queues)
    })
    this.next = applied
    this.last = applied
    return applied
  }
}
