import assert from 'node:assert/strict'
import { test } from 'node:test'
import { seededRandom } from '../../test/support/seeded-random.ts'
import { createNode, runNode, testContext, testMessage } from '../testkit.ts'
import { deviationAnomaly } from './deviation-anomaly.ts'
import { withValue, type RunningDeviation } from './running-deviation.ts'

const CONFIGURATION = { key: 't', threshold: 3, warmUp: 4, memory: 100, leastDeviation: 0.5 }

async function opened(change: object = {}) {
  const context = testContext()
  let node = await createNode(deviationAnomaly, { ...CONFIGURATION, ...change }, context)
  return {
    restart: async (next: object) => {
      node = await createNode(deviationAnomaly, { ...CONFIGURATION, ...next }, context)
    },
    give: async (data: string) => {
      const [result] = await runNode(node, testMessage({ data }))
      assert.ok(result !== undefined)
      const [emission] = result.emissions
      return { relation: emission?.relations[0], metadata: emission?.message.metadata, error: result.error?.message }
    },
  }
}

test('mean and variance are those of all values up to the memory', () => {
  const random = seededRandom()
  for (let round = 0; round < 200; round++) {
    const offset = random.pick([0, 1e6, -1e9])
    const values = Array.from({ length: random.between(1, 100) }, () => offset + random.next() * 10)
    let running: RunningDeviation | undefined
    for (const value of values) running = withValue(running, value, 100)
    const mean = values.reduce((sum, value) => sum + value, 0) / values.length
    const variance = values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / values.length
    assert.ok(running !== undefined)
    assert.equal(running.count, values.length)
    assert.ok(Math.abs(running.mean - mean) < 1e-5, `seed ${random.seed}`)
    assert.ok(Math.abs(running.variance - variance) < 1e-4, `seed ${random.seed}`)
  }
})

test('beyond the memory a lasting change becomes usual', () => {
  let running: RunningDeviation | undefined
  for (let index = 0; index < 1000; index++) running = withValue(running, 0, 20)
  for (let index = 0; index < 200; index++) running = withValue(running, 50, 20)
  assert.ok(running !== undefined && Math.abs(running.mean - 50) < 0.01 && running.variance < 0.1)
  assert.equal(running.count, 20)
})

test('a value far from the mean is True after the warm-up, with why', async () => {
  const { give } = await opened()
  for (const t of [9, 11, 1000, 9]) assert.equal((await give(`{"t":${t}}`)).relation, 'False')
  const other = await opened()
  for (const t of [9, 11, 9, 11]) assert.equal((await other.give(`{"t":${t}}`)).relation, 'False')
  const near = await other.give('{"t":12.9}')
  assert.equal(near.relation, 'False')
  for (const [name, expected] of [
    ['zScore', 2.9],
    ['mean', 10],
    ['deviation', 1],
  ] as const)
    assert.ok(Math.abs(Number(near.metadata?.[name]) - expected) < 1e-9, name)
  assert.equal((await other.give('{"t":30}')).relation, 'True')
})

test('a series that never changed has the least deviation', async () => {
  const { give } = await opened()
  for (let index = 0; index < 4; index++) await give('{"t":5}')
  assert.deepEqual((await give('{"t":6}')).metadata?.['zScore'], '2')
})

test('messages without the series go on as Other, what is no number fails and is not learned', async () => {
  const { give } = await opened()
  assert.equal((await give('{"h":5}')).relation, 'Other')
  for (let index = 0; index < 4; index++) await give('{"t":5}')
  assert.equal((await give('{"t":true}')).error, "The value of 't' is not a number")
  assert.equal((await give('{"t":1e300}')).error, "The value of 't' is not small enough to be compared")
  assert.equal((await give('{"t":5}')).metadata?.['mean'], '5')
})

test('what was learned survives a restart, another series begins anew', async () => {
  const { give, restart } = await opened()
  for (let index = 0; index < 4; index++) await give('{"t":5,"h":5}')
  await restart({})
  assert.equal((await give('{"t":500}')).relation, 'True')
  await restart({ key: 'h' })
  assert.equal((await give('{"h":500}')).relation, 'False')
})

test('a warm-up beyond the memory is refused', () => {
  assert.throws(() => deviationAnomaly.check({ ...CONFIGURATION, warmUp: 101 }), /warmUp.*memory/)
})
