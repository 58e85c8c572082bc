/** What every time-series store promises, as tests: one call for each implementation. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { HistoryQuery } from '../../model/telemetry-query.ts'
import { sameValue, type DataPoint, type TypedValue } from '../../model/value.ts'
import type { PointsWrite, TimeSeriesStore } from './store.ts'

/** Opens the store of this place; a second call after `close` finds what was written. */
export type OpenStore = () => Promise<TimeSeriesStore>

let nextEntity = 1
function newEntity(): string {
  return `00000000-0000-4000-8000-${String(nextEntity++).padStart(12, '0')}`
}

export function write(entityId: string, points: readonly DataPoint[], change: Partial<PointsWrite> = {}): PointsWrite {
  return { entityId, points, sequence: 0, ttlSeconds: 0, history: true, latest: true, ...change }
}

export function long(key: string, ts: number, value: number | bigint): DataPoint {
  return { key, ts, type: 'LONG', value }
}

export function raw(keys: readonly string[], change: Partial<HistoryQuery> = {}): HistoryQuery {
  return { keys, startTs: -1e15, endTs: 1e15, agg: 'NONE', limit: 1000, order: 'ASC', ...change }
}

function assertSame(actual: readonly DataPoint[] | undefined, expected: readonly DataPoint[]): void {
  assert.ok(actual !== undefined, 'the key is absent')
  assert.deepEqual(
    actual.map(({ ts }) => ts),
    expected.map(({ ts }) => ts),
  )
  for (const [index, point] of expected.entries()) {
    const found = actual[index]
    assert.ok(
      found !== undefined && found.key === point.key && sameValue(found, point),
      `${String(found?.value)} for ${String(point.value)}`,
    )
  }
}

export function testTimeSeriesStore(name: string, open: OpenStore): void {
  describe(name, () => {
    let store: TimeSeriesStore
    before(async () => {
      store = await open()
    })
    after(() => store.close())
    const current = () => store
    testValues(current)
    testReads(current)
    testLatest(current)
    testDeletes(current)
    testAggregates(current)
    testCommits(current)

    test('finds everything again after it was closed and opened', async () => {
      const entity = newEntity()
      await store.write([write(entity, [long('a', 5, 1), { key: 'b', ts: 6, type: 'STRING', value: 'x' }])])
      const { sequence } = await store.latest(entity, undefined)
      await store.close()
      await store.close()
      store = await open()
      const again = await store.history(entity, raw(['a', 'b']))
      assertSame(again.value.get('a'), [long('a', 5, 1)])
      assert.ok(again.sequence >= sequence, 'commit numbers go back')
      assert.deepEqual(await store.keys(entity), ['a', 'b'])
    })
  })
}

function testValues(store: () => TimeSeriesStore): void {
  const values: readonly TypedValue[] = [
    { type: 'LONG', value: 2 },
    { type: 'DOUBLE', value: 2 },
    { type: 'LONG', value: 9223372036854775807n },
    { type: 'LONG', value: -9223372036854775808n },
    { type: 'LONG', value: Number.MAX_SAFE_INTEGER },
    { type: 'LONG', value: Number.MIN_SAFE_INTEGER },
    { type: 'DOUBLE', value: -0 },
    { type: 'DOUBLE', value: 0.1 + 0.2 },
    { type: 'DOUBLE', value: 1.7976931348623157e308 },
    { type: 'DOUBLE', value: 5e-324 },
    { type: 'BOOLEAN', value: true },
    { type: 'BOOLEAN', value: false },
    { type: 'STRING', value: '' },
    { type: 'STRING', value: 'grüße 温度 🌡️\u0000'.repeat(30) },
    { type: 'JSON', value: '{"a":[1,2.0,null]}' },
  ]
  for (const [index, value] of values.entries()) {
    test(`keeps value and type: ${value.type} ${String(value.value).slice(0, 30)} (${index})`, async () => {
      const entity = newEntity()
      const point = { key: 'k', ts: 1, ...value }
      await store().write([write(entity, [point])])
      assertSame((await store().history(entity, raw(['k']))).value.get('k'), [point])
      assertSame((await store().latest(entity, ['k'])).value, [point])
    })
  }

  test('keeps keys of any text apart, and negative and far times', async () => {
    const entity = newEntity()
    const points = ['k', 'K', 'ключ', '温度 🌡️', '__proto__', 'constructor', 'with space'].map((key, index) =>
      long(key, -index * 1e12, index),
    )
    points.push(long('k', -8.64e15, 7), long('k', 8.64e15, 8))
    await store().write([write(entity, points)])
    assert.equal((await store().keys(entity)).length, 7)
    assertSame((await store().history(entity, raw(['温度 🌡️']))).value.get('温度 🌡️'), [long('温度 🌡️', -3e12, 3)])
    const all = { startTs: -8.64e15, endTs: 8.64e15 + 1 }
    const found = (await store().history(entity, raw(['k'], all))).value.get('k')
    assert.deepEqual(
      found?.map(({ ts }) => ts),
      [-8.64e15, 0, 8.64e15],
    )
  })

  test('refuses a time that is no whole millisecond and keeps nothing of the batch', async () => {
    const entity = newEntity()
    for (const ts of [1.5, NaN, 8.64e15 + 2]) {
      await assert.rejects(store().write([write(entity, [long('k', 1, 1), long('k', ts, 1)])]), { kind: 'invalid' })
    }
    assert.deepEqual(await store().keys(entity), [])
  })
}

