/** The store against a map in memory: random writes, deletes and reads of two processes over the same servers. */
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { seededRandom, type SeededRandom } from '../../../test/support/seeded-random.ts'
import type { DataPoint } from '../../../model/value.ts'
import { raw, write } from '../contract.ts'
import { freshPlace, serversForFile } from './testkit.ts'
import type { QuestDbTimeSeries } from './store.ts'

const servers = await serversForFile()
const STEPS = Number(process.env['STEPS'] ?? 80)
const KEYS = ['a', 'b', 'c d']
const FROM = -20
const TO = 60

/** Points by entity and key, then by time. */
type Model = Map<string, Map<number, DataPoint>>

function seriesOf(model: Model, entity: string, key: string): Map<number, DataPoint> {
  const name = `${entity} ${key}`
  const found = model.get(name) ?? new Map<number, DataPoint>()
  model.set(name, found)
  return found
}

function randomPoint(random: SeededRandom): DataPoint {
  const place = { key: random.pick(KEYS), ts: random.between(FROM, TO - 1) }
  const number = random.between(-1000, 1000)
  return random.pick<DataPoint>([
    { ...place, type: 'LONG', value: number },
    { ...place, type: 'DOUBLE', value: number / 8 },
    { ...place, type: 'STRING', value: `text ${number}` },
    { ...place, type: 'BOOLEAN', value: number > 0 },
  ])
}

async function step(store: QuestDbTimeSeries, model: Model, entities: readonly string[], random: SeededRandom) {
  const entity = random.pick(entities)
  const kind = random.between(0, 99)
  if (kind < 60) {
    const points = Array.from({ length: random.between(1, 12) }, () => randomPoint(random))
    await store.write([write(entity, points)])
    for (const point of points) seriesOf(model, entity, point.key).set(point.ts, point)
  } else if (kind < 97) {
    const startTs = random.between(FROM, TO)
    const endTs = startTs + random.between(0, 25)
    const keys = KEYS.filter(() => random.next() < 0.6)
    await store.delete({
      entityId: entity,
      keys,
      startTs,
      endTs,
      deleteLatest: true,
      rewriteLatest: random.next() < 0.5,
    })
    for (const key of keys) {
      const series = seriesOf(model, entity, key)
      for (const ts of [...series.keys()]) if (ts >= startTs && ts < endTs) series.delete(ts)
    }
  } else {
    await store.deleteEntity(entity)
    for (const key of KEYS) seriesOf(model, entity, key).clear()
  }
}

async function compare(store: QuestDbTimeSeries, model: Model, entity: string, random: SeededRandom, note: string) {
  const startTs = random.between(FROM, TO)
  const endTs = startTs + random.between(0, TO)
  const order = random.pick(['ASC', 'DESC'] as const)
  const limit = random.between(1, 40)
  const borders = [startTs, startTs + 7, startTs + 14, startTs + 30, Math.max(endTs, startTs + 31)]
  const { value } = await store.history(entity, raw(KEYS, { startTs, endTs, order, limit }))
  const counted = await store.history(entity, raw(KEYS, { startTs, endTs, agg: 'COUNT', borders }))
  for (const key of KEYS) {
    const sorted = [...seriesOf(model, entity, key).values()].sort((a, b) =>
      order === 'ASC' ? a.ts - b.ts : b.ts - a.ts,
    )
    const within = sorted.filter(({ ts }) => ts >= startTs && ts < endTs)
    assert.deepEqual(value.get(key) ?? [], within.slice(0, limit), note)
    const total = (counted.value.get(key) ?? []).reduce((sum, point) => sum + Number(point.value), 0)
    assert.equal(total, within.length, note)
  }
}

test(
  'random writes and deletes of two processes leave what a map in memory holds',
  { skip: servers === undefined },
  async () => {
    assert.ok(servers !== undefined)
    const random = seededRandom()
    const place = await freshPlace(servers)
    const stores = [await place.open(), await place.open()]
    const entities = [randomUUID(), randomUUID()]
    const model: Model = new Map()
    try {
      for (let number = 0; number < STEPS; number++) {
        await step(random.pick(stores), model, entities, random)
        if (number % 5 === 0) {
          await compare(
            random.pick(stores),
            model,
            random.pick(entities),
            random,
            `step ${number}, seed ${random.seed}`,
          )
        }
      }
    } finally {
      for (const store of stores) await store.close()
    }
  },
)
