/** What a queue may be (`rule-engine.md` 5.1), in the words that clients of the REST API know. */
import type { Queue } from '../../model/entities.ts'
import { NULL_UUID } from '../../model/entity-id.ts'
import { looksQualified } from '../../model/queue-name.ts'
import { QueueErrors } from '../errors.ts'
import { MAX_NAME_LENGTH } from '../names.ts'

const PLAIN = /^[a-zA-Z0-9._-]+$/
/** A message that is in process for longer is nobody's any more. */
const LONGEST_TIMEOUT_MS = 24 * 3_600_000
const LONGEST_PAUSE_SECONDS = 24 * 3_600
const MAX_RETRIES = 1_000_000
const MAX_MESSAGES = 1_000_000

/** Throws a `queue` error. What is `whole` in the record must be a whole number. */
export function checkQueue(queue: Queue): void {
  checkPlain('name', queue.name)
  checkPlain('topic', queue.topic)
  if (queue.tenantId === NULL_UUID && looksQualified(queue.name)) throw QueueErrors.NAME_RESERVED()
  atLeastOne('poll interval', queue.pollInterval, LONGEST_TIMEOUT_MS)
  atLeastOne('partitions', queue.partitions, MAX_MESSAGES)
  atLeastOne('pack processing timeout', queue.packProcessingTimeout, LONGEST_TIMEOUT_MS)
  const { submitStrategy, processingStrategy } = queue
  if (submitStrategy.type === 'BATCH') atLeastOne('submit strategy batch size', submitStrategy.batchSize, MAX_MESSAGES)
  else notNegative('submit strategy batch size', submitStrategy.batchSize, MAX_MESSAGES)
  const { retries, failurePercentage, pauseBetweenRetries, maxPauseBetweenRetries } = processingStrategy
  notNegative('processing strategy retries', retries, MAX_RETRIES)
  if (!(failurePercentage >= 0 && failurePercentage <= 100)) throw QueueErrors.FAILURE_PERCENTAGE()
  notNegative('processing strategy pause between retries', pauseBetweenRetries, LONGEST_PAUSE_SECONDS)
  notNegative('processing strategy max pause between retries', maxPauseBetweenRetries, LONGEST_PAUSE_SECONDS)
  if (maxPauseBetweenRetries < pauseBetweenRetries) throw QueueErrors.PAUSES()
}

function checkPlain(property: 'name' | 'topic', text: string): void {
  if (text.trim() === '') throw QueueErrors.MISSING({ property })
  if (!PLAIN.test(text)) throw QueueErrors.CHARACTERS({ property })
  if (text.length > MAX_NAME_LENGTH) throw QueueErrors.TOO_LONG({ property, limit: MAX_NAME_LENGTH })
}

function atLeastOne(property: string, value: number, most: number): void {
  if (!Number.isSafeInteger(value) || value < 1) throw QueueErrors.NOT_POSITIVE({ property })
  if (value > most) throw QueueErrors.TOO_MUCH({ property, most })
}

function notNegative(property: string, value: number, most: number): void {
  if (!Number.isSafeInteger(value) || value < 0) throw QueueErrors.NEGATIVE({ property })
  if (value > most) throw QueueErrors.TOO_MUCH({ property, most })
}
