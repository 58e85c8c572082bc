/** Hours, days, weeks, months, quarters and years by the wall clock of a time zone, summer time included. Times in Unix ms. */
import { lruMap } from './lru-map.ts'

/** A WEEK begins on Sunday, a WEEK_ISO on Monday. */
export type CalendarInterval = 'HOUR' | 'DAY' | 'WEEK' | 'WEEK_ISO' | 'MONTH' | 'QUARTER' | 'YEAR'

interface LocalDate {
  readonly year: number
  /** 0 to 11. */
  readonly month: number
  /** 1 to 31; larger or smaller values run over into other months. */
  readonly day: number
}

/** What the wall clock shows. */
export interface WallClock {
  /** 1 is Monday, 7 is Sunday. */
  readonly weekday: number
  /** Since midnight as the clock counts it. */
  readonly msOfDay: number
}

const HOUR_MS = 3_600_000
const DAY_MS = 86_400_000
/** Since 1973 zones change their offset at borders of these only. */
const OFFSET_SLOT_MS = 900_000

/** The server's zone where none, or none that is known, is named (`rest-api.md` 4.4). */
export function zoneOrServerZone(name: string | undefined): string {
  const server = Intl.DateTimeFormat().resolvedOptions().timeZone
  if (name === undefined || name === '') return server
  return isZone(name) ? new Intl.DateTimeFormat('en-US', { timeZone: name }).resolvedOptions().timeZone : server
}

export function isZone(name: string): boolean {
  try {
    return new Intl.DateTimeFormat('en-US', { timeZone: name }).resolvedOptions().timeZone !== ''
  } catch {
    // Intl says by a RangeError that it does not know the zone.
    return false
  }
}

/** Names of zones may be written in many ways. */
const MAX_CALENDARS = 500
const calendars = lruMap<ZonedCalendar>(MAX_CALENDARS)

/** Throws a RangeError where there is no such zone. */
export function calendarOf(timeZone: string): ZonedCalendar {
  const known = calendars.get(timeZone)
  if (known !== undefined) return known
  const made = new ZonedCalendar(timeZone)
  calendars.set(timeZone, made)
  return made
}

export class ZonedCalendar {
  private readonly format: Intl.DateTimeFormat
  /** The slot that was asked for last: most questions are about now. */
  private slot = Number.NaN
  private slotOffset = 0

  constructor(timeZone: string) {
    this.format = new Intl.DateTimeFormat('en-US', {
      timeZone,
      calendar: 'gregory',
      era: 'short',
      hourCycle: 'h23',
      year: 'numeric',
      month: 'numeric',
      day: 'numeric',
      hour: 'numeric',
      minute: 'numeric',
      second: 'numeric',
    })
  }

  /** The last border at or before `ts`. */
  start(ts: number, interval: CalendarInterval): number {
    return interval === 'HOUR' ? this.hour(ts) : this.startOf(firstDate(this.dateOf(ts), interval))
  }

  /** The first border after `ts`. */
  next(ts: number, interval: CalendarInterval): number {
    if (interval === 'HOUR') return this.nextHour(ts)
    return this.startOf(nextDate(firstDate(this.dateOf(ts), interval), interval))
  }

  wallClock(ts: number): WallClock {
    const local = this.localMillis(ts)
    return { weekday: ((weekday(dateOfMillis(local)) + 6) % 7) + 1, msOfDay: modulo(local, DAY_MS) }
  }

  /** When the clock shows so much of the day `days` after that of `ts`; where summer time skips it, when the clock goes on. */
  moment(ts: number, days: number, msOfDay: number): number {
    const date = this.dateOf(ts)
    return this.whenClockShows(utcMillis(date.year, date.month, date.day + days) + msOfDay)
  }

  private dateOf(ts: number): LocalDate {
    return dateOfMillis(this.localMillis(ts))
  }

  /** The moment at which the day begins: the first one where midnight is skipped by summer time. */
  private startOf(date: LocalDate): number {
    return this.whenClockShows(utcMillis(date.year, date.month, date.day))
  }

