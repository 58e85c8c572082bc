/** QuestDB's own traps, each shown on QuestDB itself where it can be, then with the store. */
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test, type TestContext } from 'node:test'
import { QUESTDB_LOAD_SETTINGS } from '../../../test/support/servers/questdb.ts'
import { seededRandom, type SeededRandom } from '../../../test/support/seeded-random.ts'
import { sameValue, type DataPoint, type TypedValue } from '../../../model/value.ts'
import { long, raw, write } from '../contract.ts'
import { assertLateKeyIsHeld } from '../postgres/late-key.testkit.ts'
import { SHARDS, shardOf } from './shards.ts'
import { clockOf, freshPlace, openedStore, serversForFile, type Place } from './testkit.ts'
import type { QuestDbTimeSeries } from './store.ts'

const servers = await serversForFile()

function check(
  sentence: string,
  run: (store: QuestDbTimeSeries, entity: string, place: Place, context: TestContext) => Promise<void>,
): void {
  test(sentence, { skip: servers === undefined }, async (context) => {
    assert.ok(servers !== undefined)
    const { store, place } = await openedStore(context, servers)
    await run(store, randomUUID(), place, context)
  })
}

async function points(store: QuestDbTimeSeries, entity: string, key = 'k'): Promise<readonly DataPoint[]> {
  return (await store.history(entity, raw([key], { startTs: -8.64e15, endTs: 8.64e15 + 1 }))).value.get(key) ?? []
}

check(
  'a negative time fails a whole batch of QuestDB, and costs nobody anything here',
  async (store, entity, place) => {
    const line = (ts: string) =>
      `${place.table},shard=${shardOf(entity)} entity="${entity}",key=1i,kind=2i,long_v=1i ${ts}t\n`
    await assert.rejects(place.questdb.write(line('0') + line('-1000')), { code: 'questdb.POINTS_REFUSED' })
    const other = randomUUID()
    await Promise.all([
      store.write([write(entity, [long('k', -5, 1), long('k', 5, 2), long('k', -8.64e15, 3)])]),
      store.write([write(other, [long('k', 7, 4)])]),
    ])
    assert.deepEqual(
      (await points(store, entity)).map(({ ts, value }) => [ts, value]),
      [
        [-8.64e15, 3],
        [-5, 1],
        [5, 2],
      ],
    )
    assert.deepEqual(await points(store, other), [long('k', 7, 4)])
    const kept = await place.questdb.query(`select count() from ${place.table} where long_v = 1 and ts = 0`)
    assert.deepEqual(kept, [[0]], 'QuestDB kept part of what it refused')
  },
)

check(
  'no row of QuestDB can be removed: of an erased entity its values are taken out',
  async (store, entity, place) => {
    const other = randomUUID()
    const all: readonly DataPoint[] = [
      long('k', 1, 77),
      { key: 'k', ts: 2, type: 'STRING', value: 'said' },
      { key: 'k', ts: 3, type: 'DOUBLE', value: 7.5 },
    ]
    await store.write([write(entity, all), write(other, all)])
    await store.deleteEntity(entity)
    const { isGone, rest } = await store.eraseDeleted()
    assert.equal(isGone, false)
    assert.match(rest ?? '', /QuestDB removes the replaced files/)
    const held = await place.questdb.query(
      `select count(), count(long_v), count(dbl_v), count(text_v) from ${place.table} where entity = '${entity}'`,
    )
    assert.deepEqual(held, [[3, 0, 0, 0]])
    assert.deepEqual(await points(store, entity), [])
    assert.deepEqual(await points(store, other), all)
  },
)

