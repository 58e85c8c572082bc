import assert from 'node:assert/strict'
import { Socket } from 'node:net'
import { test, type TestContext } from 'node:test'
import { bigIntArray, byteaArray, doubleArray, intArray, smallIntArray, textArray, uuidArray } from './binary-array.ts'
import { PostgresConnection, resultOf } from './connection.ts'
import { idlest, SnapshotReads, TRANSACTION_ID } from './snapshot-reads.ts'
import { emptyDatabase, serverForFile } from './testkit.ts'

const server = await serverForFile()
const skip = { skip: server === undefined }

function connect(context: TestContext): PostgresConnection {
  assert.ok(server !== undefined)
  const connection = new PostgresConnection({ url: server.url, applicationName: 'connection test' })
  context.after(() => connection.close())
  return connection
}

test(
  'transactions given in one turn are never mixed, and a refused one leaves the next alone',
  skip,
  async (context) => {
    const connection = connect(context)
    await connection.query({ text: 'create temporary table numbers (number integer primary key)' })
    const insert = (...numbers: number[]) =>
      connection.queries([
        { text: 'begin' },
        ...numbers.map((number) => ({ text: 'insert into numbers values ($1)', parameters: [number] })),
        { text: 'commit' },
      ])
    const [good, bad, next] = await Promise.all([insert(1, 2), insert(3, 1, 4), insert(5)])
    assert.deepEqual(
      good.map((outcome) => resultOf(outcome).command),
      ['BEGIN', 'INSERT', 'INSERT', 'COMMIT'],
    )
    assert.throws(() => resultOf(bad[2]), { code: 'postgres.FAILED' })
    assert.equal(resultOf(bad.at(-1)).command, 'ROLLBACK')
    assert.equal(resultOf(next.at(-1)).command, 'COMMIT')
    const { rows } = await connection.query<{ number: number }>({ text: 'select number from numbers order by 1' })
    assert.deepEqual(
      rows.map(({ number }) => number),
      [1, 2, 5],
    )
  },
)

test('queries that are sent together leave in one write', skip, async (context) => {
  const connection = connect(context)
  await connection.query({ text: 'select 1' })
  const alone = context.mock.method(Socket.prototype, '_write')
  const outcomes = await connection.queries([
    { text: 'begin' },
    { text: 'select $1::integer as answer', parameters: [42] },
    { text: 'commit' },
  ])
  assert.equal(alone.mock.callCount(), 0)
  assert.deepEqual(resultOf(outcomes[1]).rows, [{ answer: 42 }])
})

test('a connection that the server ends is opened again for the next query', skip, async (context) => {
  const [victim, killer] = [connect(context), connect(context)]
  const { rows } = await victim.query<{ id: number }>({ text: 'select pg_backend_pid() as id' })
  const waiting = victim.query({ text: 'select pg_sleep(60)' })
  const ended = assert.rejects(waiting, { code: 'postgres.UNAVAILABLE', isOutage: true })
  await killer.query({ text: 'select pg_terminate_backend($1)', parameters: [rows[0]?.id ?? 0] })
  await ended
  const again = await victim.query<{ id: number }>({ text: 'select pg_backend_pid() as id' })
  assert.notEqual(again.rows[0]?.id, rows[0]?.id)
})

test('close waits for what was sent and refuses the rest', skip, async (context) => {
  const connection = connect(context)
  await connection.query({ text: 'select 1' })
  const sent = connection.query<{ answer: number }>({ text: 'select 42 as answer from pg_sleep(0.05)' })
  const closing = connection.close()
  assert.equal(connection.close(), closing)
  await assert.rejects(connection.query({ text: 'select 1' }), { code: 'postgres.CLOSED' })
  assert.equal((await sent).rows[0]?.answer, 42)
  await closing
})

