/** A TCP port whose senders speak TLS: what else it is, it is as without. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { connect as connectTcp } from 'node:net'
import { test, type TestContext } from 'node:test'
import { connect, createSecureContext, type SecureContext } from 'node:tls'
import { createAuthority, type CertificateFiles } from '../../../test/support/certificates.ts'
import { NOTHING_ALLOWED } from '../operator-rules.ts'
import { until } from '../../../test/support/until.ts'
import { openTcp } from './tcp.testkit.ts'
import { tcp } from './tcp.ts'

const contextOf = async ({ certFile, keyFile }: CertificateFiles): Promise<SecureContext> =>
  createSecureContext({ cert: await readFile(certFile), key: await readFile(keyFile) })

async function open(context: TestContext, limits: object = {}) {
  const authority = await createAuthority(context)
  const shown = { now: await contextOf(await authority.issue(['127.0.0.1'])) }
  const made = await openTcp(context, { members: { tls: true }, limits, secureContext: () => shown.now })
  const { port } = made
  const ca = await readFile(authority.caFile)
  const join = async () => {
    const socket = connect({ port, host: '127.0.0.1', ca })
    context.after(() => socket.destroy())
    const told = { text: '', isClosed: false }
    socket.on('data', (chunk: Buffer) => (told.text += chunk.toString())).on('error', () => undefined)
    socket.on('close', () => (told.isClosed = true))
    await once(socket, 'secureConnect')
    return { socket, told }
  }
  return { ...made, authority, shown, join }
}

test('frames come over TLS, and are answered when they are stored', async (context) => {
  const { inlet, join, shares } = await open(context)
  const sender = await join()
  sender.socket.write('one\ntwo\n')
  await until(() => sender.told.text === 'OK\nOK\n')
  // A sender that says that it sent all hears the answers yet.
  inlet.isStoring = false
  sender.socket.end('three\n')
  await until(() => inlet.waiting.length === 1)
  inlet.store()
  await until(() => sender.told.isClosed)
  assert.equal(sender.told.text, 'OK\nOK\nOK\n')
  assert.deepEqual(inlet.texts, ['one', 'two', 'three'])
  await until(() => shares.connections.bytes === 0)
})

test('what is no TLS, or never shakes hands, is left, and gives its place back', async (context) => {
  const { port, inlet, clock, shares, join } = await open(context, { maxConnections: 8 })
  const plain = connectTcp(port, '127.0.0.1').on('error', () => undefined)
  plain.write('this is a frame in plain text\n')
  await once(plain, 'close')
  const silent = connectTcp(port, '127.0.0.1').on('error', () => undefined)
  await once(silent, 'connect')
  await until(() => shares.connections.bytes === 1)
  const other = await join()
  const third = connectTcp(port, '127.0.0.1').on('error', () => undefined)
  // The tenant's part of the connections counts those that shake hands.
  await once(third, 'close')
  await clock.advance(9000)
  assert.ok(!silent.closed)
  const closed = once(silent, 'close')
  await clock.advance(3000)
  await closed
  await until(() => shares.connections.bytes === 1)
  other.socket.write('two\n')
  await until(() => other.told.text === 'OK\n')
  assert.deepEqual(inlet.texts, ['two'])
})

test('a replaced certificate is shown to new connections, and the others go on', async (context) => {
  const { authority, shown, join } = await open(context)
  const before = await join()
  const { fingerprint } = before.socket.getPeerCertificate()
  shown.now = await contextOf(await authority.issue(['127.0.0.1']))
  const after = await join()
  assert.notEqual(after.socket.getPeerCertificate().fingerprint, fingerprint)
  for (const { socket, told } of [before, after]) {
    socket.write('frame\n')
    await until(() => told.text === 'OK\n')
  }
})

test('needs a certificate of the operator’s', () => {
  const allowed = { ...NOTHING_ALLOWED, ports: [{ from: 5000, to: 5000 }] }
  const sealed = tcp.read({ port: 5000, tls: true })
  assert.throws(() => sealed.check(allowed), { code: 'integration.NO_CERTIFICATE' })
  sealed.check({ ...allowed, hasCertificate: true })
  tcp.read({ port: 5000 }).check(allowed)
})
