import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import { Admin, Consumer, stringDeserializers } from '@platformatic/kafka'
import type { JsonObject } from '../../model/json.ts'
import { skipUnless } from '../../test/support/require-tool.ts'
import { canRunKafka, startKafka } from '../../test/support/servers/index.ts'
import { createNode, runNode, testContext, testMessage } from '../testkit.ts'
import { kafka } from './kafka.ts'
import { outsideContext } from './testkit.ts'

const DEFAULTS = kafka.defaultConfiguration
const message = testMessage({ data: '{"t":22.5}', metadata: { place: 'hall' } })

async function opened(configuration: JsonObject = {}) {
  const context = testContext()
  const node = await createNode(kafka, { ...DEFAULTS, ...configuration }, context)
  context.fakes.outbound.answers.kafka = () => ({ topic: 'in-hall', partition: 2, offset: '7' })
  return { node, context, settings: context.fakes.outbound.opened[0]?.settings as Record<string, unknown> }
}

test('a record is sent to the topic, under the key, and where it stands is in the metadata', async () => {
  const { node, context } = await opened({ topicPattern: 'in-${place}', keyPattern: '$[t]' })
  const [result] = await runNode(node, message)
  assert.deepEqual(result?.emissions[0]?.relations, ['Success'])
  assert.deepEqual(result.emissions[0].message.metadata, {
    place: 'hall',
    topic: 'in-hall',
    partition: '2',
    offset: '7',
  })
  assert.deepEqual(context.fakes.outbound.calls, [
    { topic: 'in-hall', key: '22.5', value: '{"t":22.5}', headers: new Map() },
  ])
})

test('metadata goes as headers in the charset that is asked for', async () => {
  const headersIn = async (kafkaHeadersCharset: string) => {
    const { node, context } = await opened({ addMetadataKeyValuesAsKafkaHeaders: true, kafkaHeadersCharset })
    await runNode(node, testMessage({ data: '{}', metadata: { place: 'ö€😀', none: '' } }))
    const [call] = context.fakes.outbound.calls as readonly { headers: ReadonlyMap<Buffer, Buffer> }[]
    return Object.fromEntries([...(call?.headers ?? [])].map(([key, value]) => [key.toString(), value.toString('hex')]))
  }
  for (const [charset, place] of [
    ['UTF-8', 'c3b6e282acf09f9880'],
    ['ISO-8859-1', 'f63f3f'],
    ['us-ascii', '3f3f3f'],
    ['UTF-16LE', 'f600ac203dd800de'],
    ['UTF-16BE', '00f620acd83dde00'],
    ['UTF-16', 'feff00f620acd83dde00'],
  ] as const)
    assert.deepEqual(await headersIn(charset), { tb_msg_md_place: place, tb_msg_md_none: '' }, charset)
  await assert.rejects(opened({ kafkaHeadersCharset: 'KOI8-R' }), /kafkaHeadersCharset/)
})

test('properties of the Java client say how to log in and to seal; others are refused by their names', async () => {
  const jaas = 'org.apache.kafka.common.security.scram.ScramLoginModule required username="me" password="a \\"b\\"";'
  const { settings } = await opened({
    bootstrapServers: 'a.example:9092, PLAINTEXT://b.example:9093',
    acks: 'all',
    otherProperties: {
      ...{ 'security.protocol': 'SASL_SSL', 'sasl.mechanism': 'SCRAM-SHA-256', 'sasl.jaas.config': jaas },
      ...{ 'ssl.truststore.certificates': 'PEM', 'compression.type': 'lz4', 'linger.ms': '5' },
    },
  })
  const { clientId: _clientId, ...rest } = settings
  assert.deepEqual(rest, {
    brokers: [
      { host: 'a.example', port: 9092 },
      { host: 'b.example', port: 9093 },
    ],
    ...{ tls: true, certificates: { ca: 'PEM' }, compression: 'lz4', acks: -1, retries: 0 },
    sasl: { mechanism: 'SCRAM-SHA-256', username: 'me', password: 'a "b"' },
  })
  for (const [name, value] of [
    ['ssl.keystore.location', '/etc/passwd'],
    ['security.protocol', 'HTTP'],
    ['compression.type', 'zip'],
    ['ssl.truststore.type', 'JKS'],
  ] as const)
    await assert.rejects(opened({ otherProperties: { [name]: value } }), new RegExp(name.replaceAll('.', '\\.')))
  await assert.rejects(opened({ otherProperties: { 'security.protocol': 'SASL_PLAINTEXT' } }), /sasl\.jaas\.config/)
  await assert.rejects(opened({ bootstrapServers: 'a.example' }), /bootstrapServers/)
})