function testReads(store: () => TimeSeriesStore): void {
  test('answers the range from start to before end, newest or oldest first, at most the limit a key', async () => {
    const entity = newEntity()
    await store().write([
      write(
        entity,
        [3, 1, 5, 2, 4].map((ts) => long('k', ts, ts)),
      ),
    ])
    const times = async (change: Partial<HistoryQuery>) =>
      (await store().history(entity, raw(['k'], change))).value.get('k')?.map(({ ts }) => ts)
    assert.deepEqual(await times({ startTs: 2, endTs: 5 }), [2, 3, 4])
    assert.deepEqual(await times({ order: 'DESC', limit: 2 }), [5, 4])
    assert.deepEqual(await times({ order: 'ASC', limit: 2 }), [1, 2])
    assert.equal(await times({ startTs: 6 }), undefined)
    assert.equal(await times({ startTs: 5, endTs: 5 }), undefined)
  })

  test('a later write of the same key and time takes the place of the earlier, of any type', async () => {
    const entity = newEntity()
    await store().write([write(entity, [long('k', 1, 1), long('k', 2, 2)])])
    await store().write([write(entity, [{ key: 'k', ts: 1, type: 'STRING', value: 'new' }])])
    await store().write([write(entity, [long('k', 2, 3), long('k', 2, 4)])])
    assertSame((await store().history(entity, raw(['k']))).value.get('k'), [
      { key: 'k', ts: 1, type: 'STRING', value: 'new' },
      long('k', 2, 4),
    ])
  })

  test('keeps entities and keys apart and leaves out keys without points', async () => {
    const [one, other] = [newEntity(), newEntity()]
    await store().write([write(one, [long('a', 1, 1)]), write(other, [long('b', 1, 2)])])
    const { value } = await store().history(one, raw(['a', 'b']))
    assert.deepEqual([...value.keys()], ['a'])
  })

  test('a point with a time to live is gone after it, and does not bring back what it overwrote', async () => {
    const entity = newEntity()
    await store().write([write(entity, [long('k', 1, 1), long('k', 2, 2)])])
    await store().write([write(entity, [long('k', 2, 3)], { ttlSeconds: 3600 })])
    assertSame((await store().history(entity, raw(['k']))).value.get('k'), [long('k', 1, 1), long('k', 2, 3)])
  })
}

function testLatest(store: () => TimeSeriesStore): void {
  const latest = async (entity: string) => (await store().latest(entity, ['k'])).value[0]?.value

  test('O3: the latest value never goes back in time, nor at one time in sequence', async () => {
    const entity = newEntity()
    await store().write([write(entity, [long('k', 10, 1)], { sequence: 5 })])
    await store().write([write(entity, [long('k', 9, 2)], { sequence: 6 })])
    assert.equal(await latest(entity), 1)
    await store().write([write(entity, [long('k', 10, 3)], { sequence: 4 })])
    assert.equal(await latest(entity), 1)
    await store().write([write(entity, [long('k', 10, 4)], { sequence: 7 })])
    assert.equal(await latest(entity), 4)
    await store().write([write(entity, [long('k', 10, 5)])])
    assert.equal(await latest(entity), 5, 'a write without a sequence counts as newest')
    await store().write([write(entity, [long('k', 10, 4)], { sequence: 7 })])
    assert.equal(await latest(entity), 5, 'a replay went back behind it')
  })

  test('history and latest values are written each without the other where asked for', async () => {
    const entity = newEntity()
    await store().write([write(entity, [long('k', 1, 1)], { latest: false })])
    assert.deepEqual(await store().keys(entity), [])
    await store().write([write(entity, [long('k', 2, 2)], { history: false })])
    assert.equal(await latest(entity), 2)
    await store().write([write(entity, [long('h', 1, 1), long('far', -8e15, 1)], { latest: false })])
    assert.deepEqual(await store().keys(entity), ['k'])
    assert.deepEqual(await store().storedKeys(entity), ['far', 'h', 'k'])
    assert.deepEqual(await store().storedKeys(newEntity()), [])
    assertSame((await store().history(entity, raw(['k']))).value.get('k'), [long('k', 1, 1)])
  })

  test('answers all keys where none is named and skips those without a value', async () => {
    const entity = newEntity()
    await store().write([write(entity, [long('b', 1, 1), long('a', 1, 2)])])
    assert.deepEqual(
      (await store().latest(entity, undefined)).value.map(({ key }) => key),
      ['a', 'b'],
    )
    assert.deepEqual(
      (await store().latest(entity, ['b', 'none'])).value.map(({ key }) => key),
      ['b'],
    )
    assert.deepEqual((await store().latest(newEntity(), undefined)).value, [])
  })
}

