/** Records of a group of Kafka's consumers, asked for one by one: what is not asked for is fetched no further than one answer of each broker. */
import { ConnectionPool, Consumer, type Message, type MessagesStream } from '@platformatic/kafka'
import type { Clock } from '../../../model/clock.ts'
import type { AddressGuard } from '../address-guard.ts'
import { boundDecompression } from './kafka-decompression.ts'
import { KafkaFetches, type FetchRoom } from './kafka-fetches.ts'
import { kafkaOptions, type KafkaPlace } from './kafka-connection.ts'
import { guardConnections, guardMetadata } from './kafka-guard.ts'

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
  readonly clock: Clock
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
/** Of a timer the longest time. */
const NEVER_MS = 2 ** 31 - 1

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
  guardMetadata(consumer, failed)
  const pool = new ConnectionPool(place.clientId, { ...kafkaOptions(place, guard), requestTimeout: NEVER_MS })
  guardConnections(pool, guard, place.tls, longestAnswer, room)
  const fetches = new KafkaFetches(room, listener.clock, () => failed(new Error('a broker does not answer')))
  fetches.bindConsumer(consumer, pool)
  let stream: MessagesStream<Buffer, Buffer, Buffer, Buffer>
  try {
    stream = await consumer.consume({ topics: [...topics], mode: 'committed', fallbackMode: offsetReset })
  } catch (error) {
    // What is told is why nothing is read, not how that ended.
    await consumer.close(true).catch(() => undefined)
    throw error
  }
  fetches.bindStream(stream)
  stream
    .on('error', failed)
    .on('close', () => failed(new Error('the brokers ended it')))
    .on('readable', () => listener.readable())
  return {
    read: () => {
      const message = messageOf(stream.read())
      if (message !== undefined) fetches.read()
      return message
    },
    commit: (offsets) => consumer.commit({ offsets: [...offsets] }),
    close: async () => {
      hasEnded = true
      // Else the consumer would wait for requests that wait for room.
      fetches.close()
      await closeNow(pool)
      await consumer.close(true)
    },
  }
}

/** One that is not heard would never tell its end. */
async function closeNow(pool: ConnectionPool): Promise<void> {
  const sockets = [...pool].map(([, { socket }]) => socket)
  const closed = pool.close()
  for (const socket of sockets) socket.destroy()
  await closed
}

/** The stream's declaration leaves open what it reads. */
function messageOf(read: unknown): KafkaMessage | undefined {
  return isMessage(read) ? read : undefined
}

function isMessage(read: unknown): read is KafkaMessage {
  return typeof read === 'object' && read !== null && 'offset' in read && 'partition' in read
}
