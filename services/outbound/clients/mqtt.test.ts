import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type AddressInfo } from 'node:net'
import { test } from 'node:test'
import { HeldTimeouts, testOutbound } from '../testkit.ts'
import { packetCheck } from './mqtt-packets.ts'

test('a broker that refuses and talks on in one chunk fails the connection, not the process', async (t) => {
  const broker = createServer((socket) => {
    socket.on('error', () => undefined)
    // A refusal, and half of a packet that may not be.
    socket.once('data', () => socket.write(Buffer.from([0x20, 0x02, 0x00, 0x05, 0x36, 0x00])))
  }).listen(0, '127.0.0.1')
  await once(broker, 'listening')
  t.after(() => broker.close())
  const { port } = broker.address() as AddressInfo
  const client = testOutbound({ timeoutMs: 60_000 })
    .ofNode({ tenantId: 'a' })
    .open('mqtt', {
      ...{ host: '127.0.0.1', port, version: 4, clientId: 'c', cleanSession: true },
      ...{ connectTimeoutMs: 60_000, tls: false },
    })
  t.after(() => client.close())
  await assert.rejects(client.ready(), /refused|authorized|QoS/i)
  await new Promise((resolve) => setTimeout(resolve, 50))
})

test('packets are followed through any chunks; what nobody asked for is told', () => {
  const whole = [
    0x20,
    2,
    0,
    0,
    0x40,
    2,
    0,
    1,
    0xd0,
    0,
    0x40,
    0x83,
    0x01,
    ...Array.from({ length: 131 }, () => 0xff),
    0xe0,
    0,
  ]
  for (let size = 1; size <= whole.length; size++) {
    const check = packetCheck()
    for (let at = 0; at < whole.length; at += size)
      assert.equal(check(Uint8Array.from(whole.slice(at, at + size))), undefined, `${size} at ${at}`)
  }
  const wrong: readonly (readonly [readonly number[], RegExp])[] = [
    [[0x20, 2, 0, 0, 0x30, 2, 0, 0], /type 3/],
    [[0x90, 1], /type 9/],
    [[0x20, 0xff, 0xff, 0xff, 0x7f], /more than 65536/],
    [[0x20, 0x80, 0x80, 0x80, 0x80, 0x01], /more than 65536/],
  ]
  for (const [bytes, reason] of wrong) assert.match(packetCheck()(Uint8Array.from(bytes)) ?? '', reason)
})

test('a broker that sends messages is left, and asked again later', async (t) => {
  const closed: Promise<unknown>[] = []
  const broker = createServer((socket) => {
    socket.on('error', () => undefined)
    closed.push(once(socket, 'close'))
    socket.once('data', () => {
      socket.write(Buffer.from([0x20, 2, 0, 0]))
      // The head of a message of 200 MiB.
      socket.write(Buffer.from([0x30, 0x80, 0x80, 0x80, 0x64, 0, 1, 0x74]))
    })
  }).listen(0, '127.0.0.1')
  await once(broker, 'listening')
  t.after(() => broker.close())
  const { port } = broker.address() as AddressInfo
  const client = testOutbound({ timeoutMs: 60_000 })
    .ofNode({ tenantId: 'a' })
    .open('mqtt', {
      ...{ host: '127.0.0.1', port, version: 4, clientId: 'c', cleanSession: true },
      ...{ connectTimeoutMs: 60_000, tls: false },
    })
  t.after(() => client.close())
  await client.ready().catch(() => undefined)
  await closed[0]
})

test('a client that is closed gives up what the broker has not confirmed', async (t) => {
  const published = Promise.withResolvers<undefined>()
  const broker = createServer((socket) => {
    socket.on('error', () => undefined)
    socket.on('data', (chunk) => {
      if (chunk[0] === 0x10) socket.write(Buffer.from([0x20, 2, 0, 0]))
      if (chunk[0] === 0x32) published.resolve(undefined)
    })
  }).listen(0, '127.0.0.1')
  await once(broker, 'listening')
  t.after(() => broker.close())
  const { port } = broker.address() as AddressInfo
  const clock = new HeldTimeouts()
  const client = testOutbound({ timeoutMs: clock.timeoutMs }, clock)
    .ofNode({ tenantId: 'a' })
    .open('mqtt', {
      ...{ host: '127.0.0.1', port, version: 4, clientId: 'c', cleanSession: true },
      ...{ connectTimeoutMs: 60_000, tls: false },
    })
  const call = client.call({ topic: 't', payload: 'p', retain: false }, 1)
  // Heard of before it is waited for.
  const outcome = call.catch((error: unknown) => error)
  await published.promise
  await client.close()
  // Where nobody gave it up, its time would be over now, in a client that is no more.
  clock.end()
  assert.match(String(await outcome), /closed/)
})
