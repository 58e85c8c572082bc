import assert from 'node:assert/strict'
import { test } from 'node:test'
import { compileProgram } from './compile.ts'
import { DEFAULT_TBEL_LIMITS } from './budget.ts'
import { Fault } from './fault.ts'
import { standardLibrary } from './standard-library.ts'
import { handClock } from '../javascript/testkit.ts'
import { textOf } from './values.ts'

const clock = handClock()
const library = standardLibrary(clock, { next: () => 0.5, uuid: () => '' })

function run(script: string): string {
  return textOf(compileProgram(script, [], library, DEFAULT_TBEL_LIMITS, clock).run([]))
}

const AT = 'new Date(1700000000123)'

test('a date keeps what its text says behind the millisecond, and is moved by nanoseconds', () => {
  for (const [script, expected] of [
    ["return new Date('2024-02-03T04:05:06.789123Z').toISOString()", '2024-02-03T04:05:06.789123Z'],
    ["return new Date('2024-02-03T04:05:06.7Z').toISOString()", '2024-02-03T04:05:06.700Z'],
    ["return new Date('1969-12-31T23:59:59.000000001Z').toJSON()", '1969-12-31T23:59:59.000000001Z'],
    ["return new Date('2024-02-03T04:05:06.789123Z').getTime()", '1706933106789'],
    [`var d = ${AT}; d.addNanos(1); return d.toISOString()`, '2023-11-14T22:13:20.123000001Z'],
    [`var d = ${AT}; d.addNanos(-123000001L); return d.toISOString()`, '2023-11-14T22:13:19.999999999Z'],
    [`var d = ${AT}; d.addNanos(5000000000L); return d.toISOString()`, '2023-11-14T22:13:25.123Z'],
    [
      `var d = ${AT}; d.addNanos(1); d.addDays(1); d.setHours(0); return d.toISOString()`,
      '2023-11-15T00:13:20.123000001Z',
    ],
    [
      "return new Date('03.02.2024 04:05:06.789123', 'dd.MM.yyyy HH:mm:ss.SSSSSS').toISOString()",
      '2024-02-03T04:05:06.789123Z',
    ],
    [
      `var d = ${AT}; d.addNanos(45006); return d.toLocaleString('en', '{"pattern":"s.SSSSSSSSS n N SS"}')`,
      '20.123045006 123045006 80000123045006 12',
    ],
    [`var d = ${AT}; d.addNanos(1); d.setMilliseconds(5); return d.toISOString()`, '2023-11-14T22:13:20.005Z'],
    [`var d = ${AT}; d.addNanos(1); d.setTime(0); return d.toISOString()`, '1970-01-01T00:00:00Z'],
  ] as const)
    assert.equal(run(`${script};`), expected, script)
})

test('a date is written in any language, zone, style and pattern', () => {
  const rows: readonly (readonly [script: string, expected: string])[] = [
    [`${AT}.toISOString()`, '2023-11-14T22:13:20.123Z'],
    [`'' + ${AT}`, 'Tuesday, November 14, 2023 at 10:13:20 PM Coordinated Universal Time'],
    [`${AT}.toUTCString()`, '2023 Nov 14, Tue 22:13:20'],
    [`${AT}.toUTCString('de')`, 'Dienstag, 14. November 2023 um 22:13:20'],
    [`${AT}.toLocaleString()`, '2023-11-14 22:13:20'],
    [`${AT}.toLocaleString('en-US')`, '11/14/23, 10:13:20 PM'],
    [`${AT}.toLocaleString('en-US', 'America/New_York')`, '11/14/23, 5:13:20 PM'],
    [
      `${AT}.toLocaleString('de', '{"timeZone":"Europe/Kyiv","dateStyle":"long","timeStyle":"short"}')`,
      '15. November 2023 um 00:13',
    ],
    [`${AT}.toLocaleString('fr', '{"timeZone":"America/New_York","timeStyle":"long"}')`, '14/11/2023 17:13:20 EST'],
    [`${AT}.toLocaleDateString('en-US', 'UTC')`, '11/14/23'],
    [`${AT}.toLocaleTimeString()`, '10:13:20 PM'],
    [`${AT}.toDateString('fr-FR')`, 'mardi 14 novembre 2023'],
    [`${AT}.toTimeString('de', '{"timeZone":"nowhere","pattern":"HH VV"}')`, '22 GMT'],
    [
      `${AT}.toString('en', '{"pattern":"yyyy-MM-dd\\'T\\'HH:mm:ss.SSSXXX EEE D[ VV]","timeZone":"+05:30"}')`,
      '2023-11-15T03:43:20.123+05:30 Wed 319 +05:30',
    ],
  ]
  for (const [script, expected] of rows) assert.equal(run(`return ${script};`), expected, script)
})

