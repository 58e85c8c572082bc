/** The mathematics of drawings over time: what they span, where a point lies, where round numbers stand. Knows no page. */

/** @typedef {import('./points.js').Point} Point */

export const LEFT = 64
export const RIGHT = 8
const TOP = 10
const BOTTOM = 28

/**
 * Round numbers across the range, some `count` of them; none where there is no range.
 * @param {number} low @param {number} high @param {number} count @returns {number[]}
 */
export function ticks(low, high, count) {
  if (!(high > low)) return []
  const rough = (high - low) / count
  const power = 10 ** Math.floor(Math.log10(rough))
  const step = [1, 2, 5, 10].map((factor) => factor * power).find((size) => size >= rough) ?? rough
  const first = Math.ceil(low / step)
  const last = Math.floor(high / step + 1e-9)
  return Array.from({ length: last - first + 1 }, (_, index) => Number(((first + index) * step).toPrecision(12)))
}

/** Of all values, and zero where it begins there. A constant lies in the middle. @param {readonly { points: readonly Point[] }[]} all @param {boolean} isFromZero */
export function rangeOf(all, isFromZero) {
  let low = isFromZero ? 0 : Infinity
  let high = isFromZero ? 0 : -Infinity
  for (const { points } of all)
    for (const [, value] of points) {
      low = Math.min(low, value)
      high = Math.max(high, value)
    }
  if (low > high) return { low: 0, high: 1 }
  const margin = high > low ? (high - low) * 0.05 : Math.max(Math.abs(high) * 0.05, 1)
  return { low: isFromZero && low === 0 ? 0 : low - margin, high: high + margin }
}

/**
 * Where a point of this time and value lies.
 * @param {{ startTs: number, endTs: number, width: number, height: number }} look @param {{ low: number, high: number }} range
 */
export function scaled({ startTs, endTs, width, height }, { low, high }) {
  const x = (/** @type {number} */ ts) =>
    LEFT + ((ts - startTs) / Math.max(endTs - startTs, 1)) * (width - LEFT - RIGHT)
  const y = (/** @type {number} */ value) => TOP + (1 - (value - low) / (high - low)) * (height - TOP - BOTTOM)
  const path = (/** @type {readonly Point[]} */ points) =>
    points.map(([ts, value]) => `${x(ts).toFixed(1)},${y(value).toFixed(1)}`).join(' ')
  return { x, y, path }
}

/** So many times the step of nine in ten is a silence. Of fewer steps no rhythm is known. */
const SILENCE = 4
const LEAST_STEPS = 10

/** Cut where nothing came for long: a line over a silence would tell of values that nobody sent. @param {readonly Point[]} points by time @returns {Point[][]} */
export function runs(points) {
  const steps = points.slice(1).map(([ts], index) => ts - (points[index]?.[0] ?? ts))
  const usual = steps.toSorted((a, b) => a - b)[Math.floor(steps.length * 0.9)] ?? 0
  const longest = steps.length < LEAST_STEPS ? Infinity : usual * SILENCE
  /** @type {Point[][]} */
  const found = []
  points.forEach((point, index) => {
    const run = found.at(-1)
    if (run === undefined || (steps[index - 1] ?? 0) > longest) found.push([point])
    else run.push(point)
  })
  return found
}

const DAY_MS = 86_400_000

/** @param {number} ts @param {number} spanMs */
export function tickText(ts, spanMs) {
  const time = new Date(ts)
  return spanMs > DAY_MS ? time.toLocaleDateString() : time.toLocaleTimeString()
}
