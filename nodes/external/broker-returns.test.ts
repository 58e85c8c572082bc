/**
 * Services that go away and come back while messages flow. Of each node: what it calls a Success is with the service, what went wrong is named,
 * it serves again without a restart, and holds nothing afterwards; a node beside it hears of none of it.
 */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import { type AddressInfo } from 'node:net'
import { describe, test } from 'node:test'
import { Admin, Consumer, stringDeserializers } from '@platformatic/kafka'
import { connect as connectRabbit } from 'amqplib'
import { connectAsync } from 'mqtt'
import type { JsonObject } from '../../model/json.ts'
import { startTestMailServer } from '../../services/mail/testkit.ts'
import { testOutbound } from '../../services/outbound/testkit.ts'
import { skipWithoutMosquitto, startMosquitto } from '../../test/support/mosquitto.ts'
import { skipUnless } from '../../test/support/require-tool.ts'
import { canRunKafka, canRunRabbitMq, startKafka, startRabbitMq } from '../../test/support/servers/index.ts'
import { until } from '../../test/support/until.ts'
import type { RuleNodeDefinition } from '../define-node.ts'
import { createNode, runNode, testContext, testMessage } from '../testkit.ts'
import { kafka } from './kafka.ts'
import { mqtt } from './mqtt.ts'
import { rabbitMq } from './rabbitmq.ts'
import { restApiCall } from './rest-api-call.ts'
import { sendEmail } from './send-email.ts'

interface Service {
  readonly configuration: JsonObject
  readonly type?: string
  /** A Success says that the message was sent, and not that it is there: what was sent before the end is not asked for. */
  readonly isUnconfirmed?: boolean
  body?(number: number): JsonObject
  /** Cut off, as by a power cut. */
  stop(): Promise<void>
  /** Where it was. */
  start(): Promise<void>
  /** Numbers of the messages that it has or handed on. */
  arrived(): Promise<readonly number[]>
  close(): Promise<void>
}

/** Java and Erlang take a minute of two cores: brokers that take so long are for `npm run test:kills`. */
const WITH_LARGE_BROKERS = process.env['ROUNDS'] !== undefined
const PACE_MS = 20
const ENOUGH = 30

async function outage(definition: RuleNodeDefinition, service: Service, named: RegExp): Promise<Report> {
  const outbound = testOutbound({ timeoutMs: 5000 })
  const context = testContext()
  const outside = { ...context, services: { ...context.services, outbound: outbound.ofNode(context) } }
  const neighbour = await plainService()
  const nodes = await Promise.all([
    createNode(definition, { ...definition.defaultConfiguration, ...service.configuration }, outside),
    createNode(restApiCall, { ...restApiCall.defaultConfiguration, restEndpointUrlPattern: neighbour.url }, outside),
  ])
  const [node, beside] = nodes
  const [succeeded, failed] = [new Map<number, number>(), new Map<number, string>()]
  const besides: string[] = []
  const underWay = new Set<Promise<void>>()
  let number = 0
  const one = async (): Promise<void> => {
    const own = ++number
    const data = JSON.stringify(service.body?.(own) ?? { n: own })
    const [[result], [other]] = await Promise.all([
      runNode(node, testMessage({ data, type: service.type ?? 'POST_TELEMETRY_REQUEST' })),
      runNode(beside, testMessage({ data: '{}' })),
    ])
    const emission = result?.emissions[0]
    if (emission?.relations[0] === 'Success') succeeded.set(own, performance.now())
    else failed.set(own, emission?.message.metadata['error'] ?? 'no word')
    besides.push(other?.emissions[0]?.relations[0] ?? 'none')
  }
  const pace = setInterval(() => {
    const run = one().finally(() => underWay.delete(run))
    underWay.add(run)
  }, PACE_MS)
  try {
    await until(() => succeeded.size >= ENOUGH)
    const stopped = performance.now()
    await service.stop()
    await until(() => failed.size >= ENOUGH)
    const before = succeeded.size
    await service.start()
    const back = performance.now()
    await until(() => succeeded.size >= before + ENOUGH)
    const first = [...succeeded.values()].find((at) => at > back) ?? Infinity
    clearInterval(pace)
    await Promise.all(underWay)
    // The service's own stop is no promise of the node: what was told in the moment before it may have been lost by the service.
    const promised = [...succeeded]
      .filter(([, at]) => at > back || (service.isUnconfirmed !== true && at < stopped - 500))
      .map(([own]) => own)
    const lost = async () => {
      const there = new Set(await service.arrived())
      return promised.filter((own) => !there.has(own))
    }
    await until(async () => (await lost()).length === 0).catch(() => undefined)
    const there = await service.arrived()
    const report: Report = {
      ...{ sent: number, succeeded: succeeded.size, failed: failed.size, lost: (await lost()).length },
      twice: there.length - new Set(there).size,
      failedAndThere: [...failed.keys()].filter((own) => there.includes(own)).length,
      backAfterMs: Math.round(first - back),
      errors: [...new Set(failed.values())],
      ...{ calls: outbound.figures, besides: [...new Set(besides)] },
    }
    for (const error of report.errors) assert.match(error, named)
    assert.deepEqual([report.lost, report.besides], [0, ['Success']])
    assert.deepEqual(outbound.figures, { calls: 0, bytes: 0, waiting: 0, clients: 2 })
    return report
  } finally {
    clearInterval(pace)
    for (const each of nodes) await each.close?.()
    await service.close()
    await neighbour.close()
  }
}

