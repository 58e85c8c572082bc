/** Patterns of dates such as `yyyy-MM-dd'T'HH:mm[:ss]XXX`: what they consist of, and a date written by one. */
import { Fault } from '../fault.ts'
import { lruMap } from '../../../../model/lru-map.ts'
import { dayName, eraName, halfName, monthName, standaloneMonthName, zoneName, type Width } from './date-names.ts'
import type { DateValue } from './date-value.ts'
import { utcTime, type Zone } from './zones.ts'

export type PatternPart =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'field'; readonly letter: string; readonly count: number }
  | { readonly kind: 'optional'; readonly parts: readonly PatternPart[] }

const LETTERS = 'GuyMLdDEeacHkKhmsSAnNzOXxZVQq'
const MAX_LENGTH = 200
const compiled = lruMap<readonly PatternPart[]>(200)

/** Throws a Fault with what is wrong. */
export function patternParts(pattern: string): readonly PatternPart[] {
  const known = compiled.get(pattern)
  if (known !== undefined) return known
  if (pattern.length > MAX_LENGTH)
    throw new Fault(`a pattern of ${pattern.length} characters, at most ${MAX_LENGTH} are allowed`)
  const reader = { at: 0 }
  const parts = readParts(pattern, reader, 0)
  compiled.set(pattern, parts)
  return parts
}

function readParts(pattern: string, reader: { at: number }, depth: number): readonly PatternPart[] {
  const parts: PatternPart[] = []
  while (reader.at < pattern.length) {
    const letter = pattern.charAt(reader.at)
    if (letter === ']') {
      if (depth === 0) throw new Fault('a pattern has a ] without a [')
      reader.at++
      return parts
    }
    if (letter === '[') {
      reader.at++
      parts.push({ kind: 'optional', parts: readParts(pattern, reader, depth + 1) })
    } else if (letter === "'") parts.push({ kind: 'text', text: quoted(pattern, reader) })
    else if (/[A-Za-z]/.test(letter)) parts.push(field(pattern, reader, letter))
    else {
      if ('{}#'.includes(letter)) throw new Fault(`a pattern can not hold '${letter}'`)
      parts.push({ kind: 'text', text: letter })
      reader.at++
    }
  }
  // A section that is never closed ends with the pattern.
  return parts
}

function quoted(pattern: string, reader: { at: number }): string {
  let text = ''
  for (let at = reader.at + 1; at < pattern.length; at++) {
    if (pattern.charAt(at) !== "'") text += pattern.charAt(at)
    else if (pattern.charAt(at + 1) === "'") text += pattern.charAt(at++)
    else {
      reader.at = at + 1
      return text === '' ? "'" : text
    }
  }
  throw new Fault('a pattern ends within quotes')
}

function field(pattern: string, reader: { at: number }, letter: string): PatternPart {
  if (!LETTERS.includes(letter)) throw new Fault(`a pattern has the unknown letter '${letter}'`)
  const from = reader.at
  while (pattern.charAt(reader.at) === letter) reader.at++
  const count = reader.at - from
  if (count > (MOST.get(letter) ?? 2)) throw new Fault(`a pattern has too many letters '${letter}'`)
  return { kind: 'field', letter, count }
}

const MOST: ReadonlyMap<string, number> = new Map([
  ...[...'uyAnN'].map((letter): [string, number] => [letter, 19]),
  ...[...'GMLEecXxZQq'].map((letter): [string, number] => [letter, 5]),
  ...[...'zO'].map((letter): [string, number] => [letter, 4]),
  ...[...'aV'].map((letter): [string, number] => [letter, letter === 'a' ? 1 : 2]),
  ['D', 3],
  ['S', 9],
])

/** An instant written in a zone and a language. */
export function patternText(pattern: string, { time, nanos }: DateValue, zone: Zone, locale: string): string {
  const offset = zone.offsetAt(time)
  const moment = { date: new Date(time + offset), time, nanos, offset, zone, locale }
  return textOfParts(patternParts(pattern), moment)
}

interface Moment {
  /** Its UTC fields are the local ones. */
  readonly date: Date
  readonly time: number
  /** Behind the millisecond. */
  readonly nanos: number
  readonly offset: number
  readonly zone: Zone
  readonly locale: string
}

function textOfParts(parts: readonly PatternPart[], moment: Moment): string {
  return parts
    .map((part) => {
      if (part.kind === 'text') return part.text
      return part.kind === 'optional' ? textOfParts(part.parts, moment) : fieldText(part.letter, part.count, moment)
    })
    .join('')
}

