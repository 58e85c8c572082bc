import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type AddressInfo, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { test, type TestContext } from 'node:test'
import { generate, parser, type Packet } from 'mqtt-packet'
import { ManualClock } from '../../../model/manual-clock.ts'
import { until } from '../../../test/support/until.ts'
import { sourceParts } from '../source.testkit.ts'
import { mqttConfiguration } from './mqtt-configuration.ts'
import { openMqttSource } from './mqtt-source.ts'

const TOPICS = [{ filter: 'a/#', qos: 1 }]

/** A broker that answers the handshake, and keeps what it was sent. */
async function startBroker(context: TestContext) {
  const heard: Packet[] = []
  const sockets: Socket[] = []
  const server = createServer((socket) => {
    sockets.push(socket.on('error', () => undefined))
    const packets = parser({ protocolVersion: 4 })
    // What is no MQTT, such as TLS, is not answered.
    packets.on('error', () => undefined)
    packets.on('packet', (packet) => {
      heard.push(packet)
      if (packet.cmd === 'connect') socket.write(generate({ cmd: 'connack', returnCode: 0, sessionPresent: false }))
      else if (packet.cmd === 'subscribe')
        socket.write(generate({ cmd: 'suback', messageId: packet.messageId ?? 0, granted: [1] }))
      else if (packet.cmd === 'unsubscribe')
        socket.write(generate({ cmd: 'unsuback', messageId: packet.messageId ?? 0, granted: [] }))
    })
    socket.on('data', (bytes) => packets.parse(bytes))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  context.after(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  const publish = (messageId: number, payload: string | Buffer): Buffer =>
    generate({ cmd: 'publish', topic: 'a/b', qos: 1, messageId, payload, dup: false, retain: false })
  const { port } = server.address() as AddressInfo
  return {
    heard,
    sockets,
    publish,
    port,
    acknowledged: () => heard.flatMap((each) => (each.cmd === 'puback' ? [each.messageId] : [])),
  }
}

async function join(context: TestContext, broker: { readonly port: number }, members: object = {}) {
  const clock = new ManualClock()
  const configuration = mqttConfiguration.parse({ host: '127.0.0.1', port: broker.port, topics: TOPICS, ...members })
  const made = sourceParts(configuration, clock)
  const source = await openMqttSource(made.parts)
  context.after(() => source.close())
  return { ...made, clock, source }
}

const isJoined = ({ states }: { readonly states: readonly string[] }) => until(() => states.at(-1) === 'connected')

test('a password without a user name is refused, and harms nobody where it is already there', async (context) => {
  const bad = { host: '127.0.0.1', port: 1, topics: TOPICS, password: 'hunter2' }
  assert.match(mqttConfiguration.safeParse(bad).error?.message ?? '', /user name/)
  const broker = await startBroker(context)
  const configuration = { ...mqttConfiguration.parse({ ...bad, port: broker.port, username: 'u' }), username: null }
  const { parts, states } = sourceParts(configuration)
  const source = await openMqttSource(parts)
  context.after(() => source.close())
  await until(() => states.length > 0)
  assert.match(states[0] ?? '', /Username is required/)
})

test('a message that is too large is skipped, counted and acknowledged in its turn', async (context) => {
  const broker = await startBroker(context)
  const made = await join(context, broker)
  await isJoined(made)
  made.inlet.isStoring = false
  const [socket] = broker.sockets
  const large = Buffer.alloc(3_000_000, 120)
  const bytes = Buffer.concat([broker.publish(1, 'one'), broker.publish(2, large), broker.publish(3, 'three')])
  // In pieces that end anywhere, also within heads.
  for (let at = 0; at < 40; at++) socket?.write(bytes.subarray(at, at + 1))
  socket?.write(bytes.subarray(40))
  await until(() => made.inlet.texts.length === 2)
  assert.deepEqual(broker.acknowledged(), [])
  made.inlet.store()
  await until(() => broker.acknowledged().length === 3)
  assert.deepEqual(broker.acknowledged(), [1, 2, 3])
  assert.deepEqual(made.inlet.texts, ['one', 'three'])
  assert.deepEqual(made.inlet.skippedBytes, [3_000_000])
  assert.deepEqual(made.states, ['connected'])
})

test('where there is no room one listener waits, however many messages came', async (context) => {
  const broker = await startBroker(context)
  const made = await join(context, broker)
  await isJoined(made)
  made.inlet.isStoring = false
  made.inlet.room = 1
  const messages = Array.from({ length: 500 }, (_, index) => broker.publish(index + 1, `m${index}`))
  broker.sockets[0]?.write(Buffer.concat(messages))
  await until(() => made.inlet.listeners.length > 0)
  assert.equal(made.inlet.listeners.length, 1)
  while (broker.acknowledged().length < 500) {
    made.inlet.store()
    assert.ok(made.inlet.listeners.length <= 1)
    await new Promise((resolve) => setImmediate(resolve))
  }
  assert.deepEqual(
    made.inlet.texts,
    messages.map((_, index) => `m${index}`),
  )
})

test('a broker that never completes the handshake of TLS is left after 30 seconds', async (context) => {
  const broker = await startBroker(context)
  const made = await join(context, broker, { tls: true })
  await until(() => broker.sockets.length > 0)
  await made.clock.advance(29_999)
  assert.deepEqual(made.states, [])
  await made.clock.advance(1)
  assert.match(made.states[0] ?? '', /does not answer/)
})

test('a broker that reads nothing is not listened to, and does not hold up the end', async (context) => {
  const broker = await startBroker(context)
  const made = await join(context, broker)
  await isJoined(made)
  const [socket] = broker.sockets
  assert.ok(socket !== undefined)
  socket.pause()
  const sent = 2_000_000
  const batch = Buffer.concat(Array.from({ length: 5000 }, (_, index) => broker.publish(index + 1, '')))
  for (let written = 0; written < sent; written += 5000) socket.write(batch)
  // Until no more comes: our side rests, long before all of it was read.
  for (let before = -1; made.inlet.texts.length > before; await sleep(300)) before = made.inlet.texts.length
  assert.ok(made.inlet.texts.length < sent, 'all of it was read though no acknowledgement was')
  // Reset or not.
  const closed = new Promise((resolve) => socket.once('close', resolve))
  await made.source.close()
  await made.clock.advance(1000)
  socket.resume()
  await closed
})

test('topics that the configuration no longer names are left', async (context) => {
  const broker = await startBroker(context)
  const made = await join(context, broker, { topics: [{ filter: 'old/#' }, { filter: 'a/#' }] })
  await isJoined(made)
  await made.source.close()
  assert.deepEqual(made.positions.kept.get('subscriptions'), ['old/#', 'a/#'])
  const configuration = mqttConfiguration.parse({ host: '127.0.0.1', port: broker.port, topics: TOPICS })
  const source = await openMqttSource({ ...made.parts, configuration })
  context.after(() => source.close())
  await until(() => JSON.stringify(made.positions.kept.get('subscriptions')) === '["a/#"]')
  const left = broker.heard.flatMap((each) => (each.cmd === 'unsubscribe' ? each.unsubscriptions : []))
  assert.deepEqual(left, ['old/#'])
})
