/** What the streams, subjects and consumers of one link are called on NATS, and what the server answers in numbers. */

export type NatsNames = Readonly<ReturnType<typeof natsNames>>

/** `prefix`: letters, digits, `-` and `_`. Throws on others: they would be wildcards or borders of a subject. */
export function natsNames(prefix: string) {
  if (!/^[A-Za-z0-9_-]{1,32}$/.test(prefix)) {
    throw new Error(`the prefix of the streams is 1 to 32 letters, digits, - and _, not "${prefix}"`)
  }
  return {
    stream: (stream: number) => `${prefix}_S${stream}`,
    subject: (stream: number) => `${prefix}.frames.${stream}`,
    records: `${prefix}_OWNERS`,
    recordSubjects: `${prefix}.owner.*`,
    recordSubject: (stream: number) => `${prefix}.owner.${stream}`,
    letters: `${prefix}_LETTERS`,
    /** Of every letter, and what all had before they were told apart by tenant. */
    letterSubjects: [`${prefix}.letter`, `${prefix}.letter.*`],
    oldLetterSubject: `${prefix}.letter`,
    letterSubject: (tenantId: string) => `${prefix}.letter.${tokenOf(tenantId)}`,
    /** What version 1 had: a stream a partition, and their records. */
    old: {
      stream: (partition: number) => `${prefix}_P${partition}`,
      subject: (partition: number) => `${prefix}.frame.${partition}`,
      records: `${prefix}_RECORDS`,
      recordSubject: (partition: number) => `${prefix}.record.${partition}`,
    },
  }
}

/** One token of a subject, another for every tenant: what would be a wildcard or a border stands in base64, behind a sign that no other has. */
function tokenOf(tenantId: string): string {
  return /^[A-Za-z0-9_-]+$/.test(tenantId) ? tenantId : `=${Buffer.from(tenantId).toString('base64url')}`
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
  noSuitablePeers: 10005,
  sequenceNotFound: 10043,
  wrongLastSequence: 10071,
  wrongLastSequenceUnknown: 10164,
} as const
