/** Logins and TLS at a real QuestDB behind a gate that ends TLS: what is taken, and what is refused at once in one sentence. */
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test, type TestContext } from 'node:test'
import { createAuthority } from '../../../test/support/certificates.ts'
import { startTlsGate, type TlsGateOptions } from '../../../test/support/tls-gate.ts'
import { long, raw, write } from '../contract.ts'
import type { QuestDbTimeSeriesOptions } from './store.ts'
import { freshPlace, openedStore, serversForFile, type Servers } from './testkit.ts'

const PASSWORD = 'right-secret; =&'
const LOGIN = `millrace:${encodeURIComponent(PASSWORD)}@`
const servers = await serversForFile({ settings: { 'http.user': 'millrace', 'http.password': PASSWORD } })

function check(sentence: string, run: (context: TestContext, servers: Servers) => Promise<void>): void {
  test(sentence, { skip: servers === undefined }, async (context) => {
    assert.ok(servers !== undefined)
    await run(context, servers)
  })
}

function withLogin(url: string, login: string): string {
  return url.replace('://', `://${login}`)
}

/** The options for the store behind a gate with a certificate for these hosts. */
async function secured(
  context: TestContext,
  own: Servers,
  hosts: readonly string[],
  more: Pick<TlsGateOptions, 'token'> = {},
) {
  const authority = await createAuthority(context)
  const target = withLogin(own.questdb.url, LOGIN)
  const port = await startTlsGate(context, { ...(await authority.issue(hosts)), target, ...more })
  return { caFile: authority.caFile, url: (login: string) => `https://${login}127.0.0.1:${port}` }
}

async function assertStores(context: TestContext, own: Servers, change: Partial<QuestDbTimeSeriesOptions>) {
  const { store } = await openedStore(context, own, change)
  const entity = randomUUID()
  await store.write([write(entity, [long('k', 1_000, 1)])])
  const { value } = await store.history(entity, raw(['k'], { limit: 10 }))
  assert.equal(value.get('k')?.length, 1)
}

async function assertRefused(own: Servers, code: string, message: RegExp, change: Partial<QuestDbTimeSeriesOptions>) {
  const began = performance.now()
  const place = await freshPlace(own)
  await assert.rejects(place.open({ ...change, serverWithinMs: 60_000 }), (error: Error) => {
    assert.ok('code' in error && error.code === code, error.stack)
    assert.match(error.message, message)
    assert.doesNotMatch(error.message, /-secret/)
    return true
  })
  assert.ok(performance.now() - began < 50_000, 'it was waited for')
}

check('https with a user and password', async (context, own) => {
  const { caFile, url } = await secured(context, own, ['127.0.0.1'])
  await assertStores(context, own, { url: url(LOGIN), caFile })
  const refused = /refuses the login: 401.*QUESTDB_URL/
  await assertRefused(own, 'questdb.REFUSED', refused, { url: url('millrace:wrong-secret@'), caFile })
  await assertRefused(own, 'questdb.REFUSED', refused, { url: url(''), caFile })
})

check('https with a bearer token', async (context, own) => {
  const { caFile, url } = await secured(context, own, ['127.0.0.1'], { token: 'right-secret' })
  await assertStores(context, own, { url: url(''), caFile, token: 'right-secret' })
  const refused = /refuses the login: 401.*QUESTDB_TOKEN/
  await assertRefused(own, 'questdb.REFUSED', refused, { url: url(''), caFile, token: 'wrong-secret' })
})

check('a server whose certificate is not to be trusted gets no password', async (context, own) => {
  const { caFile, url } = await secured(context, own, ['localhost'])
  const stranger = await createAuthority(context)
  const refused = (reason: string) =>
    new RegExp(`no trusted TLS connection to QuestDB at 127.*${reason}.*QUESTDB_TLS_CA_FILE`)
  await assertRefused(own, 'questdb.UNTRUSTED', refused('unable to verify'), { url: url(LOGIN) })
  await assertRefused(own, 'questdb.UNTRUSTED', refused('unable to verify'), {
    url: url(LOGIN),
    caFile: stranger.caFile,
  })
  await assertRefused(own, 'questdb.UNTRUSTED', refused('does not match'), { url: url(LOGIN), caFile })
  const plain = withLogin(own.questdb.url, LOGIN).replace('http:', 'https:')
  await assertRefused(own, 'questdb.UNTRUSTED', refused('does not speak TLS'), { url: plain, caFile })
})
