/** Checks a history request and computes its buckets, so that a store knows one kind of interval (`rest-api.md` 4.4). */
import type { HistoryQuery } from '../../model/telemetry-query.ts'
import { ZonedCalendar, zoneOrServerZone } from '../../model/calendar.ts'
import { TelemetryErrors } from '../errors.ts'
import type { HistoryRequest } from './telemetry-service.ts'

export const DEFAULT_LIMIT = 100
/** Points a key in one answer; more is read in several calls. */
export const MAX_LIMIT = 1_000_000
export const MAX_INTERVALS = 700
/** Narrower intervals count as if they were this wide, as in the reference. */
const MIN_CHECKED_WIDTH_MS = 1_000
const DAY_MS = 86_400_000
/** The widths by which calendar intervals are counted, before their real borders are known. */
const CALENDAR_WIDTH_MS = { WEEK: 7 * DAY_MS, WEEK_ISO: 7 * DAY_MS, MONTH: 30 * DAY_MS, QUARTER: 90 * DAY_MS }

/**
 * Undefined where the answer is empty whatever is stored. Throws `NEGATIVE_INTERVAL`, `TOO_MANY_INTERVALS`, `LIMIT_TOO_SMALL`,
 * `LIMIT_TOO_BIG`, `TIME_OUT_OF_CALENDAR`.
 */
export function historyQueryOf(request: HistoryRequest): HistoryQuery | undefined {
  const aggregation = request.agg ?? 'NONE'
  const type = request.intervalType ?? 'MILLISECONDS'
  const width = type === 'MILLISECONDS' ? (request.interval ?? 0) : CALENDAR_WIDTH_MS[type]
  if (width < 0) throw TelemetryErrors.NEGATIVE_INTERVAL({ interval: width })
  const aggregated = aggregation !== 'NONE' && width > 0
  const limit = request.limit ?? DEFAULT_LIMIT
  if (!aggregated && limit < 1) throw TelemetryErrors.LIMIT_TOO_SMALL()
  if (!aggregated && limit > MAX_LIMIT) throw TelemetryErrors.LIMIT_TOO_BIG({ most: MAX_LIMIT })
  const keys = [...new Set(request.keys)]
  const { startTs, endTs } = request
  if (keys.length === 0 || endTs <= startTs) return undefined
  const order = request.orderBy ?? 'DESC'
  if (!aggregated) return { keys, startTs, endTs, agg: 'NONE', limit, order }
  const count = Math.floor((endTs - startTs) / Math.max(width, MIN_CHECKED_WIDTH_MS))
  if (count > MAX_INTERVALS) throw TelemetryErrors.TOO_MANY_INTERVALS({ count })
  const borders = type === 'MILLISECONDS' ? evenBorders(startTs, endTs, width) : calendarBorders(request, type)
  return { keys, startTs, endTs, agg: aggregation, borders, limit, order: 'ASC' }
}

function evenBorders(startTs: number, endTs: number, width: number): readonly number[] {
  const borders: number[] = []
  for (let border = startTs; border < endTs; border += width) borders.push(border)
  borders.push(endTs)
  return borders
}

/** A year of reserve, so that the border after the last one is a date too. */
const LAST_DATE_MS = 8.64e15 - 366 * DAY_MS

/** The first bucket begins at `startTs`, the next ones at calendar borders, the last is cut at `endTs`. */
function calendarBorders(request: HistoryRequest, type: keyof typeof CALENDAR_WIDTH_MS): readonly number[] {
  for (const ts of [request.startTs, request.endTs]) {
    if (Math.abs(ts) > LAST_DATE_MS) throw TelemetryErrors.TIME_OUT_OF_CALENDAR({ ts, most: LAST_DATE_MS })
  }
  const calendar = new ZonedCalendar(zoneOrServerZone(request.timeZone))
  const borders = [request.startTs]
  for (
    let border = calendar.next(request.startTs, type);
    border < request.endTs;
    border = calendar.next(border, type)
  ) {
    borders.push(border)
  }
  borders.push(request.endTs)
  return borders
}
