import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { DataPoint } from '../../model/value.ts'
import { seededRandom } from '../../test/support/seeded-random.ts'
import { firstEnd, whenIdle, withPoints, type SlidingRules, type SlidingWindows } from './sliding-windows.ts'
import { resultsOf } from './window-metrics.ts'
import { MAX_AHEAD_MS, type ClosedWindow } from './window-node.ts'

const FUNCTIONS = ['MIN', 'MAX', 'SUM', 'AVG', 'COUNT', 'COUNT_UNIQUE'] as const
const START = 1_700_000_000_000
const SLIDE = 10_000

function rules(slides: number, latenessMs: number): SlidingRules {
  const metrics = FUNCTIONS.map((name) => ({ key: 'v', function: name, outputKey: name }))
  return { lengthMs: slides * SLIDE, slideMs: SLIDE, latenessMs, metrics }
}

function point(ts: number, value: number, key = 'v'): DataPoint {
  return { key, ts, type: 'LONG', value }
}

function told(rule: SlidingRules, window: ClosedWindow): Record<string, number> {
  return Object.fromEntries(
    Object.entries(resultsOf(rule.metrics, window.metrics)).map(([name, value]) => [name, Number(value)]),
  )
}

function expected(values: readonly number[]): Record<string, number> {
  const sum = values.reduce((total, value) => total + value, 0)
  return {
    ...{ MIN: Math.min(...values), MAX: Math.max(...values), SUM: sum, AVG: sum / values.length },
    ...{ COUNT: values.length, COUNT_UNIQUE: new Set(values).size },
  }
}

/** Starts of all windows in which the time is. */
function startsOf(rule: SlidingRules, ts: number): readonly number[] {
  const last = Math.floor(ts / SLIDE) * SLIDE
  return Array.from({ length: rule.lengthMs / SLIDE }, (_, index) => last - index * SLIDE)
}

test('each window holds the points that came while it was open, as a model that keeps all points of each says', () => {
  const random = seededRandom()
  for (let round = 0; round < 300; round++) {
    const rule = rules(random.between(1, 6), random.pick([0, 1, 5_000, 25_000]))
    let state: SlidingWindows | undefined
    let now = START
    let modelWatermark = Number.MIN_SAFE_INTEGER
    const model = new Map<number, number[]>()
    const closed: ClosedWindow[] = []
    for (let step = 0; step < 40; step++) {
      now += random.between(0, 8_000)
      const points = Array.from({ length: random.between(1, 3) }, () =>
        point(now + random.between(-60_000, 15_000), random.between(-5, 5)),
      )
      // A point that a device sends twice counts twice: two visits.
      if (random.between(0, 5) === 0) points.push(point(points[0]?.ts ?? now, 1))
      const late: DataPoint[] = []
      let reached = modelWatermark
      for (const given of points) {
        const open = startsOf(rule, given.ts).filter((from) => from + rule.lengthMs > modelWatermark)
        if (open.length === 0) {
          late.push(given)
          continue
        }
        for (const from of open) model.set(from, [...(model.get(from) ?? []), given.value as number])
        reached = Math.max(reached, Math.min(given.ts, now) - rule.latenessMs)
      }
      modelWatermark = reached
      const result = withPoints(rule, state, points, now)
      assert.deepEqual(result.late, late, `seed ${random.seed}`)
      assert.equal(result.counted, points.length - late.length)
      for (const window of result.closed) assert.ok(window.to <= modelWatermark)
      const open = firstEnd(rule, result.next)
      assert.ok(open === undefined || open > modelWatermark)
      state = result.next
      closed.push(...result.closed)
      if (random.between(0, 15) === 0) {
        const idle = whenIdle(rule, state, now)
        for (const window of idle.closed) modelWatermark = Math.max(modelWatermark, window.to)
        assert.equal(idle.next.watermark, modelWatermark)
        state = idle.next
        closed.push(...idle.closed)
      }
    }
    assert.ok(state !== undefined)
    const last = whenIdle(rule, state, now + MAX_AHEAD_MS)
    assert.deepEqual(last.next.panes, [])
    closed.push(...last.closed)
    const froms = closed.map(({ from }) => from)
    assert.equal(new Set(froms).size, froms.length, `a window closed twice, seed ${random.seed}`)
    assert.deepEqual(
      new Map(closed.map((window) => [window.from, told(rule, window)])),
      new Map(froms.map((from) => [from, expected(model.get(from) ?? [])])),
      `seed ${random.seed}`,
    )
    assert.equal(froms.length, model.size)
  }
})

test('a point ahead of the clock by more than a day is refused, and so are too many windows', () => {
  const rule = rules(2, 0)
  assert.throws(() => withPoints(rule, undefined, [point(START + MAX_AHEAD_MS + 1, 1)], START), /a day ahead/)
  const many = Array.from({ length: 101 }, (_, index) => point(START + index * 3 * SLIDE, 1))
  assert.throws(() => withPoints(rule, undefined, many, START), /200/)
  assert.doesNotThrow(() => withPoints(rule, undefined, many.slice(1, 67), START))
})

test('sums of panes that would be endless together are refused before they are kept', () => {
  const rule = rules(2, 0)
  const huge: DataPoint = { key: 'v', ts: START, type: 'DOUBLE', value: Number.MAX_VALUE / 2 }
  assert.throws(() => withPoints(rule, undefined, [huge], START), /small enough/)
})
