/** A line over time as SVG. The mathematics (`scaled`, `ticks`) knows no page. */

/** @typedef {import('./points.js').Point} Point */

/** Drawn as wide as it is shown, so that its texts keep their size; within these. */
const NARROWEST = 300
const WIDEST = 1000
const WIDTH_OF_TIME = 150
const HEIGHT = 260
const LEFT = 64
const BOTTOM = 28
const TOP = 10
const RIGHT = 8

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

/**
 * Where each point lies in the drawing, and the range of values that it spans.
 * @param {readonly Point[]} points @param {number} startTs @param {number} endTs @param {number} width
 */
export function scaled(points, startTs, endTs, width) {
  let low = Infinity
  let high = -Infinity
  for (const [, value] of points) {
    low = Math.min(low, value)
    high = Math.max(high, value)
  }
  // A constant lies in the middle.
  const margin = high > low ? (high - low) * 0.05 : Math.max(Math.abs(high) * 0.05, 1)
  low -= margin
  high += margin
  const x = (/** @type {number} */ ts) => LEFT + ((ts - startTs) / (endTs - startTs)) * (width - LEFT - RIGHT)
  const y = (/** @type {number} */ value) => TOP + (1 - (value - low) / (high - low)) * (HEIGHT - TOP - BOTTOM)
  return { low, high, x, y, path: points.map(([ts, value]) => `${x(ts).toFixed(1)},${y(value).toFixed(1)}`).join(' ') }
}

/**
 * @param {string} name of what is drawn @param {readonly Point[]} points by time @param {number} startTs @param {number} endTs
 * @param {number} room pixels from left to right
 * @returns {Node}
 */
export function plot(name, points, startTs, endTs, room) {
  const width = Math.min(Math.max(room, NARROWEST), WIDEST)
  const last = points.at(-1)
  if (last === undefined) return document.createTextNode('No numbers in this time.')
  const { low, high, x, y, path } = scaled(points, startTs, endTs, width)
  const values = points.map(([, value]) => value)
  const drawing = svg('svg', {
    viewBox: `0 0 ${width} ${HEIGHT}`,
    role: 'img',
    'aria-label': `${name}: ${points.length} points, from ${smallest(values)} to ${largest(values)}, last ${last[1]}`,
  })
  for (const value of ticks(low, high, 5)) {
    drawing.append(svg('line', { x1: LEFT, x2: width - RIGHT, y1: y(value), y2: y(value), class: 'grid' }))
    drawing.append(svg('text', { x: LEFT - 6, y: y(value) + 4, 'text-anchor': 'end' }, String(value)))
  }
  const times = Math.max(Math.floor(width / WIDTH_OF_TIME), 1)
  for (let index = 0; index <= times; index++) {
    const ts = startTs + ((endTs - startTs) * index) / times
    const anchor = index === 0 ? 'start' : index === times ? 'end' : 'middle'
    drawing.append(svg('text', { x: x(ts), y: HEIGHT - 6, 'text-anchor': anchor }, tickText(ts, endTs - startTs)))
  }
  drawing.append(svg('polyline', { points: path, class: 'line' }))
  drawing.append(svg('circle', { cx: x(last[0]), cy: y(last[1]), r: 3, class: 'last' }))
  return drawing
}

const DAY_MS = 86_400_000

/** @param {number} ts @param {number} spanMs */
export function tickText(ts, spanMs) {
  const time = new Date(ts)
  return spanMs > DAY_MS ? time.toLocaleDateString() : time.toLocaleTimeString()
}

/** Not by spread: a plot has more points than a call has room for. @param {readonly number[]} values */
function smallest(values) {
  return values.reduce((least, value) => Math.min(least, value))
}

/** @param {readonly number[]} values */
function largest(values) {
  return values.reduce((most, value) => Math.max(most, value))
}

/** @param {string} name @param {Record<string, string | number>} attributes @param {string} [text] */
export function svg(name, attributes, text) {
  const element = document.createElementNS('http://www.w3.org/2000/svg', name)
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, String(value))
  if (text !== undefined) element.textContent = text
  return element
}
