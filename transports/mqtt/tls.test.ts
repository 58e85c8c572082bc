/** MQTT over TLS: handshakes and their bounds, and a certificate that is replaced under open sessions. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { copyFile, readFile } from 'node:fs/promises'
import { connect as connectTcp } from 'node:net'
import { test, type TestContext } from 'node:test'
import { connect, type ConnectionOptions, type TLSSocket } from 'node:tls'
import { createAuthority } from '../../test/support/certificates.ts'
import { FakeGateway, StandingClock, recordingLog } from '../testkit.ts'
import type { MqttLimits } from './limits.ts'
import { startMqttTransport } from './server.ts'
import { PLAIN, RawClient } from './testkit.ts'

const NAMES = { enabled: 'MQTT_SSL_ENABLED', certFile: 'MQTT_SSL_PEM_CERT', keyFile: 'MQTT_SSL_PEM_KEY' }

async function open(context: TestContext, limits: Partial<MqttLimits> = {}) {
  const authority = await createAuthority(context)
  const { certFile, keyFile } = await authority.issue(['first.example', '127.0.0.1'])
  const gateway = new FakeGateway(['one', 'two'])
  const clock = new StandingClock()
  const logged: string[] = []
  const transport = await startMqttTransport({
    gateway,
    plain: PLAIN,
    tls: {
      ...PLAIN,
      label: 'MQTT over TLS',
      certificate: { certFile, keyFile, keyPassword: undefined, names: NAMES },
      oldestVersion: 'TLSv1.2',
    },
    limits,
    clock,
    log: recordingLog(logged),
  })
  const port = transport.ports['mqtts'] ?? 0
  const ca = await readFile(authority.caFile)
  const sockets: TLSSocket[] = []
  context.after(async () => {
    for (const socket of sockets) socket.destroy()
    await transport.close()
  })
  const secure = async (options: ConnectionOptions = {}): Promise<TLSSocket> => {
    const socket = connect({ host: '127.0.0.1', port, ca, ...options })
    sockets.push(socket)
    await once(socket, 'secureConnect')
    return socket
  }
  const client = async (version: 4 | 5 = 4) => RawClient.over(await secure(), version)
  return { authority, certFile, keyFile, gateway, clock, logged, transport, port, ca, secure, client }
}

test('a device over TLS and one without are sessions of one server', async (context) => {
  const { gateway, transport, client } = await open(context)
  const [one, two] = [await client(), await RawClient.open(transport.ports['mqtt'] ?? 0)]
  await one.login('one')
  await two.login('two')
  for (const device of [one, two]) device.send(device.publish('v1/devices/me/telemetry', '{"a":1}', 1))
  await Promise.all([one.received(1), two.received(1)])
  assert.deepEqual(gateway.uploads.map(({ device }) => device).sort(), ['one', 'two'])
  assert.equal(transport.figures().connections, 2)
  two.socket.destroy()
})

test('a changed certificate is for new connections, and no session ends', async (context) => {
  const { authority, certFile, keyFile, clock, logged, client, secure } = await open(context)
  const nameOf = (socket: TLSSocket) => String(socket.getPeerCertificate().subject.CN)
  const kept = await client()
  await kept.login('one')
  const next = await authority.issue(['second.example', '127.0.0.1'])
  await copyFile(next.certFile, certFile)
  clock.advance(2000)
  assert.equal(nameOf(await secure()), 'first.example', 'half of a pair is no pair')
  await copyFile(next.keyFile, keyFile)
  clock.advance(2000)
  assert.equal(nameOf(await secure()), 'second.example')
  kept.send(kept.publish('v1/devices/me/telemetry', '{"a":1}', 1))
  await kept.received(1)
  assert.equal(logged.length, 2)
})

test('no session of TLS is resumed', async (context) => {
  const { secure } = await open(context)
  for (const maxVersion of ['TLSv1.2', 'TLSv1.3'] as const) {
    const socket = connectedSession(await secure({ maxVersion }))
    const again = await secure({ maxVersion, session: await socket })
    assert.equal(again.isSessionReused(), false)
  }
})

/** TLS 1.3 hands sessions out behind the handshake. */
async function connectedSession(socket: TLSSocket): Promise<Buffer> {
  const own = socket.getSession()
  if (socket.getProtocol() === 'TLSv1.2' && own !== undefined) return own
  const [session] = (await once(socket, 'session')) as [Buffer]
  return session
}

test('who begins no handshake, or breaks it, is closed in time', async (context) => {
  const { port, transport } = await open(context, { handshakeTimeoutMs: 200 })
  for (const said of ['', 'no TLS at all']) {
    const socket = connectTcp(port, '127.0.0.1').resume()
    if (said !== '') socket.write(said)
    await once(socket, 'close')
  }
  assert.deepEqual([transport.figures().failedHandshakes, transport.figures().handshakes], [2, 0])
})

test('handshakes that say nothing give way; where all speak, the newest does', async (context) => {
  const { port, transport, client } = await open(context, { maxHandshakes: 2, handshakeTimeoutMs: 60_000 })
  const silent = [connectTcp(port, '127.0.0.1').resume(), connectTcp(port, '127.0.0.1').resume()]
  const closed = Promise.race(silent.map((socket) => once(socket, 'close')))
  await Promise.all(silent.map((socket) => once(socket, 'connect')))
  const device = await client()
  await device.login('one')
  await closed
  assert.equal(transport.figures().silentDropped, 1)
  // The first five bytes of a handshake's record, and no more.
  const speaking = [connectTcp(port, '127.0.0.1').resume(), connectTcp(port, '127.0.0.1').resume()]
  for (const socket of speaking) socket.write(Buffer.from('1603010200', 'hex'))
  while (transport.figures().handshakes < 2 || transport.figures().silentDropped < 2) await turn()
  let [over, tries] = [0, 0]
  while (over === 0 && tries++ < 50) {
    const late = connectTcp(port, '127.0.0.1').resume()
    late.on('error', () => undefined)
    late.write(Buffer.from('1603010200', 'hex'))
    await Promise.race([once(late, 'close'), turn()])
    over = transport.figures().overConnectionLimit
  }
  assert.ok(over > 0)
  assert.equal(transport.figures().connections, 1, 'who is in stays in')
  device.send(device.publish('v1/devices/me/telemetry', '{"a":1}', 1))
  await device.received(1)
})

function turn(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 10))
}

test('connections that shake hands count for the bound of all', async (context) => {
  const { port, transport } = await open(context, { maxConnections: 1, handshakeTimeoutMs: 60_000 })
  const first = connectTcp(port, '127.0.0.1').resume()
  while (transport.figures().handshakes < 1) await turn()
  const second = connectTcp(port, '127.0.0.1').resume()
  await once(second, 'close')
  assert.equal(transport.figures().overConnectionLimit, 1)
  first.destroy()
})
