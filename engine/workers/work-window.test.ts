import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ManualClock } from '../actor/testkit.ts'
import { seededRandom } from '../../test/support/seeded-random.ts'
import { WorkWindow } from './work-window.ts'

test('a window without work is all zeros', () => {
  const { messagesPerSecond, runMs, busyMs } = new WorkWindow(new ManualClock()).report()
  assert.deepEqual(
    { messagesPerSecond, runMs, busyMs },
    { messagesPerSecond: 0, runMs: { mean: 0, p50: 0, p99: 0, most: 0 }, busyMs: 0 },
  )
})

test('rates and run time are those of the time since the start, while that is shorter than the window', async () => {
  const clock = new ManualClock()
  const window = new WorkWindow(clock)
  for (let second = 0; second < 10; second++) {
    window.addBatch(200, 1, 50)
    await clock.advance(1000)
  }
  const { windowMs, messagesPerSecond, busyMs, batchMessages } = window.report()
  assert.deepEqual({ windowMs, messagesPerSecond, busyMs }, { windowMs: 10_000, messagesPerSecond: 200, busyMs: 500 })
  assert.deepEqual(batchMessages, { mean: 200, p50: 200, p99: 200, most: 200 })
})

test('what is older than a minute is forgotten, what is younger than half a minute is not', async () => {
  const clock = new ManualClock()
  const window = new WorkWindow(clock)
  window.addBatch(1, 0, 400)
  await clock.advance(29_999)
  window.addBatch(1, 0, 7)
  await clock.advance(1)
  assert.equal(window.report().runMs.most, 400)
  await clock.advance(29_999)
  assert.equal(window.report().runMs.most, 400)
  await clock.advance(1)
  assert.deepEqual(window.report().runMs, { mean: 0, p50: 0, p99: 0, most: 0 })
  window.addBatch(1, 0, 3)
  await clock.advance(200_000)
  assert.equal(window.report().busyMs, 0)
})

test('quantiles are at most a fifth above the true ones, over six orders of magnitude', () => {
  const seed = 7
  const random = seededRandom(seed)
  const window = new WorkWindow(new ManualClock())
  const values = Array.from({ length: 20_000 }, () => 10 ** (random.next() * 6 - 1.5))
  for (const value of values) window.addBatch(1, value, value)
  const sorted = values.toSorted((a, b) => a - b)
  const { p50, p99, most, mean } = window.report().queueWaitMs
  for (const [name, shown, part] of [
    ['p50', p50, 0.5],
    ['p99', p99, 0.99],
  ] as const) {
    const real = sorted[Math.ceil(values.length * part) - 1] ?? 0
    assert.ok(shown >= real && shown <= real * 1.2, `${name} ${shown} of ${real}, seed ${seed}`)
  }
  assert.equal(most, sorted.at(-1))
  const sum = values.reduce((total, value) => total + value, 0)
  assert.ok(Math.abs(mean - sum / values.length) < 1e-6)
})
