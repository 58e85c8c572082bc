/**
 * The production shape with TLS and logins at each server, as an operator sets it: it works, no secret is in the log or in what `config`
 * prints, and each slip ends the start with one sentence that names the setting.
 */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import pg from 'pg'
import { createAuthority, type Authority } from '../support/certificates.ts'
import { DEMO_TOKEN, RestClient, login } from '../support/clients.ts'
import { requireOwnServer, startNats, startPostgres, startQuestDb } from '../support/servers/index.ts'
import { productionEnvironment } from '../support/start-cluster.ts'
import { MILLRACE, startMillrace } from '../support/start-millrace.ts'
import { startTlsGate } from '../support/tls-gate.ts'

const SECRET = 'right-secret'
const HOSTS = ['localhost', '127.0.0.1']

interface Secured {
  readonly authority: Authority
  readonly environment: Readonly<Record<string, string>>
}

/** All three servers, each with TLS by one authority, a login, and NATS with client certificates too. */
async function startSecured(context: TestContext): Promise<Secured | undefined> {
  if (!requireOwnServer(context, 'nats', 'postgres', 'questdb')) return undefined
  const authority = await createAuthority(context)
  const { caFile } = authority
  const tls = { ...(await authority.issue(HOSTS)), clientCaFile: caFile }
  const [nats, postgres, questdb] = await Promise.all([
    startNats({ tls, login: { user: 'millrace', password: SECRET } }),
    startPostgres({ tls, logins: ['hostssl all millrace 127.0.0.1/32 scram-sha-256'] }),
    startQuestDb({ settings: { 'http.user': 'millrace', 'http.password': SECRET } }),
  ])
  context.after(() => Promise.all([nats, postgres, questdb].map((server) => server.stop())))
  await makeOwner(postgres.url)
  const gate = await startTlsGate(context, { ...tls, target: questdb.url })
  const client = await authority.issue(['millrace'])
  return {
    authority,
    environment: {
      ...productionEnvironment({
        nats: `tls://millrace:${SECRET}@localhost:${new URL(nats.url).port}`,
        postgres: `postgres://millrace:${SECRET}@${new URL(postgres.url).host}/millrace?sslmode=verify-full&sslrootcert=${caFile}`,
        questdb: `https://millrace:${SECRET}@localhost:${gate}`,
      }),
      NATS_TLS_CA_FILE: caFile,
      NATS_TLS_CERT_FILE: client.certFile,
      NATS_TLS_KEY_FILE: client.keyFile,
      QUESTDB_TLS_CA_FILE: caFile,
      LOG_LEVEL: 'debug',
    },
  }
}

async function makeOwner(url: string): Promise<void> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  await client.query(`create role millrace login password '${SECRET}'`)
  await client.query('alter database millrace owner to millrace')
  await client.end()
}

/** What the start says that ends by itself. */
async function refusal(environment: Readonly<Record<string, string>>): Promise<string> {
  return startMillrace({ environment, timeoutMs: 120_000 }).then(
    async (running) => {
      await running.stop()
      return assert.fail('it started')
    },
    (error: unknown) => String(error),
  )
}

test('TLS and logins at NATS, PostgreSQL and QuestDB: stored and read back, and no secret is shown', async (context) => {
  const secured = await startSecured(context)
  if (secured === undefined) return
  const { authority, environment } = secured
  const millrace = await startMillrace({ environment })
  try {
    const sent = await fetch(`${millrace.url}/api/v1/${DEMO_TOKEN}/telemetry`, {
      method: 'POST',
      body: '{"ts":1700000000000,"values":{"secured":7}}',
    })
    assert.equal(sent.status, 200)
    const rest = new RestClient(millrace, await login(millrace))
    const device = await rest.expect<{ id: { id: string } }>('GET', '/api/tenant/devices?deviceName=Demo%20Thermometer')
    const path = `/api/plugins/telemetry/DEVICE/${device.id.id}/values/timeseries?keys=secured&startTs=0&endTs=1800000000000`
    const deadline = performance.now() + 60_000
    let found: unknown = {}
    while (JSON.stringify(found) === '{}' && performance.now() < deadline) {
      found = await rest.expect('GET', path)
      await delay(50)
    }
    assert.deepEqual(found, { secured: [{ ts: 1700000000000, value: '7' }] })
    context.diagnostic('sent 1, acknowledged 1, lost 0, duplicated 0')
  } finally {
    await millrace.stop()
  }
  assert.ok(!millrace.log().includes(SECRET), 'the log shows a password')
  const printed = spawnSync(process.execPath, [...MILLRACE, 'config'], {
    encoding: 'utf8',
    env: { PATH: process.env['PATH'], ...environment, QUESTDB_TOKEN: SECRET },
  }).stdout
  assert.match(printed, /NATS_URL=tls:\/\/millrace:\*{8}@localhost/)
  assert.ok(!printed.includes(SECRET), '`config` shows a password')

  const stranger = (await createAuthority(context)).caFile
  const garbage = join(authority.folder, 'garbage.pem')
  await writeFile(garbage, 'no certificate')
  const { NATS_URL = '', DATABASE_URL = '', QUESTDB_URL = '' } = environment
  const wrong = (url: string): string => url.replace(SECRET, 'wrong-secret')
  const slips: readonly [Record<string, string>, RegExp][] = [
    [{ NATS_URL: wrong(NATS_URL) }, /NATS at localhost:\d+ refuses the login: .*NATS_URL/],
    [{ NATS_TLS_CA_FILE: stranger }, /no trusted TLS connection to NATS at .*NATS_TLS_CA_FILE/],
    [{ NATS_TLS_CA_FILE: garbage }, /NATS_TLS_CA_FILE=.*garbage\.pem can not be used/],
    [{ NATS_TLS_KEY_FILE: '/absent.key' }, /NATS_TLS_KEY_FILE=\/absent\.key can not be used: ENOENT/],
    [{ NATS_CREDS_FILE: '/absent' }, /NATS_CREDS_FILE and the login in NATS_URL are two logins/],
    [{ DATABASE_URL: wrong(DATABASE_URL) }, /PostgreSQL refuses the login: .*DATABASE_URL/],
    [
      { DATABASE_URL: DATABASE_URL.replace(authority.caFile, stranger) },
      /no trusted TLS connection to PostgreSQL.*sslrootcert.*DATABASE_URL/,
    ],
    [{ QUESTDB_URL: wrong(QUESTDB_URL) }, /QuestDB at localhost:\d+ refuses the login: 401.*QUESTDB_URL/],
    [{ QUESTDB_TLS_CA_FILE: stranger }, /no trusted TLS connection to QuestDB at .*QUESTDB_TLS_CA_FILE/],
  ]
  let slowest = 0
  for (const [slip, sentence] of slips) {
    const began = performance.now()
    const said = await refusal({ ...environment, LOG_LEVEL: 'error', ...slip })
    slowest = Math.max(slowest, performance.now() - began)
    assert.match(said, /ended with 1 before it was ready/)
    assert.match(said, sentence)
    assert.doesNotMatch(said, /-secret/)
    assert.equal(said.trim().split('\n').length, 2, `more than one sentence:\n${said}`)
  }
  context.diagnostic(`${slips.length} slips refused, the slowest after ${Math.round(slowest)} ms`)
})
