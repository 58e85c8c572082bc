/** Kafka over a client of the field: one producer a node, its connections to brokers made when records go there. */
import { CompressionAlgorithms, Producer, type ProduceResult } from '@platformatic/kafka'
import type { OpenClient } from '../raw-client.ts'
import { kafkaOptions, kafkaReason } from './kafka-connection.ts'
import { guardConnections } from './kafka-guard.ts'
import { partitionOfKey } from './kafka-partition.ts'

/** A topic that is made by its first record is there soon, and other producers wait for it up to a minute. */
const NEW_TOPIC_MS = 15_000
const LOOK_AGAIN_MS = 100
/** Of brokers that do not know the topic yet, or who leads it. */
const NOT_YET: ReadonlySet<unknown> = new Set([3, 5])

export const openKafka: OpenClient<'kafka'> = (target, { guard, clock }) => {
  const { retries, acks, compression } = target
  const producer = new Producer<string, string, Buffer, Buffer>({
    ...kafkaOptions(target, guard),
    ...{ retries, acks, compression: COMPRESSIONS[compression] },
    // As a broker that makes topics when they are used does it for any producer.
    autocreateTopics: true,
    serializers: { key: text, value: text, headerKey: unchanged, headerValue: unchanged },
  })
  guardConnections(producer.connections, guard, target.tls)
  // For good: what a broker does between calls fails the next of them, and an error that nobody hears ends the process.
  producer.on('error', () => undefined)
  const send = async (options: Parameters<typeof producer.send>[0], signal: AbortSignal): Promise<ProduceResult> => {
    const last = clock.monotonic() + NEW_TOPIC_MS
    for (;;)
      try {
        return await producer.send(options)
      } catch (error) {
        const reason = kafkaReason(error)
        if (!isNewTopic(reason) || clock.monotonic() > last) throw reason
        await new Promise<void>((resolve) => clock.after(LOOK_AGAIN_MS, resolve))
        // Whoever was told of a failure meanwhile has no record written.
        if (signal.aborted) throw reason
      }
  }
  return {
    call: async ({ topic, key, value, headers }, signal) => {
      const message = { topic, value, headers: new Map(headers), ...(key === undefined ? {} : { key }) }
      // Records without a key go to one partition after the other, which is the client's own way.
      const chosen = key === undefined ? {} : { partitioner: partitionOf }
      const { offsets } = await send({ messages: [message], ...chosen }, signal)
      const [written] = offsets ?? []
      return written === undefined
        ? { topic }
        : { topic: written.topic, partition: written.partition, offset: String(written.offset) }
    },
    close: async () => {
      await producer.close(true)
    },
  }
}

/** Nothing was written then. */
function isNewTopic(reason: unknown): boolean {
  if (!(reason instanceof Error)) return false
  return ('apiCode' in reason && NOT_YET.has(reason.apiCode)) || reason.message.startsWith('Unknown topic ')
}

const COMPRESSIONS = {
  none: CompressionAlgorithms.NONE,
  gzip: CompressionAlgorithms.GZIP,
  snappy: CompressionAlgorithms.SNAPPY,
  lz4: CompressionAlgorithms.LZ4,
  zstd: CompressionAlgorithms.ZSTD,
}

function partitionOf(_message: unknown, key: Buffer | undefined): number {
  return partitionOfKey(key ?? Buffer.alloc(0))
}

function text(value?: string): Buffer | undefined {
  return value === undefined ? undefined : Buffer.from(value)
}

function unchanged(value?: Buffer): Buffer | undefined {
  return value
}
