import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { decodeChunk, encodeChunk, pointsOf } from './chunk-codec.ts'
import type { StoredPoint } from './point.ts'

const ts = fc.oneof(
  fc.integer({ min: -8.64e15, max: 8.64e15 }),
  fc.integer({ min: 1_700_000_000_000, max: 1_700_000_100_000 }),
)
const double = fc.oneof(
  fc.double({ noNaN: true, noDefaultInfinity: true }),
  fc.integer({ min: -100_000, max: 100_000 }).map((whole) => whole / 100),
)
const bigLong = fc
  .bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n })
  .filter((value) => !Number.isSafeInteger(Number(value)))
const typed = {
  BOOLEAN: fc.boolean(),
  LONG: fc.oneof(fc.maxSafeInteger(), fc.integer(), bigLong),
  DOUBLE: double,
  STRING: fc.string({ unit: 'grapheme' }),
  JSON: fc.json(),
} as const

function points(types: readonly (keyof typeof typed)[]): fc.Arbitrary<StoredPoint[]> {
  const point = fc
    .constantFrom(...types)
    .chain((type) =>
      fc.record({ ts, type: fc.constant(type), value: typed[type], expiresAt: fc.constantFrom(0, 0, 5000, 1e13) }),
    )
  return fc
    .uniqueArray(point, { selector: (entry) => entry.ts, minLength: 1, maxLength: 60 })
    .map((found) => found.sort((a, b) => a.ts - b.ts))
}

function assertRoundTrip(original: readonly StoredPoint[]): void {
  const read = pointsOf(decodeChunk(encodeChunk(original, 'place'), 'place'))
  assert.equal(read.length, original.length)
  for (const [index, point] of original.entries()) {
    const found = read[index]
    assert.ok(
      found !== undefined && found.ts === point.ts && found.type === point.type && found.expiresAt === point.expiresAt,
    )
    const same =
      point.type === 'LONG'
        ? found.value === (point.value === 0 ? 0 : point.value)
        : Object.is(found.value, point.value)
    assert.ok(same, `${String(found.value)} for ${String(point.value)}`)
  }
}

for (const types of [
  ['BOOLEAN'],
  ['LONG'],
  ['DOUBLE'],
  ['STRING'],
  ['JSON'],
  ['LONG', 'DOUBLE'],
  ['BOOLEAN', 'LONG', 'DOUBLE', 'STRING', 'JSON'],
] as const) {
  test(`a chunk of ${types.join(', ')} comes back as it was`, () => {
    fc.assert(fc.property(points([...types]), assertRoundTrip), { numRuns: 150 })
  })
}

test('doubles that are nearly decimals keep every bit', () => {
  for (const values of [[-0], [1.5, -0, 0], [0.1 + 0.2, 0.3], [1e-9, 5e-324], [2 ** 60, 0.5], [1 / 3, 0.25]]) {
    assertRoundTrip(values.map((value, index) => ({ ts: index, type: 'DOUBLE', value, expiresAt: 0 })))
  }
})

/** A thermometer: every ten seconds, two decimals. */
function thermometer(count: number): StoredPoint[] {
  return Array.from({ length: count }, (_, index) => ({
    ts: 1_700_000_000_000 + index * 10_000,
    type: 'DOUBLE',
    value: Math.round((21 + 4 * Math.sin(index / 90)) * 100) / 100,
    expiresAt: 0,
  }))
}

test('a regular series of decimals takes under two bytes a point', () => {
  const size = encodeChunk(thermometer(1024), 'place').length
  assert.ok(size < 2048, `${size} bytes`)
})

test('a flipped bit anywhere is found, and so are bytes at a place that is not theirs', () => {
  const chunk = encodeChunk(thermometer(200), 'place')
  for (let bit = 0; bit < chunk.length * 8; bit++) {
    const damaged = Buffer.from(chunk)
    damaged[bit >> 3] = (damaged[bit >> 3] ?? 0) ^ (1 << (bit & 7))
    assert.throws(() => decodeChunk(damaged, 'place'), /checksum mismatch/)
  }
  assert.throws(() => decodeChunk(chunk, 'other place'), /checksum mismatch/)
})
