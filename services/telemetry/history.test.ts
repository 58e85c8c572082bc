import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { ZonedCalendar, zoneOrServerZone, type CalendarInterval } from '../../model/calendar.ts'
import { historyQueryOf } from './history.ts'
import type { HistoryRequest } from './telemetry-service.ts'

const START = 1_700_000_000_000

function request(change: Partial<HistoryRequest>): HistoryRequest {
  return { keys: ['t'], startTs: START, endTs: START + 400_000, ...change }
}

test('asks for the newest 100 points where nothing else is said', () => {
  const expected = { keys: ['t'], startTs: START, endTs: START + 400_000, agg: 'NONE', limit: 100, order: 'DESC' }
  assert.deepEqual(historyQueryOf(request({})), expected)
})

test('an aggregation without an interval is none', () => {
  assert.equal(historyQueryOf(request({ agg: 'AVG', interval: 0 }))?.agg, 'NONE')
  assert.equal(historyQueryOf(request({ agg: 'AVG' }))?.agg, 'NONE')
})

test('buckets begin at the start, the last one is cut at the end', () => {
  const query = historyQueryOf(request({ agg: 'AVG', interval: 180_000, orderBy: 'DESC' }))
  assert.deepEqual(query?.borders, [START, START + 180_000, START + 360_000, START + 400_000])
  assert.equal(query?.order, 'ASC')
})

test('one bucket as wide as the range has no empty one behind it', () => {
  assert.deepEqual(historyQueryOf(request({ agg: 'AVG', interval: 400_000 }))?.borders, [START, START + 400_000])
})

test('nothing is asked of an empty range or without keys', () => {
  assert.equal(historyQueryOf(request({ endTs: START })), undefined)
  assert.equal(historyQueryOf(request({ endTs: START - 1 })), undefined)
  assert.equal(historyQueryOf(request({ keys: [] })), undefined)
})

test('a key named twice is asked once', () => {
  assert.deepEqual(historyQueryOf(request({ keys: ['a', 'b', 'a'] }))?.keys, ['a', 'b'])
})

test('takes 700 intervals and refuses 701 with the text that clients know', () => {
  assert.equal(historyQueryOf(request({ endTs: START + 700_000, agg: 'SUM', interval: 1_000 }))?.borders?.length, 701)
  assert.throws(() => historyQueryOf(request({ endTs: START + 701_000, agg: 'SUM', interval: 1_000 })), {
    status: 400,
    message:
      "Incorrect TsKvQuery. Number of intervals is to high - 701. Please increase 'interval' parameter for your query or reduce the time range of the query.",
  })
})

test('refuses centuries of weeks before it computes their borders', () => {
  const wish = request({ startTs: 0, endTs: START, agg: 'COUNT', intervalType: 'WEEK' })
  assert.throws(() => historyQueryOf(wish), /Number of intervals is to high - 2810/)
})

test('refuses a negative interval', () => {
  assert.throws(() => historyQueryOf(request({ agg: 'SUM', interval: -5 })), {
    message: "Invalid TsKvQuery: 'interval' must be greater than 0, but got -5",
    status: 400,
  })
})

test('refuses a limit below one, but not for an aggregation, which has none', () => {
  assert.throws(() => historyQueryOf(request({ limit: 0 })), { message: 'Page size must not be less than one' })
  assert.equal(historyQueryOf(request({ limit: 0, agg: 'SUM', interval: 1_000 }))?.agg, 'SUM')
})

test('refuses more points a key than one answer may hold, whoever asks', () => {
  assert.equal(historyQueryOf(request({ limit: 1_000_000 }))?.limit, 1_000_000)
  const tooMany = { message: 'Page size must not be greater than 1000000', status: 400 }
  assert.throws(() => historyQueryOf(request({ limit: 1_000_001 })), tooMany)
  assert.equal(historyQueryOf(request({ limit: 1_000_001, agg: 'SUM', interval: 1_000 }))?.agg, 'SUM')
})