test('a date is read from numbers, from texts and by patterns', () => {
  const rows: readonly (readonly [script: string, expected: string])[] = [
    ['new Date(2024, 2, 3)', '2024-02-03T00:00:00Z'],
    ["new Date(24, 2, 3, 4, 5, 6, 7, 'America/New_York')", '2024-02-03T09:05:06.007Z'],
    ["new Date(70, 12, 31, 'Asia/Tokyo')", '1970-12-30T15:00:00Z'],
    ["new Date('2024-02-03T04:05')", '2024-02-03T04:05:00Z'],
    ["new Date('2024-02-03 04:05:06.789 +0200')", '2024-02-03T02:05:06.789Z'],
    ["new Date('Tue, 3 Jun 2008 11:05:30 GMT')", '2008-06-03T11:05:30Z'],
    ["new Date('Tue, 3 Jun 2008 11:05 -0230')", '2008-06-03T13:35:00Z'],
    ["new Date('03.02.2024 16:05', 'dd.MM.yyyy HH:mm')", '2024-02-03T16:05:00Z'],
    ["new Date('3 Februar 2024 16:05', 'd MMMM yyyy HH:mm', 'de', 'Europe/Berlin')", '2024-02-03T15:05:00Z'],
    ["new Date('02/03/24 04:05 PM', 'MM/dd/yy hh:mm a', 'en-US')", '2024-02-03T16:05:00Z'],
    ["new Date('2024-02-31 10:00', 'yyyy-MM-dd HH:mm')", '2024-02-29T10:00:00Z'],
    ["new Date('2024-03-31 02:30', 'yyyy-MM-dd HH:mm', 'en', 'Europe/Berlin')", '2024-03-31T01:30:00Z'],
  ]
  for (const [script, expected] of rows) assert.equal(run(`return ${script}.toISOString();`), expected, script)
  assert.equal(run("return Date.parse('2024-02-03');"), '-1')
  assert.equal(run("return Date.parse('3.2.2024 rest', 'dd.MM.yyyy');"), '1706918400000')
  assert.equal(run('return Date.UTC(2024, 2, 3, 4, 5, 6, 7);'), '1706933106007')
})

test('what is no date is refused', () => {
  const bodies = [
    'new Date(2024, 0, 3)',
    'new Date(2024, 13, 3)',
    'new Date(2024, 2, 30)',
    'new Date(2024, 2, 3, 4)',
    "new Date('2024-02-03')",
    "new Date('Mon, 3 Jun 2008 11:05:30 GMT')",
    "new Date('2024-02-03 10', 'yyyy-MM-dd HH:mm')",
    "new Date('2024-02-03', 'yyyy-MM-dd b')",
    "new Date(2024, 2, 3, 'Mars/Base')",
  ]
  for (const body of bodies) assert.throws(() => run(`return ${body};`), Fault, body)
})

test('fields are set one by one or together; a day that a month lacks runs on', () => {
  const rows: readonly (readonly [script: string, expected: string])[] = [
    ['d.setUTCHours(5)', '2023-11-14T05:13:20.123Z'],
    ['d.setHours(1, 2, 3, 4)', '2023-11-14T01:02:03.004Z'],
    ['d.setMonth(2, 29)', ''],
    ['d.setDate(30); d.setMonth(2)', '2023-03-02T22:13:20.123Z'],
    ['d.setFullYear(2024, 2, 29)', '2024-02-29T22:13:20.123Z'],
    ['d.setMinutes(60)', ''],
    ['d.addMonths(3); d.addWeeks(1); d.addNanos(2000000)', '2024-02-21T22:13:20.125Z'],
  ]
  for (const [script, expected] of rows) {
    const body = `var d = ${AT}; ${script}; return d.toISOString();`
    if (expected === '') assert.throws(() => run(body), Fault, script)
    else assert.equal(run(body), expected, script)
  }
  assert.equal(
    run(`var d = ${AT}; return [d.getDay(), d.month, d.parseSecond(), d.getUTCMilliseconds()];`),
    '[2, 11, 1700000000, 123]',
  )
})