  private whenClockShows(local: number): number {
    const first = local - this.offset(local)
    const second = local - this.offset(first)
    if (first === second || this.localMillis(second) === local) return second
    return this.changeBetween(Math.min(first, second), Math.max(first, second))
  }

  /** When the offset changes; it has done so at `late`. */
  private changeBetween(early: number, late: number): number {
    const changed = this.offset(late)
    let [before, after] = [early, late]
    while (after - before > 1) {
      const middle = Math.floor((before + after) / 2)
      if (this.offset(middle) === changed) after = middle
      else before = middle
    }
    return after
  }

  /** An hour that a change of less than an hour cuts is one with its neighbour. */
  private hour(ts: number): number {
    const start = ts - modulo(this.localMillis(ts), HOUR_MS)
    const rest = modulo(this.localMillis(start), HOUR_MS)
    return rest === 0 ? start : this.hour(start)
  }

  private nextHour(ts: number): number {
    const next = ts - modulo(this.localMillis(ts), HOUR_MS) + HOUR_MS
    const rest = modulo(this.localMillis(next), HOUR_MS)
    return rest === 0 ? next : this.nextHour(next)
  }

  private offset(ts: number): number {
    const slot = Math.floor(ts / OFFSET_SLOT_MS)
    if (slot !== this.slot) {
      const start = slot * OFFSET_SLOT_MS
      this.slotOffset = this.shownAt(start) - start
      this.slot = slot
    }
    return this.slotOffset
  }

  /** What the wall clock shows at `ts`, read as if it were UTC. */
  private localMillis(ts: number): number {
    return ts + this.offset(ts)
  }

  private shownAt(ts: number): number {
    const parts: Record<string, string> = {}
    for (const part of this.format.formatToParts(ts)) parts[part.type] = part.value
    const year = parts['era'] === 'BC' ? 1 - Number(parts['year']) : Number(parts['year'])
    const { month, day, hour, minute, second } = parts
    return utcMillis(year, Number(month) - 1, Number(day), Number(hour), Number(minute), Number(second))
  }
}

function dateOfMillis(local: number): LocalDate {
  const date = new Date(local)
  return { year: date.getUTCFullYear(), month: date.getUTCMonth(), day: date.getUTCDate() }
}

type DatedInterval = Exclude<CalendarInterval, 'HOUR'>

function firstDate(date: LocalDate, interval: DatedInterval): LocalDate {
  switch (interval) {
    case 'DAY':
      return date
    case 'WEEK':
      return { ...date, day: date.day - weekday(date) }
    case 'WEEK_ISO':
      return { ...date, day: date.day - ((weekday(date) + 6) % 7) }
    case 'MONTH':
      return { ...date, day: 1 }
    case 'QUARTER':
      return { ...date, month: date.month - (date.month % 3), day: 1 }
    case 'YEAR':
      return { ...date, month: 0, day: 1 }
  }
}

/** `first`: the first date of an interval. */
function nextDate(first: LocalDate, interval: DatedInterval): LocalDate {
  switch (interval) {
    case 'DAY':
      return { ...first, day: first.day + 1 }
    case 'WEEK':
    case 'WEEK_ISO':
      return { ...first, day: first.day + 7 }
    case 'MONTH':
      return { ...first, month: first.month + 1 }
    case 'QUARTER':
      return { ...first, month: first.month + 3 }
    case 'YEAR':
      return { ...first, year: first.year + 1 }
  }
}

/** 0 is Sunday. */
function weekday(date: LocalDate): number {
  return new Date(utcMillis(date.year, date.month, date.day)).getUTCDay()
}

function modulo(value: number, by: number): number {
  return ((value % by) + by) % by
}

/** `Date.UTC` without its rule that years 0 to 99 are in the twentieth century. */
function utcMillis(year: number, month: number, day: number, hour = 0, minute = 0, second = 0): number {
  const date = new Date(0)
  date.setUTCFullYear(year, month, day)
  date.setUTCHours(hour, minute, second)
  return date.getTime()
}
