import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { bucketing, type IntervalConfiguration } from './time-bucket.ts'

const HOUR = 3_600_000

const text = (interval: IntervalConfiguration, date: string): readonly string[] => {
  const { from, to } = bucketing(interval)(Date.parse(date))
  return [new Date(from).toISOString(), new Date(to).toISOString()]
}

test('buckets follow each other without gap, and a time lies in its own', () => {
  const interval = fc.record({
    type: fc.constantFrom('HOUR', 'DAY', 'WEEK', 'WEEK_SUN_SAT', 'MONTH', 'QUARTER', 'YEAR', 'CUSTOM'),
    tz: fc.constantFrom('UTC', 'Europe/Berlin', 'America/Sao_Paulo', 'Australia/Lord_Howe', 'Asia/Kathmandu'),
    offsetSec: fc.constantFrom(0, 3600, 7 * 3600, 30 * 86_400),
    durationSec: fc.constantFrom(60, 7 * 3600, 86_400, 10 * 86_400),
  })
  fc.assert(
    fc.property(interval, fc.integer({ min: 1_000_000_000, max: 2_000_000_000 }), (configured, second) => {
      const bucketOf = bucketing(configured)
      const ts = second * 1000
      const { from, to } = bucketOf(ts)
      assert.ok(from <= ts && ts < to)
      assert.deepEqual(
        [bucketOf(from), bucketOf(to - 1)],
        [
          { from, to },
          { from, to },
        ],
      )
      assert.equal(bucketOf(to).from, to)
      assert.equal(bucketOf(from - 1).to, from)
    }),
    { numRuns: 1000 },
  )
})

test('a day is shorter or longer where the clock is set, and an offset moves it', () => {
  const day = { type: 'DAY', tz: 'Europe/Berlin' } as const
  assert.deepEqual(text(day, '2024-03-31T12:00:00Z'), ['2024-03-30T23:00:00.000Z', '2024-03-31T22:00:00.000Z'])
  assert.deepEqual(text(day, '2024-10-27T12:00:00Z'), ['2024-10-26T22:00:00.000Z', '2024-10-27T23:00:00.000Z'])
  const shift = { ...day, tz: 'UTC', offsetSec: 6 * 3600 }
  assert.deepEqual(text(shift, '2024-07-02T05:59:59Z'), ['2024-07-01T06:00:00.000Z', '2024-07-02T06:00:00.000Z'])
})

test('weeks begin on Monday, or on Sunday where that is asked', () => {
  const at = '2024-07-03T12:00:00Z'
  assert.equal(text({ type: 'WEEK', tz: 'UTC' }, at)[0], '2024-07-01T00:00:00.000Z')
  assert.equal(text({ type: 'WEEK_SUN_SAT', tz: 'UTC' }, at)[0], '2024-06-30T00:00:00.000Z')
})

test('custom intervals are counted from midnight, and end with the day', () => {
  const sevenHours = { type: 'CUSTOM', tz: 'Asia/Kathmandu', durationSec: 7 * 3600 } as const
  const midnight = Date.parse('2024-07-01T00:00:00+05:45')
  const lengths = [0, 7, 14, 21].map((hour) => {
    const { from, to } = bucketing(sevenHours)(midnight + hour * HOUR)
    return (to - from) / HOUR
  })
  assert.deepEqual(lengths, [7, 7, 7, 3])
})

test('a zone that is none is refused', () => {
  assert.throws(() => bucketing({ type: 'DAY', tz: 'Mars/Olympus' }), RangeError)
})
