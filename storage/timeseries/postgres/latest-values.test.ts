import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test, type TestContext } from 'node:test'
import { sameValue, type DataPoint, type TypedValue } from '../../../model/value.ts'
import { PostgresConnection } from '../../postgres/connection.ts'
import { emptyDatabase, serverForFile } from '../../postgres/testkit.ts'
import { long, write } from '../contract.ts'
import type { LatestValues } from '../latest-values.ts'
import { openPostgresLatestValues } from './latest-values.ts'

const server = await serverForFile()
const clock = { now: () => Date.now() }
const applicationName = 'latest values test'

async function opened(context: TestContext, url?: string): Promise<LatestValues> {
  assert.ok(server !== undefined)
  const latest = await openPostgresLatestValues({ url: url ?? (await emptyDatabase(server)), applicationName, clock })
  context.after(() => latest.close())
  return latest
}

function check(sentence: string, run: (latest: LatestValues, entity: string) => Promise<void>): void {
  test(sentence, { skip: server === undefined }, async (context) => run(await opened(context), randomUUID()))
}

const VALUES: readonly TypedValue[] = [
  { type: 'LONG', value: 9223372036854775807n },
  { type: 'LONG', value: -9223372036854775808n },
  { type: 'LONG', value: Number.MAX_SAFE_INTEGER },
  { type: 'LONG', value: Number.MIN_SAFE_INTEGER },
  { type: 'LONG', value: -1 },
  { type: 'DOUBLE', value: -0 },
  { type: 'DOUBLE', value: 5e-324 },
  { type: 'DOUBLE', value: 0.1 + 0.2 },
  { type: 'DOUBLE', value: 1.7976931348623157e308 },
  { type: 'BOOLEAN', value: true },
  { type: 'BOOLEAN', value: false },
  { type: 'STRING', value: '' },
  { type: 'STRING', value: '"grüße"\\ {a,NULL} 🌡️\u0000\u001a' },
  { type: 'JSON', value: '{"a":[1,2.0,null]}' },
]

check('every value comes back with its type, its bits and its key', async (latest, entity) => {
  const points = VALUES.map((value, index): DataPoint => ({ key: `k${index}\u0000`, ts: -index, ...value }))
  await latest.write([write(entity, points)])
  const read = await latest.read(entity, undefined)
  assert.equal(read.length, points.length)
  for (const point of points) {
    const found = read.find(({ key }) => key === point.key)
    assert.ok(found !== undefined && found.ts === point.ts && sameValue(found, point), String(point.value))
  }
})

check('a value never goes back in time, nor at one time in sequence', async (latest, entity) => {
  const step = async (ts: number, value: number, sequence: number) => {
    await latest.write([write(entity, [long('k', ts, value)], { sequence })])
    return (await latest.read(entity, ['k']))[0]?.value
  }
  assert.equal(await step(10, 1, 5), 1)
  assert.equal(await step(9, 2, 6), 1)
  assert.equal(await step(10, 3, 4), 1)
  assert.equal(await step(10, 4, 7), 4)
  assert.equal(await step(10, 5, 0), 5, 'a write without a sequence is the newest')
  assert.equal(await step(10, 4, 7), 5, 'a replay went back behind it')
  assert.equal(await step(10, 6, 8), 6)
  assert.equal(await step(11, 7, 0), 7)
  assert.equal(await step(10, 8, 99), 7)
})

check('of one batch the newest is stored, and a user’s write wins over what came with it', async (latest, entity) => {
  const one = write(entity, [long('k', 5, 1), long('k', 7, 2), long('k', 6, 3)], { sequence: 5 })
  await latest.write([one, write(entity, [long('k', 7, 4)], { sequence: 4 })])
  assert.deepEqual(await latest.read(entity, undefined), [long('k', 7, 2)])
  const user = write(entity, [long('k', 7, 5)])
  await latest.write([user, write(entity, [long('k', 7, 6)], { sequence: 9 })])
  assert.equal((await latest.read(entity, undefined))[0]?.value, 5)
  await latest.write([write(entity, [long('k', 7, 6)], { sequence: 9 })])
  assert.equal((await latest.read(entity, undefined))[0]?.value, 5, 'a replay went back behind the user')
  await latest.write([write(entity, [long('k', 7, 7)], { sequence: 10 })])
  assert.equal((await latest.read(entity, undefined))[0]?.value, 7)
})