test('an old configuration loses its serializers', () => {
  assert.deepEqual(kafka.upgrade?.({ topicPattern: 'a', keySerializer: 'k', valueSerializer: 'v' }, 0), {
    topicPattern: 'a',
  })
})

test('brokers that are away and those inside the network fail the message', async () => {
  const closed = { ...DEFAULTS, bootstrapServers: '127.0.0.1:1' }
  for (const [context, reason] of [
    [outsideContext(), /connect/i],
    [outsideContext({ allowedAddresses: [] }), /internal address/],
  ] as const) {
    const node = await createNode(kafka, closed, context)
    const [result] = await runNode(node, message)
    assert.deepEqual(result?.emissions[0]?.relations, ['Failure'])
    assert.match(result.emissions[0].message.metadata['error'] ?? '', reason)
    await node.close?.()
  }
})

const skip = skipUnless(canRunKafka(), 'java or mvn')

describe('with a real broker', { skip }, async () => {
  if (skip !== false) return
  const broker = await startKafka()
  after(() => broker.stop())

  test('a key goes to the partition to which other producers send it', async (t) => {
    const admin = new Admin({ clientId: 'test', bootstrapBrokers: [broker.url] })
    t.after(() => admin.close())
    await admin.createTopics({ topics: ['by-key'], partitions: 3, replicas: 1 })
    const configuration = { bootstrapServers: broker.url, topicPattern: 'by-key', keyPattern: '$[key]', retries: 5 }
    const node = await createNode(kafka, { ...DEFAULTS, ...configuration }, outsideContext())
    t.after(() => node.close?.())
    // Hashes of Kafka's own tests without their sign, of three.
    for (const [key, partition] of [
      ['foobar', '0'],
      ['21', '0'],
      ['a-little-bit-long-string', '2'],
      ['a-little-bit-longer-string', '2'],
    ] as const) {
      const [result] = await runNode(node, testMessage({ data: JSON.stringify({ key }) }))
      assert.equal(result?.emissions[0]?.message.metadata['partition'], partition, key)
    }
  })

  test('the first record of a topic makes it, though nothing is tried again', async (t) => {
    const configuration = { bootstrapServers: broker.url, topicPattern: 'not-there-yet', retries: 0 }
    const node = await createNode(kafka, { ...DEFAULTS, ...configuration }, outsideContext({ timeoutMs: 60_000 }))
    t.after(() => node.close?.())
    const [result] = await runNode(node, message)
    assert.deepEqual(
      [result?.emissions[0]?.relations, result?.emissions[0]?.message.metadata['offset']],
      [['Success'], '0'],
    )
  })

  test('records are where the answer says, with key and headers', async (t) => {
    const brokers = { clientId: 'test', bootstrapBrokers: [broker.url] }
    const admin = new Admin(brokers)
    t.after(() => admin.close())
    await admin.createTopics({ topics: ['in-hall'], partitions: 1, replicas: 1 })
    const configuration = { bootstrapServers: broker.url, topicPattern: 'in-${place}', keyPattern: '$[t]', retries: 5 }
    const node = await createNode(
      kafka,
      { ...DEFAULTS, ...configuration, addMetadataKeyValuesAsKafkaHeaders: true },
      outsideContext(),
    )
    t.after(() => node.close?.())
    for (const offset of ['0', '1']) {
      const [result] = await runNode(node, message)
      assert.deepEqual(result?.emissions[0]?.message.metadata, {
        place: 'hall',
        topic: 'in-hall',
        partition: '0',
        offset,
      })
    }
    const consumer = new Consumer({ ...brokers, groupId: 'test', deserializers: stringDeserializers })
    t.after(() => consumer.close(true))
    const stream = await consumer.consume({ topics: ['in-hall'], mode: 'earliest' })
    for await (const record of stream) {
      assert.deepEqual([record.key, record.value, record.offset], ['22.5', '{"t":22.5}', 0n])
      assert.deepEqual([...record.headers], [['tb_msg_md_place', 'hall']])
      break
    }
  })
})
