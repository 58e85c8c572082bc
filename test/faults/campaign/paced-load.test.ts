/** A background load against a server that acknowledges everything at once. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type AddressInfo } from 'node:net'
import { test } from 'node:test'
import { generate, parser } from 'mqtt-packet'
import { Journal } from './journal.ts'
import { startPacedLoad } from './paced-load.ts'
import { holds } from './reading.ts'

const LIMIT_MS = 60_000

async function startAcknowledging() {
  const server = createServer((socket) => {
    const packets = parser({ protocolVersion: 4 })
    packets.on('packet', (packet) => {
      if (packet.cmd === 'connect') socket.write(generate({ cmd: 'connack', returnCode: 0, sessionPresent: false }))
      else if (packet.cmd === 'publish') socket.write(generate({ cmd: 'puback', messageId: packet.messageId ?? 0 }))
    })
    socket.on('data', (bytes: Buffer) => packets.parse(bytes))
    socket.on('error', () => undefined)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  // A server that listens over TCP has an address of this form.
  const { port } = server.address() as AddressInfo
  return { address: { url: '', mqttPort: port }, close: () => server.close() }
}

for (const packSize of [undefined, 5]) {
  test(`a device waits while too much of what it sent has not run (${packSize ?? 1} a message)`, async () => {
    const server = await startAcknowledging()
    const device = { name: 'device', token: 'T', deviceId: 'id', protocol: 'MQTT 3.1.1', isBare: true } as const
    const journal = new Journal({ ...device, explicitTimes: true, ...(packSize === undefined ? {} : { packSize }) })
    let ran = 0
    let looks = 0
    const progress = {
      ranOf: () => {
        looks++
        return ran
      },
      mostOpen: () => 40,
    }
    const load = startPacedLoad([journal], [server.address], undefined, progress)
    try {
      assert.ok(await holds(LIMIT_MS, () => journal.count('acknowledged') === 40))
      const before = looks
      assert.ok(await holds(LIMIT_MS, () => looks > before + 5))
      assert.equal(journal.sent.length, 40)
      ran = 25
      assert.ok(await holds(LIMIT_MS, () => journal.count('acknowledged') === 65))
    } finally {
      await load.end()
      server.close()
    }
    assert.equal(journal.sent.length, 65)
  })
}
