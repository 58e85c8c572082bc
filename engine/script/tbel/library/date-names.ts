/**
 * What dates are called in a language: months, days, halves of the day, zones, and whole dates in four styles. From this runtime's own
 * tables; a language it does not know is the neutral one, as on the reference's platform.
 */
import { lruMap } from '../../../../model/lru-map.ts'
import type { Zone } from './zones.ts'

export type Style = 'full' | 'long' | 'medium' | 'short'
export type Width = 'short' | 'long' | 'narrow'

/** Names are those of English in short, the order is year, month, day. */
export const NEUTRAL = ''
export const DEFAULT_LOCALE = 'en'

const formats = lruMap<Intl.DateTimeFormat>(200)
const NEUTRAL_DATES: Readonly<Record<Style, string>> = {
  full: 'y MMM d, EEE',
  long: 'y MMM d',
  medium: 'y MMM d',
  short: 'y-MM-dd',
}
const NEUTRAL_TIMES: Readonly<Record<Style, string>> = {
  full: 'HH:mm:ss zzzz',
  long: 'HH:mm:ss z',
  medium: 'HH:mm:ss',
  short: 'HH:mm',
}

export function localeOf(tag: string): string {
  if (tag.length > 100) return NEUTRAL
  try {
    return Intl.DateTimeFormat.supportedLocalesOf([tag])[0] ?? NEUTRAL
  } catch (error) {
    if (error instanceof RangeError) return NEUTRAL
    throw error
  }
}

/** The pattern of a style in the neutral language. */
export function neutralPattern(date: Style | undefined, time: Style | undefined): string {
  return [date && NEUTRAL_DATES[date], time && NEUTRAL_TIMES[time]].filter((part) => part !== undefined).join(' ')
}

function format(locale: string, options: Intl.DateTimeFormatOptions): Intl.DateTimeFormat {
  const key = `${locale} ${Object.entries(options).join(' ')}`
  const cached = formats.get(key)
  if (cached !== undefined) return cached
  const made = new Intl.DateTimeFormat(locale === NEUTRAL ? 'en-US' : locale, { calendar: 'gregory', ...options })
  formats.set(key, made)
  return made
}

/** A whole date, time or both. */
export function styledText(
  locale: string,
  time: number,
  zone: Zone,
  dateStyle: Style | undefined,
  timeStyle: Style | undefined,
): string {
  const options: Intl.DateTimeFormatOptions = { timeZone: intlZone(zone) }
  if (dateStyle !== undefined) options.dateStyle = dateStyle
  if (timeStyle !== undefined) options.timeStyle = timeStyle
  const parts = format(locale, options).formatToParts(time)
  const named = parts.map(({ type, value }) =>
    type === 'timeZoneName' && timeStyle === 'long' ? zoneName(NEUTRAL, time, zone, 'short') : value,
  )
  return named.join('').replaceAll('\u202f', ' ')
}

function intlZone({ id, isFixed }: Zone): string {
  if (!isFixed) return id
  return /[+-]/.test(id) ? id.replace(/^[A-Z]+/, '') : 'UTC'
}

/** `month` from 1. */
export function monthName(locale: string, month: number, width: Width): string {
  const time = Date.UTC(2023, month - 1, 15)
  return partOf(locale, { timeZone: 'UTC', month: neutralWidth(locale, width), day: 'numeric' }, 'month', time)
}

/** As it stands without a day beside it. */
export function standaloneMonthName(locale: string, month: number, width: Width): string {
  const options = { timeZone: 'UTC', month: neutralWidth(locale, width) }
  return partOf(locale, options, 'month', Date.UTC(2023, month - 1, 15))
}

export function eraName(locale: string, time: number, width: Width): string {
  return partOf(locale, { timeZone: 'UTC', era: width, year: 'numeric' }, 'era', time)
}

/** `day` from Monday = 1. */
export function dayName(locale: string, day: number, width: Width): string {
  const options = { timeZone: 'UTC', weekday: neutralWidth(locale, width), day: 'numeric', month: 'long' } as const
  return partOf(locale, options, 'weekday', Date.UTC(2024, 0, day))
}

export function halfName(locale: string, isAfternoon: boolean): string {
  if (locale === NEUTRAL) return isAfternoon ? 'PM' : 'AM'
  const time = Date.UTC(2024, 0, 1, isAfternoon ? 15 : 3)
  return partOf(locale, { timeZone: 'UTC', hour: 'numeric', hour12: true }, 'dayPeriod', time)
}

export function zoneName(locale: string, time: number, zone: Zone, width: 'short' | 'long'): string {
  if (zone.isFixed && zone.id !== 'UTC' && zone.id !== 'GMT') return zone.id
  // A short name is the same letters in every language there.
  return partOf(
    width === 'short' ? NEUTRAL : locale,
    { timeZone: intlZone(zone), timeZoneName: width },
    'timeZoneName',
    time,
  )
}

function neutralWidth(locale: string, width: Width): Width {
  return locale === NEUTRAL && width === 'long' ? 'short' : width
}

function partOf(
  locale: string,
  options: Intl.DateTimeFormatOptions,
  type: Intl.DateTimeFormatPartTypes,
  time: number,
): string {
  return (
    format(locale, options)
      .formatToParts(time)
      .find((part) => part.type === type)?.value ?? ''
  )
}
