/** Logins and TLS at a real PostgreSQL, with an authority of the test's own: what is taken, and what is refused at once in one sentence. */
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test, type TestContext } from 'node:test'
import { createAuthority, type Authority, type CertificateFiles } from '../../test/support/certificates.ts'
import { requireOwnServer, startPostgres, type RunningServer } from '../../test/support/servers/index.ts'
import { PostgresConnection } from './connection.ts'
import { openPostgres } from './open.ts'

const PASSWORD = 'right-secret'

interface Place {
  readonly server: RunningServer
  readonly authority: Authority
  readonly client: CertificateFiles
  /** The address for a user with a password, with `?` and what follows. */
  readonly url: (query: string, login?: string, host?: string) => string
}

/** A server on which `millrace` needs TLS and a password, `certified` a certificate of that name. */
async function openPlace(context: TestContext, hosts: readonly string[]): Promise<Place | undefined> {
  if (!requireOwnServer(context, 'postgres')) return undefined
  const authority = await createAuthority(context)
  const client = await authority.issue(['certified'])
  const server = await startPostgres({
    tls: { ...(await authority.issue(hosts)), clientCaFile: authority.caFile },
    logins: ['hostssl all millrace 127.0.0.1/32 scram-sha-256', 'hostssl all certified 127.0.0.1/32 cert'],
  })
  context.after(() => server.stop())
  const owner = new PostgresConnection({ url: server.url, applicationName: 'owner' })
  await owner.query({ text: `create role millrace login password '${PASSWORD}'` })
  await owner.query({ text: 'create role certified login' })
  await owner.close()
  const { port, pathname } = new URL(server.url)
  const url: Place['url'] = (query, login = `millrace:${PASSWORD}`, host = '127.0.0.1') =>
    `postgres://${login}@${host}:${port}${pathname}${query}`
  return { server, authority, client, url }
}

/** The version of TLS that the server sees; null without. */
async function versionOver(url: string): Promise<string | null | undefined> {
  const connection = await openPostgres({ url, applicationName: 'test' })
  try {
    const text = 'select version from pg_stat_ssl where pid = pg_backend_pid()'
    return (await connection.query<{ version: string | null }>({ text })).rows[0]?.version
  } finally {
    await connection.close()
  }
}

async function assertRefused(code: string, message: RegExp, url: string): Promise<void> {
  const began = performance.now()
  await assert.rejects(openPostgres({ url, applicationName: 'test', serverWithinMs: 60_000 }), (error: Error) => {
    assert.ok('code' in error && error.code === code, error.stack)
    assert.match(error.message, message)
    assert.match(error.message, /DATABASE_URL/)
    assert.doesNotMatch(error.message, /-secret/)
    return true
  })
  assert.ok(performance.now() - began < 50_000, 'it was waited for')
}

test('sslmode=verify-full with a password, or with a client certificate', async (context) => {
  const place = await openPlace(context, ['127.0.0.1', 'localhost'])
  if (place === undefined) return
  const { authority, client, url } = place
  const full = `?sslmode=verify-full&sslrootcert=${authority.caFile}`
  assert.equal(await versionOver(url(full)), 'TLSv1.3')
  assert.equal(await versionOver(url(full, undefined, 'localhost')), 'TLSv1.3')
  const own = `${full}&sslcert=${client.certFile}&sslkey=${client.keyFile}`
  assert.equal(await versionOver(url(own, 'certified')), 'TLSv1.3')

  await assertRefused('postgres.REFUSED', /password authentication failed/, url(full, 'millrace:wrong-secret'))
  await assertRefused('postgres.REFUSED', /no encryption/, url(''))
  await assertRefused('postgres.REFUSED', /certificate/, url(full, 'certified'))
  await assertRefused('postgres.REFUSED', /does not exist/, url(full).replace('/millrace?', '/absent?'))
})

test('a server whose certificate is not to be trusted gets no password', async (context) => {
  const place = await openPlace(context, ['localhost'])
  if (place === undefined) return
  const { authority, url } = place
  const stranger = await createAuthority(context)
  const full = (caFile: string) => `?sslmode=verify-full&sslrootcert=${caFile}`
  await assertRefused('postgres.UNTRUSTED', /self-signed certificate|unable to verify/, url('?sslmode=verify-full'))
  await assertRefused(
    'postgres.UNTRUSTED',
    /self-signed certificate|unable to verify/,
    url(full(stranger.caFile), undefined, 'localhost'),
  )
  await assertRefused('postgres.UNTRUSTED', /does not match/, url(full(authority.caFile)))
  await assertRefused('postgres.UNTRUSTED', /no such file/, url(full('/absent/ca.pem')))
})

test('a server without TLS is refused where the address asks for it', async (context) => {
  if (!requireOwnServer(context, 'postgres')) return
  const server = await startPostgres()
  context.after(() => server.stop())
  await assertRefused('postgres.UNTRUSTED', /does not support SSL/, `${server.url}?sslmode=verify-full`)
})

test('a password that is changed behind a running program is an outage, over when it is right again', async (context) => {
  const place = await openPlace(context, ['127.0.0.1'])
  if (place === undefined) return
  const { authority, server, url } = place
  const owner = new PostgresConnection({ url: server.url, applicationName: 'owner' })
  const full = `?sslmode=verify-full&sslrootcert=${authority.caFile}`
  const connection = await openPostgres({ url: url(full), applicationName: 'victim' })
  context.after(() => Promise.all([owner.close(), connection.close()]))
  const change = (password: string) => owner.query({ text: `alter role millrace password '${password}'` })
  const end = { text: "select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'victim'" }
  await change(randomBytes(8).toString('hex'))
  await owner.query(end)
  // The end of the connection may be heard of by the first query, its successor's refusal by the second.
  await connection.query({ text: 'select 1' }).catch(() => undefined)
  await assert.rejects(connection.query({ text: 'select 1' }), { code: 'postgres.REFUSED', isOutage: true })
  await change(PASSWORD)
  assert.equal((await connection.query({ text: 'select 1' })).count, 1)
})
