/** Borders of weeks, months and quarters in a time zone, summer time included. Times in Unix ms. */
export type CalendarInterval = 'WEEK' | 'WEEK_ISO' | 'MONTH' | 'QUARTER'

interface LocalDate {
  readonly year: number
  /** 0 to 11. */
  readonly month: number
  /** 1 to 31; larger or smaller values run over into other months. */
  readonly day: number
}

/** The server's zone where none, or none that is known, is named (`rest-api.md` 4.4). */
export function zoneOrServerZone(name: string | undefined): string {
  const server = Intl.DateTimeFormat().resolvedOptions().timeZone
  if (name === undefined || name === '') return server
  try {
    return new Intl.DateTimeFormat('en-US', { timeZone: name }).resolvedOptions().timeZone
  } catch {
    // Intl says by a RangeError that it does not know the zone; the reference then takes the server's.
    return server
  }
}

export class ZonedCalendar {
  private readonly format: Intl.DateTimeFormat

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

  /** The first border after `ts`. */
  next(ts: number, interval: CalendarInterval): number {
    const date = this.dateOf(ts)
    return this.startOf(nextDate(date, interval))
  }

  private dateOf(ts: number): LocalDate {
    const local = new Date(this.localMillis(ts))
    return { year: local.getUTCFullYear(), month: local.getUTCMonth(), day: local.getUTCDate() }
  }

  /** The moment at which the day begins: the first one where midnight is skipped by summer time. */
  private startOf(date: LocalDate): number {
    const midnight = utcMillis(date.year, date.month, date.day)
    const first = midnight - this.offset(midnight)
    const second = midnight - this.offset(first)
    return first === second ? first : Math.max(first, second)
  }

  private offset(ts: number): number {
    return this.localMillis(ts) - Math.floor(ts / 1000) * 1000
  }

  /** What the wall clock shows at `ts`, read as if it were UTC; whole seconds. */
  private localMillis(ts: number): number {
    const parts: Record<string, string> = {}
    for (const part of this.format.formatToParts(ts)) parts[part.type] = part.value
    const year = parts['era'] === 'BC' ? 1 - Number(parts['year']) : Number(parts['year'])
    const { month, day, hour, minute, second } = parts
    return utcMillis(year, Number(month) - 1, Number(day), Number(hour), Number(minute), Number(second))
  }
}

function nextDate(date: LocalDate, interval: CalendarInterval): LocalDate {
  switch (interval) {
    case 'MONTH':
      return { year: date.year, month: date.month + 1, day: 1 }
    case 'QUARTER':
      return { year: date.year, month: date.month - (date.month % 3) + 3, day: 1 }
    case 'WEEK':
      return { ...date, day: date.day + 7 - weekday(date) }
    case 'WEEK_ISO':
      return { ...date, day: date.day + 7 - ((weekday(date) + 6) % 7) }
  }
}

/** 0 is Sunday. */
function weekday(date: LocalDate): number {
  return new Date(utcMillis(date.year, date.month, date.day)).getUTCDay()
}

/** `Date.UTC` without its rule that years 0 to 99 are in the twentieth century. */
function utcMillis(year: number, month: number, day: number, hour = 0, minute = 0, second = 0): number {
  const date = new Date(0)
  date.setUTCFullYear(year, month, day)
  date.setUTCHours(hour, minute, second)
  return date.getTime()
}