function fieldText(letter: string, count: number, moment: Moment): string {
  const { date, nanos, locale, offset, time, zone } = moment
  const year = date.getUTCFullYear()
  const number = numbers[letter]?.(date, nanos)
  if (number !== undefined) return String(number).padStart(count, '0')
  switch (letter) {
    case 'y':
    case 'u':
      return count === 2 ? String(Math.abs(year) % 100).padStart(2, '0') : String(year).padStart(count, '0')
    case 'M':
    case 'L': {
      const month = date.getUTCMonth() + 1
      if (count < 3) return String(month).padStart(count, '0')
      return (letter === 'M' ? monthName : standaloneMonthName)(locale, month, width(count))
    }
    case 'E':
      return dayName(locale, date.getUTCDay() || 7, width(count))
    case 'e':
    case 'c':
      return count < 3
        ? String(date.getUTCDay() + 1).padStart(count, '0')
        : dayName(locale, date.getUTCDay() || 7, width(count))
    case 'a':
      return halfName(locale, date.getUTCHours() >= 12)
    case 'S':
      return String(nanosOfSecond(date, nanos)).padStart(9, '0').slice(0, count)
    case 'G':
      return eraName(locale, time + offset, width(count))
    case 'Q':
    case 'q':
      return quarter(Math.floor(date.getUTCMonth() / 3) + 1, count)
    case 'z':
      return zoneName(locale, time, zone, count === 4 ? 'long' : 'short')
    case 'V':
      return zone.id
    default:
      return offsetField(letter, count, offset)
  }
}

const DAY = 86_400_000

function nanosOfSecond(date: Date, nanos: number): number {
  return date.getUTCMilliseconds() * 1_000_000 + nanos
}

const numbers: Readonly<Record<string, (date: Date, nanos: number) => number>> = {
  d: (date) => date.getUTCDate(),
  D: (date) => Math.floor((date.getTime() - utcTime(date.getUTCFullYear(), 1, 1, 0, 0, 0, 0)) / DAY) + 1,
  H: (date) => date.getUTCHours(),
  k: (date) => date.getUTCHours() || 24,
  K: (date) => date.getUTCHours() % 12,
  h: (date) => date.getUTCHours() % 12 || 12,
  m: (date) => date.getUTCMinutes(),
  s: (date) => date.getUTCSeconds(),
  n: nanosOfSecond,
  A: (date) => ((date.getTime() % DAY) + DAY) % DAY,
  N: (date, nanos) => (((date.getTime() % DAY) + DAY) % DAY) * 1_000_000 + nanos,
}

export function width(count: number): Width {
  return count === 4 ? 'long' : count === 5 ? 'narrow' : 'short'
}

function quarter(number: number, count: number): string {
  if (count < 3) return String(number).padStart(count, '0')
  return count === 3
    ? `Q${number}`
    : count === 4
      ? `${['1st', '2nd', '3rd', '4th'][number - 1] ?? ''} quarter`
      : String(number)
}

function offsetField(letter: string, count: number, offset: number): string {
  if (letter === 'O' || (letter === 'Z' && count === 4)) return localizedOffset(offset, letter === 'O' && count === 1)
  if (letter === 'Z') return offset === 0 && count === 5 ? 'Z' : offsetText(offset, count === 5 ? 3 : 2)
  return letter === 'X' && offset === 0 ? 'Z' : offsetText(offset, count)
}

function localizedOffset(offset: number, short: boolean): string {
  if (offset === 0) return 'GMT'
  if (!short) return `GMT${offsetText(offset, 3)}`
  const text = offsetText(offset, 3).replace(/^([+-])0/, '$1')
  return `GMT${text.endsWith(':00') ? text.slice(0, -3) : text}`
}

/** 1: +02 or +0230; 2: +0230; 3: +02:30; 4 and 5 with seconds where there are any. */
function offsetText(offset: number, form: number): string {
  const seconds = Math.abs(offset) / 1000
  const pad = (value: number): string => String(Math.floor(value)).padStart(2, '0')
  const [hours, minutes, rest] = [pad(seconds / 3600), pad((seconds / 60) % 60), pad(seconds % 60)]
  const separator = form === 3 || form === 5 ? ':' : ''
  const withMinutes = form === 1 && minutes === '00' ? '' : separator + minutes
  return `${offset < 0 ? '-' : '+'}${hours}${withMinutes}${form > 3 && rest !== '00' ? separator + rest : ''}`
}
