import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test, type TestContext } from 'node:test'
import type { Clock } from '../../../model/clock.ts'
import { PostgresConnection } from '../../postgres/connection.ts'
import { emptyDatabase, serverForFile } from '../../postgres/testkit.ts'
import { long, raw, write } from '../contract.ts'
import { rangeOf, type Partitioning } from './partitions.ts'
import { openPostgresTimeSeries, type PostgresTimeSeries, type PostgresTimeSeriesOptions } from './store.ts'

const server = await serverForFile()
const skip = { skip: server === undefined }
const DAY = 86_400_000
const NOW = Date.UTC(2026, 10, 21)

/** Its timers run when told to. */
class HandClock implements Clock {
  time = NOW
  readonly timers: (() => void)[] = []

  now(): number {
    return this.time
  }

  monotonic(): number {
    return this.time
  }

  after(_delayMs: number, run: () => void): { cancel(): void } {
    this.timers.push(run)
    return { cancel: () => void this.timers.splice(this.timers.indexOf(run), 1) }
  }

  soon(run: () => void): void {
    setImmediate(run)
  }
}

async function database(context: TestContext) {
  assert.ok(server !== undefined)
  const url = await emptyDatabase(server)
  const clock = new HandClock()
  const connection = new PostgresConnection({ url, applicationName: 'test' })
  context.after(() => connection.close())
  const open = async (
    partitioning: Partitioning,
    change: Partial<PostgresTimeSeriesOptions> = {},
  ): Promise<PostgresTimeSeries> => {
    const store = await openPostgresTimeSeries({ url, applicationName: 'test', clock, partitioning, ...change })
    context.after(() => store.close())
    return store
  }
  /** How many rows lie in each piece. */
  const pieces = async (): Promise<Record<string, number>> => {
    const { rows } = await connection.query<{ name: string; rows: number }>({
      text: `select pieces.relname::text as name, count(ts_kv.ts) as rows from pg_inherits
        join pg_class pieces on pieces.oid = inhrelid left join ts_kv on ts_kv.tableoid = pieces.oid
        where inhparent = 'ts_kv'::regclass group by 1 order by 1`,
    })
    return Object.fromEntries(rows.map((row) => [row.name, row.rows]))
  }
  return { open, pieces, clock, connection }
}

function points(...times: number[]) {
  return times.map((ts, index) => long('k', ts, index))
}

test('the borders of pieces are those of days, months and years in UTC', () => {
  const ts = Date.UTC(2024, 1, 29, 23, 59)
  assert.deepEqual(rangeOf('DAYS', ts), {
    name: 'ts_kv_2024_02_29',
    start: Date.UTC(2024, 1, 29),
    end: Date.UTC(2024, 2, 1),
  })
  assert.deepEqual(rangeOf('MONTHS', ts), { name: 'ts_kv_2024_02', start: Date.UTC(2024, 1), end: Date.UTC(2024, 2) })
  assert.deepEqual(rangeOf('YEARS', ts), { name: 'ts_kv_2024', start: Date.UTC(2024, 0), end: Date.UTC(2025, 0) })
  assert.equal(rangeOf('INDEFINITE', ts), undefined)
})

test('a point lies in the piece of its time, a far one in the default piece', skip, async (context) => {
  const { open, pieces } = await database(context)
  const store = await open('DAYS')
  const entity = randomUUID()
  await store.write([write(entity, points(NOW, NOW + DAY - 1, NOW + DAY, -5, 0, 8.64e15, NOW + 500 * DAY))])
  assert.deepEqual(await pieces(), { ts_kv_2026_11_21: 2, ts_kv_2026_11_22: 1, ts_kv_rest: 4 })
  const all = (await store.history(entity, raw(['k'], { startTs: -1, endTs: NOW + 2 * DAY }))).value.get('k')
  assert.deepEqual(
    all?.map(({ ts }) => ts),
    [0, NOW, NOW + DAY - 1, NOW + DAY],
  )
})

