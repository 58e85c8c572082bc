/** Servers that the environment names: used, never ended. A real one plays the part of somebody else's. */
import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import pg from 'pg'
import { requireOwnServer, requireServer, startNats, startPostgres, type RunningServer } from './index.ts'

test('a PostgreSQL of the environment gives each test a database of its own, and takes it back', async (context) => {
  if (!requireOwnServer(context, 'postgres')) return
  const somebodys = await startPostgres()
  context.after(() => somebodys.stop())
  withEnvironment(context, 'TEST_POSTGRES_URL', somebodys.url)

  const [first, second] = [await startPostgres(), await startPostgres()]
  assert.equal(new Set([somebodys.url, first.url, second.url]).size, 3)
  assert.equal(first.owned, false)
  assert.deepEqual((await databases(somebodys)).length, 2)
  await assert.rejects(first.kill(), /not this test's to end/)
  await Promise.all([first.stop(), second.stop()])
  assert.deepEqual(await databases(somebodys), [])
})

test('a test that ends its server is skipped where the environment names one, and fails where everything real is required', async (context) => {
  if (!requireOwnServer(context, 'nats')) return
  withEnvironment(context, 'TEST_NATS_URL', 'nats://127.0.0.1:1')
  assert.equal((await startNats()).url, 'nats://127.0.0.1:1')
  const skips: (string | undefined)[] = []
  const asked = { skip: (reason?: string) => void skips.push(reason) }
  withEnvironment(context, 'REQUIRE_REAL', '0')
  assert.equal(requireServer(asked, 'nats'), true)
  assert.equal(requireOwnServer(asked, 'nats'), false)
  assert.deepEqual(skips, ['ends a nats server, and TEST_NATS_URL names one'])
  process.env['REQUIRE_REAL'] = '1'
  assert.throws(() => requireOwnServer(asked, 'nats'), /TEST_NATS_URL names one/)
})

function withEnvironment(context: TestContext, name: string, value: string): void {
  const before = process.env[name]
  process.env[name] = value
  context.after(() => {
    if (before === undefined) delete process.env[name]
    else process.env[name] = before
  })
}

async function databases({ url }: RunningServer): Promise<string[]> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    const { rows } = await client.query<{ datname: string }>(
      "select datname from pg_database where datname like 'millrace_test_%'",
    )
    return rows.map((row) => row.datname)
  } finally {
    await client.end()
  }
}
