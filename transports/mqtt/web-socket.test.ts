/** MQTT over WebSocket: MQTT.js as browsers use it, messages cut anywhere, and who is refused. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { request, type IncomingMessage } from 'node:http'
import { connect as connectTcp } from 'node:net'
import { test, type TestContext } from 'node:test'
import { connectAsync } from 'mqtt'
import { WebSocket, createWebSocketStream } from 'ws'
import { FakeGateway, StandingClock, recordingLog } from '../testkit.ts'
import type { MqttLimits } from './limits.ts'
import { startMqttTransport } from './server.ts'
import { PLAIN, RawClient } from './testkit.ts'

async function open(context: TestContext, limits: Partial<MqttLimits> = {}) {
  const gateway = new FakeGateway(['one', 'two'])
  const clock = new StandingClock()
  const webSocket = { ...PLAIN, label: 'MQTT over WebSocket' }
  const transport = await startMqttTransport({
    ...{ gateway, plain: PLAIN, webSocket, limits, clock },
    log: recordingLog([]),
  })
  const port = transport.ports['mqttws'] ?? 0
  const url = `ws://127.0.0.1:${port}/mqtt`
  const sockets: WebSocket[] = []
  context.after(async () => {
    for (const socket of sockets) socket.terminate()
    await transport.close()
  })
  const socket = async (): Promise<WebSocket> => {
    const opened = new WebSocket(url, 'mqtt')
    opened.on('error', () => undefined)
    sockets.push(opened)
    await once(opened, 'open')
    return opened
  }
  /** Its writes are messages. */
  const client = async (version: 4 | 5 = 4) => {
    const own = await socket()
    return { socket: own, device: RawClient.over(createWebSocketStream(own), version) }
  }
  return { gateway, clock, transport, port, url, socket, client }
}

test('MQTT.js sends telemetry and hears of attributes, beside a device over TCP', async (context) => {
  const { gateway, transport, url } = await open(context)
  for (const protocolVersion of [4, 5] as const) {
    const device = await connectAsync(url, { username: 'one', protocolVersion, reconnectPeriod: 0 })
    await device.publishAsync('v1/devices/me/telemetry', JSON.stringify({ text: 'x'.repeat(60_000) }), { qos: 1 })
    await device.subscribeAsync('v1/devices/me/attributes', { qos: 1 })
    await device.endAsync()
  }
  const plain = await RawClient.open(transport.ports['mqtt'] ?? 0)
  await plain.login('two')
  assert.deepEqual(
    gateway.uploads.map(({ device }) => device),
    ['one', 'one'],
  )
  assert.deepEqual([transport.figures().accepted, transport.figures().handshakes], [3, 0])
  plain.socket.destroy()
})

test('messages are cut anywhere: packets byte by byte, several in one, in fragments', async (context) => {
  const { gateway, client } = await open(context)
  const { socket, device } = await client()
  for (const byte of device.bytes(device.connectPacket('one'))) socket.send(Buffer.of(byte))
  await device.received(1)
  const publishes = [1, 2, 3].map((id) => device.bytes(device.publish('v1/devices/me/telemetry', `{"a":${id}}`, id)))
  const all = Buffer.concat(publishes)
  socket.send(all)
  await device.received(4)
  for (const byte of all) socket.send(Buffer.of(byte))
  await device.received(7)
  socket.send(all.subarray(0, 5), { fin: false })
  socket.send(all.subarray(5, 40), { fin: false })
  socket.send(all.subarray(40))
  await device.received(10)
  assert.equal(gateway.uploads.length, 9)
})

test('who offers no subprotocol or another, or asks for another path, or for no WebSocket, is refused', async (context) => {
  const { port, transport } = await open(context)
  for (const [path, protocols, status] of [
    ['/mqtt', [], 400],
    ['/mqtt', ['mqttv3.1'], 400],
    ['/other', ['mqtt'], 404],
  ] as const) {
    const socket = new WebSocket(`ws://127.0.0.1:${port}${path}`, [...protocols])
    const [error] = (await once(socket, 'error')) as [Error]
    assert.equal(error.message, `Unexpected server response: ${status}`)
  }
  const [response] = (await once(request({ port, path: '/mqtt' }).end(), 'response')) as [IncomingMessage]
  assert.equal(response.statusCode, 426)
  response.resume()
  assert.equal(transport.figures().accepted, 0)
})

