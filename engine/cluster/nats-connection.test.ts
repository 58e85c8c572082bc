/** Logins and TLS at real NATS servers, with an authority of the test's own: what is taken, and what is refused in one sentence. */
import assert from 'node:assert/strict'
import { rm, writeFile } from 'node:fs/promises'
import { test, type TestContext } from 'node:test'
import { nkeys } from '@nats-io/transport-node'
import { systemClock } from '../../model/system-clock.ts'
import { createAuthority } from '../../test/support/certificates.ts'
import { requireOwnServer, startNats } from '../../test/support/servers/index.ts'
import type { NatsOptions as NatsServerOptions } from '../../test/support/servers/nats.ts'
import { connectNats, type NatsOptions } from './nats-connection.ts'

const LOGIN = { user: 'millrace', password: '12345%/:@' } // Digits first: nothing of it may be taken for a port.
const ENCODED = `millrace:${encodeURIComponent(LOGIN.password)}@`

/** `place(login, scheme, host)` is the address of a server of its own, ended with the test. */
async function serverFor(context: TestContext, options: NatsServerOptions) {
  const server = await startNats(options)
  context.after(() => server.stop())
  const { port } = new URL(server.url)
  return (login = '', scheme = 'nats', host = '127.0.0.1') => `${scheme}://${login}${host}:${port}`
}

async function assertConnects(servers: string, options: Partial<NatsOptions> = {}): Promise<void> {
  const line = await connectNats({ name: 'test', clock: systemClock, connectWaitMs: 60_000, servers, ...options })
  assert.equal(line.connected, true)
  await line.connection.flush()
  await line.close()
}

/** At once, with this error and sentence, and without a secret in it. */
async function assertRefused(
  expected: { readonly code: string; readonly message: RegExp },
  servers: string,
  options: Partial<NatsOptions> = {},
): Promise<void> {
  const began = performance.now()
  const connecting = connectNats({ name: 'test', clock: systemClock, connectWaitMs: 60_000, servers, ...options })
  // One that stays open would hold up the end of the file.
  const refused = connecting.then((line) => line.close())
  await assert.rejects(refused, (error: Error & { code?: string }) => {
    assert.equal(error.code, expected.code, error.message)
    assert.match(error.message, expected.message)
    assert.doesNotMatch(error.message, /wrong-secret|12345/)
    return true
  })
  assert.ok(performance.now() - began < 50_000, 'it was waited for')
}

const REFUSED = { code: 'nats.REFUSED', message: /refuses the login: .*NATS_URL/ }

test('the login in an address is used, and a wrong or absent one is refused without naming the password', async (context) => {
  if (!requireOwnServer(context, 'nats')) return
  const at = await serverFor(context, { login: LOGIN })
  await assertConnects(`${at(ENCODED)},${at(ENCODED)}`)
  for (const login of ['', 'millrace:wrong-secret@', 'millrace:wrong-secret@home@', 'wrong-secret@']) {
    await assertRefused(REFUSED, at(login))
  }
})

test('a token stands in the place of a user', async (context) => {
  if (!requireOwnServer(context, 'nats')) return
  const at = await serverFor(context, { login: { token: 'a-token' } })
  await assertConnects(at('a-token@'))
  await assertRefused(REFUSED, at('wrong-secret@'))
})

test('the seed of an nkey is read from its file, again for each connection', async (context) => {
  if (!requireOwnServer(context, 'nats')) return
  const { folder } = await createAuthority(context)
  const [user, stranger] = [nkeys.createUser(), nkeys.createUser()]
  const at = await serverFor(context, { login: { nkey: user.getPublicKey() } })
  const credsFile = `${folder}/user.nk`
  await writeFile(credsFile, stranger.getSeed())
  await assertRefused(REFUSED, at(), { credsFile })
  await writeFile(credsFile, user.getSeed())
  const line = await connectNats({ name: 'test', clock: systemClock, servers: at(), credsFile })
  context.after(() => line.close())
  // Away for a moment while it is renewed: what was read last does.
  await rm(credsFile)
  const back = new Promise<void>((resolve) => {
    line.onConnection((connected) => {
      if (connected) resolve()
    })
  })
  await line.connection.reconnect()
  await back
  await line.connection.flush()
  assert.equal(line.connected, true)
})

test('TLS with a password: only a certificate of the authority that is named, for a host that is named, is trusted', async (context) => {
  if (!requireOwnServer(context, 'nats')) return
  const [authority, stranger] = await Promise.all([createAuthority(context), createAuthority(context)])
  const tls = { caFile: authority.caFile }
  const at = await serverFor(context, { login: LOGIN, tls: await authority.issue(['localhost', '127.0.0.1']) })
  const byAddress = await serverFor(context, { tls: await authority.issue(['127.0.0.1']) })
  const elsewhere = await serverFor(context, { tls: await authority.issue(['elsewhere']) })
  const local = await serverFor(context, { tls: await authority.issue(['localhost']) })
  const old = await serverFor(context, { tls: await authority.issue(['127.0.0.1'], new Date('2021-01-01')) })
  const plain = await serverFor(context, { login: LOGIN })

  for (const scheme of ['nats', 'tls']) {
    await assertConnects(at(ENCODED, scheme), { tls })
    await assertConnects(at(ENCODED, scheme, 'localhost'), { tls })
  }
  await assertConnects(byAddress(), { tls })
  await assertConnects(local('', 'tls', 'localhost'), { tls })

  const untrusted = (reason: string) => ({
    code: 'nats.UNTRUSTED',
    message: new RegExp(`no trusted TLS connection to NATS at .*${reason}.*NATS_TLS_CA_FILE`),
  })
  await assertRefused(untrusted('unable to verify'), at(ENCODED))
  await assertRefused(untrusted('unable to verify'), at(ENCODED), { tls: { caFile: stranger.caFile } })
  await assertRefused(untrusted('does not match'), elsewhere(), { tls })
  // The client itself takes a certificate for localhost for every server that it knows by an IP address.
  await assertRefused(untrusted('does not match'), local(), { tls })
  await assertRefused(untrusted('expired'), old(), { tls })
  await assertRefused(REFUSED, at('millrace:wrong-secret@', 'tls'), { tls })
  // The password must not leave in clear text.
  await assertRefused(untrusted('does not offer TLS'), plain(ENCODED, 'tls'))
  await assertRefused(untrusted('does not offer TLS'), plain(ENCODED), { tls })
})

test('a client certificate is shown where the servers ask for one, and its absence is told', async (context) => {
  if (!requireOwnServer(context, 'nats')) return
  const authority = await createAuthority(context)
  const { caFile } = authority
  const own = await authority.issue(['127.0.0.1'])
  const at = await serverFor(context, { tls: { ...own, clientCaFile: caFile } })
  await assertConnects(at('', 'tls'), { tls: { caFile, ...(await authority.issue(['millrace'])) } })
  const without = connectNats({
    name: 'test',
    clock: systemClock,
    connectWaitMs: 1_000,
    servers: at('', 'tls'),
    tls: { caFile },
  })
  await assert.rejects(without, { code: 'nats.UNREACHABLE', message: /NATS_TLS_CERT_FILE/ })
})
