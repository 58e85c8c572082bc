/** Makes the streams of a link, or checks and widens those that are there. */
import {
  DiscardPolicy,
  JetStreamApiError,
  RetentionPolicy,
  StorageType,
  type JetStreamManager,
  type StreamConfig,
} from '@nats-io/jetstream'
import type { Clock } from '../../../model/clock.ts'
import { errorText, isMillraceError } from '../../../model/errors.ts'
import { LinkErrors } from '../errors.ts'
import { NO_STREAM, present } from './nats-answers.ts'
import { API_CODES, type NatsNames } from './nats-names.ts'

const NANOS = 1_000_000
/** How long the server knows a frame's id: a frame is tried for seconds. */
const FRAME_IDS_MS = 120_000
const LETTER_IDS_MS = 3_600_000
/** The part of the letters' bound by which processes that bury at once may be over it. */
const LETTERS_SPARE = 4
const AT_ONCE = 8
/** Of the records stream's metadata. */
const PARTITIONS_KEY = 'partitions'
const STREAMS_KEY = 'streams'

export interface StreamsOptions {
  readonly prefix: string
  readonly partitions: number
  /** They share the partitions out. */
  readonly streams: number
  /** Copies of each stream, 1, 3 or 5: at most as many as there are servers. */
  readonly replicas: number
  readonly maxBytesPerPartition: number
  /** What settled frames may take, of all streams. */
  readonly retentionBytes: number
  readonly maxLetters: number
  readonly maxLetterBytes: number
  /** Unix ms: where a new stream begins to count, so that one that is made again never counts from below. */
  readonly now: number
}

const PATIENCE_MS = 30_000
const PAUSE_MS = 250

type Wanted = Pick<StreamConfig, 'name' | 'max_bytes' | 'num_replicas'> & Partial<StreamConfig>

/**
 * Servers that are connected and do not answer yet (a cluster elects a leader for each stream that is made, slowly on a busy machine), or that are
 * fewer than the copies, are asked again: half a minute in all. Throws what the last `prepare` throws.
 */
export async function preparePatiently(clock: Clock, prepare: () => Promise<unknown>): Promise<void> {
  const giveUpAt = clock.monotonic() + PATIENCE_MS
  for (;;) {
    try {
      await prepare()
      return
    } catch (error) {
      const isAway = isMillraceError(error) && error.code === 'link.BROKER_AWAY'
      if (!isAway || clock.monotonic() >= giveUpAt) throw error
      await new Promise<void>((resolve) => void clock.after(PAUSE_MS, resolve))
    }
  }
}

/**
 * Resolves when every stream is there. Throws PARTITIONS_DIFFER and STREAMS_DIFFER where they were made with other counts (messages of an
 * originator would be in two of them), STREAM_UNFIT where one has the name but not the kind.
 */
export async function prepareStreams(
  manager: JetStreamManager,
  names: NatsNames,
  options: StreamsOptions,
): Promise<void> {
  const { partitions, streams, prefix } = options
  const records = await prepare(manager, recordStream(names, options))
  const stored = Number(records.metadata?.[PARTITIONS_KEY] ?? partitions)
  if (stored !== partitions) throw LinkErrors.PARTITIONS_DIFFER({ prefix, stored, wanted: partitions })
  const made = Number(records.metadata?.[STREAMS_KEY] ?? streams)
  if (made !== streams) throw LinkErrors.STREAMS_DIFFER({ prefix, stored: made, wanted: streams })
  await prepare(manager, letterStream(names, options))
  for (let first = 0; first < streams; first += AT_ONCE) {
    const some = Array.from({ length: Math.min(AT_ONCE, streams - first) }, (_, index) => first + index)
    await Promise.all(some.map((stream) => prepare(manager, frameStream(names, stream, options))))
  }
}

/** What the server sets aside for one stream. */
export function maxBytesOf({
  partitions,
  streams,
  maxBytesPerPartition,
  retentionBytes,
}: Omit<StreamsOptions, 'now'>): number {
  return Math.ceil((partitions * maxBytesPerPartition + retentionBytes) / streams)
}

/** Frames stay until their owner says that they may go: settled ones are there to be read again for a while. */
function frameStream(names: NatsNames, stream: number, options: StreamsOptions): Wanted {
  return {
    name: names.stream(stream),
    subjects: [names.subject(stream)],
    retention: RetentionPolicy.Limits,
    storage: StorageType.File,
    discard: DiscardPolicy.New,
    max_bytes: maxBytesOf(options),
    num_replicas: options.replicas,
    duplicate_window: FRAME_IDS_MS * NANOS,
    first_seq: options.now,
    allow_direct: true,
  }
}