check(
  'points outside of the times of QuestDB aggregate, expire and are deleted as all others',
  async (store, entity) => {
    const far = 253_402_300_800_000
    await store.write([write(entity, [long('k', -10, 1), long('k', 10, 2), long('k', far, 4), long('k', -10, 8)])])
    const borders = [-20, 0, 20, far + 1]
    const sum = raw(['k'], { agg: 'SUM', startTs: -20, endTs: far + 1, borders })
    assert.deepEqual(
      (await store.history(entity, sum)).value.get('k')?.map(({ value }) => value),
      [8, 2, 4],
    )
    const newest = raw(['k'], { limit: 2, order: 'DESC', endTs: far + 1 })
    assert.deepEqual(
      (await store.history(entity, newest)).value.get('k')?.map(({ ts }) => ts),
      [far, 10],
    )
    const range = { entityId: entity, keys: ['k'], startTs: -20, endTs: 0, deleteLatest: false, rewriteLatest: false }
    await store.delete(range)
    assert.deepEqual(
      (await points(store, entity)).map(({ ts }) => ts),
      [10, far],
    )
  },
)

check('the least 64-bit integer is null to QuestDB, and is itself here, in sums too', async (store, entity) => {
  const least = -9223372036854775808n
  await store.write([
    write(entity, [long('k', 1, least), long('k', 2, 5), long('k', 3, 2n ** 62n), long('k', 4, 2n ** 62n)]),
  ])
  const result = async (agg: 'MIN' | 'MAX' | 'SUM' | 'COUNT') => {
    const query = raw(['k'], { agg, startTs: 0, endTs: 10, borders: [0, 10] })
    return (await store.history(entity, query)).value.get('k')?.[0]?.value
  }
  assert.equal((await points(store, entity))[0]?.value, least)
  assert.equal(await result('MIN'), least)
  assert.equal(await result('MAX'), 2n ** 62n)
  assert.equal(await result('SUM'), 5)
  assert.equal(await result('COUNT'), 4)
})

check('a sum beyond 64 bits does not wrap around', async (store, entity) => {
  const most = 9223372036854775807n
  await store.write([write(entity, [long('k', 1, most), long('k', 2, most)])])
  const query = raw(['k'], { agg: 'SUM', startTs: 0, endTs: 10, borders: [0, 10] })
  const [sum] = (await store.history(entity, query)).value.get('k') ?? []
  assert.deepEqual(sum, { key: 'k', ts: 5, type: 'DOUBLE', value: 2 * Number(most) })
})

check('what is not a finite number is null to QuestDB, and is itself here', async (store, entity) => {
  const values = [NaN, Infinity, -Infinity, -0]
  const sent = values.map((value, ts): DataPoint => ({ key: 'k', ts, type: 'DOUBLE', value }))
  await store.write([write(entity, sent)])
  const found = await points(store, entity)
  for (const [index, value] of values.entries()) assert.ok(Object.is(found[index]?.value, value), String(value))
  const borders = [0, 1, 2, 4]
  const query = raw(['k'], { agg: 'SUM', startTs: 0, endTs: 4, borders })
  const sums = (await store.history(entity, query)).value.get('k')?.map(({ value }) => value)
  assert.deepEqual(sums, [NaN, Infinity, -Infinity])
})

check(
  'any text is stored as it is: control characters, quotes, half surrogates, as a value and as a key',
  async (store, entity) => {
    const texts = [
      Array.from({ length: 34 }, (_, code) => String.fromCharCode(code)).join(''),
      `it's "quoted" \\ back\\\\slashed, a=b`,
      'half \ud800 and \udc00',
      '\u001a0000',
      '',
      'null',
      '🌡️'.repeat(50_000),
    ]
    await store.write([
      write(
        entity,
        texts.map((value, ts): DataPoint => ({ key: 'k', ts, type: 'STRING', value })),
      ),
    ])
    assert.deepEqual(
      (await points(store, entity)).map(({ value }) => value),
      texts,
    )
    const keys = texts.slice(0, 6)
    await store.write([
      write(
        entity,
        keys.map((key) => long(key, 1, key.length)),
      ),
    ])
    for (const key of keys) assert.deepEqual(await points(store, entity, key), [long(key, 1, key.length)])
  },
)

