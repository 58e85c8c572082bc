/** How a queue works, with what each setting costs; and how a queue's record says it. */
import { z } from 'zod'
import type { ProcessingStrategyType, Queue, SubmitStrategyType } from '../../model/entities.ts'

export interface QueueSettings {
  /** Unsettled messages held in memory, waiting ones included, large ones by their weight; beyond it the rest stays in the link. */
  readonly maxHeld: number
  /**
   * 0 to 1, of `maxHeld`: a failing lane of a tenant that holds more is parked at once, so that one tenant's failures leave room to the
   * others. A lower one parks healthy tenants' failing lanes earlier, at the price of a write each.
   */
  readonly tenantShare: number
  /** Milliseconds: while the queue is full, what a tenant over its share has in process for longer is taken back, and parked. */
  readonly crowdingTimeoutMs: number
  /** A lane whose message has failed so often is parked: fewer tries cost more writes, more tries hold the link's log for longer. */
  readonly triesBeforeParking: number
  /** Which messages are in process side by side (`lanes.ts`). */
  readonly submit: SubmitStrategyType
  /** BATCH: messages in process at once; the next batch starts when all of the last one have ended. */
  readonly batchSize: number
  /** BURST and BATCH: messages of one originator that are in process at once. 1 is strict: the next starts when the last has settled. */
  readonly maxInFlightPerOriginator: number
  /** What becomes of failed and timed-out messages (`verdict.ts`). */
  readonly processing: ProcessingStrategyType
  /** Tries after the first one; then the message is buried. 0: buried after its first failure. `Infinity`: never. */
  readonly retries: number
  /** 0 to 100: where more of a pack's first tries fail, none of them is tried again. 0: the rule is off. */
  readonly failurePercentage: number
  /** Before the first retry; doubled for each further one, up to the maximum. */
  readonly pauseBetweenRetriesMs: number
  readonly maxPauseBetweenRetriesMs: number
  /** A message that has not ended by then has failed; its late end is ignored. */
  readonly processingTimeoutMs: number
}

export const DEFAULT_QUEUE_SETTINGS: QueueSettings = {
  maxHeld: 20_000,
  tenantShare: 0.25,
  crowdingTimeoutMs: 5000,
  triesBeforeParking: 3,
  submit: 'BURST',
  batchSize: 1000,
  maxInFlightPerOriginator: 256,
  processing: 'RETRY_FAILED_AND_TIMED_OUT',
  retries: 10,
  failurePercentage: 0,
  pauseBetweenRetriesMs: 1000,
  maxPauseBetweenRetriesMs: 30_000,
  processingTimeoutMs: 30_000,
}

/** What is ours in a record whose form is the reference's: its free part. Any other value there is another client's, and says nothing. */
const ownPart = z.object({ strictOrder: z.boolean() })

/** What the record of a queue says of them; 0 retries there are retries without end (`rule-engine.md` 5.4). */
export function settingsOf(
  queue: Pick<Queue, 'submitStrategy' | 'processingStrategy' | 'packProcessingTimeout'> &
    Partial<Pick<Queue, 'additionalInfo'>>,
): Omit<
  QueueSettings,
  'maxHeld' | 'tenantShare' | 'crowdingTimeoutMs' | 'triesBeforeParking' | 'maxInFlightPerOriginator'
> &
  Partial<Pick<QueueSettings, 'maxInFlightPerOriginator'>> {
  const { submitStrategy, processingStrategy } = queue
  const { retries, pauseBetweenRetries, maxPauseBetweenRetries } = processingStrategy
  const own = ownPart.safeParse(queue.additionalInfo).data
  return {
    submit: submitStrategy.type,
    batchSize: submitStrategy.batchSize,
    processing: processingStrategy.type,
    retries: retries === 0 ? Infinity : retries,
    failurePercentage: processingStrategy.failurePercentage,
    pauseBetweenRetriesMs: pauseBetweenRetries * 1000,
    maxPauseBetweenRetriesMs: Math.max(pauseBetweenRetries, maxPauseBetweenRetries) * 1000,
    processingTimeoutMs: queue.packProcessingTimeout,
    // Without it, it is as the process is set.
    ...(own === undefined
      ? {}
      : { maxInFlightPerOriginator: own.strictOrder ? 1 : DEFAULT_QUEUE_SETTINGS.maxInFlightPerOriginator }),
  }
}

/** Of a queue that is to end. */
export function withoutEndlessRetries(settings: QueueSettings): QueueSettings {
  return { ...settings, retries: Math.min(settings.retries, DEFAULT_QUEUE_SETTINGS.retries) }
}

/** Before the retry that follows so many failures in a row. */
export function pauseMs({ pauseBetweenRetriesMs, maxPauseBetweenRetriesMs }: QueueSettings, failures: number): number {
  return Math.min(maxPauseBetweenRetriesMs, pauseBetweenRetriesMs * 2 ** Math.min(failures - 1, 30))
}