function recordStream(names: NatsNames, options: StreamsOptions): Wanted {
  return {
    name: names.records,
    subjects: [names.recordSubjects],
    retention: RetentionPolicy.Limits,
    storage: StorageType.File,
    discard: DiscardPolicy.Old,
    max_bytes: -1,
    max_msgs_per_subject: 1,
    num_replicas: options.replicas,
    metadata: { [PARTITIONS_KEY]: String(options.partitions), [STREAMS_KEY]: String(options.streams) },
  }
}

function letterStream(names: NatsNames, options: StreamsOptions): Wanted {
  return {
    name: names.letters,
    subjects: [...names.letterSubjects],
    retention: RetentionPolicy.Limits,
    storage: StorageType.File,
    discard: DiscardPolicy.Old,
    max_bytes: options.maxLetterBytes,
    // The bound itself is kept by whoever buries, by tenant: the server would drop the oldest of anybody.
    max_msgs: options.maxLetters + Math.ceil(options.maxLetters / LETTERS_SPARE),
    num_replicas: options.replicas,
    duplicate_window: LETTER_IDS_MS * NANOS,
    allow_direct: true,
  }
}

async function prepare(manager: JetStreamManager, wanted: Wanted): Promise<StreamConfig> {
  const found = await findOrCreate(manager, wanted)
  for (const key of ['retention', 'storage', 'discard'] as const) {
    const value = wanted[key]
    if (value === undefined || found[key] === value) continue
    const reason = `its ${key} is ${found[key]}, it should be ${value}`
    throw LinkErrors.STREAM_UNFIT({ stream: wanted.name, reason })
  }
  const { max_bytes, num_replicas, subjects = found.subjects, max_msgs = found.max_msgs } = wanted
  const isSame =
    found.num_replicas === num_replicas &&
    found.max_bytes === max_bytes &&
    found.max_msgs === max_msgs &&
    found.subjects.join() === subjects.join()
  if (isSame) return found
  return (await manager.streams.update(wanted.name, { max_bytes, num_replicas, max_msgs, subjects })).config
}

/** Throws STREAM_UNFIT where the server will not have it so, and BROKER_AWAY. */
export async function findOrCreate(manager: JetStreamManager, wanted: Wanted): Promise<StreamConfig> {
  return (await find(manager, wanted.name)) ?? (await create(manager, wanted))
}

async function find(manager: JetStreamManager, name: string): Promise<StreamConfig | undefined> {
  return (await present(manager.streams.info(name), NO_STREAM))?.config
}

async function create(manager: JetStreamManager, wanted: Wanted): Promise<StreamConfig> {
  try {
    return (await manager.streams.add(wanted)).config
  } catch (error) {
    // Another process made it in the same moment, with another first sequence.
    if (error instanceof JetStreamApiError && error.code === API_CODES.streamExistsWithOtherConfiguration) {
      const found = await find(manager, wanted.name)
      if (found !== undefined) return found
      // In a cluster its name is taken before it has a leader that knows of it: asked for again, it will be there.
      throw LinkErrors.BROKER_AWAY({ reason: `stream ${wanted.name} is being made` }, error)
    }
    if (error instanceof JetStreamApiError && error.code === API_CODES.noSuitablePeers) {
      // A cluster that has just started knows its servers one by one.
      const reason = `stream ${wanted.name} has copies on ${wanted.num_replicas} servers, so many are not there: ${error.message}`
      throw LinkErrors.BROKER_AWAY({ reason }, error)
    }
    if (error instanceof JetStreamApiError) {
      throw LinkErrors.STREAM_UNFIT({ stream: wanted.name, reason: reasonOf(error, wanted) }, error)
    }
    throw LinkErrors.BROKER_AWAY({ reason: `stream ${wanted.name}: ${errorText(error)}` }, error)
  }
}

/** A server sets aside the whole of what its streams may take when they are made. */
function reasonOf(error: JetStreamApiError, { max_bytes, num_replicas }: Wanted): string {
  const isSpace = error.code === API_CODES.insufficientStorage || error.code === API_CODES.insufficientResources
  if (!isSpace) return error.message
  return `${error.message}: it may take ${max_bytes} bytes on each of ${num_replicas} servers, beside the other streams (max_file_store)`
}
