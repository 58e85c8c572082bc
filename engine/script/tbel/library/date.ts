/**
 * Dates: instants, read and moved in UTC, which is this server's own zone too, and written in any zone and language. Months count from 1,
 * days of the week from Monday = 1. Source: `rule-engine.md` 6.5 "Date".
 */
import { Fault } from '../fault.ts'
import { isInt, isNumber, longOf, numberOf, type Value } from '../values.ts'
import type { Budget } from '../budget.ts'
import type { Clock } from '../../../../model/clock.ts'
import { DateValue } from './date-value.ts'
import { longArgument } from './hex.ts'
import { DEFAULT_LOCALE, localeOf } from './date-names.ts'
import { daysIn, exactTime, looseTime, readByPattern, readDate, readLeniently } from './date-reader.ts'
import { dateTexts } from './date-text.ts'
import { UTC, instantOf, zoneOf } from './zones.ts'
import {
  argument,
  doubleArgument,
  intArgument,
  libraryFunction,
  method,
  textArgument,
  type Functions,
  type Method,
  type Methods,
} from './signature.ts'

const MAX_TIME = 8.64e15
const DAY = 86_400_000
const HOUR = 3_600_000
/** What reading a text by a pattern counts for. */
const READ_STEPS = 200

function checked(time: number): number {
  if (!Number.isFinite(time) || Math.abs(time) > MAX_TIME) throw new Fault('date is out of range')
  return time
}

type Field = 'FullYear' | 'Month' | 'Date' | 'Hours' | 'Minutes' | 'Seconds' | 'Milliseconds'
/** Year, month, day, hour, minute, second, millisecond. */
type Fields = [number, number, number, number, number, number, number]

const FIELDS: readonly Field[] = ['FullYear', 'Month', 'Date', 'Hours', 'Minutes', 'Seconds', 'Milliseconds']
/** How many fields a setter takes, beginning with its own. */
const SETTERS: readonly (readonly [Field, number])[] = [
  ['FullYear', 3],
  ['Month', 2],
  ['Date', 1],
  ['Hours', 4],
  ['Minutes', 3],
  ['Seconds', 2],
  ['Milliseconds', 1],
]

function fieldsOf(value: DateValue): Fields {
  const date = new Date(value.time)
  return [
    ...([date.getUTCFullYear(), date.getUTCMonth() + 1, date.getUTCDate()] as const),
    ...([date.getUTCHours(), date.getUTCMinutes(), date.getUTCSeconds(), date.getUTCMilliseconds()] as const),
  ]
}

function reader(read: (date: Date) => number): Method<DateValue> {
  return method<DateValue>(0, 0, (value) => read(new Date(value.time)), 'platformInt')
}

/** Sets fields from `first` on. A day that its new month lacks runs on into the next one, unless it was given. */
function setter(first: number, most: number): Method<DateValue> {
  return method<DateValue>(1, most, (value, values) => {
    const fields = fieldsOf(value)
    values.forEach((_given, index) => {
      fields[first + index] = intArgument(values, index)
    })
    const isDayGiven = first + values.length > 2 && first < 3
    const day = isDayGiven || first > 1 ? 0 : fields[2] - 1
    if (day > 0) fields[2] = 1
    const time = exactTime(fields.slice(0, 6), fields[6])
    if (time === undefined) throw new Fault('there is no such day or time')
    value.time = checked(time + day * DAY)
    if (first + values.length > 6) value.nanos = 0
    return null
  })
}

function mover(move: (date: Date, by: number) => void): Method<DateValue> {
  return method<DateValue>(1, 1, (value, values) => {
    const date = new Date(value.time)
    move(date, intArgument(values, 0))
    value.time = checked(date.getTime())
    return null
  })
}

/** Months end where the shorter one ends: 31 January and a month is the last of February. */
function addMonths(date: Date, by: number): void {
  const day = date.getUTCDate()
  date.setUTCDate(1)
  date.setUTCMonth(date.getUTCMonth() + by)
  date.setUTCDate(Math.min(day, daysIn(date.getUTCFullYear(), date.getUTCMonth() + 1)))
}

function addTime(unit: number): Method<DateValue> {
  return method<DateValue>(1, 1, (value, values) => {
    value.time = checked(value.time + intArgument(values, 0) * unit)
    return null
  })
}

function addNanos(value: DateValue, values: readonly Value[]): null {
  value.moveNanos(longArgument(values, 0))
  checked(value.time)
  return null
}

function setTime(value: DateValue, values: readonly Value[]): null {
  value.time = checked(Math.trunc(doubleArgument(values, 0)))
  value.nanos = 0
  return null
}

const READERS: readonly (readonly [string, (date: Date) => number])[] = [
  ['FullYear', (date) => date.getUTCFullYear()],
  ['Month', (date) => date.getUTCMonth() + 1],
  ['Date', (date) => date.getUTCDate()],
  ['Day', (date) => date.getUTCDay() || 7],
  ['Hours', (date) => date.getUTCHours()],
  ['Minutes', (date) => date.getUTCMinutes()],
  ['Seconds', (date) => date.getUTCSeconds()],
  ['Milliseconds', (date) => date.getUTCMilliseconds()],
]