test('a text message, one that is too large, and a frame that is none end the session', async (context) => {
  const { port, socket, transport } = await open(context, { maxPacketBytes: 1024 })
  let malformed = 0
  for (const [send, code] of [
    [(to: WebSocket) => to.send('text'), 1003],
    [(to: WebSocket) => to.send(Buffer.alloc(4097)), 1009],
  ] as const) {
    const own = await socket()
    send(own)
    assert.equal((await once(own, 'close'))[0], code)
    assert.equal(transport.figures().malformed, ++malformed)
  }
  const raw = connectTcp(port, '127.0.0.1')
  const key = Buffer.alloc(16).toString('base64')
  raw.write(
    `GET /mqtt HTTP/1.1\r\nHost: h\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n`,
  )
  raw.write(`Sec-WebSocket-Key: ${key}\r\nSec-WebSocket-Protocol: mqtt\r\n\r\n`)
  await once(raw, 'data')
  // A client's frame without a mask.
  raw.write(Buffer.of(0x82, 1, 0x10))
  const [closing] = (await once(raw, 'data')) as [Buffer]
  assert.equal(closing.readUInt16BE(2), 1002)
  assert.equal(transport.figures().malformed, ++malformed)
  raw.destroy()
})

test('a message that comes in thousands of reads ends the session before it is whole', async (context) => {
  const { port, transport } = await open(context)
  const raw = connectTcp({ port, host: '127.0.0.1', noDelay: true })
  context.after(() => raw.destroy())
  raw.on('error', () => undefined)
  const key = Buffer.alloc(16).toString('base64')
  raw.write(
    `GET /mqtt HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: ${key}\r\nSec-WebSocket-Protocol: mqtt\r\n\r\n`,
  )
  await once(raw, 'data')
  let isClosed = false
  raw.once('close', () => (isClosed = true)).resume()
  // A binary message of 200,000 bytes.
  raw.write(Buffer.from([0x82, 0xff, 0, 0, 0, 0, 0, 3, 0x0d, 0x40, 0, 0, 0, 0]))
  let sent = 0
  while (!isClosed && sent < 100_000) {
    if (raw.writable) raw.write(Buffer.of(0))
    sent++
    await new Promise((resolve) => setImmediate(resolve))
  }
  assert.ok(isClosed, `${sent} bytes were taken one by one`)
  assert.equal(transport.figures().connections, 0)
})

test('who takes no answers is cut off: of MQTT, and of pings', async (context) => {
  const { client, transport } = await open(context, { maxPendingBytes: 10_000 })
  for (const flood of ['mqtt', 'ping'] as const) {
    const { socket, device } = await client()
    await device.login('one')
    socket.pause()
    const pings = Buffer.concat(Array.from({ length: 8000 }, () => device.bytes({ cmd: 'pingreq' })))
    const body = Buffer.alloc(125)
    let isGone = false
    socket.on('close', () => (isGone = true))
    while (transport.figures().connections > 0 && !isGone) {
      if (flood === 'mqtt') socket.send(pings)
      else for (let index = 0; index < 500; index++) socket.ping(body)
      await new Promise((resolve) => setImmediate(resolve))
    }
    socket.terminate()
    while (transport.figures().connections > 0) await new Promise((resolve) => setImmediate(resolve))
  }
})

test('a session that waits for room slows its client down, and goes on', async (context) => {
  const { gateway, client } = await open(context)
  const { socket, device } = await client()
  await device.login('one')
  const isFull = gateway.becomeFull()
  const text = JSON.stringify({ text: 'x'.repeat(60_000) })
  const packet = device.bytes(device.publish('v1/devices/me/telemetry', text, 1))
  for (let index = 0; index < 200; index++) socket.send(packet)
  await isFull
  // As long as it takes to be wrong: nothing tells that no more is read.
  await new Promise((resolve) => setTimeout(resolve, 300))
  assert.ok(socket.bufferedAmount > 0, 'twelve megabytes were not all taken in')
  gateway.becomeWritable()
  await device.received(200)
  assert.equal(gateway.uploads.length, 200)
})

test('who never asks for a WebSocket is closed in time', async (context) => {
  const { port, transport } = await open(context, { handshakeTimeoutMs: 200 })
  for (const said of ['', 'GET /mqtt HTTP/1.1\r\n']) {
    const socket = connectTcp(port, '127.0.0.1').resume()
    socket.write(said)
    await once(socket, 'close')
  }
  assert.deepEqual([transport.figures().failedHandshakes, transport.figures().handshakes], [2, 0])
})