check(
  'a text that QuestDB cuts off in its answer, and all after it, is read in pieces',
  async (store, entity, place) => {
    const texts = ['short', '\u0001"🌡️'.repeat(200_000), 'x'.repeat(3_000_000), 'after']
    await store.write([
      write(
        entity,
        texts.map((value, ts): DataPoint => ({ key: 'k', ts, type: 'STRING', value })),
      ),
    ])
    const found = await points(store, entity)
    assert.equal(found.length, texts.length)
    // Not deepEqual: it would print megabytes.
    for (const [index, text] of texts.entries()) assert.ok(found[index]?.value === text, `text ${index}`)
    const direct = place.questdb.query(`select text_v from ${place.table} where entity = '${entity}'`)
    await assert.rejects(direct, { code: 'timeseries.ANSWER_TOO_BIG' })
  },
)

check('processes that open the store at the same time make one table', async (_, entity, __, context) => {
  assert.ok(servers !== undefined)
  const place = await freshPlace(servers)
  const stores = await Promise.all([place.open(), place.open(), place.open()])
  for (const store of stores) context.after(() => store.close())
  for (const [ts, store] of stores.entries()) await store.write([write(entity, [long('k', ts, ts)])])
  for (const store of stores) assert.equal((await points(store, entity)).length, stores.length)
})

check('a table has all its shards before its first point, and no point brings another', async (store, _, place) => {
  const shards = async () => {
    const sql = `select symbolTableSize from table_columns('${place.table}') where "column" = 'shard'`
    return (await place.questdb.query(sql))[0]?.[0]
  }
  assert.equal(await shards(), SHARDS)
  const entities = Array.from({ length: 2000 }, () => randomUUID())
  await store.write(entities.map((each, ts) => write(each, [long('k', ts, ts)])))
  assert.equal((await points(store, entities[0] ?? '')).length, 1)
  assert.equal(await shards(), SHARDS)
  const misplaced = `select count() from ${place.table} where kind >= 0 and (shard is null or entity is null or key is null)`
  assert.deepEqual(await place.questdb.query(misplaced), [[0]])
})

check('random values of all types come back bit for bit', async (store, entity) => {
  const random = seededRandom()
  const sent = Array.from({ length: 3000 }, (_, ts): DataPoint => ({ key: 'k', ts, ...randomValue(random) }))
  await store.write([write(entity, sent)])
  const found = (await store.history(entity, raw(['k'], { limit: 5000 }))).value.get('k') ?? []
  assert.equal(found.length, sent.length, `seed ${random.seed}`)
  for (const [index, point] of sent.entries()) {
    const read = found[index]
    assert.ok(read !== undefined && sameValue(read, point), `${String(point.value)}, seed ${random.seed}`)
  }
})

check(
  'rows cannot be removed, yet a deleted point is gone and one written after it in its place is seen',
  async (store, entity) => {
    const range = { entityId: entity, keys: ['k'], startTs: 10, endTs: 20, deleteLatest: true, rewriteLatest: false }
    const times = async () => (await points(store, entity)).map(({ ts, value }) => [ts, value])
    await store.write([
      write(
        entity,
        [5, 10, 15, 20].map((ts) => long('k', ts, 1)),
      ),
    ])
    await store.delete(range)
    await store.write([write(entity, [long('k', 15, 2)])])
    assert.deepEqual(await times(), [
      [5, 1],
      [15, 2],
      [20, 1],
    ])
    await store.delete({ ...range, startTs: 0, endTs: 100 })
    await store.write([write(entity, [long('k', 12, 3)])])
    assert.deepEqual(await times(), [[12, 3]])
    const borders = [0, 100]
    const count = raw(['k'], { agg: 'COUNT', startTs: 0, endTs: 100, borders })
    assert.equal((await store.history(entity, count)).value.get('k')?.[0]?.value, 1)
  },
)

