/** What a queue is made of, and what may be done with it. */
import type { Clock } from '../../model/clock.ts'
import type { Link } from '../link/link.ts'
import type { Parking } from '../parking/parking.ts'
import type { QueueFigures } from './figures.ts'
import type { TenantCounts } from './tenant-counts.ts'
import type { QueueSettings } from './settings.ts'
import type { WorkProcessor } from './work.ts'

export interface QueueOptions {
  readonly link: Link
  /** As the link calls it; absent is `Main`. */
  readonly queueName?: string
  readonly processor: WorkProcessor
  readonly clock: Clock
  /** Where lanes wait that fail again and again; without it they wait in memory. */
  readonly parking?: Parking
  readonly settings?: Partial<QueueSettings>
  /** Hears with which failure an outage began, and once that none is left: for the log. Must not throw. */
  readonly onOutage?: (failure: Error | undefined) => void
}

export interface Queue {
  /** Other settings hold from now on for what it holds and what comes: no message is lost or run twice for it. */
  apply(settings: Partial<QueueSettings>): void
  /**
   * Takes nothing more, ends what it holds, and gives the link's queue up: what comes goes to `Main`, behind what was held. Resolves
   * with true then, with false where it was closed before or `apply` took it back. Where it retried without end, it now does so a bounded
   * number of times.
   */
  retire(): Promise<boolean>
  /** Takes nothing more, waits for what is in process, settles it. Idempotent. */
  close(): Promise<void>
  figures(): QueueFigures
  /** How tries ended by tenant, since the last call. */
  takeTenantCounts(): ReadonlyMap<string, Readonly<TenantCounts>>
}
