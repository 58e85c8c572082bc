import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ManualClock } from '../actor/testkit.ts'
import { Retention } from './retention.ts'

test('what is settled stays until it is too old', async () => {
  const clock = new ManualClock()
  const retention = new Retention(clock, 64_000, 1 << 30)
  retention.passed(10, 100)
  await clock.advance(30_000)
  retention.passed(20, 100)
  await clock.advance(33_000)
  assert.equal(retention.floor, 0)
  await clock.advance(1000)
  assert.equal(retention.floor, 10)
  await clock.advance(30_000)
  assert.equal(retention.floor, 20)
})

test('what is settled stays until there is more of it than the bound', () => {
  const retention = new Retention(new ManualClock(), 64_000, 6400)
  for (let position = 1; position <= 200; position++) {
    retention.passed(position, 100)
    const kept = (position - retention.floor) * 100
    assert.ok(kept <= 6400 && (position < 64 || kept >= 6200), `${kept} bytes are kept`)
  }
})

test('nothing stays where nothing shall', () => {
  const clock = new ManualClock()
  for (const retention of [new Retention(clock, 0, 1000), new Retention(clock, 1000, 0)]) {
    retention.passed(7, 10)
    assert.equal(retention.floor, 7)
  }
})
