/** Kafka over a client of the field: one producer a node, its connections to brokers made when records go there. */
import { CompressionAlgorithms, Producer } from '@platformatic/kafka'
import type { LookupFunction } from 'node:net'
import type { KafkaTarget } from '../../../engine/rulechain/capabilities/outbound.ts'
import type { OpenClient } from '../raw-client.ts'
import { tlsOptions } from './http.ts'
import { boundedScram, guardConnections } from './kafka-guard.ts'

const RETRY_DELAY_MS = 250

export const openKafka: OpenClient<'kafka'> = (target, { guard }) => {
  const { brokers, clientId, retries, acks, sasl, compression } = target
  const producer = new Producer<string, string, Buffer, Buffer>({
    ...{ clientId, bootstrapBrokers: [...brokers], retries, retryDelay: RETRY_DELAY_MS, acks },
    compression: COMPRESSIONS[compression],
    // As a broker that makes topics when they are used does it for any producer.
    autocreateTopics: true,
    serializers: { key: text, value: text, headerKey: unchanged, headerValue: unchanged },
    ...tlsOf(target, guard.lookup),
    ...(sasl === undefined
      ? {}
      : { sasl: { ...sasl, ...(sasl.mechanism === 'PLAIN' ? {} : { authenticate: boundedScram }) } }),
  })
  guardConnections(producer.connections, guard, target.tls)
  // For good: what a broker does between calls fails the next of them, and an error that nobody hears ends the process.
  producer.on('error', () => undefined)
  return {
    call: async ({ topic, key, value, headers }) => {
      const message = { topic, value, headers: new Map(headers), ...(key === undefined ? {} : { key }) }
      const { offsets } = await producer.send({ messages: [message] }).catch((error: unknown) => {
        throw reasonOf(error)
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

/** The client gathers the errors of all tries and brokers under a text that says nothing of them, and puts why a broker was not reached under another. */
function reasonOf(error: unknown): unknown {
  const inner: unknown =
    error instanceof AggregateError ? error.errors[0] : error instanceof Error ? error.cause : undefined
  return inner instanceof Error ? reasonOf(inner) : error
}

function text(value?: string): Buffer | undefined {
  return value === undefined ? undefined : Buffer.from(value)
}

function unchanged(value?: Buffer): Buffer | undefined {
  return value
}

/** Over TLS a broker is called by its name, which its certificate holds, and found by the guard's look-up. */
function tlsOf({ tls, certificates }: KafkaTarget, lookup: LookupFunction): object {
  return tls ? { tls: { ...tlsOptions(certificates), lookup }, tlsServerName: true } : {}
}