test('arrays travel bit by bit, with nulls and empty ones', skip, async (context) => {
  const connection = connect(context)
  const longs = [
    0,
    -1,
    1,
    null,
    Number.MAX_SAFE_INTEGER,
    Number.MIN_SAFE_INTEGER,
    -4294967296,
    2n ** 63n - 1n,
    -(2n ** 63n),
  ]
  const doubles = [0, -0, null, 5e-324, -1.5, Infinity, NaN]
  const texts = ['', null, '{"a,\\}', 'NULL', '\u0000\u001a\ud800', 'ü🌡️']
  const columns = async (type: string, array: Buffer) => {
    const { rows } = await connection.query<{ value: unknown }>({
      text: `select value from unnest($1::${type}[]) with ordinality as all_values(value, place) order by place`,
      parameters: [array],
    })
    return rows.map(({ value }) => value)
  }
  assert.deepEqual(await columns('bigint', bigIntArray(longs)), longs)
  assert.deepEqual(await columns('double precision', doubleArray(doubles)), doubles)
  assert.deepEqual(await columns('text', textArray(texts)), texts)
  assert.deepEqual(await columns('text', textArray([])), [])
  assert.deepEqual(await columns('integer', intArray([-(2 ** 31), 7])), [-(2 ** 31), 7])
  assert.deepEqual(await columns('smallint', smallIntArray([-3, 3])), [-3, 3])
  assert.deepEqual(await columns('bytea', byteaArray([Buffer.from([0, 255]), Buffer.of()])), [
    Buffer.from([0, 255]),
    Buffer.of(),
  ])
  const ids = [
    '0f0e0d0c-0b0a-4908-8706-050403020100',
    '0f0e0d0c-0b0a-4908-8706-050403020100',
    'ffffffff-0000-4000-8000-000000000001',
  ]
  assert.deepEqual(await columns('uuid', uuidArray(ids)), ids)
})

test('a read claims no commit that is not in it, while older transactions still run', skip, async (context) => {
  const [running, writer, reader] = [connect(context), connect(context), connect(context)]
  await writer.query({ text: 'create table if not exists claims (value integer)' })
  const reads = new SnapshotReads([reader])
  const count = { text: 'select value from claims' }
  const begun = await running.queries<{ id: number }>([
    { text: 'begin' },
    { text: 'select pg_current_xact_id()::text::bigint as id' },
    { text: 'insert into claims values (1)' },
  ])
  const runningId = resultOf(begun[1]).rows[0]?.id ?? 0
  await writer.query({ text: 'insert into claims values (2)' })
  const during = await reads.read<{ value: number }>(count)
  assert.deepEqual(during.rows, [{ value: 2 }])
  assert.ok(during.sequence < runningId, 'it would hide a commit that is still to come')
  await running.query({ text: 'commit' })
  const after = await reads.read<{ value: number }>(count)
  assert.equal(after.rows.length, 2)
  assert.ok(after.sequence >= runningId)
  await writer.query({ text: 'drop table claims' })
})

test('what runs in another database of the server holds no read back', skip, async (context) => {
  assert.ok(server !== undefined)
  const elsewhere = new PostgresConnection({ url: await emptyDatabase(server), applicationName: 'elsewhere' })
  context.after(() => elsewhere.close())
  const begun = await elsewhere.queries([{ text: 'begin' }, TRANSACTION_ID])
  resultOf(begun[1])
  const commit = await connect(context).query<{ id: number }>(TRANSACTION_ID)
  const reads = new SnapshotReads([connect(context)])
  const { sequence } = await reads.read({ text: 'select 1' })
  assert.ok(sequence >= (commit.rows[0]?.id ?? Infinity))
})

test('a read that fails fails alone', skip, async (context) => {
  const reads = new SnapshotReads([connect(context)])
  const [good, bad, other] = await Promise.allSettled([
    reads.read<{ one: number }>({ text: 'select 1 as one' }),
    reads.read({ text: 'select 1 / 0' }),
    reads.read<{ two: number }>({ text: 'select 2 as two' }),
  ])
  assert.ok(good.status === 'fulfilled' && other.status === 'fulfilled')
  assert.deepEqual([good.value.rows, other.value.rows], [[{ one: 1 }], [{ two: 2 }]])
  assert.ok(bad.status === 'rejected')
  assert.match(String(bad.reason), /division by zero/)
})

