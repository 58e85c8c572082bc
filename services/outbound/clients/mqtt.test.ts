import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type AddressInfo } from 'node:net'
import { test } from 'node:test'
import { testOutbound } from '../testkit.ts'

test('a broker that refuses and talks on in one chunk fails the connection, not the process', async (t) => {
  const broker = createServer((socket) => {
    socket.on('error', () => undefined)
    // A refusal, and half of a packet that may not be.
    socket.once('data', () => socket.write(Buffer.from([0x20, 0x02, 0x00, 0x05, 0x36, 0x00])))
  }).listen(0, '127.0.0.1')
  await once(broker, 'listening')
  t.after(() => broker.close())
  const { port } = broker.address() as AddressInfo
  const client = testOutbound({ timeoutMs: 2000 })
    .ofNode({ tenantId: 'a' })
    .open('mqtt', {
      ...{ host: '127.0.0.1', port, version: 4, clientId: 'c', cleanSession: true },
      ...{ connectTimeoutMs: 1000, tls: false },
    })
  t.after(() => client.close())
  await assert.rejects(client.ready(), /refused|authorized|QoS/i)
  await new Promise((resolve) => setTimeout(resolve, 50))
})
