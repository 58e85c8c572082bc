/** Methods of dates that read and move an instant in UTC. Months count from 1, days of the week from Monday = 1. Source: `rule-engine.md` 6.5 "Date". */
import { Fault } from '../fault.ts'
import { longOf, numberOf, isNumber, type Value } from '../values.ts'
import type { Clock } from '../../../../model/clock.ts'
import { DateValue } from './date-value.ts'
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

function checked(time: number): number {
  if (!Number.isFinite(time) || Math.abs(time) > MAX_TIME) throw new Fault('date is out of range')
  return Math.trunc(time)
}

function reader(read: (date: Date) => number): Method<DateValue> {
  return method<DateValue>(0, 0, (value) => read(new Date(value.time)))
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
  const last = new Date(Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 0)).getUTCDate()
  date.setUTCDate(Math.min(day, last))
}

function setTime(value: DateValue, values: readonly Value[]): null {
  value.time = checked(doubleArgument(values, 0))
  return null
}

const MS_PER_DAY = 86_400_000
const MS_PER_HOUR = 3_600_000

export const dateMethods: Methods<DateValue> = new Map([
  ['getTime', method<DateValue>(0, 0, (value) => longOf(value.time))],
  ['valueOf', method<DateValue>(0, 0, (value) => longOf(value.time))],
  ['setTime', method<DateValue>(1, 1, setTime)],
  ['getUTCFullYear', reader((date) => date.getUTCFullYear())],
  ['getUTCMonth', reader((date) => date.getUTCMonth() + 1)],
  ['getUTCDate', reader((date) => date.getUTCDate())],
  ['getUTCDay', reader((date) => date.getUTCDay() || 7)],
  ['getUTCHours', reader((date) => date.getUTCHours())],
  ['getUTCMinutes', reader((date) => date.getUTCMinutes())],
  ['getUTCSeconds', reader((date) => date.getUTCSeconds())],
  ['getUTCMilliseconds', reader((date) => date.getUTCMilliseconds())],
  ['addYears', mover((date, by) => addMonths(date, 12 * by))],
  ['addMonths', mover(addMonths)],
  ['addWeeks', mover((date, by) => date.setTime(date.getTime() + by * 7 * MS_PER_DAY))],
  ['addDays', mover((date, by) => date.setTime(date.getTime() + by * MS_PER_DAY))],
  ['addHours', mover((date, by) => date.setTime(date.getTime() + by * MS_PER_HOUR))],
  ['addMinutes', mover((date, by) => date.setTime(date.getTime() + by * 60_000))],
  ['addSeconds', mover((date, by) => date.setTime(date.getTime() + by * 1000))],
  ['toISOString', method<DateValue>(0, 0, (value) => value.toJsonText())],
  ['toJSON', method<DateValue>(0, 0, (value) => value.toJsonText())],
])

/** ISO text with date, time and zone. */
const ISO = /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d{1,9})?)?(Z|[+-]\d\d:?\d\d)$/

export function parseDate(text: string): DateValue {
  const time = ISO.test(text) ? Date.parse(text) : NaN
  if (Number.isNaN(time)) throw new Fault(`'${text.slice(0, 100)}' is no date: expected such as 2024-02-03T04:05:06Z`)
  return new DateValue(time)
}

/** `new Date()`, `(ms)`, `(isoText)`. */
export function newDate(clock: Clock, values: readonly Value[]): DateValue {
  if (values.length === 0) return new DateValue(clock.now())
  const value = argument(values, 0)
  return isNumber(value) ? new DateValue(checked(numberOf(value))) : parseDate(textArgument(values, 0))
}

export function dateFunctions(clock: Clock): Functions {
  return new Map([
    ['now', libraryFunction(0, 0, () => longOf(clock.now()))],
    ['parse', libraryFunction(1, 1, (values) => longOf(parseDate(textArgument(values, 0)).time))],
    ['UTC', libraryFunction(3, 7, (values) => longOf(utc(values)))],
  ])
}

function utc(values: readonly Value[]): number {
  const [year, month, day, hour, minute, second, ms] = [0, 1, 2, 3, 4, 5, 6].map((index) =>
    intArgument(values, index, 0),
  )
  const time = Date.UTC(year ?? 0, (month ?? 1) - 1, day ?? 1, hour ?? 0, minute ?? 0, second ?? 0, ms ?? 0)
  const date = new Date(time)
  if (date.getUTCMonth() + 1 !== month || date.getUTCDate() !== day) throw new Fault('no such day')
  return time
}
