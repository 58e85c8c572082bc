/** Dates read out of texts: by a pattern, and in the forms of ISO and of mail. */
import { Fault } from '../fault.ts'
import { DateValue } from './date-value.ts'
import { dayName, halfName, monthName, standaloneMonthName } from './date-names.ts'
import { patternParts, width, type PatternPart } from './date-pattern.ts'
import { UTC, findZone, instantOf, offsetOfText, utcTime, type Zone } from './zones.ts'

const MAX_TEXT = 500
const LOOSE_ISO = "yyyy-MM-dd[[ ]['T']HH:mm[:ss[.SSS]][ ][XXX][Z][z][VV][O]]"
const ISO = /^(\d{4})-(\d\d)-(\d\d)[Tt](\d\d):(\d\d)(?::(\d\d)(?:\.(\d{0,9}))?)?([Zz]|[+-]\d\d:\d\d(?::\d\d)?)$/
const MAIL =
  /^(?:(Mon|Tue|Wed|Thu|Fri|Sat|Sun), )?(\d{1,2}) (Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec) (\d{4}) (\d\d):(\d\d)(?::(\d\d))? (GMT|[+-]\d{4})$/i
const MONTHS = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec']
const DAYS = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat']

function unreadable(text: string): Fault {
  return new Fault(`'${text.slice(0, 100)}' can not be read as a date`)
}

/** A text that begins with a digit is ISO with date and time, any other that of mail. */
export function readDate(text: string): DateValue {
  const iso = /^\d/.test(text) ? isoTime(text) : undefined
  if (iso !== undefined) return iso
  const time = /^\d/.test(text) ? looseTime(text) : mailTime(text)
  if (time === undefined) throw unreadable(text)
  return new DateValue(time)
}

function isoTime(text: string): DateValue | undefined {
  const match = ISO.exec(text)
  if (match === null) return undefined
  const [, year, month, day, hour, minute, second = '0', fraction = ''] = match
  const offset = /^z$/i.test(match[8] ?? '') ? 0 : offsetOfText(match[8] ?? '')
  if (offset === undefined) return undefined
  const fields = [year, month, day, hour, minute, second].map(Number)
  const digits = fraction.padEnd(9, '0')
  const local = exactTime(fields, Number(digits.slice(0, 3)))
  return local === undefined ? undefined : new DateValue(local - offset, Number(digits.slice(3)))
}

function mailTime(text: string): number | undefined {
  const match = MAIL.exec(text)
  if (match === null) return undefined
  const [, name, day, month = '', year, hour, minute, second = '0', zone = ''] = match
  const fields = [year, MONTHS.indexOf(month.toLowerCase()) + 1, day, hour, minute, second].map(Number)
  const local = exactTime(fields, 0)
  if (local === undefined) return undefined
  if (name !== undefined && DAYS[new Date(local).getUTCDay()] !== name.toLowerCase()) return undefined
  return local - (/^gmt$/i.test(zone) ? 0 : (offsetOfText(zone) ?? 0))
}

/** Undefined where there is no such day or time. */
export function exactTime(fields: readonly number[], millisecond: number): number | undefined {
  const [year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0] = fields
  if (month < 1 || month > 12 || day < 1 || hour < 0 || hour > 23 || minute < 0 || minute > 59) return undefined
  if (second < 0 || second > 59 || millisecond < 0 || millisecond > 999) return undefined
  return day > daysIn(year, month) ? undefined : utcTime(year, month, day, hour, minute, second, millisecond)
}

export function daysIn(year: number, month: number): number {
  return new Date(utcTime(year, month + 1, 0, 0, 0, 0, 0)).getUTCDate()
}

/** ISO with blanks, without seconds, with names of zones; without a zone it is UTC. */
export function looseTime(text: string): number | undefined {
  const fields = readFields(text, LOOSE_ISO, 'en', false)
  const local = fields === undefined ? undefined : localTime(fields)
  return local === undefined || fields === undefined ? undefined : local - zoneOffset(fields, local, UTC)
}

/** By a pattern: with a zone in the text that one counts, else `zone`. */
export function readByPattern(text: string, pattern: string, locale: string, zone: Zone | undefined): DateValue {
  const fields = readFields(text, pattern, locale, false)
  const local = fields === undefined ? undefined : localTime(fields)
  if (fields === undefined || local === undefined) throw unreadable(text)
  // A zone that the caller names counts, whatever the text says.
  const time = zone === undefined ? local - zoneOffset(fields, local, UTC) : instantOf(local, zone)
  return new DateValue(time, fields.nanos)
}

