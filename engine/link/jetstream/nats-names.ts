/** What the streams, subjects and consumers of one link are called on NATS, and what the server answers in numbers. */

export interface NatsNames {
  stream(partition: number): string
  subject(partition: number): string
  readonly records: string
  readonly recordSubjects: string
  recordSubject(partition: number): string
  readonly letters: string
  readonly letterSubject: string
}

/** `prefix`: letters, digits, `-` and `_`. Throws on others: they would be wildcards or borders of a subject. */
export function natsNames(prefix: string): NatsNames {
  if (!/^[A-Za-z0-9_-]{1,32}$/.test(prefix)) {
    throw new Error(`the prefix of the streams is 1 to 32 letters, digits, - and _, not "${prefix}"`)
  }
  return {
    stream: (partition) => `${prefix}_P${partition}`,
    subject: (partition) => `${prefix}.frame.${partition}`,
    records: `${prefix}_RECORDS`,
    recordSubjects: `${prefix}.record.*`,
    recordSubject: (partition) => `${prefix}.record.${partition}`,
    letters: `${prefix}_LETTERS`,
    letterSubject: `${prefix}.letter`,
  }
}

/** The consumer of one reader. The epoch in its name says which of two readers is the later one. */
export function consumerName(epoch: number, reader: string): string {
  return `e${epoch}-${reader}`
}

/** Undefined where somebody else made the consumer. */
export function epochOfConsumer(name: string): number | undefined {
  const match = /^e(\d+)-/.exec(name)
  return match?.[1] === undefined ? undefined : Number(match[1])
}

/** `err_code` of answers that are told apart. Source: nats-server `server/errors.json`. */
export const API_CODES = {
  insufficientResources: 10023,
  insufficientStorage: 10047,
  maximumBytes: 10077,
  maximumMessages: 10076,
  messageTooLarge: 10054,
  streamExistsWithOtherConfiguration: 10058,
  streamNotFound: 10059,
  consumerNotFound: 10014,
  messageNotFound: 10037,
  sequenceNotFound: 10043,
  wrongLastSequence: 10071,
  wrongLastSequenceUnknown: 10164,
  workQueueNeedsOneConsumer: 10099,
  workQueueConsumerNotUnique: 10100,
} as const
