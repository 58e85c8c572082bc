/** Which time a dashboard shows, and in how many steps. ThingsBoard's `timewindow` as it is stored. Knows no page. */
import { objectOf } from './board.js'

/** @typedef {Record<string, any>} Json */
/** @typedef {'NONE' | 'MIN' | 'MAX' | 'AVG' | 'SUM' | 'COUNT'} Aggregation */
/** `isLive`: it ends now, and goes on. @typedef {{ isLive: boolean, startTs: number, endTs: number, agg: Aggregation, limit: number }} Span */

/** @type {readonly Aggregation[]} */
export const AGGREGATIONS = ['NONE', 'AVG', 'MIN', 'MAX', 'SUM', 'COUNT']
export const SPANS = /** @type {const} */ ({
  'Last minute': 60_000,
  'Last 5 minutes': 300_000,
  'Last hour': 3_600_000,
  'Last 6 hours': 21_600_000,
  'Last day': 86_400_000,
  'Last 7 days': 604_800_000,
  'Last 30 days': 2_592_000_000,
})
const DEFAULT_MS = 3_600_000
/** Points of one key: a drawing has no room for more. */
const MAX_POINTS = 2_000
/** The server refuses more than 700 in one question. */
const MAX_BUCKETS = 400

/** @param {Json | undefined} stored @param {number} now @returns {Span} */
export function spanOf(stored, now) {
  const { selectedTab, realtime, history, aggregation } = objectOf(stored)
  const isLive = selectedTab === 0 || (selectedTab === undefined && objectOf(history).historyType === undefined)
  const own = objectOf(isLive ? realtime : history)
  const agg = AGGREGATIONS.find((name) => name === objectOf(aggregation).type) ?? 'NONE'
  const limit = Math.min(Number(objectOf(aggregation).limit) || MAX_POINTS, MAX_POINTS)
  const how = { isLive, agg, limit }
  const fixed = objectOf(own.fixedTimewindow)
  if (!isLive && own.historyType === 1 && fixed.endTimeMs > fixed.startTimeMs)
    return { ...how, startTs: Number(fixed.startTimeMs), endTs: Number(fixed.endTimeMs) }
  const isQuick = isLive ? own.realtimeType === 1 : own.historyType === 2
  const quick = isQuick ? quickInterval(String(own.quickInterval), now) : undefined
  if (quick !== undefined) return { ...how, ...quick, endTs: isLive ? now : quick.endTs }
  const ms = Number(own.timewindowMs)
  return { ...how, startTs: now - (ms > 0 ? ms : DEFAULT_MS), endTs: now }
}

/** What the choices of the page say, as it is stored. @param {{ isLive: boolean, ms?: number, fixed?: [number, number], agg: string }} choice @returns {Json} */
export function storedWindow({ isLive, ms, fixed, agg }) {
  const aggregation = { type: agg, limit: MAX_POINTS }
  if (fixed !== undefined) {
    const [startTimeMs, endTimeMs] = fixed
    return { selectedTab: 1, history: { historyType: 1, fixedTimewindow: { startTimeMs, endTimeMs } }, aggregation }
  }
  const timewindowMs = ms ?? DEFAULT_MS
  if (isLive) return { selectedTab: 0, realtime: { realtimeType: 0, timewindowMs }, aggregation }
  return { selectedTab: 1, history: { historyType: 0, timewindowMs }, aggregation }
}

/** Of one step when values are put together; 0 where they are not. @param {Span} span */
export function intervalOf({ startTs, endTs, agg }) {
  return agg === 'NONE' ? 0 : Math.max(1_000, Math.ceil((endTs - startTs) / MAX_BUCKETS / 1_000) * 1_000)
}

/** As people of this page's time zone mean it. @param {string} name @param {number} now @returns {{ startTs: number, endTs: number } | undefined} */
function quickInterval(name, now) {
  const match = /^(CURRENT|PREVIOUS)_(HOUR|DAY|WEEK|WEEK_ISO|MONTH|YEAR)(_SO_FAR)?$/.exec(
    name === 'YESTERDAY' ? 'PREVIOUS_DAY' : name,
  )
  const [, which, unit = ''] = match ?? []
  if (match === null) return undefined
  const start = startOf(unit, new Date(now), which === 'PREVIOUS' ? -1 : 0)
  return { startTs: start, endTs: which === 'PREVIOUS' ? startOf(unit, new Date(now), 0) : now }
}

/** @param {string} unit @param {Date} at @param {number} shift by so many units */
function startOf(unit, at, shift) {
  const [year, month, day] = [at.getFullYear(), at.getMonth(), at.getDate()]
  if (unit === 'HOUR') return new Date(year, month, day, at.getHours() + shift).getTime()
  if (unit === 'DAY') return new Date(year, month, day + shift).getTime()
  if (unit === 'MONTH') return new Date(year, month + shift).getTime()
  if (unit === 'YEAR') return new Date(year + shift, 0).getTime()
  const weekday = unit === 'WEEK_ISO' ? (at.getDay() + 6) % 7 : at.getDay()
  return new Date(year, month, day - weekday + 7 * shift).getTime()
}