/** As the platform's older reader: numbers of any width, days beyond their month, what follows is left. -1 where it can not be read. */
export function readLeniently(text: string, pattern: string): number {
  const fields = readFields(text, pattern, 'en', true)
  if (fields === undefined) return -1
  const hour = fields.hour ?? (fields.hour12 ?? 0) + (fields.isAfternoon === true ? 12 : 0)
  const local = utcTime(
    ...([fields.year ?? 1970, fields.month ?? 1, fields.day ?? 1] as const),
    ...([hour, fields.minute ?? 0, fields.second ?? 0, fields.millisecond ?? 0] as const),
  )
  return local - zoneOffset(fields, local, UTC)
}

interface Fields {
  year?: number
  month?: number
  day?: number
  dayOfYear?: number
  weekday?: number
  hour?: number
  hour12?: number
  isAfternoon?: boolean
  minute?: number
  second?: number
  millisecond?: number
  /** Behind the millisecond. */
  nanos?: number
  offset?: number
  zone?: Zone
}

function zoneOffset(fields: Fields, local: number, missing: Zone): number {
  if (fields.zone !== undefined) return local - instantOf(local, fields.zone)
  return fields.offset ?? missing.offsetAt(local)
}

/** The local time that the fields make; a day beyond its month is the last one. Undefined where they make none. */
function localTime(fields: Fields): number | undefined {
  const { year, dayOfYear, minute = 0, second = 0, millisecond = 0 } = fields
  const hour = fields.hour ?? hourOfHalf(fields)
  if (year === undefined || hour === undefined) return undefined
  const month = dayOfYear === undefined ? fields.month : 1
  const day = dayOfYear ?? fields.day
  if (month === undefined || day === undefined || month < 1 || month > 12 || day < 1 || day > (dayOfYear ? 366 : 31))
    return undefined
  const last = dayOfYear === undefined ? Math.min(day, daysIn(year, month)) : day
  if (exactTime([year, 1, 1, hour, minute, second], millisecond) === undefined) return undefined
  const time = utcTime(year, month, last, hour, minute, second, millisecond)
  const { weekday } = fields
  return weekday !== undefined && (new Date(time).getUTCDay() || 7) !== weekday ? undefined : time
}

function hourOfHalf({ hour12, isAfternoon }: Fields): number | undefined {
  if (hour12 === undefined || isAfternoon === undefined || hour12 > 11) return undefined
  return hour12 + (isAfternoon ? 12 : 0)
}

interface Reader {
  readonly text: string
  readonly locale: string
  readonly lenient: boolean
  at: number
  fields: Fields
}

function readFields(text: string, pattern: string, locale: string, lenient: boolean): Fields | undefined {
  if (text.length > MAX_TEXT) return undefined
  const reader: Reader = { text, locale, lenient, at: 0, fields: {} }
  if (!readParts(reader, patternParts(pattern))) return undefined
  return lenient || reader.at === text.length ? reader.fields : undefined
}

function readParts(reader: Reader, parts: readonly PatternPart[]): boolean {
  return parts.every((part, index) => {
    if (part.kind === 'optional') return readOptional(reader, part.parts)
    if (part.kind === 'field') return readField(reader, part.letter, part.count, isNumber(parts[index + 1]))
    if (!reader.text.startsWith(part.text, reader.at)) return false
    reader.at += part.text.length
    return true
  })
}

function readOptional(reader: Reader, parts: readonly PatternPart[]): true {
  const { at, fields } = reader
  reader.fields = { ...fields }
  if (readParts(reader, parts)) return true
  reader.at = at
  reader.fields = fields
  return true
}

function isNumber(part: PatternPart | undefined): boolean {
  return (
    part?.kind === 'field' && ('yudDHhKkmsSnAN'.includes(part.letter) || ('ML'.includes(part.letter) && part.count < 3))
  )
}

/** Between `least` and `most` digits. */
function readNumber(reader: Reader, least: number, most: number): number | undefined {
  let end = reader.at
  while (end < reader.text.length && end - reader.at < most && /\d/.test(reader.text.charAt(end))) end++
  if (end - reader.at < least) return undefined
  const digits = reader.text.slice(reader.at, end)
  reader.at = end
  return Number(digits)
}

function readName(reader: Reader, count: number, nameOf: (index: number) => string): number | undefined {
  let best: { index: number; length: number } | undefined
  for (let index = 1; index <= count; index++) {
    const name = nameOf(index)
    const part = reader.text.slice(reader.at, reader.at + name.length)
    const fits = reader.lenient ? part.toLowerCase() === name.toLowerCase() : part === name
    if (name !== '' && fits && name.length > (best?.length ?? 0)) best = { index, length: name.length }
  }
  if (best !== undefined) reader.at += best.length
  return best?.index
}