function testDeletes(store: () => TimeSeriesStore): void {
  test('erasing what was deleted leaves the rest as it is, and what is written anew', async () => {
    const [gone, other] = [newEntity(), newEntity()]
    await store().write([write(gone, [long('k', 1, 1), long('k', 2, 2)]), write(other, [long('k', 1, 3)])])
    await store().deleteEntity(gone)
    await store().write([write(gone, [long('k', 2, 4)])])
    await store().eraseDeleted()
    assertSame((await store().history(gone, raw(['k']))).value.get('k'), [long('k', 2, 4)])
    assertSame((await store().history(other, raw(['k']))).value.get('k'), [long('k', 1, 3)])
    assertSame((await store().latest(other, ['k'])).value, [long('k', 1, 3)])
  })

  const range = { keys: ['k'], startTs: 2, endTs: 4, deleteLatest: true, rewriteLatest: false }
  const times = async (entityId: string) =>
    (await store().history(entityId, raw(['k']))).value.get('k')?.map(({ ts }) => ts)

  test('what the texts among latest values of many entities take is told before they are read', async () => {
    // Else its columns are bounded.
    if (!('latestTextBytes' in store())) return assert.ok('latestColumn' in store())
    const [first, second, without] = [newEntity(), newEntity(), newEntity()]
    const text = (value: string): DataPoint => ({ key: 't', type: 'STRING', value, ts: 1 })
    await store().write([write(first, [text('é'.repeat(1000)), long('n', 1, 3)]), write(second, [text('abc')])])
    assert.equal(await store().latestTextBytes?.([first, second, without], 't'), 2003)
    assert.equal(await store().latestTextBytes?.([first], 'n'), 0)
    assert.equal(await store().latestTextBytes?.([], 't'), 0)
  })

  test('latest values of many entities are read together', async () => {
    const [first, second, without] = [newEntity(), newEntity(), newEntity()]
    await store().write([
      write(first, [long('a', 1, 1), long('a', 2, 2), long('b', 1, 3), long('c', 1, 4)]),
      write(second, [long('b', 5, 6)]),
    ])
    const { value } = await store().latestOfMany([first, second, without], ['a', 'b', 'none'])
    const told = (entity: string) =>
      [...(value.get(entity) ?? [])].map(({ key, ts, value: held }) => [key, ts, Number(held)]).sort()
    assert.deepEqual(told(first), [
      ['a', 2, 2],
      ['b', 1, 3],
    ])
    assert.deepEqual(told(second), [['b', 5, 6]])
    assert.equal(value.has(without), false)
    assert.equal((await store().latestOfMany([], ['a'])).value.size, 0)
    assert.equal((await store().latestOfMany([first], [])).value.size, 0)
  })

  test('a column has the latest value of one key of each entity, in their order', async () => {
    const opened = store()
    if (opened.latestColumn === undefined) return
    const values: readonly DataPoint[] = [
      long('a', 1, -5),
      { key: 'a', ts: 1, type: 'LONG', value: 9007199254740993n },
      { key: 'a', ts: 1, type: 'DOUBLE', value: 0.5 },
      { key: 'a', ts: 1, type: 'BOOLEAN', value: true },
      { key: 'a', ts: 1, type: 'STRING', value: 'one' },
      { key: 'a', ts: 1, type: 'JSON', value: '{"b":1}' },
      { key: 'a', ts: 1, type: 'STRING', value: 'two' },
    ]
    const entities = values.map(() => newEntity())
    await opened.write(
      values.flatMap((value, place) => [write(entities[place] ?? '', [long('b', 1, 7), long('a', 0, 1), value])]),
    )
    const without = newEntity()
    const column = await opened.latestColumn([without, ...entities], 'a')
    assert.deepEqual([...column.kinds], [0, 2, 2, 3, 1, 4, 5, 4])
    const [none, ...numbers] = column.numbers
    assert.equal(none, 0)
    assert.deepEqual(numbers.slice(0, 4), [-5, 9007199254740992, 0.5, 1])
    assert.deepEqual(
      numbers.slice(4).map((place) => column.texts[place]),
      ['one', '{"b":1}', 'two'],
    )
    assert.equal((await opened.latestColumn([], 'a')).kinds.length, 0)
    const many = Array.from({ length: 12_000 }, (_, place) => (place % 1_000 === 0 ? (entities[4] ?? '') : without))
    const wide = await opened.latestColumn(many, 'a')
    assert.equal(wide.kinds.length, many.length)
    for (const [place, kind] of wide.kinds.entries()) assert.equal(kind, place % 1_000 === 0 ? 4 : 0)
    assert.equal(wide.texts[wide.numbers[11_000] ?? 0], 'one')
  })

  test('a column shows what was written and deleted since it was asked for', async () => {
    const opened = store()
    if (opened.latestColumn === undefined) return
    const entities = [newEntity(), newEntity(), newEntity()]
    const [first = '', second = ''] = entities
    const column = async () => [...((await opened.latestColumn?.(entities, 'a'))?.numbers ?? [])]
    assert.deepEqual(await column(), [0, 0, 0])
    await opened.write([write(first, [long('a', 1, 1)]), write(second, [long('a', 1, 2)])])
    assert.deepEqual(await column(), [1, 2, 0])
    await opened.deleteEntity(first)
    await opened.write([write(second, [long('a', 2, 3)])])
    assert.deepEqual(await column(), [0, 3, 0])
    await opened.write([write(first, [long('a', 3, 4)])])
    assert.deepEqual(await column(), [4, 3, 0])
  })

  test('deletes from start to before end and leaves a latest value outside alone', async () => {
    const entityId = newEntity()
    await store().write([
      write(
        entityId,
        [1, 2, 3, 4].map((ts) => long('k', ts, ts)),
      ),
    ])
    const { value } = await store().delete({ ...range, entityId })
    assert.deepEqual(value.latestRemoved, [])
    assert.deepEqual(await times(entityId), [1, 4])
    assert.equal((await store().latest(entityId, ['k'])).value[0]?.ts, 4)
  })

  test('removes the latest value where its time lies in the range, and the key with it', async () => {
    const entityId = newEntity()
    await store().write([
      write(
        entityId,
        [1, 2, 3].map((ts) => long('k', ts, ts)),
      ),
    ])
    const { value } = await store().delete({ ...range, entityId })
    assert.deepEqual(value.latestRemoved, [{ key: 'k', replacement: undefined }])
    assert.deepEqual(await store().keys(entityId), [])
    assert.deepEqual(await times(entityId), [1])
  })

  test('puts the newest older point in the place of a removed latest value', async () => {
    const entityId = newEntity()
    await store().write([
      write(
        entityId,
        [0, 1, 2, 3].map((ts) => long('k', ts, ts)),
      ),
    ])
    const { value } = await store().delete({ ...range, entityId, rewriteLatest: true })
    assert.deepEqual(value.latestRemoved, [{ key: 'k', replacement: long('k', 1, 1) }])
    assert.equal((await store().latest(entityId, ['k'])).value[0]?.ts, 1)
  })

  test('keeps the latest value where it is not to be deleted', async () => {
    const entityId = newEntity()
    await store().write([
      write(
        entityId,
        [1, 2, 3].map((ts) => long('k', ts, ts)),
      ),
    ])
    await store().delete({ ...range, entityId, deleteLatest: false })
    assert.equal((await store().latest(entityId, ['k'])).value[0]?.ts, 3)
    assert.deepEqual(await times(entityId), [1])
  })

  test('takes new points in a deleted range, and forgets a deleted entity wholly', async () => {
    const entityId = newEntity()
    await store().write([
      write(
        entityId,
        [1, 2, 3].map((ts) => long('k', ts, ts)),
      ),
    ])
    await store().delete({ ...range, entityId })
    await store().write([write(entityId, [long('k', 3, 9)])])
    assert.deepEqual(await times(entityId), [1, 3])
    await store().deleteEntity(entityId)
    assert.deepEqual(await store().keys(entityId), [])
    assert.equal(await times(entityId), undefined)
    await store().write([write(entityId, [long('k', 8, 8)])])
    assert.deepEqual(await times(entityId), [8])
  })
}

