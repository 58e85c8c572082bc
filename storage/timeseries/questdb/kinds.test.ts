/** Statements for series of one kind of value give what one for all kinds gives, whichever was guessed. */
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import type { HistoryQuery } from '../../../model/telemetry-query.ts'
import type { DataPoint, TypedValue } from '../../../model/value.ts'
import { Aggregate } from '../embedded/aggregate.ts'
import { raw, write } from '../contract.ts'
import { seededRandom } from '../../../test/support/seeded-random.ts'
import { MAX_TS } from './rows.ts'
import { clockOf, openedStore, serversForFile } from './testkit.ts'

const servers = await serversForFile()
const BORDERS = [0, 10, 20, 30]
const LEAST = -(2n ** 63n)
const MOST = 2n ** 63n - 1n
const KINDS: Readonly<Record<string, readonly TypedValue[]>> = {
  doubles: [1.5, -2, 0, 1e300].map((value) => ({ type: 'DOUBLE', value })),
  longs: [5, -7, 0, 2 ** 52].map((value) => ({ type: 'LONG', value })),
  'longs whose sum overflows': [MOST, MOST, LEAST, MOST].map((value) => ({ type: 'LONG', value })),
  'longs whose sum comes back to where it was': [MOST, MOST, 2, 5].map((value) => ({ type: 'LONG', value })),
  'doubles and a long': [1.5, 2.5]
    .map((value): TypedValue => ({ type: 'DOUBLE', value }))
    .concat({ type: 'LONG', value: 9 }),
  'no number': [
    { type: 'DOUBLE', value: 2 },
    { type: 'DOUBLE', value: NaN },
  ],
  texts: ['b', 'a'].map((value) => ({ type: 'STRING', value })),
  'words and numbers': [
    { type: 'BOOLEAN', value: true },
    { type: 'LONG', value: 3 },
    { type: 'JSON', value: '{}' },
  ],
}

test(
  'issue-9 speed: aggregations of series of any kind, each behind each other',
  { skip: servers === undefined },
  async (context) => {
    assert.ok(servers !== undefined)
    const { store } = await openedStore(context, servers)
    const random = seededRandom()
    const series = Object.entries(KINDS).map(([name, values]) => {
      const points = Array.from({ length: 24 }, (_, index): DataPoint => {
        const value = values[index % values.length]
        assert.ok(value !== undefined)
        return { key: 'k', ts: index, ...value }
      })
      return { name, entity: randomUUID(), points }
    })
    await store.write(series.map(({ entity, points }) => write(entity, points)))
    for (let question = 0; question < 200; question++) {
      const { name, entity, points } = random.pick(series)
      const agg = random.pick(['AVG', 'SUM', 'MIN', 'MAX', 'COUNT'] as const)
      const query = raw(['k'], { agg, startTs: 0, endTs: 30, borders: BORDERS })
      const found = (await store.history(entity, query)).value.get('k') ?? []
      assert.deepEqual(found, expected(points, agg), `SEED=${random.seed} ${agg} of ${name}`)
    }
  },
)

test(
  'issue-9 speed: even buckets begin where they are asked to, cut short or longer at both ends',
  { skip: servers === undefined },
  async (context) => {
    assert.ok(servers !== undefined)
    const { store } = await openedStore(context, servers)
    const random = seededRandom()
    const entity = randomUUID()
    const times = [-400, -5, 0, 1, 999, 1000, 59_999, 60_000, 3_600_000, 1_700_000_000_000, 1_700_000_000_777, MAX_TS]
    const points = times.map((ts, index): DataPoint => ({ key: 'k', ts, type: 'LONG', value: index + 1 }))
    await store.write([write(entity, points)])
    for (let question = 0; question < 60; question++) {
      const agg = random.pick(['AVG', 'SUM', 'MIN', 'MAX', 'COUNT'] as const)
      const step = random.pick([1, 7, 1000, 86_400_000, 3_153_600_000_000])
      const first = random.pick(times) - random.pick([0, 1, 500, 60_000])
      const begin = first - random.pick([0, 1, step, 3 * step])
      const inner = Array.from({ length: random.pick([0, 1, 2, 3, 200]) }, (_, index) => first + (index + 1) * step)
      const end = (inner.at(-1) ?? first) + random.pick([1, step, 10 * step])
      const borders = [begin, ...inner, end]
      const query = raw(['k'], { agg, startTs: begin, endTs: end, borders })
      const found = (await store.history(entity, query)).value.get('k') ?? []
      assert.deepEqual(
        found,
        expected(points, agg, borders),
        `SEED=${random.seed} ${agg} of ${borders.slice(0, 4).join()}`,
      )
    }
  },
)

test(
  'issue-9 speed: points expire to the millisecond, though the query says it to the hour',
  { skip: servers === undefined },
  async (context) => {
    assert.ok(servers !== undefined)
    const begin = Date.UTC(2026, 0, 1)
    const ttlSeconds = 600
    let now = begin + 1_800_000
    const { store } = await openedStore(context, servers, { clock: clockOf(() => now) })
    const series = Object.values(KINDS).map((values) => {
      const points = Array.from({ length: 24 }, (_, index): DataPoint => {
        const value = values[index % values.length]
        assert.ok(value !== undefined)
        return { key: 'k', ts: index, ...value }
      })
      return { entity: randomUUID(), points, kept: points.filter(({ ts }) => ts % 3 > 0) }
    })
    for (const { entity, points, kept } of series) {
      const expiring = points.filter((point) => !kept.includes(point))
      await store.write([write(entity, kept), write(entity, expiring, { ttlSeconds })])
    }
    const gone = now + ttlSeconds * 1000
    for (const [time, isGone] of [
      [gone - 1, false],
      [gone, true],
      [begin + 3_600_000, true],
    ] as const) {
      now = time
      for (const { entity, points, kept } of series) {
        const left = isGone ? kept : points
        const rows = (await store.history(entity, raw(['k'], { limit: 5 }))).value.get('k')
        assert.deepEqual(
          rows?.map(({ ts }) => ts),
          left.slice(0, 5).map(({ ts }) => ts),
        )
        for (const agg of ['AVG', 'MAX', 'COUNT'] as const) {
          const query = raw(['k'], { agg, startTs: 0, endTs: 30, borders: BORDERS })
          assert.deepEqual((await store.history(entity, query)).value.get('k') ?? [], expected(left, agg), agg)
        }
      }
    }
  },
)

function expected(
  points: readonly DataPoint[],
  agg: Exclude<HistoryQuery['agg'], 'NONE'>,
  borders: readonly number[] = BORDERS,
): DataPoint[] {
  return borders.slice(0, -1).flatMap((start, index) => {
    const end = borders[index + 1] ?? start
    const aggregate = new Aggregate()
    for (const { ts, type, value } of points) if (ts >= start && ts < end) aggregate.add(type, value)
    const value = aggregate.result(agg)
    return value === undefined ? [] : [{ key: 'k', ts: start + Math.floor((end - start) / 2), ...value }]
  })
}
