import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { anyScheduleOfText, isActive, nextChange, type Schedule } from './schedule.ts'

const HOUR = 3_600_000
const MINUTE = 60_000

const hours = fc.record({
  startsOn: fc.integer({ min: 0, max: 23 }).map((hour) => hour * HOUR),
  endsOn: fc.integer({ min: 0, max: 23 }).map((hour) => hour * HOUR),
})
const day = fc.integer({ min: 1, max: 7 })
const timezone = fc.constantFrom('UTC', 'Asia/Kathmandu', 'America/Phoenix')
const schedules: fc.Arbitrary<Schedule> = fc.oneof(
  fc
    .record({ timezone, daysOfWeek: fc.uniqueArray(day) })
    .chain((common) => hours.map((ofDay): Schedule => ({ type: 'SPECIFIC_TIME', ...common, ...ofDay }))),
  fc.record({
    type: fc.constant('CUSTOM' as const),
    timezone,
    items: fc.array(
      fc.tuple(hours, fc.boolean(), day).map(([ofDay, enabled, dayOfWeek]) => ({ ...ofDay, enabled, dayOfWeek })),
      { maxLength: 7 },
    ),
  }),
)

test('the next change is the first minute at which the schedule applies and did not, or the other way round', () => {
  fc.assert(
    fc.property(schedules, fc.integer({ min: 28_000_000, max: 29_000_000 }), (when, minute) => {
      const ts = minute * MINUTE
      let expected: number | undefined
      for (let at = ts + MINUTE; at <= ts + 8 * 24 * HOUR && expected === undefined; at += MINUTE)
        if (isActive(when, at) !== isActive(when, at - MINUTE)) expected = at
      assert.equal(nextChange(when, ts), expected)
    }),
    { numRuns: 60 },
  )
})

test('hours that summer time skips begin when the clock goes on', () => {
  const when: Schedule = {
    ...{ type: 'SPECIFIC_TIME', timezone: 'Europe/Berlin', daysOfWeek: [1, 2, 3, 4, 5, 6, 7] },
    ...{ startsOn: 2.5 * HOUR, endsOn: 5 * HOUR },
  }
  const before = Date.parse('2024-03-31T01:30:00+01:00')
  const begins = nextChange(when, before) ?? 0
  assert.equal(new Date(begins).toISOString(), '2024-03-31T01:00:00.000Z')
})

test('a text holds a schedule whose members tell its type', () => {
  const ofDay = { startsOn: 0, endsOn: HOUR }
  assert.deepEqual(anyScheduleOfText('{}'), { type: 'ANY_TIME' })
  const text = JSON.stringify({ timezone: 'UTC', daysOfWeek: [1], ...ofDay })
  assert.equal(anyScheduleOfText(text)?.type, 'SPECIFIC_TIME')
  assert.equal(anyScheduleOfText('{"timezone":"UTC","items":[]}')?.type, 'CUSTOM')
  assert.equal(anyScheduleOfText('{"type":"ANY_TIME"}')?.type, 'ANY_TIME')
  for (const none of ['', '[]', '{"a":1}', '{"timezone":"Mars/Olympus","items":[]}', 'no JSON'])
    assert.equal(anyScheduleOfText(none), undefined, none)
})
