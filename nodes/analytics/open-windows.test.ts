import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { DataPoint } from '../../model/value.ts'
import { seededRandom } from '../../test/support/seeded-random.ts'
import { resultOf } from '../calculated/accumulator.ts'
import { bucketing } from '../calculated/time-bucket.ts'
import { whenIdle, withPoints, type OpenWindows, type WindowRules } from './open-windows.ts'
import { MAX_AHEAD_MS, MAX_OPEN_WINDOWS, type ClosedWindow } from './window-node.ts'

const FUNCTIONS = ['MIN', 'MAX', 'SUM', 'AVG', 'COUNT', 'COUNT_UNIQUE'] as const
const START = 1_700_000_000_000 - (1_700_000_000_000 % 10_000)

function rules(latenessMs: number): WindowRules {
  return {
    bucketOf: bucketing({ type: 'CUSTOM', tz: 'UTC', durationSec: 10 }),
    latenessMs,
    metrics: FUNCTIONS.map((name) => ({ key: 'v', function: name, outputKey: name })),
  }
}

function point(ts: number, value: number, key = 'v'): DataPoint {
  return { key, ts, type: 'LONG', value }
}

function told(window: ClosedWindow): Record<string, number> {
  return Object.fromEntries(
    FUNCTIONS.map((name, index) => {
      const accumulator = window.metrics[index]
      assert.ok(accumulator)
      return [name, Number(resultOf(name, accumulator, undefined))]
    }),
  )
}

function expected(values: readonly number[]): Record<string, number> {
  const sum = values.reduce((total, value) => total + value, 0)
  return {
    ...{ MIN: Math.min(...values), MAX: Math.max(...values), SUM: sum, AVG: sum / values.length },
    ...{ COUNT: values.length, COUNT_UNIQUE: new Set(values).size },
  }
}

test('each point is in one closed window or late, as a model that keeps all points says', () => {
  const random = seededRandom()
  for (let round = 0; round < 200; round++) {
    const latenessMs = random.pick([0, 1, 5_000, 25_000])
    const rule = rules(latenessMs)
    let state: OpenWindows | undefined
    let now = START
    let modelWatermark = Number.MIN_SAFE_INTEGER
    const model = new Map<number, number[]>()
    const closed: ClosedWindow[] = []
    for (let step = 0; step < 60; step++) {
      now += random.between(0, 8_000)
      const points = Array.from({ length: random.between(1, 3) }, () =>
        point(now + random.between(-40_000, 15_000), random.between(-5, 5)),
      )
      const late: DataPoint[] = []
      let reached = modelWatermark
      for (const given of points) {
        const from = Math.floor(given.ts / 10_000) * 10_000
        if (from + 10_000 <= modelWatermark) {
          late.push(given)
          continue
        }
        model.set(from, [...(model.get(from) ?? []), given.value as number])
        reached = Math.max(reached, Math.min(given.ts, now) - latenessMs)
      }
      modelWatermark = reached
      const result = withPoints(rule, state, points, now)
      assert.deepEqual(result.late, late, `seed ${random.seed}`)
      assert.equal(result.counted, points.length - late.length)
      for (const window of result.closed) assert.ok(window.to <= modelWatermark)
      for (const window of result.next.open) assert.ok(window.to > modelWatermark)
      state = result.next
      closed.push(...result.closed)
    }
    assert.ok(state !== undefined)
    const last = whenIdle(state, now + MAX_AHEAD_MS)
    assert.deepEqual(last.next.open, [])
    closed.push(...last.closed)
    const froms = closed.map(({ from }) => from)
    assert.equal(new Set(froms).size, froms.length, `a window closed twice, seed ${random.seed}`)
    assert.deepEqual(
      new Map(closed.map((window) => [window.from, told(window)])),
      new Map(froms.map((from) => [from, expected(model.get(from) ?? [])])),
      `seed ${random.seed}`,
    )
    assert.equal(froms.length, model.size)
  }
})

test('a point ahead of the clock makes no other late, and one more than a day ahead is refused', () => {
  const rule = rules(0)
  const first = withPoints(rule, undefined, [point(START + MAX_AHEAD_MS, 1)], START)
  const second = withPoints(rule, first.next, [point(START, 2)], START)
  assert.deepEqual([second.late, second.closed], [[], []])
  assert.equal(whenIdle(second.next, START + 10_000).closed.length, 1)
  assert.throws(() => withPoints(rule, undefined, [point(START + MAX_AHEAD_MS + 1, 1)], START), {
    code: 'node.VALUE_INVALID',
  })
})

test('a window that was closed for want of points is not opened again', () => {
  const rule = rules(60_000)
  const { next } = withPoints(rule, undefined, [point(START, 1)], START)
  const idle = whenIdle(next, START + 10_000)
  assert.equal(idle.closed.length, 1)
  assert.equal(withPoints(rule, idle.next, [point(START + 1, 2)], START + 10_001).late.length, 1)
})

test('more open windows than the bound, and sums without end, are refused', () => {
  const rule = rules(0)
  const many = Array.from({ length: MAX_OPEN_WINDOWS }, (_, index) => point(START + index * 10_000, 1))
  const { next } = withPoints(rule, undefined, many, START)
  assert.equal(next.open.length, MAX_OPEN_WINDOWS)
  assert.throws(() => withPoints(rule, next, [point(START + MAX_OPEN_WINDOWS * 10_000, 1)], START), {
    code: 'node.WINDOWS_TOO_MANY',
  })
  const endless: readonly DataPoint[] = [1, 2].map(() => ({ key: 'v', ts: START, type: 'DOUBLE', value: 1.7e308 }))
  assert.throws(() => withPoints(rule, undefined, endless, START), { code: 'node.VALUE_INVALID' })
})

test('series that no metric names are no points', () => {
  const { next, counted } = withPoints(rules(0), undefined, [point(START, 1, 'other')], START)
  assert.deepEqual([next.open, counted], [[], 0])
})