check('many deletions of one series are folded into its rows, and hide what they hid', async (store, entity, place) => {
  await store.write([
    write(
      entity,
      Array.from({ length: 200 }, (_, ts) => long('k', ts, 1)),
    ),
  ])
  const expected = new Set(Array.from({ length: 200 }, (_, ts) => ts))
  const marked = `select count() from ${place.table} where kind < 0`
  for (let round = 0; round < 40; round++) {
    const startTs = (round * 4) % 190
    const range = {
      entityId: entity,
      keys: ['k'],
      startTs,
      endTs: startTs + 3,
      deleteLatest: false,
      rewriteLatest: false,
    }
    await store.delete(range)
    for (let ts = startTs; ts < startTs + 3; ts++) expected.delete(ts)
    if (round % 5 === 0) {
      await store.write([write(entity, [long('k', startTs, 2)])])
      expected.add(startTs)
    }
    assert.deepEqual(
      (await points(store, entity)).map(({ ts }) => ts),
      [...expected].sort((a, b) => a - b),
      `round ${round}`,
    )
  }
  assert.ok(Number((await place.questdb.query(marked))[0]?.[0]) > 50, 'nothing was folded')
  const count = raw(['k'], { agg: 'COUNT', startTs: 0, endTs: 1000, borders: [0, 1000] })
  assert.equal((await store.history(entity, count)).value.get('k')?.[0]?.value, expected.size)
})

check('another process sees what was written and what was deleted at once', async (store, entity, place, context) => {
  const other = await place.open()
  context.after(() => other.close())
  for (let round = 0; round < 20; round++) {
    const commit = await store.write([write(entity, [long('k', round, round)])])
    const { value, sequence } = await other.history(entity, raw(['k']))
    assert.equal(value.get('k')?.at(-1)?.value, round)
    assert.ok(sequence >= commit)
    const range = { entityId: entity, keys: ['k'], startTs: 0, endTs: 100, deleteLatest: true, rewriteLatest: false }
    await other.delete(range)
    assert.deepEqual(await points(store, entity), [])
  }
})

check('buckets of uneven length, more than one statement takes, are those of a plain count', async (store, entity) => {
  const random = seededRandom()
  const sent = Array.from({ length: 2000 }, () => long('k', Math.floor(random.next() * 1e6), 1))
  await store.write([write(entity, sent)])
  const borders = [0]
  while (borders.length <= 600) borders.push((borders.at(-1) ?? 0) + 1 + Math.floor(random.next() * 3000))
  const end = borders.at(-1) ?? 0
  const times = [...new Set(sent.map(({ ts }) => ts))]
  const expected = borders.slice(0, -1).flatMap((start, index) => {
    const next = borders[index + 1] ?? 0
    const count = times.filter((ts) => ts >= start && ts < next).length
    return count === 0 ? [] : [[start + Math.floor((next - start) / 2), count]]
  })
  const query = raw(['k'], { agg: 'COUNT', startTs: 0, endTs: end, borders })
  const found = (await store.history(entity, query)).value.get('k')?.map(({ ts, value }) => [ts, value])
  assert.deepEqual(found, expected, `seed ${random.seed}`)
})

check('even buckets whose first and last are cut short are those of a plain count', async (store, entity) => {
  await store.write([
    write(
      entity,
      Array.from({ length: 100 }, (_, ts) => long('k', ts, 1)),
    ),
  ])
  for (const borders of [
    [3, 10, 20, 30, 35],
    [0, 10, 20, 100],
    [7, 8],
    [1, 50, 60],
    [0, 45, 50, 55, 100],
  ]) {
    const end = borders.at(-1) ?? 0
    const query = raw(['k'], { agg: 'COUNT', startTs: borders[0] ?? 0, endTs: end, borders })
    const counts = (await store.history(entity, query)).value.get('k')?.map(({ value }) => value)
    assert.deepEqual(
      counts,
      borders.slice(1).map((border, index) => border - (borders[index] ?? 0)),
      borders.join(),
    )
  }
})

check('a point whose time to live ends is gone from rows and from buckets', async (_, entity, place, context) => {
  let now = Date.now()

  const store = await place.open({ clock: clockOf(() => now) })
  context.after(() => store.close())
  await store.write([
    write(entity, [long('k', 1, 1), long('k', -1, 1)], { ttlSeconds: 60 }),
    write(entity, [long('k', 2, 1)]),
  ])
  assert.equal((await points(store, entity)).length, 3)
  now += 60_000
  assert.deepEqual(
    (await points(store, entity)).map(({ ts }) => ts),
    [2],
  )
})