interface Report {
  readonly sent: number
  readonly succeeded: number
  readonly failed: number
  readonly lost: number
  readonly twice: number
  readonly failedAndThere: number
  readonly backAfterMs: number
  readonly errors: readonly string[]
  readonly calls: object
  readonly besides: readonly string[]
}

async function plainService(port = 0) {
  const numbers: number[] = []
  const server: Server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const body: unknown = JSON.parse(Buffer.concat(chunks).toString())
      if (typeof body === 'object' && body !== null && 'n' in body) numbers.push(Number(body.n))
      response.end('{}')
    })
  }).listen(port, '127.0.0.1')
  await once(server, 'listening')
  const own = (server.address() as AddressInfo).port
  const close = async () => {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  }
  return { port: own, url: `http://127.0.0.1:${own}/`, numbers, close }
}

test('an HTTP service', { timeout: 300_000 }, async (t) => {
  let service = await plainService()
  const numbers: number[] = []
  const { port } = service
  const report = await outage(
    restApiCall,
    {
      configuration: { restEndpointUrlPattern: service.url },
      stop: async () => {
        await service.close()
        numbers.push(...service.numbers)
      },
      start: async () => void (service = await plainService(port)),
      arrived: async () => [...numbers, ...service.numbers],
      close: () => service.close(),
    },
    /ECONNREFUSED|ECONNRESET|socket hang up/,
  )
  t.diagnostic(JSON.stringify(report))
})

test('a mail server', { timeout: 300_000 }, async (t) => {
  let server = await startTestMailServer()
  const mails: string[] = []
  const { port } = server
  const report = await outage(
    sendEmail,
    {
      configuration: { useSystemSmtpSettings: false, smtpHost: '127.0.0.1', smtpPort: port },
      type: 'SEND_EMAIL',
      body: (number) => ({ from: 'a@example.org', to: 'b@example.org', subject: `mail ${number}`, body: 'text' }),
      stop: async () => {
        await server.close()
        mails.push(...server.mails)
      },
      start: async () => void (server = await startTestMailServer(port)),
      arrived: async () =>
        [...mails, ...server.mails].map((mail) => Number(/^Subject: mail (\d+)/m.exec(mail)?.[1] ?? Number.NaN)),
      close: () => server.close(),
    },
    /ECONNREFUSED|ECONNRESET|closed|hang up/,
  )
  t.diagnostic(JSON.stringify(report))
})

