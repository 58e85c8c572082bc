/** Records of a group of Kafka's consumers, asked for one by one: what is not asked for is fetched no further than one answer of each broker. */
import { Consumer, type Message, type MessagesStream } from '@platformatic/kafka'
import type { AddressGuard } from '../address-guard.ts'
import { boundDecompression } from './kafka-decompression.ts'
import { KafkaFetches, type FetchRoom } from './kafka-fetches.ts'
import { kafkaOptions, type KafkaPlace } from './kafka-connection.ts'
import { guardConnections } from './kafka-guard.ts'

export type KafkaMessage = Message

export interface KafkaGroup {
  readonly groupId: string
  readonly topics: readonly string[]
  /** Where the group has no offset yet. */
  readonly offsetReset: 'earliest' | 'latest'
  /** Of a record, in bytes. */
  readonly maxRecordBytes: number
  /** For what is fetched and not read. */
  readonly room: FetchRoom
}

export interface KafkaOffset {
  readonly topic: string
  readonly partition: number
  /** Of the record that comes next. */
  readonly offset: bigint
  readonly leaderEpoch: number
}

export interface KafkaRecords {
  /** Undefined: none is there; `onReadable` tells when one is. */
  read(): KafkaMessage | undefined
  /** Rejects where the group does not know this consumer any more, or the brokers are away. */
  commit(offsets: readonly KafkaOffset[]): Promise<void>
  /** Leaves the group. */
  close(): Promise<void>
}

interface Listener {
  readable(): void
  /** At most once, unless it was closed before. */
  failed(reason: unknown): void
}

const FETCH_BYTES = 524_288
/** Brokers send a batch of records whole, however large: by default they take up to 1 MiB. */
const LARGEST_BATCH = 4_194_304
const WAIT_MS = 1000
/** After so long without a sign a process that was killed is no member any more. */
const SESSION_MS = 10_000
const REBALANCE_MS = 20_000

/** Resolves when the group took it in. */
export async function openKafkaRecords(
  place: KafkaPlace,
  group: KafkaGroup,
  guard: AddressGuard,
  listener: Listener,
): Promise<KafkaRecords> {
  const { groupId, topics, offsetReset, maxRecordBytes, room } = group
  const longestAnswer = LARGEST_BATCH + 2 * maxRecordBytes
  boundDecompression()
  const consumer = new Consumer({
    ...kafkaOptions(place, guard),
    ...{ groupId, autocommit: false, retries: 3 },
    ...{ sessionTimeout: SESSION_MS, rebalanceTimeout: REBALANCE_MS, heartbeatInterval: SESSION_MS / 5 },
    ...{ maxBytes: FETCH_BYTES, maxBytesPerPartition: FETCH_BYTES, maxWaitTime: WAIT_MS },
    // Fetches again only when all that came was read: whatever is counted here are records, of any size.
    highWaterMark: 1,
  })
  let hasEnded = false
  const failed = (reason: unknown): void => {
    if (hasEnded) return
    hasEnded = true
    listener.failed(reason)
  }
  // For good: an error that nobody hears ends the process.
  consumer.on('error', () => undefined)
  guardConnections(consumer.connections, guard, place.tls, longestAnswer)
  const fetches = new KafkaFetches(room)
  fetches.bindConsumer(consumer)
  let stream: MessagesStream<Buffer, Buffer, Buffer, Buffer>
  try {
    stream = await consumer.consume({ topics: [...topics], mode: 'committed', fallbackMode: offsetReset })
  } catch (error) {
    // What is told is why nothing is read, not how that ended.
    await consumer.close(true).catch(() => undefined)
    throw error
  }
  // It fetches only when somebody listens, and has connections of its own.
  guardConnections(stream.connections, guard, place.tls, longestAnswer, room)
  fetches.bindStream(stream)
  stream
    .on('error', failed)
    .on('close', () => failed(new Error('the brokers ended it')))
    .on('readable', () => listener.readable())
  return {
    read: () => {
      const message = messageOf(stream.read())
      if (message !== undefined) fetches.read(message)
      return message
    },
    commit: (offsets) => consumer.commit({ offsets: [...offsets] }),
    close: async () => {
      hasEnded = true
      // Else the consumer would wait for requests that wait for room.
      fetches.close()
      await consumer.close(true)
    },
  }
}

/** The stream's declaration leaves open what it reads. */
function messageOf(read: unknown): KafkaMessage | undefined {
  return isMessage(read) ? read : undefined
}

function isMessage(read: unknown): read is KafkaMessage {
  return typeof read === 'object' && read !== null && 'offset' in read && 'partition' in read
}
