/** MQTT over TLS: handshakes and their bounds, and a certificate that is replaced under open sessions. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { copyFile, readFile } from 'node:fs/promises'
import { connect as connectTcp, type Socket } from 'node:net'
import { test, type TestContext } from 'node:test'
import { connect, type ConnectionOptions, type TLSSocket } from 'node:tls'
import { createAuthority, type CertificateFiles } from '../../test/support/certificates.ts'
import { FakeGateway, StandingClock, recordingLog } from '../testkit.ts'
import type { MqttLimits } from './limits.ts'
import { startMqttTransport } from './server.ts'
import { PLAIN, RawClient } from './testkit.ts'

const SESSIONS = 20
const ROUNDS = 10
const NAMES = { enabled: 'MQTT_SSL_ENABLED', certFile: 'MQTT_SSL_PEM_CERT', keyFile: 'MQTT_SSL_PEM_KEY' }

async function open(context: TestContext, limits: Partial<MqttLimits> = {}, skipsClientDates = false) {
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
      skipsClientDates,
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
  const client = async (version: 4 | 5 = 4, options: ConnectionOptions = {}) =>
    RawClient.over(await secure(options), version)
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

test('a certificate that is replaced again and again under load ends no session and no handshake', async (context) => {
  const { authority, certFile, keyFile, clock, client, secure } = await open(context)
  const clients = await Promise.all(Array.from({ length: SESSIONS }, () => client()))
  for (const [index, device] of clients.entries()) await device.login(index % 2 === 0 ? 'one' : 'two')
  for (let round = 1; round <= ROUNDS; round++) {
    const next = await authority.issue([`round-${round}.example`, '127.0.0.1'])
    // Acknowledgements, and handshakes of both certificates, are under way while it changes.
    for (const device of clients) device.send(device.publish('v1/devices/me/telemetry', '{"a":1}', round))
    const newcomers = [secure(), secure()]
    await Promise.all([copyFile(next.certFile, certFile), copyFile(next.keyFile, keyFile)])
    clock.advance(2000)
    assert.equal(String((await secure()).getPeerCertificate().subject.CN), `round-${round}.example`)
    await Promise.all(newcomers)
    await Promise.all(clients.map((device) => device.received(round)))
  }
  assert.equal(clients.filter(({ closed }) => closed).length, 0)
})

test('no session of TLS is resumed', async (context) => {
  const { secure } = await open(context)
  for (const maxVersion of ['TLSv1.2', 'TLSv1.3'] as const) {
    const session = await sessionOf(await secure({ maxVersion }))
    const again = await secure({ maxVersion, session })
    assert.equal(again.isSessionReused(), false)
  }
})

/** TLS 1.3 hands sessions out behind the handshake. */
async function sessionOf(socket: TLSSocket): Promise<Buffer> {
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
  assert.deepEqual([transport.figures().silentDropped, transport.figures().failedHandshakes], [1, 0])
  // The first five bytes of a handshake's record, and no more.
  const speaking = [connectTcp(port, '127.0.0.1').resume(), connectTcp(port, '127.0.0.1').resume()]
  // Cut off with their bytes unread they may see a reset.
  for (const socket of speaking) socket.on('error', () => undefined).write(Buffer.from('1603010200', 'hex'))
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

test('one address whose handshakes fill all places gives way to another', async (context) => {
  const { port, transport, client } = await open(context, { maxHandshakes: 3, handshakeTimeoutMs: 60_000 })
  const sockets: Socket[] = []
  context.after(() => sockets.forEach((socket) => socket.destroy()))
  for (let number = 0; number < 3; number++) {
    const socket = connectTcp({ port, host: '127.0.0.1', localAddress: '127.0.0.2' }).resume()
    socket.on('error', () => undefined).write(Buffer.from('1603010200', 'hex'))
    sockets.push(socket)
  }
  const closed = Promise.race(sockets.map((socket) => once(socket, 'close')))
  while (transport.figures().handshakes < 3) await turn()
  let isIn = false
  // Until a byte of each has been read, the silent give way, and nobody is in another's way.
  while (transport.figures().overConnectionLimit === 0) {
    const device = await client()
    await device.login('one')
    isIn = true
    device.socket.destroy()
    await turn()
  }
  assert.ok(isIn)
  await closed
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

/** The certificate of the files, behind it those of the authorities; the key is its own. */
async function shown({ certFile, keyFile }: CertificateFiles, ...authorities: readonly string[]) {
  const chain = await Promise.all([certFile, ...authorities].map((file) => readFile(file, 'utf8')))
  return { cert: chain.join(''), key: await readFile(keyFile) }
}

/** What a CONNECT with another device's token is answered. */
async function answerTo(device: RawClient, version: 4 | 5): Promise<number | undefined> {
  device.send(device.connectPacket('two'))
  const [packet] = await device.received(1)
  assert.equal(packet?.cmd, 'connack')
  return version === 5 ? packet.reasonCode : packet.returnCode
}

test('who shows a certificate is its device, whatever user name it gives', async (context) => {
  const { authority, gateway, client } = await open(context)
  const [middle, other] = [await authority.subordinate(), await createAuthority(context)]
  const below = await middle.issue(['one'])
  const own = await authority.issue(['one'])
  for (const maxVersion of ['TLSv1.2', 'TLSv1.3'] as const)
    for (const certificate of [
      await shown(own),
      await shown(own, authority.caFile),
      await shown(below, middle.caFile, authority.caFile),
      // The second vouches for nothing: it is not looked at.
      await shown(own, other.caFile),
    ])
      for (const version of [4, 5] as const) {
        const device = await client(version, { ...certificate, maxVersion })
        assert.equal(await answerTo(device, version), 0)
        assert.equal([...gateway.sessions].at(-1)?.device.deviceName, 'one')
        device.socket.destroy()
      }
})

test('a certificate that nobody has, or that is worth nothing, is refused in the CONNACK, and nothing is tried in its place', async (context) => {
  const { authority, gateway, client } = await open(context)
  const pretended = await authority.subordinate('pretended')
  const cases: Readonly<Record<string, ConnectionOptions>> = {
    unknown: await shown(await authority.issue(['nobody'])),
    expired: await shown(await authority.issue(['one'], new Date('2022-01-01T00:00:00Z'))),
    'not yet valid': await shown(await authority.issue(['one'], undefined, new Date('2030-01-01T00:00:00Z'))),
    'a link that is no authority': await shown(await pretended.issue(['one']), pretended.caFile, authority.caFile),
  }
  for (const [name, options] of Object.entries(cases))
    for (const [version, code] of [
      [4, 5],
      [5, 0x87],
    ] as const) {
      const device = await client(version, options)
      assert.equal(await answerTo(device, version), code, name)
      await device.end()
    }
  assert.equal(gateway.sessions.size, 0)
})

test('dates do not count where the settings say so', async (context) => {
  const { authority, client } = await open(context, {}, true)
  const old = await shown(await authority.issue(['one'], new Date('2022-01-01T00:00:00Z')))
  assert.equal(await answerTo(await client(5, old), 5), 0)
})

test('without the key of a certificate there is no connection', async (context) => {
  const { authority, secure, transport } = await open(context)
  const { certFile } = await authority.issue(['one'])
  const { keyFile } = await authority.issue(['one'])
  await assert.rejects(secure({ cert: await readFile(certFile), key: await readFile(keyFile) }))
  assert.equal(transport.figures().accepted, 0)
})

test('a chain that is longer than any device has ends the connection', async (context) => {
  const { authority, transport, port } = await open(context)
  let last = authority
  const files: string[] = []
  for (let depth = 0; depth < 8; depth++) {
    last = await last.subordinate()
    files.unshift(last.caFile)
  }
  const certificates = await shown(await last.issue(['one']), ...files)
  const socket = connect({ host: '127.0.0.1', port, rejectUnauthorized: false, ...certificates }).resume()
  socket.on('error', () => undefined)
  await once(socket, 'close')
  assert.deepEqual([transport.figures().failedHandshakes, transport.figures().connections], [1, 0])
})

test('a handshake that leaves much behind is refused, although its certificates do not belong together', async (context) => {
  const { authority, port, ca, transport } = await open(context)
  const strangers = await Promise.all(Array.from({ length: 80 }, () => authority.subordinate()))
  const options = await shown(await authority.issue(['one']), ...strangers.map(({ caFile }) => caFile))
  let count = 0
  for (const maxVersion of ['TLSv1.2', 'TLSv1.3'] as const) {
    const socket = connect({ host: '127.0.0.1', port, ca, ...options, maxVersion }).resume()
    socket.on('error', () => undefined)
    await new Promise((resolve) => socket.on('close', resolve))
    assert.deepEqual([transport.figures().failedHandshakes, transport.figures().connections], [++count, 0])
  }
})

test('packets that come along with the end of a handshake do not count for it', async (context) => {
  const { authority, gateway, client, transport } = await open(context)
  const device = await client(4, await shown(await authority.issue(['one']), authority.caFile))
  const large = device.publish('v1/devices/me/telemetry', JSON.stringify({ text: 'x'.repeat(40_000) }), 1)
  device.send(device.connectPacket('one'), large)
  await device.received(2)
  assert.deepEqual([gateway.uploads.length, transport.figures().failedHandshakes], [1, 0])
})