const time = method<DateValue>(0, 0, (value) => longOf(value.time))

export const dateMethods: Methods<DateValue> = new Map<string, Method<DateValue>>([
  ['getTime', time],
  ['valueOf', time],
  ['parseSecondMilli', time],
  ['parseSecond', method<DateValue>(0, 0, (value) => longOf(Math.floor(value.time / 1000)))],
  ['setTime', method<DateValue>(1, 1, setTime)],
  ...READERS.flatMap(([name, read]): [string, Method<DateValue>][] => [
    [`get${name}`, reader(read)],
    [`getUTC${name}`, reader(read)],
  ]),
  ...SETTERS.flatMap(([name, most]): [string, Method<DateValue>][] => [
    [`set${name}`, setter(FIELDS.indexOf(name), most)],
    [`setUTC${name}`, setter(FIELDS.indexOf(name), most)],
  ]),
  ['addYears', mover((date, by) => addMonths(date, 12 * by))],
  ['addMonths', mover(addMonths)],
  ['addWeeks', addTime(7 * DAY)],
  ['addDays', addTime(DAY)],
  ['addHours', addTime(HOUR)],
  ['addMinutes', addTime(60_000)],
  ['addSeconds', addTime(1000)],
  ['addNanos', method<DateValue>(1, 1, addNanos)],
  ...dateTexts,
])

/** What a property of a date reads: `date.time` is `date.getTime()`. */
export function dateProperty(value: DateValue, name: string, budget: Budget): Value | undefined {
  const read = dateMethods.get(`get${name.charAt(0).toUpperCase()}${name.slice(1)}`)
  return read?.least === 0 ? read.run(value, [], budget) : undefined
}

/** `new Date()`, `(ms)`, `(text)`, `(text, pattern[, locale[, zone]])`, `(year, month, day[, …][, zone])`. */
export function newDate(clock: Clock, values: readonly Value[], budget: Budget): DateValue {
  if (values.length === 0) return new DateValue(clock.now())
  const first = argument(values, 0)
  if (values.length === 1 && isNumber(first)) return new DateValue(checked(Math.trunc(numberOf(first))))
  budget.spend(READ_STEPS)
  const date = isInt(first) && values.length > 2 ? new DateValue(ofFields(values)) : ofText(values)
  checked(date.time)
  return date
}

function ofText(values: readonly Value[]): DateValue {
  const text = textArgument(values, 0)
  if (values.length === 1) return readDate(text)
  const locale = localeOf(values.length > 2 ? textArgument(values, 2) : DEFAULT_LOCALE)
  if (values.length > 4) throw new Fault('a date has no such form')
  const zone = values.length > 3 ? zoneOf(textArgument(values, 3)) : undefined
  return readByPattern(text, textArgument(values, 1), locale, zone)
}

/** Year, month, day, then hour and minute together, second, millisecond; the last may be a zone. */
function ofFields(values: readonly Value[]): number {
  const last = values.at(-1) ?? null
  const zone = typeof last === 'string' && values.length > 3 ? (last === '' ? UTC : zoneOf(last)) : undefined
  const count = values.length - (zone === undefined ? 0 : 1)
  if (count === 4 || count > 7) throw new Fault('a date has no such form')
  const fields = Array.from({ length: 7 }, (_, index) => (index < count ? intArgument(values, index) : 0))
  return instantOf(dayTime(fields), zone ?? UTC)
}

/** Years below 70 are 20xx, below 100 they are 19xx. */
function dayTime(fields: readonly number[]): number {
  const [year = 0, ...rest] = fields
  const full = year < 70 ? 2000 + year : year < 100 ? 1900 + year : year
  const local = exactTime([full, ...rest.slice(0, 5)], rest[5] ?? 0)
  if (local === undefined) throw new Fault('there is no such day or time')
  return local
}

/** Missing and zero fields are the year 1899, December, the 31st. */
function utc(values: readonly Value[]): number {
  const fields = Array.from({ length: 7 }, (_, index) => intArgument(values, index, 0))
  const [year = 0, month = 0, day = 0, ...rest] = fields
  return dayTime([year === 0 ? 1899 : year, month === 0 ? 12 : month, day === 0 ? 31 : day, ...rest])
}

/** -1 where the text is no date, or has no time. */
function parse(values: readonly Value[], budget: Budget): Value {
  budget.spend(READ_STEPS)
  const text = textArgument(values, 0)
  return longOf(values.length > 1 ? readLeniently(text, textArgument(values, 1)) : (looseTime(text) ?? -1))
}

export function dateFunctions(clock: Clock): Functions {
  return new Map([
    ['now', libraryFunction(0, 0, () => longOf(clock.now()))],
    ['parse', libraryFunction(1, 2, parse)],
    ['UTC', libraryFunction(1, 7, (values) => longOf(utc(values)))],
  ])
}
