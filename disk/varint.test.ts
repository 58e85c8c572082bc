import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { VARINT_BYTES, putVarint } from './varint.ts'

/** Group by group, as the format says. */
function varintOf(value: number): Buffer {
  const bytes: number[] = []
  let rest = BigInt(value)
  for (; rest > 127n; rest >>= 7n) bytes.push(Number(rest & 127n) | 128)
  return Buffer.from([...bytes, Number(rest)])
}

const borders = Array.from({ length: 54 }, (_, power) => 2 ** power)
const numbers = fc.oneof(
  fc.maxSafeNat(),
  // Times that may be negative are written so.
  fc.maxSafeNat().map((half) => half * 2),
  fc.nat(),
  fc.integer({ min: 1_700_000_000_000, max: 1_800_000_000_000 }),
  fc.constantFrom(...borders, ...borders.map((power) => power - 1), ...borders.map((power) => power + 1)),
)

test('a whole number has one form, of eight bytes at most, and nothing beside it changes', () => {
  fc.assert(
    fc.property(numbers, fc.integer({ min: 0, max: 4 }), (value, position) => {
      const buffer = Buffer.alloc(16, 0xee)
      const end = putVarint(buffer, position, value)
      const expected = varintOf(value)
      assert.ok(expected.length <= VARINT_BYTES)
      assert.deepEqual(buffer.subarray(position, end), expected)
      assert.ok([...buffer.subarray(0, position), ...buffer.subarray(end)].every((byte) => byte === 0xee))
    }),
    { numRuns: 2000 },
  )
})
