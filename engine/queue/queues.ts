/**
 * All queues of a process: those that are defined are consumed, each by its settings; one that is defined no more ends what it
 * holds and leaves the rest to `Main`. Its one promise: `apply`, however often and in whatever order, loses no message.
 */
import type { Clock } from '../../model/clock.ts'
import type { Queue as QueueRecord } from '../../model/entities.ts'
import { linkQueueName } from '../../model/queue-name.ts'
import { MAIN_QUEUE, type Link } from '../link/link.ts'
import type { Parking } from '../parking/parking.ts'
import { NO_FIGURES, sumOf, type QueueFigures } from './figures.ts'
import { createQueue, type Queue } from './queue.ts'
import { DEFAULT_QUEUE_SETTINGS, settingsOf, type QueueSettings } from './settings.ts'
import type { TenantCounts } from './tenant-counts.ts'
import type { WorkProcessor } from './work.ts'

export type QueueDefinition = Pick<
  QueueRecord,
  'tenantId' | 'name' | 'submitStrategy' | 'processingStrategy' | 'packProcessingTimeout'
> &
  Partial<Pick<QueueRecord, 'additionalInfo'>>

export interface QueuesOptions {
  readonly link: Link
  readonly processor: WorkProcessor
  readonly clock: Clock
  /** Where lanes wait that fail again and again; without it they wait in memory. */
  readonly parking?: Parking | undefined
  /** For every queue. */
  readonly settings?: Partial<
    Pick<QueueSettings, 'tenantShare' | 'crowdingTimeoutMs' | 'triesBeforeParking' | 'maxInFlightPerOriginator'>
  >
  /** What `Main` holds at most; the other queues together hold as much again. */
  readonly maxHeld?: number
  /** Hears with which failure a queue's outage began, and once that none is left: for the log. Must not throw. */
  readonly onOutage?: (queueName: string, failure: Error | undefined) => void
}

export interface NamedQueueFigures extends QueueFigures {
  /** As the link calls it: of a tenant's queue with the tenant's id before it. */
  readonly queueName: string
  /** It is defined no more, and ends what it holds. */
  readonly isRetiring: boolean
}

export interface QueueTenantCounts {
  /** As the link calls it. */
  readonly queueName: string
  readonly tenantId: string
  readonly counts: Readonly<TenantCounts>
}

export interface Queues {
  /** The queues that are to be from now on. `Main` is always there, with the default settings where it is not among them. */
  apply(definitions: readonly QueueDefinition[]): void
  figures(): readonly NamedQueueFigures[]
  /** Of each queue and tenant, since the last call. */
  takeTenantCounts(): readonly QueueTenantCounts[]
  /** Over all queues, those that are gone too. */
  totals(): QueueFigures
  /** Takes nothing more, waits for what is in process, settles it. Idempotent. */
  close(): Promise<void>
}

/** Consumes the link from now on. */
export function createQueues(options: QueuesOptions, definitions: readonly QueueDefinition[]): Queues {
  const queues = new QueueSet(options)
  queues.apply(definitions)
  return queues
}

/** However many queues there are, each may go on with so many messages. */
const MIN_HELD = 100
/** One of few queues holds no more than this part of what `Main` does. */
const LEAST_SHARES = 4

interface Member {
  readonly queue: Queue
  isRetiring: boolean
}

class QueueSet implements Queues {
  private readonly options: QueuesOptions
  private readonly maxHeld: number
  private readonly members = new Map<string, Member>()
  /** Of queues that are gone. */
  private past: QueueFigures = NO_FIGURES
  private closing: Promise<void> | undefined

  constructor(options: QueuesOptions) {
    this.options = options
    this.maxHeld = options.maxHeld ?? DEFAULT_QUEUE_SETTINGS.maxHeld
  }

  apply(definitions: readonly QueueDefinition[]): void {
    if (this.closing !== undefined) return
    const wanted = new Map<string, Partial<QueueSettings>>()
    for (const definition of definitions) wanted.set(linkQueueName(definition), settingsOf(definition))
    const main = wanted.get(MAIN_QUEUE) ?? {}
    wanted.delete(MAIN_QUEUE)
    const share = Math.floor(this.maxHeld / Math.max(LEAST_SHARES, wanted.size))
    const maxHeld = Math.max(MIN_HELD, share)
    for (const [queueName, settings] of wanted) this.set(queueName, { ...settings, maxHeld })
    // After the others: what is theirs is then not delivered to it first.
    this.set(MAIN_QUEUE, { ...main, maxHeld: this.maxHeld })
    for (const [queueName, member] of this.members) {
      if (queueName !== MAIN_QUEUE && !wanted.has(queueName)) this.retire(queueName, member)
    }
  }

  figures(): readonly NamedQueueFigures[] {
    return [...this.members].map(([queueName, { queue, isRetiring }]) => ({
      queueName,
      isRetiring,
      ...queue.figures(),
    }))
  }

  takeTenantCounts(): readonly QueueTenantCounts[] {
    return [...this.members].flatMap(([queueName, { queue }]) =>
      [...queue.takeTenantCounts()].map(([tenantId, counts]) => ({ queueName, tenantId, counts })),
    )
  }

  totals(): QueueFigures {
    let totals = this.past
    for (const { queue } of this.members.values()) totals = sumOf(totals, queue.figures())
    return totals
  }

  close(): Promise<void> {
    return (this.closing ??= this.closeAll())
  }

  private set(queueName: string, own: Partial<QueueSettings>): void {
    const settings = { ...this.options.settings, ...own }
    const member = this.members.get(queueName)
    if (member !== undefined) {
      member.isRetiring = false
      member.queue.apply(settings)
      return
    }
    const { link, processor, clock, parking, onOutage } = this.options
    const queue = createQueue({
      link,
      queueName,
      processor,
      clock,
      ...(parking === undefined ? {} : { parking }),
      settings,
      onOutage: (failure) => onOutage?.(queueName, failure),
    })
    this.members.set(queueName, { queue, isRetiring: false })
  }

  private retire(queueName: string, member: Member): void {
    if (member.isRetiring) return
    member.isRetiring = true
    void member.queue.retire().then((isGone) => {
      if (!isGone) return
      this.members.delete(queueName)
      this.past = sumOf(this.past, member.queue.figures())
    })
  }

  private async closeAll(): Promise<void> {
    await Promise.all([...this.members.values()].map(({ queue }) => queue.close()))
  }
}