check(
  'partitions older than the time to live are dropped, and a point from the future costs nothing',
  async (_, entity, place, context) => {
    const store = await place.open({ ttlSeconds: 10 * 86_400 })
    context.after(() => store.close())
    const now = Date.now()
    const day = 86_400_000
    await store.write([
      write(
        entity,
        [now - 40 * day, now, now + 3000 * day].map((ts) => long('k', ts, 1)),
      ),
    ])
    const kept = (await points(store, entity)).map(({ ts }) => ts)
    assert.deepEqual(kept, [now, now + 3000 * day])
  },
)

check(
  'an answer of more points than there is room for is refused, whatever the limit',
  async (_, entity, place, context) => {
    const store = await place.open({ maxAnswerPoints: 10 })
    context.after(() => store.close())
    await store.write([
      write(
        entity,
        Array.from({ length: 12 }, (_unused, ts) => long(ts < 6 ? 'a' : 'b', ts, 1)),
      ),
    ])
    await assert.rejects(store.history(entity, raw(['a', 'b'])), { kind: 'invalid', code: 'timeseries.ANSWER_TOO_BIG' })
    assert.equal((await store.history(entity, raw(['a', 'b'], { limit: 5 }))).value.size, 2)
  },
)

check('an answer of more bytes than there is room for is refused', async (_, entity, place, context) => {
  const store = await place.open({ maxAnswerBytes: 100_000 })
  context.after(() => store.close())
  await store.write([write(entity, [{ key: 'k', ts: 1, type: 'STRING', value: 'x'.repeat(200_000) }])])
  await assert.rejects(points(store, entity), { kind: 'invalid', code: 'timeseries.ANSWER_TOO_BIG' })
})

function randomValue(random: SeededRandom): TypedValue {
  const bits = new DataView(new ArrayBuffer(8))
  for (let offset = 0; offset < 8; offset += 4) bits.setUint32(offset, Math.floor(random.next() * 2 ** 32))
  const type = Math.floor(random.next() * 3)
  if (type === 0) {
    const value = bits.getBigInt64(0) >> BigInt(Math.floor(random.next() * 64))
    return { type: 'LONG', value: Number.isSafeInteger(Number(value)) ? Number(value) : value }
  }
  if (type === 1) return { type: 'DOUBLE', value: bits.getFloat64(0) }
  const units = Array.from({ length: 4 }, (_, index) => bits.getUint16(index * 2))
  return { type: 'STRING', value: String.fromCharCode(...units) }
}

check(
  'issue-8 4: the server takes the settings that make a transaction cost less',
  async (_store, _entity, { questdb }) => {
    const rows = await questdb.query('select property_path, value from (show parameters)')
    const settings = new Map(rows.map(([name, value]) => [name, value]))
    for (const [name, value] of Object.entries(QUESTDB_LOAD_SETTINGS)) assert.equal(settings.get(name), value, name)
  },
)

check(
  'what another process wrote is in the next read, whether the log stood still before or not',
  async (store, entity, place, context) => {
    const other = await place.open()
    context.after(() => other.close())
    let count = 0
    for (const readsBetween of [0, 1, 2, 3, 4, 3, 2, 1, 0, 3, 3]) {
      for (let read = 0; read < readsBetween; read++) assert.equal((await points(store, entity)).length, count)
      await other.write([write(entity, [long('k', ++count, count)])])
      assert.equal((await points(store, entity)).length, count, `${readsBetween} reads before`)
    }
  },
)

check(
  'a read that says it holds a commit holds its points, though their key had no number when it began',
  async (store, entity, place, context) => {
    const other = await place.open()
    context.after(() => other.close())
    for (const [key, read] of [
      ['of history', (key: string) => store.history(entity, raw([key]))],
      ['latest', (key: string) => store.latest(entity, [key])],
      ['of many', (key: string) => store.latestOfMany([entity], [key])],
    ] as const)
      await assertLateKeyIsHeld(
        context,
        key,
        () => read(key),
        () => other.write([write(entity, [long(key, 1, 1)])]),
      )
  },
)
