import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { insert } from './points.js'
import { rangeOf, runs, scaled, ticks } from './scale.js'

test('ticks are round numbers inside the range', () => {
  assert.deepEqual(ticks(0, 1, 5), [0, 0.2, 0.4, 0.6, 0.8, 1])
  assert.deepEqual(ticks(19.3, 24.1, 5), [20, 21, 22, 23, 24])
  assert.deepEqual(ticks(5, 5, 5), [])
  fc.assert(
    fc.property(
      fc.double({ noNaN: true, min: -1e6, max: 1e6 }),
      fc.double({ noNaN: true, min: 1e-3, max: 1e9 }),
      (low, span) => {
        const made = ticks(low, low + span, 5)
        assert.ok(made.length >= 2 && made.length <= 7, String(made.length))
        const slack = span * 1e-6
        assert.ok(made.every((value) => value >= low - slack && value <= low + span + slack))
      },
    ),
  )
})

test('every point lies in the drawing, a constant in its middle', () => {
  const points: [number, number][] = [
    [0, 3],
    [10, 3],
  ]
  const range = rangeOf([{ points }], false)
  const { low, high } = range
  assert.ok(low < 3 && high > 3)
  const path = scaled({ startTs: 0, endTs: 10, width: 800, height: 260 }, range).path(points)
  const heights = path.split(' ').map((pair) => pair.split(',')[1])
  assert.equal(heights[0], heights[1])
  assert.equal(rangeOf([{ points: [[0, 0]] }], false).low, -1)
})

test('points stay in the order of their times, each time once', () => {
  const points: [number, number][] = [
    [1, 1],
    [3, 3],
  ]
  insert(points, [2, 2])
  insert(points, [3, 33])
  insert(points, [4, 4])
  insert(points, [0, 0])
  assert.deepEqual(points, [
    [0, 0],
    [1, 1],
    [2, 2],
    [3, 33],
    [4, 4],
  ])
})

test('a line is cut where nothing came for long, and nowhere where no rhythm is known', () => {
  const at = (...times: number[]) => times.map((ts): [number, number] => [ts, 1])
  const steady = at(...Array.from({ length: 12 }, (_, index) => index * 10))
  const later = at(300, 310, 320)
  assert.deepEqual(runs(steady), [steady])
  assert.deepEqual(runs([...steady, ...later]), [steady, later])
  assert.deepEqual(runs([...steady, ...at(500)]), [steady, at(500)])
  // One value that was missed is no silence; nor are pairs, as of a value and what is calculated of it.
  assert.equal(runs([...steady, ...at(130, 140)]).length, 1)
  assert.equal(
    runs(at(...Array.from({ length: 12 }, (_, index) => [index * 1_000, index * 1_000 + 1]).flat())).length,
    1,
  )
  assert.equal(runs(at(0, 1, 2, 1_000)).length, 1)
  assert.deepEqual(runs([]), [])
})
