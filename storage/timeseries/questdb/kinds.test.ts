/** Statements for series of one kind of value give what one for all kinds gives, whichever was guessed. */
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import type { HistoryQuery } from '../../../model/telemetry-query.ts'
import type { DataPoint, TypedValue } from '../../../model/value.ts'
import { Aggregate } from '../embedded/aggregate.ts'
import { raw, write } from '../contract.ts'
import { seededRandom } from '../../../test/support/seeded-random.ts'
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

function expected(points: readonly DataPoint[], agg: Exclude<HistoryQuery['agg'], 'NONE'>): DataPoint[] {
  return BORDERS.slice(0, -1).flatMap((start) => {
    const aggregate = new Aggregate()
    for (const { ts, type, value } of points) if (ts >= start && ts < start + 10) aggregate.add(type, value)
    const value = aggregate.result(agg)
    return value === undefined ? [] : [{ key: 'k', ts: start + 5, ...value }]
  })
}
