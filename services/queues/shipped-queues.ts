/**
 * The queues that every installation has (`rule-engine.md` 5.1). `Main` differs from the reference's: it tries again what failed,
 * since nothing that was acknowledged may be skipped in silence; ignoring failures is the choice of who makes a queue for it.
 */
import type { Clock, Random } from '../../model/clock.ts'
import type { ProcessingStrategy, Queue, SubmitStrategy } from '../../model/entities.ts'
import { MAIN_QUEUE } from '../../engine/link/link.ts'
import type { EntityStore } from '../../storage/entities/entity-store.ts'
import { SYSTEM_TENANT } from '../changes/changes.ts'

/** What an operator may set for `Main` before its first start. */
export interface MainQueueSettings {
  readonly partitions: number
  readonly packProcessingTimeoutMs: number
  readonly retries: number
  readonly pauseSeconds: number
  readonly maxPauseSeconds: number
}

export const MAIN_QUEUE_DEFAULTS: MainQueueSettings = {
  partitions: 10,
  packProcessingTimeoutMs: 30_000,
  retries: 10,
  pauseSeconds: 1,
  maxPauseSeconds: 30,
}

/** Set once the queues were put in: one that was deleted since does not come back. */
const SEEDED_SETTING = 'seed.queues'

export interface QueueSeedOptions {
  readonly entities: EntityStore
  readonly clock: Clock
  readonly random: Random
  readonly main?: MainQueueSettings
}

/**
 * Puts in what is absent: into an empty store, and into one that an older version made. Safe where several processes start at
 * once. `Main` is always there afterwards.
 */
export async function seedQueues(options: QueueSeedOptions): Promise<void> {
  const { entities, main = MAIN_QUEUE_DEFAULTS } = options
  const isSeeded = (await entities.settings.find(SEEDED_SETTING)) === true
  const queues = shippedQueues(options, main).filter(({ name }) => !isSeeded || name === MAIN_QUEUE)
  await entities.write(queues.flatMap((queue) => entities.queues.insertIfAbsent(queue)))
  if (!isSeeded) await entities.settings.put(SEEDED_SETTING, true)
}

function shippedQueues({ clock, random }: QueueSeedOptions, main: MainQueueSettings): readonly Queue[] {
  const queue = (
    [name, topic]: readonly [string, string],
    submitStrategy: SubmitStrategy,
    strategy: Omit<ProcessingStrategy, 'type' | 'failurePercentage'>,
    packProcessingTimeout = 2000,
  ): Queue => ({
    id: random.uuid(),
    createdTime: clock.now(),
    version: 1,
    tenantId: SYSTEM_TENANT,
    name,
    topic: `tb_rule_engine.${topic}`,
    pollInterval: 25,
    partitions: main.partitions,
    consumerPerPartition: true,
    packProcessingTimeout,
    submitStrategy,
    processingStrategy: { type: 'RETRY_FAILED_AND_TIMED_OUT', failurePercentage: 0, ...strategy },
    additionalInfo: null,
  })
  const { retries, pauseSeconds: pauseBetweenRetries, maxPauseSeconds } = main
  // A smaller longest pause than the pause itself would be refused of a user; the longer one is meant.
  const maxPauseBetweenRetries = Math.max(pauseBetweenRetries, maxPauseSeconds)
  const fiveSeconds = { pauseBetweenRetries: 5, maxPauseBetweenRetries: 5 }
  return [
    queue(
      [MAIN_QUEUE, 'main'],
      { type: 'BURST', batchSize: 1000 },
      { retries, pauseBetweenRetries, maxPauseBetweenRetries },
      main.packProcessingTimeoutMs,
    ),
    queue(['HighPriority', 'hp'], { type: 'BURST', batchSize: 100 }, { retries: 0, ...fiveSeconds }),
    queue(
      ['SequentialByOriginator', 'sq'],
      { type: 'SEQUENTIAL_BY_ORIGINATOR', batchSize: 100 },
      { retries: 3, ...fiveSeconds },
    ),
  ]
}
