import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { DataPoint } from '../../model/value.ts'
import { seededRandom, type SeededRandom } from '../../test/support/seeded-random.ts'
import { whenIdle, withPoints, type SessionRules, type SessionWindows } from './session-windows.ts'
import { resultsOf } from './window-metrics.ts'
import { MAX_AHEAD_MS, type ClosedWindow } from './window-node.ts'

const FUNCTIONS = ['MIN', 'MAX', 'SUM', 'AVG', 'COUNT', 'COUNT_UNIQUE'] as const
const START = 1_700_000_000_000
const GAP = 10_000
const WEEK_MS = 7 * 86_400_000

function rules(latenessMs: number, longestMs = WEEK_MS): SessionRules {
  const metrics = FUNCTIONS.map((name) => ({ key: 'v', function: name, outputKey: name }))
  return { gapMs: GAP, longestMs, latenessMs, metrics }
}

function point(ts: number, value: number, key = 'v'): DataPoint {
  return { key, ts, type: 'LONG', value }
}

function told(rule: SessionRules, { from, to, metrics }: ClosedWindow): Record<string, number> {
  const results = Object.entries(resultsOf(rule.metrics, metrics))
  return { from, to, ...Object.fromEntries(results.map(([name, value]) => [name, Number(value)] as const)) }
}

function expected(points: readonly DataPoint[]) {
  const values = points.map(({ value }) => Number(value))
  const times = points.map(({ ts }) => ts)
  const sum = values.reduce((total, value) => total + value, 0)
  return {
    ...{ from: Math.min(...times), to: Math.max(...times) + GAP },
    ...{ MIN: Math.min(...values), MAX: Math.max(...values), SUM: sum, AVG: sum / values.length },
    ...{ COUNT: values.length, COUNT_UNIQUE: new Set(values).size },
  }
}

/** Points by time, cut where two are a gap apart. */
function sessionsOf(points: readonly DataPoint[]): readonly (readonly DataPoint[])[] {
  const sessions: DataPoint[][] = []
  for (const given of points.toSorted((one, other) => one.ts - other.ts)) {
    const session = sessions.at(-1)
    const before = session?.at(-1)
    if (session === undefined || before === undefined || given.ts - before.ts >= GAP) sessions.push([given])
    else session.push(given)
  }
  return sessions
}

function pointsAt(random: SeededRandom, now: number): DataPoint[] {
  const points = Array.from({ length: random.between(1, 3) }, () =>
    point(now + random.between(-40_000, 15_000), random.between(-5, 5)),
  )
  if (random.between(0, 5) === 0) points.push(point(points[0]?.ts ?? now, 1))
  return points
}

test('points in any order make the sessions that points in order make, and late ones change none', () => {
  const random = seededRandom()
  for (let round = 0; round < 300; round++) {
    const rule = rules(random.pick([0, 1, 5_000, 25_000]))
    let state: SessionWindows | undefined
    let now = START
    let watermark = Number.MIN_SAFE_INTEGER
    // The model keeps all points of sessions that are open, and makes the sessions anew each time.
    let kept: readonly DataPoint[] = []
    for (let step = 0; step < 40; step++) {
      now += random.between(0, 12_000)
      const points = pointsAt(random, now)
      const late: DataPoint[] = []
      let reached = watermark
      for (const given of points) {
        const isNear = kept.some(({ ts }) => Math.abs(ts - given.ts) < GAP)
        if (!isNear && given.ts + GAP <= watermark) late.push(given)
        else {
          kept = [...kept, given]
          reached = Math.max(reached, Math.min(given.ts, now) - rule.latenessMs)
        }
      }
      watermark = reached
      const result = withPoints(rule, state, points, now)
      assert.deepEqual(result.late, late, `seed ${random.seed}`)
      assert.equal(result.counted, points.length - late.length)
      const isOver = (session: readonly DataPoint[]): boolean => expected(session).to <= watermark
      const sessions = sessionsOf(kept)
      assert.deepEqual(
        result.closed.map((window) => told(rule, window)),
        sessions.filter(isOver).map(expected),
        `seed ${random.seed}`,
      )
      kept = sessions.filter((session) => !isOver(session)).flat()
      state = result.next
    }
    assert.ok(state !== undefined)
    const last = whenIdle(rule, state, now + MAX_AHEAD_MS)
    assert.deepEqual(last.next.open, [])
    assert.deepEqual(
      last.closed.map((window) => told(rule, window)),
      sessionsOf(kept).map(expected),
      `seed ${random.seed}`,
    )
  }
})

test('no session is longer than the longest, none overlaps another, and each point is in one', () => {
  const random = seededRandom()
  for (let round = 0; round < 200; round++) {
    const rule = rules(25_000, random.pick([1_000, 10_000, 30_000]))
    let state: SessionWindows | undefined
    let now = START
    let counted = 0
    const closed: ClosedWindow[] = []
    for (let step = 0; step < 40; step++) {
      now += random.between(0, 3_000)
      const result = withPoints(rule, state, pointsAt(random, now), now)
      counted += result.counted
      closed.push(...result.closed)
      state = result.next
      for (const [index, session] of state.open.entries()) {
        assert.ok(session.last - session.first <= rule.longestMs, `seed ${random.seed}`)
        assert.ok(session.first > (state.open[index - 1]?.last ?? 0), `seed ${random.seed}`)
      }
    }
    assert.ok(state !== undefined)
    closed.push(...whenIdle(rule, state, now + MAX_AHEAD_MS).closed)
    const sum = closed.reduce((total, window) => total + (told(rule, window)['COUNT'] ?? 0), 0)
    assert.equal(sum, counted, `seed ${random.seed}`)
  }
})

test('a time more than a day ahead, too many sessions and too many different values are refused', () => {
  const rule = rules(0)
  assert.throws(() => withPoints(rule, undefined, [point(START + MAX_AHEAD_MS + 1, 1)], START), /a day ahead/)
  const many = Array.from({ length: 201 }, (_, index) => point(START - index * GAP, 1))
  assert.throws(() => withPoints(rule, undefined, many, START), /200/)
  const early = Array.from({ length: 600 }, (_, index) => point(START - 19_000, index))
  const later = Array.from({ length: 600 }, (_, index) => point(START, 1000 + index))
  const { open } = withPoints(rules(WEEK_MS), undefined, [...early, ...later], START).next
  const watermark = START - WEEK_MS
  assert.equal(open.length, 2)
  assert.throws(() => withPoints(rules(WEEK_MS), { watermark, open }, [point(START - 9500, 0)], START), /1000/)
})
