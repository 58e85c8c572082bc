/** Sends each message to a topic of Kafka (`rule-nodes.md` 65). */
import { z } from 'zod'
import type { KafkaRecord } from '../../engine/rulechain/capabilities/outbound.ts'
import type { JsonObject } from '../../model/json.ts'
import type { Message } from '../../model/message.ts'
import { defineNode, orZero } from '../define-node.ts'
import { NodeErrors } from '../errors.ts'
import { pattern } from '../pattern.ts'
import { SECRET_BY_NAME } from '../secrets.ts'
import { propertiesOf } from './kafka-properties.ts'
import { answered, bytesOf, callingNode } from './outcome.ts'

const NAME = 'kafka'
const HEADER_PREFIX = 'tb_msg_md_'
type Encoder = (text: string) => Buffer
/** Those that every Java machine has, as it writes them. */
const CHARSETS: Readonly<Record<string, Encoder>> = {
  'UTF-8': (text) => Buffer.from(text),
  'US-ASCII': (text) => oneByteEach(text, 0x7f),
  'ISO-8859-1': (text) => oneByteEach(text, 0xff),
  'UTF-16BE': (text) => Buffer.from(text, 'utf16le').swap16(),
  'UTF-16LE': (text) => Buffer.from(text, 'utf16le'),
  'UTF-16': (text) => Buffer.from(text === '' ? '' : `\uFEFF${text}`, 'utf16le').swap16(),
}

const configuration = z.looseObject({
  topicPattern: z.string().min(1).meta({ title: 'Topic', description: 'May hold ${metadata} and $[data].' }),
  keyPattern: z.string().nullish().meta({ title: 'Key', description: 'May hold ${metadata} and $[data].' }),
  bootstrapServers: z.string().min(1).meta({ title: 'Brokers', description: 'Hosts with ports, joined by commas.' }),
  retries: orZero(z.int().min(0).max(100), 0).meta({ title: 'Retries', description: 'By the client, of one record.' }),
  batchSize: orZero(z.int().min(0), 0).meta({
    title: 'Batch',
    description: 'Unused, as linger and bufferMemory: each record is sent at once.',
  }),
  linger: orZero(z.int().min(0), 0),
  bufferMemory: orZero(z.int().min(0), 0),
  acks: orZero(z.enum(['0', '1', '-1', 'all']), '-1').meta({
    title: 'Acknowledged by',
    description: '0 nobody, 1 the leader, -1 or all: every replica in step.',
  }),
  otherProperties: z
    .record(z.string(), z.string())
    .nullish()
    .meta({
      ...SECRET_BY_NAME,
      title: 'Properties',
      description:
        'Of the Java client: security.protocol, sasl.mechanism (PLAIN, SCRAM), sasl.jaas.config, certificates as PEM texts, compression.type, client.id.',
    }),
  addMetadataKeyValuesAsKafkaHeaders: orZero(z.boolean(), false).meta({
    title: 'Metadata as headers',
    description: `Under their keys behind ${HEADER_PREFIX}.`,
  }),
  kafkaHeadersCharset: z
    .string()
    .nullish()
    .meta({ title: 'Charset of headers', description: `${Object.keys(CHARSETS).join(', ')}.` }),
})

export const kafka = defineNode({
  type: 'org.thingsboard.rule.engine.kafka.TbKafkaNode',
  name: NAME,
  category: 'EXTERNAL',
  relations: ['Success'],
  description:
    'Sends the body as a record; Success when as many brokers have it as the node asks for. A redelivered message is a second record. Brokers that are away fail messages, not the start.',
  triedWith: 'Apache Kafka',
  differs: 'Of otherProperties it takes those that tune and secure the connection, and does not start with others.',
  configurationVersion: 1,
  configuration,
  defaults: {
    topicPattern: 'my-topic',
    keyPattern: null,
    bootstrapServers: 'localhost:9092',
    retries: 0,
    batchSize: 16_384,
    linger: 0,
    bufferMemory: 33_554_432,
    acks: '-1',
    otherProperties: {},
    addMetadataKeyValuesAsKafkaHeaders: false,
    kafkaHeadersCharset: 'UTF-8',
  },
  examples: [],
  uses: ['outbound'],
  effects: true,
  upgrade: ({ keySerializer: _key, valueSerializer: _value, ...kept }): JsonObject => kept,
  create: (config, { ruleNodeId, services: { outbound } }) => {
    const { clientId, ...security } = propertiesOf(NAME, config.otherProperties ?? {})
    const charset = CHARSETS[(config.kafkaHeadersCharset ?? 'UTF-8').toUpperCase()]
    if (charset === undefined) throw refused('kafkaHeadersCharset', `is none of ${Object.keys(CHARSETS).join(', ')}`)
    const client = outbound.open('kafka', {
      ...security,
      brokers: brokersOf(config.bootstrapServers),
      clientId: clientId ?? `producer-tb-kafka-node-${ruleNodeId}-${outbound.serviceId}`,
      acks: config.acks === 'all' ? -1 : (Number(config.acks) as 0 | 1 | -1),
      retries: config.retries,
    })
    const topicOf = pattern(config.topicPattern)
    const keyOf = config.keyPattern ? pattern(config.keyPattern) : undefined
    const headersOf = config.addMetadataKeyValuesAsKafkaHeaders
      ? (message: Message) => metadataHeaders(message, charset)
      : () => NO_HEADERS
    return callingNode(outbound, client, async (message) => {
      const record: KafkaRecord = {
        ...{ topic: topicOf(message), value: message.data, headers: headersOf(message) },
        ...(keyOf === undefined ? {} : { key: keyOf(message) }),
      }
      return answered(message, { ...(await client.call(record, bytesOf(record.key, record.value))) })
    })
  },
})

const NO_HEADERS: ReadonlyMap<Buffer, Buffer> = new Map()

function metadataHeaders({ metadata }: Message, encode: Encoder): ReadonlyMap<Buffer, Buffer> {
  return new Map(Object.entries(metadata).map(([key, value]) => [Buffer.from(`${HEADER_PREFIX}${key}`), encode(value)]))
}

/** A question mark for what the charset does not have. */
function oneByteEach(text: string, last: number): Buffer {
  const known = Array.from(text, (character) => ((character.codePointAt(0) ?? 0) <= last ? character : '?'))
  return Buffer.from(known.join(''), 'latin1')
}

function brokersOf(list: string): readonly { readonly host: string; readonly port: number }[] {
  return list.split(',').map((entry) => {
    const [, host = '', port = ''] =
      /^(?:[A-Z_]+:\/\/)?(\[[0-9a-fA-F:.]+\]|[^:\s]+):(\d{1,5})$/.exec(entry.trim()) ?? []
    const number = Number(port)
    if (host === '' || number < 1 || number > 65_535)
      throw refused('bootstrapServers', `'${entry}' is no host with a port`)
    return { host, port: number }
  })
}

function refused(field: string, reason: string): Error {
  return NodeErrors.CONFIGURATION_INVALID({ node: NAME, field, reason })
}