function testAggregates(store: () => TimeSeriesStore): void {
  const borders = [0, 10, 20, 25]
  const buckets = async (points: readonly DataPoint[], agg: HistoryQuery['agg']) => {
    const entity = newEntity()
    await store().write([write(entity, points)])
    const query = raw(['k'], { agg, borders, startTs: 0, endTs: 25, order: 'DESC', limit: 1 })
    return (await store().history(entity, query)).value.get('k')
  }
  const numbers = [
    long('k', 0, 1),
    long('k', 9, 4),
    long('k', 10, 7),
    long('k', 24, -2),
    long('k', 25, 100),
    long('k', -1, 100),
  ]

  test('aggregates longs by bucket, at its middle, ascending, whatever limit and order say', async () => {
    assertSame(await buckets(numbers, 'SUM'), [long('k', 5, 5), long('k', 15, 7), long('k', 22, -2)])
    assertSame(await buckets(numbers, 'MIN'), [long('k', 5, 1), long('k', 15, 7), long('k', 22, -2)])
    assertSame(await buckets(numbers, 'MAX'), [long('k', 5, 4), long('k', 15, 7), long('k', 22, -2)])
    assertSame(await buckets(numbers, 'COUNT'), [long('k', 5, 2), long('k', 15, 1), long('k', 22, 1)])
    const average = await buckets(numbers, 'AVG')
    assertSame(
      average,
      [5, 15, 22].map((ts, index) => ({ key: 'k', ts, type: 'DOUBLE', value: [2.5, 7, -2][index] ?? 0 })),
    )
  })

  test('mixed numbers make doubles, text counts but adds nothing, empty buckets are left out', async () => {
    const mixed: DataPoint[] = [
      long('k', 1, 3),
      { key: 'k', ts: 2, type: 'DOUBLE', value: 0.5 },
      { key: 'k', ts: 3, type: 'STRING', value: 'zz' },
      { key: 'k', ts: 21, type: 'STRING', value: 'b' },
      { key: 'k', ts: 22, type: 'STRING', value: 'a' },
    ]
    const text = (value: string): DataPoint => ({ key: 'k', ts: 22, type: 'STRING', value })
    const double = (ts: number, value: number): DataPoint => ({ key: 'k', ts, type: 'DOUBLE', value })
    assertSame(await buckets(mixed, 'SUM'), [double(5, 3.5), long('k', 22, 0)])
    assertSame(await buckets(mixed, 'AVG'), [double(5, 1.75), double(22, 0)])
    assertSame(await buckets(mixed, 'COUNT'), [long('k', 5, 3), long('k', 22, 2)])
    assertSame(await buckets(mixed, 'MIN'), [double(5, 0.5), text('a')])
    assertSame(await buckets(mixed, 'MAX'), [double(5, 3), text('b')])
  })

  test('refuses an aggregation without two borders', async () => {
    const entity = newEntity()
    await store().write([write(entity, [long('k', 1, 1)])])
    for (const change of [{}, { borders: [] }, { borders: [0] }]) {
      await assert.rejects(store().history(entity, raw(['k'], { agg: 'SUM', ...change })), { kind: 'invalid' })
    }
  })

  test('sums 64-bit integers exactly', async () => {
    const big = 9007199254740993n
    assertSame(await buckets([long('k', 1, big), long('k', 2, big)], 'SUM'), [long('k', 5, big * 2n)])
  })
}

