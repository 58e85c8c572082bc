import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { Breaker, LONGEST_OPEN_MS, STRIKE_LIMIT } from './breaker.ts'
import { handClock } from './testkit.ts'

function opened() {
  const clock = handClock()
  const breaker = new Breaker(clock)
  breaker.strike(STRIKE_LIMIT)
  return { clock, breaker }
}

describe('a breaker', () => {
  test('opens after three strikes within a minute of each other', () => {
    const clock = handClock()
    const breaker = new Breaker(clock)
    for (const pause of [59_999, 59_999, 0]) {
      assert.equal(breaker.pass(), 'run')
      breaker.strike()
      clock.advance(pause)
    }
    assert.equal(breaker.pass(), 'refused')
    assert.deepEqual(breaker.report(), { state: 'open', retryInMs: 60_000, trips: 1 })
  })

  test('forgets strikes that are further apart', () => {
    const clock = handClock()
    const breaker = new Breaker(clock)
    for (let strike = 0; strike < 10; strike++) {
      breaker.strike()
      clock.advance(60_000)
    }
    assert.equal(breaker.state, 'closed')
  })

  test('is half open after a minute: one trial, refusals beside it', () => {
    const { clock, breaker } = opened()
    clock.advance(59_999)
    assert.equal(breaker.pass(), 'refused')
    clock.advance(1)
    assert.equal(breaker.state, 'half-open')
    assert.equal(breaker.pass(), 'trial')
    assert.equal(breaker.pass(), 'refused')
  })

  test('closes when the trial passes, with a clean record', () => {
    const { clock, breaker } = opened()
    clock.advance(60_000)
    breaker.pass()
    breaker.endTrial(true)
    assert.equal(breaker.pass(), 'run')
    breaker.strike(STRIKE_LIMIT - 1)
    assert.equal(breaker.pass(), 'run')
  })

  test('stays open for twice as long after each trial that fails, up to a bound', () => {
    const { clock, breaker } = opened()
    const waits: number[] = []
    for (let trial = 0; trial < 6; trial++) {
      const { retryInMs } = breaker.report()
      waits.push(retryInMs / 60_000)
      clock.advance(retryInMs)
      assert.equal(breaker.pass(), 'trial')
      breaker.strike()
      breaker.endTrial(false)
    }
    assert.deepEqual(waits, [1, 2, 4, 8, 16, 16])
    assert.equal(breaker.report().retryInMs, LONGEST_OPEN_MS)
    assert.equal(breaker.report().trips, 7)
  })

  test('makes a trial that could not be made with the next call', () => {
    const { clock, breaker } = opened()
    clock.advance(60_000)
    breaker.pass()
    breaker.endTrial(undefined)
    assert.equal(breaker.pass(), 'trial')
  })

  test('strikes of tasks that were under way keep it open and do not count as another opening', () => {
    const { clock, breaker } = opened()
    clock.advance(30_000)
    breaker.strike()
    assert.deepEqual(breaker.report(), { state: 'open', retryInMs: 60_000, trips: 1 })
  })
})
