/** Intervals of time in which values are aggregated. Source: `rule-engine.md` 8.2. */
import { calendarOf, type CalendarInterval, type ZonedCalendar } from '../../model/calendar.ts'
import type { ConfigurationOf } from '../../model/calculated-fields/kind.ts'

export type IntervalConfiguration = ConfigurationOf<'ENTITY_AGGREGATION'>['interval']

export interface Bucket {
  /** Unix ms. */
  readonly from: number
  /** Exclusive: the next one begins there. */
  readonly to: number
}

const DAY_MS = 86_400_000
const CALENDAR: Readonly<Record<Exclude<IntervalConfiguration['type'], 'CUSTOM'>, CalendarInterval>> = {
  ...{ HOUR: 'HOUR', DAY: 'DAY', WEEK: 'WEEK_ISO', WEEK_SUN_SAT: 'WEEK' },
  ...{ MONTH: 'MONTH', QUARTER: 'QUARTER', YEAR: 'YEAR' },
}

/** The bucket in which a time lies. Throws a RangeError where there is no such zone. */
export function bucketing({ type, tz, offsetSec, durationSec }: IntervalConfiguration): (ts: number) => Bucket {
  const calendar = calendarOf(tz)
  const offset = (offsetSec ?? 0) * 1000
  const unshifted =
    type === 'CUSTOM'
      ? (ts: number) => customBucket(calendar, ts, (durationSec ?? 0) * 1000)
      : (ts: number) => ({ from: calendar.start(ts, CALENDAR[type]), to: calendar.next(ts, CALENDAR[type]) })
  return (ts) => {
    const { from, to } = unshifted(ts - offset)
    return { from: from + offset, to: to + offset }
  }
}

/** Counted from midnight; the last one of a day ends with it. Those that are longer than a day are counted from 1970 on. */
function customBucket(calendar: ZonedCalendar, ts: number, duration: number): Bucket {
  const midnight = duration > DAY_MS ? 0 : calendar.start(ts, 'DAY')
  const from = midnight + Math.floor((ts - midnight) / duration) * duration
  const to = from + duration
  return { from, to: duration > DAY_MS ? to : Math.min(to, calendar.next(ts, 'DAY')) }
}
