/** What a queue does, in words: how it hands messages out, what becomes of failures, and what each way costs. Knows no page. */

/** @typedef {Record<string, any>} Json */
/** @typedef {readonly [type: string, name: string, cost: string]} Way */

/** @type {readonly Way[]} */
export const SUBMITS = [
  [
    'BURST',
    'all at once, in order per device',
    'The fastest. A message that is tried again may be overtaken by later ones of its device.',
  ],
  [
    'BATCH',
    'so many at a time',
    'The next batch begins when the whole one before has ended: one slow message holds up all others of the queue.',
  ],
  [
    'SEQUENTIAL_BY_ORIGINATOR',
    'one at a time per device',
    'Strict order, some 200 messages a second and device. Other devices do not wait.',
  ],
  [
    'SEQUENTIAL_BY_TENANT',
    'one at a time per tenant',
    'All devices of a tenant wait for each message, and a message that fails again and again parks the whole tenant.',
  ],
  [
    'SEQUENTIAL',
    'one at a time',
    'Everybody waits for each message, and nothing is parked: a message that fails holds up the queue until it is given up.',
  ],
]

/** @type {readonly Way[]} */
export const PROCESSES = [
  [
    'RETRY_FAILED_AND_TIMED_OUT',
    'try again what failed or took too long',
    'Nothing is lost: after the last try a message is with those that were given up. Effects outside, such as mails and calls, may come twice.',
  ],
  ['RETRY_FAILED', 'try again what failed', 'What takes too long is given up after one try.'],
  ['RETRY_TIMED_OUT', 'try again what took too long', 'What fails is given up after one try.'],
  [
    'RETRY_ALL',
    'try all again that was handed out with it',
    'What went well is done again as well: effects outside, such as mails and calls, come more than once.',
  ],
  [
    'SKIP_ALL_FAILURES',
    'skip what failed',
    'Nobody waits, and what failed is lost but for a count. What takes too long is skipped too, and goes on in the background.',
  ],
  [
    'SKIP_ALL_FAILURES_AND_TIMED_OUT',
    'skip what failed or took too long',
    'Nobody waits, and what failed is lost but for a count.',
  ],
]

/** Pauses in seconds, time-outs in milliseconds: as the server has them. */
export const NEW_QUEUE = {
  pollInterval: 25,
  partitions: 10,
  consumerPerPartition: true,
  packProcessingTimeout: 30_000,
  submitStrategy: { type: 'BURST', batchSize: 1_000 },
  processingStrategy: {
    type: 'RETRY_FAILED_AND_TIMED_OUT',
    retries: 10,
    failurePercentage: 0,
    pauseBetweenRetries: 1,
    maxPauseBetweenRetries: 30,
  },
}

/** @param {readonly Way[]} ways @param {string} type */
export function nameOf(ways, type) {
  return ways.find(([each]) => each === type)?.[1] ?? type
}

/** @param {readonly Way[]} ways @param {string} type */
export function costOf(ways, type) {
  return ways.find(([each]) => each === type)?.[2] ?? ''
}

/** @param {string} type */
export function isTriedAgain(type) {
  return type.startsWith('RETRY')
}

/** What becomes of a failure, in one sentence. @param {Json} strategy */
export function failureText({ type, retries, pauseBetweenRetries, maxPauseBetweenRetries }) {
  const name = nameOf(PROCESSES, type)
  if (!isTriedAgain(type)) return name
  const often = retries === 0 ? 'without end' : `${retries} times`
  const pause =
    pauseBetweenRetries === maxPauseBetweenRetries
      ? `after ${pauseBetweenRetries} s`
      : `after ${pauseBetweenRetries} to ${maxPauseBetweenRetries} s`
  return `${name}, ${often}, ${pause}`
}

/** Of the tenant that nobody logs in to: what it has is there for all. */
const SYSTEM = '13814000-1dd2-11b2-8080-808080808080'

/** @param {Json} queue */
export function isOfSystem({ tenantId }) {
  return tenantId.id === SYSTEM
}

/** As parked messages name it: one of a tenant has its id in front. @param {Json} queue @returns {string} */
export function qualifiedName(queue) {
  return isOfSystem(queue) ? queue['name'] : `${queue['tenantId'].id}.${queue['name']}`
}

/** The same without the id. @param {string} qualified */
export function plainName(qualified) {
  return /^[\da-f-]{36}\./i.test(qualified) ? qualified.slice(37) : qualified
}

/** How much waits apart in each queue, by its qualified name. @param {readonly Json[]} lanes @returns {Map<string, { lanes: number, messages: number }>} */
export function waitingByQueue(lanes) {
  const found = new Map()
  for (const { queueName, messages } of lanes) {
    const before = found.get(queueName) ?? { lanes: 0, messages: 0 }
    found.set(queueName, { lanes: before.lanes + 1, messages: before.messages + messages })
  }
  return found
}
