import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { RangeSet } from './range-set.ts'

test('a range set answers as a plain set of its members does', () => {
  const ranges = fc.array(fc.tuple(fc.integer({ min: 1, max: 60 }), fc.integer({ min: 1, max: 9 })))
  fc.assert(
    fc.property(ranges, fc.nat(70), fc.nat(70), (given, from, length) => {
      const model = new Set(
        given.flatMap(([start, count]) => Array.from({ length: count }, (_, index) => start + index)),
      )
      const set = new RangeSet(given)
      for (let sequence = 0; sequence < 75; sequence++) assert.equal(set.has(sequence), model.has(sequence))
      const within = [...model].filter((sequence) => sequence >= from && sequence < from + length).length
      assert.equal(set.countWithin(from, from + length), within)
    }),
  )
})