test('refuses calendar intervals at times that have no date', () => {
  for (const startTs of [-9e15, 8.64e15]) {
    const wish = request({ startTs, endTs: startTs + 1000, agg: 'SUM', intervalType: 'MONTH' })
    assert.throws(() => historyQueryOf(wish), { status: 400, message: /no date for the time/ })
  }
  const last = 8.64e15 - 366 * 86_400_000
  const wish = request({ startTs: last - 86_400_000, endTs: last, agg: 'SUM', intervalType: 'QUARTER' })
  assert.equal(historyQueryOf(wish)?.borders?.at(-1), last)
})

test('months of Berlin begin at its midnights, in winter as in summer time', () => {
  const query = historyQueryOf(
    request({
      startTs: START - 40 * 86_400_000,
      endTs: START + 40 * 86_400_000,
      agg: 'COUNT',
      intervalType: 'MONTH',
      timeZone: 'Europe/Berlin',
    }),
  )
  assert.deepEqual(query?.borders, [
    START - 40 * 86_400_000,
    Date.parse('2023-11-01T00:00:00+01:00'),
    Date.parse('2023-12-01T00:00:00+01:00'),
    START + 40 * 86_400_000,
  ])
})

const NEXT: readonly (readonly [CalendarInterval, string, string, string])[] = [
  ['WEEK', 'UTC', '2023-11-15T12:00:00Z', '2023-11-19T00:00:00Z'],
  ['WEEK', 'UTC', '2023-11-19T00:00:00Z', '2023-11-26T00:00:00Z'],
  ['WEEK_ISO', 'UTC', '2023-11-15T12:00:00Z', '2023-11-20T00:00:00Z'],
  ['WEEK_ISO', 'UTC', '2023-11-19T23:59:59.999Z', '2023-11-20T00:00:00Z'],
  ['QUARTER', 'UTC', '2023-11-15T12:00:00Z', '2024-01-01T00:00:00Z'],
  ['QUARTER', 'UTC', '2024-03-31T23:00:00Z', '2024-04-01T00:00:00Z'],
  ['MONTH', 'Asia/Kathmandu', '2023-11-15T12:00:00Z', '2023-12-01T00:00:00+05:45'],
  ['MONTH', 'America/New_York', '2023-11-01T03:59:00Z', '2023-11-01T00:00:00-04:00'],
  ['MONTH', 'UTC', '1969-12-15T12:00:00.500Z', '1970-01-01T00:00:00Z'],
  // Clocks in Lebanon went from midnight to one o'clock: the day, and with it the week, began at one.
  ['WEEK', 'Asia/Beirut', '2022-03-23T12:00:00Z', '2022-03-27T01:00:00+03:00'],
]

for (const [interval, zone, from, to] of NEXT) {
  test(`the ${interval} after ${from} in ${zone} begins at ${to}`, () => {
    assert.equal(
      new Date(new ZonedCalendar(zone).next(Date.parse(from), interval)).toISOString(),
      new Date(to).toISOString(),
    )
  })
}

test('an unknown zone is the server’s', () => {
  const server = zoneOrServerZone(undefined)
  assert.equal(zoneOrServerZone('Mars/Olympus'), server)
  assert.equal(zoneOrServerZone(''), server)
  assert.equal(zoneOrServerZone('Europe/Berlin'), 'Europe/Berlin')
})

test('the next border is always later, and at most 93 days away', () => {
  const intervals = fc.constantFrom<CalendarInterval>('WEEK', 'WEEK_ISO', 'MONTH', 'QUARTER')
  const zones = fc.constantFrom('UTC', 'Europe/Berlin', 'America/Sao_Paulo', 'Australia/Lord_Howe', 'Pacific/Apia')
  fc.assert(
    fc.property(fc.integer({ min: -1e12, max: 4e12 }), intervals, zones, (ts, interval, zone) => {
      const next = new ZonedCalendar(zone).next(ts, interval)
      return next > ts && next - ts <= 93 * 86_400_000
    }),
    { numRuns: 500 },
  )
})
