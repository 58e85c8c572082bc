import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { calendarOf, isZone, type CalendarInterval } from './calendar.ts'

const MINUTE = 60_000
const ZONES = ['UTC', 'Europe/Berlin', 'America/Sao_Paulo', 'Australia/Lord_Howe', 'Asia/Kathmandu', 'Pacific/Apia']

/** The clock on the wall, asked of Intl for one moment and nothing else. */
function shown(zone: string, ts: number): Date {
  const text = new Date(ts).toLocaleString('sv-SE', { timeZone: zone })
  return new Date(`${text.replace(' ', 'T')}Z`)
}

/** What names the interval: equal for all moments of one, and for no moment of its neighbours. */
function nameOf(interval: Exclude<CalendarInterval, 'HOUR'>, clock: Date): string {
  const day = (days: number): string => new Date(clock.getTime() - days * 86_400_000).toISOString().slice(0, 10)
  switch (interval) {
    case 'DAY':
      return day(0)
    case 'WEEK':
      return day(clock.getUTCDay())
    case 'WEEK_ISO':
      return day((clock.getUTCDay() + 6) % 7)
    case 'MONTH':
      return day(0).slice(0, 7)
    case 'QUARTER':
      return `${clock.getUTCFullYear()} ${Math.floor(clock.getUTCMonth() / 3)}`
    case 'YEAR':
      return String(clock.getUTCFullYear())
  }
}

test('the border of an interval is the first moment of its name', () => {
  const intervals = fc.constantFrom('DAY', 'WEEK', 'WEEK_ISO', 'MONTH', 'QUARTER', 'YEAR')
  const minutes = fc.integer({ min: 10_000_000, max: 30_000_000 })
  fc.assert(
    fc.property(minutes, intervals, fc.constantFrom(...ZONES), (minute, interval, zone) => {
      const ts = minute * MINUTE
      const calendar = calendarOf(zone)
      const name = (at: number): string => nameOf(interval, shown(zone, at))
      const [start, next] = [calendar.start(ts, interval), calendar.next(ts, interval)]
      assert.ok(start <= ts && ts < next)
      assert.deepEqual([name(start), name(next - 1)], [name(ts), name(ts)])
      assert.notEqual(name(start - 1), name(ts))
      assert.notEqual(name(next), name(ts))
    }),
    { numRuns: 500 },
  )
})

test('hours are whole on the clock on the wall, also where it is set by half an hour', () => {
  const around = (date: string) => fc.integer({ min: -300, max: 300 }).map((by) => Date.parse(date) + by * MINUTE)
  const times = fc.oneof(around('2024-04-06T15:00:00Z'), around('2024-10-05T15:30:00Z'), around('2024-10-27T01:00:00Z'))
  const onTheHour = (zone: string, ts: number): boolean => shown(zone, ts).getTime() % (60 * MINUTE) === 0
  fc.assert(
    fc.property(times, fc.constantFrom(...ZONES), (ts, zone) => {
      const calendar = calendarOf(zone)
      let [start, next] = [ts, ts + MINUTE]
      while (!onTheHour(zone, start)) start -= MINUTE
      while (!onTheHour(zone, next)) next += MINUTE
      assert.deepEqual([calendar.start(ts, 'HOUR'), calendar.next(ts, 'HOUR')], [start, next])
    }),
    { numRuns: 500 },
  )
})

test('an hour that comes twice is two hours, one that is skipped none', () => {
  const calendar = calendarOf('Europe/Berlin')
  const hour = (date: string): string => new Date(calendar.start(Date.parse(date), 'HOUR')).toISOString()
  assert.equal(hour('2024-10-27T02:30:00+02:00'), '2024-10-27T00:00:00.000Z')
  assert.equal(hour('2024-10-27T02:30:00+01:00'), '2024-10-27T01:00:00.000Z')
  assert.equal(calendar.next(Date.parse('2024-03-31T01:30:00+01:00'), 'HOUR'), Date.parse('2024-03-31T03:00:00+02:00'))
  assert.equal(
    calendar.next(Date.parse('2024-03-31T12:00:00Z'), 'DAY') -
      calendar.start(Date.parse('2024-03-31T12:00:00Z'), 'DAY'),
    23 * 60 * MINUTE,
  )
})

test('a day whose clock is set back after midnight begins at midnight', () => {
  const calendar = calendarOf('Australia/Lord_Howe')
  const day = Date.parse('1993-03-07T12:00:00+10:30')
  assert.equal(new Date(calendar.start(day, 'WEEK')).toISOString(), '1993-03-06T13:00:00.000Z')
})

test('the clock is read, and when it shows a time is found', () => {
  const calendar = calendarOf('Europe/Berlin')
  const monday = Date.parse('2024-07-01T08:30:00+02:00')
  assert.deepEqual(calendar.wallClock(monday), { weekday: 1, msOfDay: 8.5 * 3_600_000 })
  assert.equal(calendar.moment(monday, 1, 9 * 3_600_000), Date.parse('2024-07-02T09:00:00+02:00'))
  const skipped = calendar.moment(Date.parse('2024-03-30T12:00:00Z'), 1, 2.5 * 3_600_000)
  assert.equal(skipped, Date.parse('2024-03-31T03:00:00+02:00'))
})

test('knows which zones there are', () => {
  assert.deepEqual([isZone('Europe/Berlin'), isZone('Mars/Olympus')], [true, false])
  assert.throws(() => calendarOf('Mars/Olympus'), RangeError)
})
