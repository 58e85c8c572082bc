/** Kafka over a client of the field: one producer a node, its connections to brokers made when records go there. */
import { CompressionAlgorithms, Producer } from '@platformatic/kafka'
import type { OpenClient } from '../raw-client.ts'
import { kafkaOptions, kafkaReason } from './kafka-connection.ts'
import { guardConnections } from './kafka-guard.ts'
import { partitionOfKey } from './kafka-partition.ts'

export const openKafka: OpenClient<'kafka'> = (target, { guard }) => {
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
  return {
    call: async ({ topic, key, value, headers }) => {
      const message = { topic, value, headers: new Map(headers), ...(key === undefined ? {} : { key }) }
      // Records without a key go to one partition after the other, which is the client's own way.
      const chosen = key === undefined ? {} : { partitioner: partitionOf }
      const { offsets } = await producer.send({ messages: [message], ...chosen }).catch((error: unknown) => {
        throw kafkaReason(error)
      })
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