test('stores that need the same new pieces at once all write', skip, async (context) => {
  const { open, pieces } = await database(context)
  const stores = await Promise.all([1, 2, 3].map(() => open('MONTHS')))
  const months = Array.from({ length: 6 }, (_, month) => Date.UTC(2026, month))
  await Promise.all(stores.flatMap((store) => months.map((ts) => store.write([write(randomUUID(), points(ts))]))))
  const counts = await pieces()
  assert.deepEqual(Object.keys(counts).length, 7)
  assert.equal(counts['ts_kv_2026_03'], 3)
  assert.equal(counts['ts_kv_rest'], 0)
})

test('another size of pieces holds from now on, beside those that are there', skip, async (context) => {
  const { open, pieces } = await database(context)
  const entity = randomUUID()
  const months = await open('MONTHS')
  await months.write([write(entity, points(Date.UTC(2026, 9, 5)))])
  await months.close()
  const none = await open('INDEFINITE')
  await none.write([write(entity, points(Date.UTC(2026, 8, 5)))])
  await none.close()
  const days = await open('DAYS')
  // In a month's piece · in the default piece, which holds rows of that day · in a piece of its own.
  await days.write([write(entity, points(Date.UTC(2026, 9, 6), Date.UTC(2026, 8, 5, 1), NOW))])
  assert.deepEqual(await pieces(), { ts_kv_2026_10: 2, ts_kv_2026_11_21: 1, ts_kv_rest: 2 })
  assert.equal((await days.history(entity, raw(['k'], { endTs: NOW + 1 }))).value.get('k')?.length, 5)
})

test(
  'the clean-up drops whole pieces that are over, and deletes old rows of the default piece',
  skip,
  async (context) => {
    const { open, pieces, clock } = await database(context)
    const store = await open('DAYS', { ttlSeconds: (3 * DAY) / 1000 })
    const entity = randomUUID()
    await store.write([write(entity, points(NOW - 5 * DAY, NOW - 4 * DAY, NOW - 3 * DAY, NOW, -7))])
    assert.deepEqual(await store.cleanUp(), {
      partitionsDropped: ['ts_kv_2026_11_16', 'ts_kv_2026_11_17'],
      rowsDeleted: 1,
    })
    assert.deepEqual(await pieces(), { ts_kv_2026_11_18: 1, ts_kv_2026_11_21: 1, ts_kv_rest: 0 })
    await store.write([write(entity, points(NOW - 5 * DAY))])
    assert.equal((await pieces())['ts_kv_2026_11_16'], 1, 'a late point makes its piece anew')
    clock.time += 2 * DAY
    clock.timers.splice(0)[0]?.()
    await store.close()
    assert.deepEqual(await pieces(), { ts_kv_2026_11_21: 1, ts_kv_rest: 0 }, 'the clean-up that runs by itself')
  },
)

test('a row goes when its own time to live is over, others stay', skip, async (context) => {
  const { open, pieces, clock } = await database(context)
  const store = await open('INDEFINITE')
  const entity = randomUUID()
  await store.write([write(entity, points(NOW), { ttlSeconds: 60 }), write(entity, [long('other', NOW, 1)])])
  clock.time += 59_999
  assert.equal((await store.cleanUp()).rowsDeleted, 0)
  assert.equal((await store.history(entity, raw(['k'], { endTs: NOW + 1 }))).value.size, 1)
  clock.time += 1
  assert.equal((await store.history(entity, raw(['k'], { endTs: NOW + 1 }))).value.size, 0)
  assert.deepEqual(await store.cleanUp(), { partitionsDropped: [], rowsDeleted: 1 })
  assert.deepEqual(await pieces(), { ts_kv_rest: 1 })
})

test('an answer has a bound, and what is no UUID has no points', skip, async (context) => {
  const { open } = await database(context)
  const store = await open('INDEFINITE', { maxAnswerPoints: 3 })
  const entity = randomUUID()
  await store.write([write(entity, [...points(1, 2, 3), long('other', 1, 1)])])
  assert.equal((await store.history(entity, raw(['k']))).value.get('k')?.length, 3)
  await assert.rejects(store.history(entity, raw(['k', 'other'])), { kind: 'invalid', status: 400 })
  assert.deepEqual((await store.latest('no uuid', undefined)).value, [])
  assert.deepEqual(await store.keys('no uuid'), [])
  await assert.rejects(store.write([write('no uuid', points(1))]), { kind: 'invalid' })
})