test('scans of one turn run beside each other, and leave a connection to other reads', skip, async (context) => {
  const [holding, ...reading] = [connect(context), connect(context), connect(context), connect(context)]
  const reads = new SnapshotReads(reading)
  const lock = 17
  await holding.query({ text: `select pg_advisory_lock(${lock})` })
  const waiting = reads.scan({ text: `select pg_advisory_xact_lock(${lock})` })
  const beside = reads.scan<{ two: number }>({ text: 'select 2 as two' })
  assert.deepEqual(await beside, [{ two: 2 }])
  const alsoWaiting = reads.scan({ text: `select pg_advisory_xact_lock(${lock})` })
  const read = await reads.read<{ three: number }>({ text: 'select 3 as three' })
  assert.deepEqual(read.rows, [{ three: 3 }])
  await holding.query({ text: `select pg_advisory_unlock(${lock})` })
  await Promise.all([waiting, alsoWaiting])
})

test(
  'no read queues behind a scan, however many are before it at the connection without one',
  skip,
  async (context) => {
    const [holding, free, ...scanning] = [connect(context), connect(context), connect(context), connect(context)]
    const reads = new SnapshotReads([free, ...scanning])
    const [ofScans, ofRead] = [18, 19]
    await holding.query({ text: `select pg_advisory_lock(${ofScans}), pg_advisory_lock(${ofRead})` })
    const scans = scanning.map(() => reads.scan({ text: `select pg_advisory_xact_lock(${ofScans})` }))
    const slow = reads.read({ text: `select pg_advisory_xact_lock(${ofRead})` })
    await new Promise(setImmediate)
    const next = reads.read<{ four: number }>({ text: 'select 4 as four' })
    await new Promise(setImmediate)
    assert.deepEqual(
      scanning.map(({ unanswered }) => unanswered),
      [1, 1],
    )
    await holding.query({ text: `select pg_advisory_unlock(${ofRead})` })
    assert.deepEqual((await next).rows, [{ four: 4 }])
    await holding.query({ text: `select pg_advisory_unlock(${ofScans})` })
    await Promise.all([slow, ...scans])
  },
)

test('the idlest connection is the one with the fewest queries before the next', skip, async (context) => {
  const [busy, idle] = [connect(context), connect(context)]
  const running = busy.query({ text: 'select 1' })
  assert.equal(idlest([busy, idle]), idle)
  assert.equal(idlest([idle, busy]), idle)
  await running
  assert.equal(idlest([busy, idle]), busy)
})

test('commits are synced also where the server is set to sync later', skip, async (context) => {
  assert.ok(server !== undefined)
  const url = await emptyDatabase(server)
  const first = new PostgresConnection({ url, applicationName: 'test' })
  await first.query({ text: `alter database ${new URL(url).pathname.slice(1)} set synchronous_commit = 'off'` })
  await first.close()
  const second = new PostgresConnection({ url, applicationName: 'test' })
  context.after(() => second.close())
  const { rows } = await second.query<{ synchronous_commit: string }>({ text: 'show synchronous_commit' })
  assert.deepEqual(rows, [{ synchronous_commit: 'on' }])
})

test('plans are not compiled, which takes longer than the queries', skip, async (context) => {
  assert.ok(server !== undefined)
  const connection = new PostgresConnection({ url: await emptyDatabase(server), applicationName: 'test' })
  context.after(() => connection.close())
  assert.deepEqual((await connection.query<{ jit: string }>({ text: 'show jit' })).rows, [{ jit: 'off' }])
})

test(
  'who stands still in the middle of a transaction holds its rows no longer than an answer may take',
  skip,
  async (context) => {
    assert.ok(server !== undefined)
    const url = await emptyDatabase(server)
    const [standing, next] = [400, 10_000].map((answerWithinMs) => {
      const connection = new PostgresConnection({ url, applicationName: 'test', answerWithinMs })
      context.after(() => connection.close())
      return connection
    })
    await next?.query({ text: 'create table owner (epoch integer)' })
    await next?.query({ text: 'insert into owner values (1)' })
    await standing?.queries([{ text: 'begin' }, { text: 'update owner set epoch = 2' }])
    const { command } = resultOf((await next?.queries([{ text: 'update owner set epoch = 3' }]))?.[0])
    assert.equal(command, 'UPDATE')
  },
)
