import assert from 'node:assert/strict'
import { test } from 'node:test'
import { halfUp } from './half-up.ts'

test('halves go up by what is written, on both sides of zero', () => {
  const cases: readonly (readonly [number, number, number])[] = [
    [1.45, 1, 1.5],
    [2.675, 2, 2.68],
    [1.005, 2, 1.01],
    [-1.45, 1, -1.5],
    [7, 2, 7],
    [1e-9, 2, 0],
    [1.5e-9, 10, 1.5e-9],
    [1.5e-9, 9, 2e-9],
    [1.5e-9, -1, 0],
    [10 / 3, 20, 10 / 3],
    [1e-200 / 3, 150, 0],
    [3.5, -1, 0],
    [17.5, -1, 20],
    [17, -1, 20],
    [-25, -1, -30],
    [1e21, -1, 1e21],
    [1.5e21, -21, 2e21],
    [17, 0, 17],
    [0, -1, 0],
  ]
  for (const [value, digits, expected] of cases) assert.equal(halfUp(value, digits) + 0, expected)
})
