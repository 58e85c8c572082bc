import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Latency } from './latency.ts'

test('nothing measured is nothing', () => {
  assert.deepEqual(new Latency().figures(), { measured: 0, p50: 0, p95: 0, p99: 0, max: 0 })
})

test('percentiles are at most a fifth too high, and never above the longest', () => {
  const latency = new Latency()
  for (let ms = 1; ms <= 1000; ms++) latency.add(ms)
  const { measured, p50, p95, p99, max } = latency.figures()
  assert.deepEqual([measured, max], [1000, 1000])
  for (const [value, exact] of [
    [p50, 500],
    [p95, 950],
    [p99, 990],
  ] as const)
    assert.ok(value >= exact && value <= Math.min(1000, exact * 1.2), `${value} for ${exact}`)
})

test('a batch counts for all its messages; times beyond the steps count', () => {
  const latency = new Latency()
  latency.add(0, 99)
  latency.add(1e12)
  const { measured, p50, p99, max } = latency.figures()
  assert.deepEqual([measured, p50 <= 0.001, p99 <= 0.001, max], [100, true, true, 1e12])
})

test('a new version goes on where the one before stopped', () => {
  const [before, after] = [new Latency(), new Latency()]
  before.add(5, 3)
  after.add(1)
  after.continueFrom(before)
  const { measured, max } = after.figures()
  assert.deepEqual([measured, max], [4, 5])
})
