import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import type { DataPoint } from '../../../model/value.ts'
import { toPostgresText } from '../../postgres/text.ts'
import { LineWriter } from './line-writer.ts'
import { isInRange, kindOf, RowEncoder } from './rows.ts'
import { shardOf } from './shards.ts'

const KEYS = new Map([
  ['a', 1],
  ['b', 1_234_567_890],
])
const NOW = 1_700_000_000_000

const value = fc.oneof(
  fc.record({ type: fc.constant('BOOLEAN' as const), value: fc.boolean() }),
  fc.record({
    type: fc.constant('LONG' as const),
    value: fc.oneof(fc.maxSafeInteger(), fc.bigInt(-(2n ** 63n), 2n ** 63n - 1n)),
  }),
  fc.record({ type: fc.constant('DOUBLE' as const), value: fc.double() }),
  fc.record({ type: fc.constant('STRING' as const), value: fc.string({ unit: 'binary' }) }),
  fc.record({ type: fc.constant('JSON' as const), value: fc.json() }),
)
const ts = fc.oneof(fc.integer({ min: -10, max: 253_402_300_800_010 }), fc.nat(), fc.constant(NOW))
const point = fc
  .tuple(fc.constantFrom(...KEYS.keys()), value, ts)
  .map(([key, typed, time]): DataPoint => ({ key, ...typed, ts: time }))

function linesOf(points: readonly DataPoint[], entityId: string, version: number, ttlSeconds: number): string {
  const lines = new LineWriter()
  const write = { entityId, points, sequence: 1, ttlSeconds, history: true, latest: true }
  new RowEncoder('t').append(lines, write, { keys: KEYS, version, now: NOW })
  return lines.copy().toString()
}

/** The same by joining texts. */
function expectedOf(entityId: string, version: number, expires: string) {
  return (one: DataPoint): string => {
    const start = `t,shard=${shardOf(entityId)} entity="${entityId}",key=${KEYS.get(one.key)}i,kind=${kindOf(one)}i`
    const tail = version > 0 ? `,version=${version}i` : ''
    return `${start}${columnOf(one)}${expires}${tail} ${one.ts}000t\n`
  }
}

function columnOf(one: DataPoint): string {
  if (one.type === 'LONG') return `,long_v=${one.value}i`
  if (one.type === 'DOUBLE' && Number.isFinite(one.value))
    return `,dbl_v=${Object.is(one.value, -0) ? '-0.0' : one.value}`
  if (one.type !== 'STRING' && one.type !== 'JSON') return ''
  return `,text_v="${Buffer.from(toPostgresText(one.value))
    .toString()
    .replace(/["\\\n\r]/g, '\\$&')}"`
}

test('rows are the lines that their texts would be', () => {
  fc.assert(
    fc.property(
      fc.array(point, { maxLength: 20 }),
      fc.uuid(),
      fc.constantFrom(0, 1, 12_345_678),
      fc.constantFrom(0, 60),
      (points, entityId, version, ttlSeconds) => {
        const expires = ttlSeconds === 0 ? '' : `,expires=${NOW + ttlSeconds * 1000}i`
        const expected = points.filter((one) => isInRange(one.ts)).map(expectedOf(entityId, version, expires))
        assert.equal(linesOf(points, entityId, version, ttlSeconds), expected.join(''))
      },
    ),
  )
})

test('whole numbers have the digits that they have as texts, up to the largest exact one', () => {
  const edges = Array.from({ length: 16 }, (_, power) => 10 ** power).flatMap((border) => [border - 1, border])
  const near = Array.from({ length: 6 }, (_, k) => (900_719_920 + k) * 1e7 - 1)
  const digitsOf = (number: number): string => {
    const lines = new LineWriter()
    lines.whole(number)
    return lines.copy().toString()
  }
  for (const number of [...edges, ...near, Number.MAX_SAFE_INTEGER]) assert.equal(digitsOf(number), String(number))
  fc.assert(fc.property(fc.maxSafeNat(), (number) => assert.equal(digitsOf(number), String(number))))
})

test('lines longer than the room that there is are whole, and the writer begins anew', () => {
  const long: DataPoint = { key: 'a', type: 'STRING', value: 'ü'.repeat(100_000), ts: 1 }
  const lines = new LineWriter()
  const encoder = new RowEncoder('t')
  const write = { entityId: 'e', points: [long, long], sequence: 1, ttlSeconds: 0, history: true, latest: true }
  encoder.append(lines, write, { keys: KEYS, version: 0, now: NOW })
  assert.equal(lines.copy().toString(), [long, long].map(expectedOf('e', 0, '')).join(''))
  lines.reset()
  assert.equal(lines.copy().length, 0)
})
