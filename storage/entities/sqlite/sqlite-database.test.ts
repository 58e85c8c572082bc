import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { Worker } from 'node:worker_threads'
import { CompiledQuery } from 'kysely'
import { migrate } from './migrations.ts'
import { openSqliteDatabase, SqliteDatabase } from './sqlite-database.ts'
import type { Statement } from '../database.ts'

function insertion(name: string, value = 'x'): Statement {
  return { sql: 'insert into setting (name, value) values (?, ?)', parameters: [name, value] }
}

/** Closed after the test, failed or not: an open thread would keep the run from ending. */
async function openMigrated(context: TestContext): Promise<SqliteDatabase> {
  const database = await openSqliteDatabase({ file: ':memory:', synchronous: 'normal' })
  context.after(() => database.close())
  await migrate(database, ':memory:', 1)
  return database
}

async function names(database: SqliteDatabase): Promise<readonly string[]> {
  const { rows } = await database.read(database.builder.selectFrom('setting').select('name').orderBy('name').compile())
  return rows.map((row) => row.name)
}

test('everything that is written in one turn shares a commit', async (context) => {
  const database = await openMigrated(context)
  const written = await Promise.all(Array.from({ length: 500 }, (_, index) => database.write([insertion(`s${index}`)])))
  const commits = new Set(written.map((each) => each.sequence))
  assert.equal(commits.size, 1)
  assert.equal((await names(database)).length, 500)
})

test('one refused of a group is refused alone, whole, and each of the others is stored once', async (context) => {
  const database = await openMigrated(context)
  await database.write([{ sql: 'create table counted (times integer)', parameters: [] }])
  await database.write([{ sql: 'insert into counted values (0)', parameters: [] }])
  const counting = { sql: 'update counted set times = times + 1', parameters: [] }
  // The second time the group has savepoints from its start.
  for (const [time, round] of ['first', 'second'].entries()) {
    const written = await Promise.allSettled([
      database.write([counting, insertion(`${round} a`)]),
      database.write([counting, insertion('left by nobody'), insertion(`${round} a`)]),
      database.write([counting, insertion(`${round} b`)]),
    ])
    const states = written.map((each) => each.status)
    assert.deepEqual(states, ['fulfilled', 'rejected', 'fulfilled'])
    const { rows } = await database.read(CompiledQuery.raw('select times from counted'))
    assert.deepEqual(
      rows.map((row) => ({ ...(row as object) })),
      [{ times: 2 * (time + 1) }],
    )
  }
  assert.deepEqual(await names(database), ['first a', 'first b', 'second a', 'second b'])
})

test('a read sees every write that was acknowledged before it', async (context) => {
  const database = await openMigrated(context)
  for (let index = 0; index < 50; index++) {
    const { sequence } = await database.write([insertion(`s${String(index).padStart(2, '0')}`)])
    const read = await database.read(database.builder.selectFrom('setting').select('name').compile())
    assert.equal(read.rows.length, index + 1)
    assert.ok(read.sequence >= sequence)
  }
})

test('integers beyond 2^53 keep every digit, smaller ones are plain numbers', async (context) => {
  const database = await openMigrated(context)
  const row = ['e', 1, 'k', 2, 9223372036854775807n, null, null, 1_700_000_000_000, 1, null] as const
  await database.write([{ sql: 'insert into attribute values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)', parameters: row }])
  const { rows } = await database.read(database.builder.selectFrom('attribute').selectAll().compile())
  assert.equal(rows[0]?.long_value, 9223372036854775807n)
  assert.equal(rows[0].last_update_ts, 1_700_000_000_000)
})

test('a full disk refuses what does not fit, keeps what was stored, and goes on when there is room', async (context) => {
  const database = await openMigrated(context)
  await database.write([insertion('before')])
  await database.write([{ sql: 'pragma max_page_count = 100', parameters: [], returnsRows: true }])
  const large = 'x'.repeat(1 << 20)
  const refused = await Promise.allSettled([
    database.write([insertion('large 1', large)]),
    database.write([insertion('large 2', large)]),
  ])
  for (const each of refused) {
    assert.ok(each.status === 'rejected')
    assert.equal((each.reason as { kind: string }).kind, 'retryable')
  }
  assert.deepEqual(await names(database), ['before'])
  await database.write([{ sql: 'pragma max_page_count = 1000000', parameters: [], returnsRows: true }])
  await database.write([insertion('large 1', large)])
  assert.deepEqual(await names(database), ['before', 'large 1'])
})

test('a thread that dies says so once, rejects what waits, refuses what comes, and can be closed', async (context) => {
  const settings = { file: ':memory:', synchronous: 'normal' } as const
  const worker = new Worker(new URL('./sqlite-worker.ts', import.meta.url), { workerData: settings })
  const told: string[] = []
  const onFatal = (error: Error): void => void told.push((error as Error & { code: string }).code)
  const database = new SqliteDatabase(worker, { onFatal })
  context.after(() => database.close())
  await migrate(database, ':memory:', 1)
  const waiting = [database.write([insertion('a')]), database.write([insertion('b')]), names(database)]
  const settled = Promise.allSettled(waiting)
  await worker.terminate()
  for (const each of await settled) {
    if (each.status === 'rejected') assert.equal((each.reason as { code: string }).code, 'entities.LOST')
  }
  await assert.rejects(database.write([insertion('c')]), { code: 'entities.LOST' })
  await assert.rejects(names(database), { code: 'entities.LOST' })
  await database.close()
  assert.deepEqual(told, ['entities.LOST'])
})

test('more transactions than may wait are refused as retryable, and the others are stored', async (context) => {
  const database = await openMigrated(context)
  const touch = { sql: 'update setting set value = ? where name = ?', parameters: ['y', 'nobody'] }
  const writes = Array.from({ length: 50_010 }, () => database.write([touch]))
  const results = await Promise.allSettled(writes)
  const refused = results.filter((result) => result.status === 'rejected')
  assert.ok(refused.length > 0 && refused.length <= 10, `${refused.length} were refused`)
  assert.ok(refused.every((result) => (result.reason as { code: string }).code === 'entities.OVERLOADED'))
})