function readField(reader: Reader, letter: string, count: number, beforeNumber: boolean): boolean {
  const { fields, locale, lenient } = reader
  const digits = (): number | undefined => {
    if (lenient) return readNumber(reader, 1, beforeNumber ? count : 19)
    return readNumber(reader, count, count === 1 ? (beforeNumber ? 1 : 19) : count)
  }
  const set = <Key extends keyof Fields>(key: Key, value: Fields[Key] | undefined): boolean => {
    if (value === undefined) return false
    fields[key] = value
    return true
  }
  const nameOfMonth = letter === 'M' ? monthName : standaloneMonthName
  switch (letter) {
    case 'y':
    case 'u':
      return set('year', yearOf(digits(), count, lenient))
    case 'M':
    case 'L':
      return set(
        'month',
        count < 3 ? digits() : readName(reader, 12, (month) => nameOfMonth(locale, month, width(count))),
      )
    case 'E':
      return set(
        'weekday',
        readName(reader, 7, (day) => dayName(locale, day, width(count))),
      )
    case 'a':
      return readHalf(reader)
    case 'S':
      return readFraction(reader, count)
    case 'h':
    case 'K': {
      const hour = digits()
      if (letter === 'h' && !lenient && (hour === undefined || hour < 1 || hour > 12)) return false
      return set('hour12', hour === undefined ? undefined : letter === 'h' ? hour % 12 : hour)
    }
    case 'k': {
      const hour = digits()
      return set('hour', hour === undefined ? undefined : hour % 24)
    }
    case 'X':
    case 'x':
    case 'Z':
    case 'O':
      return readOffset(reader, letter, count)
    case 'z':
    case 'V':
      return readZone(reader)
    default: {
      const key = PLAIN[letter]
      return key === undefined ? false : set(key, digits())
    }
  }
}

type NumberKey = 'day' | 'dayOfYear' | 'hour' | 'minute' | 'second'
const PLAIN: Readonly<Record<string, NumberKey>> = { d: 'day', D: 'dayOfYear', H: 'hour', m: 'minute', s: 'second' }

function yearOf(year: number | undefined, count: number, lenient: boolean): number | undefined {
  if (year === undefined || count !== 2) return year
  return lenient && year > 99 ? year : 2000 + year
}

function readHalf(reader: Reader): boolean {
  const half = readName(reader, 2, (index) => halfName(reader.locale, index === 2))
  if (half === undefined) return false
  reader.fields.isAfternoon = half === 2
  return true
}

function readFraction(reader: Reader, count: number): boolean {
  const from = reader.at
  const value = reader.lenient ? readNumber(reader, 1, 9) : readNumber(reader, count, count)
  if (value === undefined) return false
  const digits = reader.text.slice(from, reader.at)
  // The older reader takes the digits for milliseconds, whatever their number.
  if (reader.lenient) reader.fields.millisecond = value
  else {
    const padded = digits.padEnd(9, '0')
    reader.fields.millisecond = Number(padded.slice(0, 3))
    reader.fields.nanos = Number(padded.slice(3))
  }
  return true
}

const OFFSETS: Readonly<Record<string, RegExp>> = {
  X1: /Z|[+-]\d\d(?:\d\d)?/y,
  X2: /Z|[+-]\d{4}/y,
  X3: /Z|[+-]\d\d:\d\d/y,
  x1: /[+-]\d\d(?:\d\d)?/y,
  x2: /[+-]\d{4}/y,
  x3: /[+-]\d\d:\d\d/y,
  Z1: /[+-]\d{4}/y,
  Z4: /GMT(?:[+-]\d{1,2}(?::\d\d)?)?/y,
  Z5: /Z|[+-]\d\d:\d\d/y,
}

function readOffset(reader: Reader, letter: string, count: number): boolean {
  const form =
    letter === 'O' ? 'Z4' : letter === 'Z' ? (count < 4 ? 'Z1' : `Z${count}`) : `${letter}${Math.min(3, count)}`
  const found = matchAt(reader, OFFSETS[form] ?? /(?!)/y)
  if (found === undefined) return false
  const offset = found === 'Z' || found === 'GMT' ? 0 : offsetOfText(found)
  if (offset === undefined) return false
  reader.fields.offset = offset
  return true
}

const ZONE = /[A-Za-z][A-Za-z0-9_~.-]*(?:\/[A-Za-z0-9_~.+-]+)*(?:[+-]\d{1,2}(?::\d\d)?)?|[+-]\d\d:\d\d/y

function readZone(reader: Reader): boolean {
  const { at } = reader
  const zone = findZone(matchAt(reader, ZONE) ?? '')
  if (zone === undefined) reader.at = at
  else reader.fields.zone = zone
  return zone !== undefined
}

function matchAt(reader: Reader, pattern: RegExp): string | undefined {
  pattern.lastIndex = reader.at
  const found = pattern.exec(reader.text)?.[0]
  if (found !== undefined) reader.at += found.length
  return found
}