test('mosquitto', { skip: skipWithoutMosquitto(), timeout: 300_000 }, async (t) => {
  let broker = await startMosquitto()
  const { port } = broker
  const numbers: number[] = []
  const subscriber = async () => {
    const client = await connectAsync(`mqtt://127.0.0.1:${port}`)
    client.on('message', (_topic, payload) => numbers.push(Number((JSON.parse(payload.toString()) as { n: number }).n)))
    await client.subscribeAsync('readings', { qos: 1 })
    return client
  }
  let client = await subscriber()
  const report = await outage(
    mqtt,
    {
      configuration: { host: '127.0.0.1', port, topicPattern: 'readings' },
      stop: async () => {
        client.end(true)
        await broker.close()
      },
      start: async () => {
        broker = await startMosquitto(undefined, port)
        client = await subscriber()
      },
      arrived: async () => numbers,
      close: async () => {
        client.end(true)
        await broker.close()
      },
    },
    /closed|no answer within|ECONNREFUSED|ECONNRESET/,
  )
  t.diagnostic(JSON.stringify(report))
})

const brokersOfTheirOwn = () => {
  test('RabbitMQ', { skip: skipUnless(canRunRabbitMq(), 'rabbitmq-server'), timeout: 480_000 }, async (t) => {
    const broker = await startRabbitMq()
    const numbers: number[] = []
    const declared = async () => {
      const connection = await connectRabbit(broker.url)
      connection.on('error', () => undefined)
      const channel = await connection.createChannel()
      await channel.assertQueue('readings', { durable: true })
      return { connection, channel }
    }
    const first = await declared()
    await first.connection.close()
    const report = await outage(
      rabbitMq,
      {
        configuration: {
          ...{ host: '127.0.0.1', port: Number(new URL(broker.url).port), routingKeyPattern: 'readings' },
          messageProperties: 'PERSISTENT_TEXT_PLAIN',
        },
        isUnconfirmed: true,
        stop: () => broker.kill(),
        start: () => broker.restart(),
        arrived: async () => {
          const { connection, channel } = await declared()
          for (let got = await channel.get('readings'); got !== false; got = await channel.get('readings')) {
            channel.ack(got)
            numbers.push(Number((JSON.parse(got.content.toString()) as { n: number }).n))
          }
          await channel.close()
          await connection.close()
          return numbers
        },
        close: () => broker.stop(),
      },
      /closed|no answer within|ECONNREFUSED|ECONNRESET|hang up|Socket/i,
    )
    t.diagnostic(JSON.stringify(report))
  })

  test('Kafka', { skip: skipUnless(canRunKafka(), 'java or mvn'), timeout: 480_000 }, async (t) => {
    const broker = await startKafka()
    const admin = new Admin({ clientId: 'test', bootstrapBrokers: [broker.url] })
    await admin.createTopics({ topics: ['readings'], partitions: 1, replicas: 1 })
    await admin.close()
    const report = await outage(
      kafka,
      {
        configuration: { bootstrapServers: broker.url, topicPattern: 'readings' },
        stop: () => broker.kill(),
        start: () => broker.restart(),
        arrived: () => recordsOf(broker.url),
        close: () => broker.stop(),
      },
      /no answer within|ECONNREFUSED|ECONNRESET|connect|closed|broker|leader/i,
    )
    t.diagnostic(JSON.stringify(report))
  })
}
if (WITH_LARGE_BROKERS) describe('a broker of its own process', brokersOfTheirOwn)

let groups = 0

async function recordsOf(url: string): Promise<readonly number[]> {
  const brokers = { clientId: 'test', bootstrapBrokers: [url] }
  const admin = new Admin(brokers)
  const [latest] = await admin.listOffsets({
    topics: [{ name: 'readings', partitions: [{ partitionIndex: 0, timestamp: -1n }] }],
  })
  await admin.close()
  const end = latest?.partitions[0]?.offset ?? 0n
  const consumer = new Consumer({ ...brokers, groupId: `test-${++groups}`, deserializers: stringDeserializers })
  const numbers: number[] = []
  try {
    const stream = await consumer.consume({ topics: ['readings'], mode: 'earliest' })
    for await (const record of stream) {
      numbers.push(Number((JSON.parse(record.value ?? '') as { n: number }).n))
      if (record.offset >= end - 1n) break
    }
    return numbers
  } finally {
    await consumer.close(true)
  }
}