check('writes without latest are passed over, and a bad time costs the whole batch', async (latest, entity) => {
  await latest.write([write(entity, [long('k', 1, 1)], { latest: false })])
  await assert.rejects(latest.write([write(entity, [long('k', 1, 1), long('k', 1.5, 1)])]), { kind: 'invalid' })
  assert.deepEqual(await latest.read(entity, undefined), [])
})

check('removes within a range and puts in place only where there is none', async (latest, entity) => {
  const other = randomUUID()
  const three = [long('a', 1, 1), long('b', 2, 2), long('c', 3, 3)]
  await latest.write([write(entity, three), write(other, three)])
  const removed = await latest.removeWithin(entity, ['a', 'b', 'c', 'none'], 2, 3)
  assert.deepEqual(removed, [long('b', 2, 2)])
  await latest.replace(entity, long('b', 1, 9))
  await latest.replace(entity, long('a', 9, 9))
  assert.deepEqual(await latest.read(entity, ['b', 'a']), [long('a', 1, 1), long('b', 1, 9)])
  await latest.removeEntity(entity)
  assert.deepEqual(await latest.read(entity, undefined), [])
  assert.deepEqual(await latest.read(other, undefined), three)
})

check('many writers that meet on the same rows all succeed, and the newest stays', async (latest) => {
  const entities = Array.from({ length: 20 }, () => randomUUID())
  const writes = Array.from({ length: 40 }, (_, index) => {
    const mixed = index % 2 === 0 ? entities : [...entities].reverse()
    return latest.write(
      mixed.map((entity) => write(entity, [long('x', 1, index), long('y', 1, index)], { sequence: index + 1 })),
    )
  })
  await Promise.all(writes)
  for (const entity of entities) {
    assert.deepEqual(await latest.read(entity, undefined), [long('x', 1, 39), long('y', 1, 39)])
  }
})

test('values are read after what was asked for first', { skip: server === undefined }, async (context) => {
  assert.ok(server !== undefined)
  const url = await emptyDatabase(server)
  const latest = await opened(context, url)
  const holding = new PostgresConnection({ url, applicationName })
  context.after(() => holding.close())
  const entity = randomUUID()
  await latest.write([write(entity, [long('k', 1, 1)])])
  await holding.query({ text: 'select pg_advisory_lock(1)' })
  const first = { text: 'select 7 as number from pg_advisory_xact_lock(1)' }
  const one = latest.readAfter<{ number: number }>(first, entity, ['k'])
  const many = latest.readManyAfter<{ number: number }>(first, [entity], ['k'])
  const waiting = { text: `select 1 from pg_locks where locktype = 'advisory' and not granted` }
  while ((await holding.query(waiting)).count < 2);
  await latest.write([write(entity, [long('k', 2, 2)])])
  await holding.query({ text: 'select pg_advisory_unlock(1)' })
  assert.deepEqual(await one, { rows: [{ number: 7 }], value: [long('k', 2, 2)] })
  assert.deepEqual([...(await many).value], [[entity, [long('k', 2, 2)]]])
})

test('processes that open an empty database at once all find the schema', { skip: server === undefined }, async (t) => {
  assert.ok(server !== undefined)
  const url = await emptyDatabase(server)
  const all = await Promise.all(Array.from({ length: 5 }, () => opened(t, url)))
  const entity = randomUUID()
  await Promise.all(all.map((latest, index) => latest.write([write(entity, [long(`k${index}`, 1, index)])])))
  assert.equal((await all[0]?.read(entity, undefined))?.length, 5)
})
