import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type AddressInfo } from 'node:net'
import { after, describe, test } from 'node:test'
import { connect } from 'amqplib'
import type { JsonObject } from '../../model/json.ts'
import { skipUnless } from '../../test/support/require-tool.ts'
import { canRunRabbitMq, startRabbitMq } from '../../test/support/servers/index.ts'
import { createNode, runNode, testContext, testMessage } from '../testkit.ts'
import { rabbitMq } from './rabbitmq.ts'
import { testOutbound } from '../../services/outbound/testkit.ts'
import { outsideContext } from './testkit.ts'

const DEFAULTS = rabbitMq.defaultConfiguration
const message = testMessage({ data: '{"t":22.5}', metadata: { place: 'hall' } })

async function published(configuration: JsonObject) {
  const context = testContext()
  context.fakes.outbound.answers.rabbitmq = () => undefined
  const node = await createNode(rabbitMq, { ...DEFAULTS, host: 'broker.example', ...configuration }, context)
  const [result] = await runNode(node, message)
  assert.deepEqual(result?.emissions[0]?.relations, ['Success'])
  assert.equal(result.emissions[0].message, message)
  return { calls: context.fakes.outbound.calls, settings: context.fakes.outbound.opened[0]?.settings }
}

test('a message goes to the exchange with the properties of the broker’s names', async () => {
  const patterns = { exchangeNamePattern: 'ex-${place}', routingKeyPattern: '$[t]' }
  const call = { exchange: 'ex-hall', routingKey: '22.5', body: '{"t":22.5}' }
  assert.deepEqual((await published(patterns)).calls, [call])
  const persistent = { ...patterns, messageProperties: 'PERSISTENT_TEXT_PLAIN' }
  assert.deepEqual((await published(persistent)).calls, [
    { ...call, contentType: 'text/plain', deliveryMode: 2, priority: 0 },
  ])
})

test('an empty virtual host is that of the root; a node without a host does not start', async () => {
  const { settings } = await published({ virtualHost: null, clientProperties: { connection_name: 'mill' } })
  assert.deepEqual(settings, {
    ...{ host: 'broker.example', port: 5672, username: 'guest', password: 'guest', connectTimeoutMs: 60_000 },
    ...{ virtualHost: '/', clientProperties: { connection_name: 'mill' } },
  })
  await assert.rejects(createNode(rabbitMq, DEFAULTS), /host/)
  await assert.rejects(published({ messageProperties: 'NONE' }), /messageProperties/)
})

test('a broker that speaks no AMQP fails the start, not the process; an internal address is refused', async (t) => {
  const server = createServer((socket) => {
    socket.on('error', () => undefined)
    socket.end('HTTP/1.1 400 Bad Request\r\n\r\n')
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => server.close())
  const { port } = server.address() as AddressInfo
  const target = { ...DEFAULTS, host: '127.0.0.1', port, connectionTimeout: 1000 }
  await assert.rejects(createNode(rabbitMq, target, outsideContext({ timeoutMs: 3000 })))
  await assert.rejects(createNode(rabbitMq, target, outsideContext({ allowedAddresses: [] })), /internal address/)
  const named = { ...target, host: 'localhost' }
  await assert.rejects(createNode(rabbitMq, named, outsideContext({ allowedAddresses: [] })), /internal address/)
})

const skip = skipUnless(canRunRabbitMq(), 'rabbitmq-server')

describe('with a real broker', { skip }, async () => {
  if (skip !== false) return
  const broker = await startRabbitMq()
  after(() => broker.stop())
  const port = Number(new URL(broker.url).port)
  const target = { ...DEFAULTS, host: '127.0.0.1', port }

  test('a message is in the queue with its properties', async (t) => {
    const connection = await connect(broker.url)
    t.after(() => connection.close())
    const channel = await connection.createChannel()
    await channel.assertQueue('readings')
    const configuration = { ...target, routingKeyPattern: 'readings', messageProperties: 'PERSISTENT_TEXT_PLAIN' }
    const node = await createNode(rabbitMq, configuration, outsideContext())
    t.after(() => node.close?.())
    const [result] = await runNode(node, message)
    assert.deepEqual(result?.emissions[0]?.relations, ['Success'])
    const got = await new Promise<readonly unknown[]>((resolve) => {
      const taken = channel.consume('readings', (message) => {
        if (message === null) return
        const { properties, content } = message
        resolve([content.toString(), properties.contentType, properties.deliveryMode])
      })
      void taken
    })
    assert.deepEqual(got, ['{"t":22.5}', 'text/plain', 2])
  })

  test('an exchange that is not there ends the connection, and the next message has another', async (t) => {
    const connection = await connect(broker.url)
    t.after(() => connection.close())
    const channel = await connection.createChannel()
    await channel.assertQueue('later')
    const target = { host: '127.0.0.1', port, virtualHost: '/', username: 'guest', password: 'guest' }
    const client = testOutbound()
      .ofNode({ tenantId: 'a' })
      .open('rabbitmq', { ...target, connectTimeoutMs: 60_000, clientProperties: {} })
    t.after(() => client.close())
    await client.call({ exchange: 'none', routingKey: 'later', body: 'lost' }, 4)
    for (let tries = 0; (await channel.checkQueue('later')).messageCount === 0; tries++) {
      assert.ok(tries < 2000, 'no message after the lost connection')
      await client.call({ exchange: '', routingKey: 'later', body: 'data' }, 4).catch(() => undefined)
    }
  })

  test('a wrong password is told without it', async () => {
    const wrong = { ...target, password: 'not the secret' }
    await assert.rejects(createNode(rabbitMq, wrong, outsideContext()), (error: Error) => {
      assert.doesNotMatch(error.message, /not the secret/)
      return /ACCESS_REFUSED|refused/i.test(error.message)
    })
  })
})