function testCommits(store: () => TimeSeriesStore): void {
  test('a read after a write sees it, and its snapshot speaks of that commit', async () => {
    const entity = newEntity()
    let last = 0
    for (let ts = 0; ts < 20; ts++) {
      const commit = await store().write([write(entity, [long('k', ts, ts)])])
      assert.ok(commit > last, 'commits are numbered in their order')
      last = commit
      const { value, sequence } = await store().latest(entity, ['k'])
      assert.equal(value[0]?.ts, ts)
      assert.ok(sequence >= commit)
    }
  })

  test('concurrent writes are all stored, those of one caller in order', async () => {
    const entity = newEntity()
    const commits: Promise<number>[] = []
    for (let index = 0; index < 500; index++)
      commits.push(store().write([write(entity, [long('k', index % 50, index)])]))
    const numbers = await Promise.all(commits)
    assert.deepEqual(
      numbers,
      [...numbers].sort((a, b) => a - b),
    )
    const points = (await store().history(entity, raw(['k']))).value.get('k')
    assert.deepEqual(
      points?.map(({ value }) => value),
      Array.from({ length: 50 }, (_, ts) => 450 + ts),
    )
  })

  test('an empty write resolves', async () => {
    await store().write([])
    await store().write([write(newEntity(), [])])
  })
}
