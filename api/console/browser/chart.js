/** Lines, or bars, over time as SVG. */
import { LEFT, RIGHT, rangeOf, runs, scaled, ticks, tickText } from './scale.js'
import { svg } from './svg.js'

/** @typedef {import('./points.js').Point} Point */
/** Without a colour it has that of the page. @typedef {{ name: string, units: string, color?: string, points: readonly Point[] }} Series */

const WIDTH_OF_TIME = 150
/** Told apart by who sees no red or green too; both modes have enough contrast. */
export const COLOURS = ['#1f77b4', '#d95f02', '#7570b3', '#1b9e77', '#e7298a', '#a6761d', '#66a61e', '#888888']

/**
 * @param {readonly Series[]} all
 * @param {{ startTs: number, endTs: number, width: number, height: number, isBars: boolean, isFromZero?: boolean }} look `isFromZero`: what is never below zero, as bars are
 * @returns {Element}
 */
export function chart(all, { startTs, endTs, width, height, isBars, isFromZero = isBars }) {
  const { low, high } = rangeOf(all, isFromZero)
  const { x, y, path } = scaled({ startTs, endTs, width, height }, { low, high })
  const drawing = svg('svg', {
    viewBox: `0 0 ${width} ${height}`,
    width,
    height,
    role: 'img',
    'aria-label': all.map(summary).join('; '),
  })
  for (const value of ticks(low, high, Math.max(2, Math.floor(height / 50)))) {
    drawing.append(svg('line', { x1: LEFT, x2: width - RIGHT, y1: y(value), y2: y(value), class: 'grid' }))
    drawing.append(svg('text', { x: LEFT - 6, y: y(value) + 4, 'text-anchor': 'end' }, String(value)))
  }
  const times = Math.max(Math.floor(width / WIDTH_OF_TIME), 1)
  for (let index = 0; index <= times; index++) {
    const ts = startTs + ((endTs - startTs) * index) / times
    const anchor = index === 0 ? 'start' : index === times ? 'end' : 'middle'
    drawing.append(svg('text', { x: x(ts), y: height - 6, 'text-anchor': anchor }, tickText(ts, endTs - startTs)))
  }
  all.forEach(({ points, color }, index) => {
    const seen = points.filter(([ts]) => ts >= startTs && ts <= endTs)
    if (isBars) return drawing.append(...bars(seen, color, index, all.length, x, y, low))
    for (const run of runs(seen)) {
      const [first] = run
      // A line of one point is not seen.
      if (first !== undefined && run.length === 1) drawing.append(dot(first, 2, color))
      else drawing.append(svg('polyline', { points: path(run), class: 'line', ...coloured('stroke', color) }))
    }
    const last = seen.at(-1)
    if (last !== undefined) drawing.append(dot(last, 3, color))
  })
  return drawing

  /** @param {Point} point @param {number} r @param {string | undefined} color */
  function dot([ts, value], r, color) {
    return svg('circle', { cx: x(ts), cy: y(value), r, class: 'last', ...coloured('fill', color) })
  }
}

/** What a screen reader says of it. @param {Series} series */
export function summary({ name, units, points }) {
  const last = points.at(-1)
  if (last === undefined) return `${name}: no numbers in this time`
  const values = points.map(([, value]) => value)
  const [least, most] = [values.reduce((a, b) => Math.min(a, b)), values.reduce((a, b) => Math.max(a, b))]
  return `${name}: ${points.length} points, from ${least} to ${most}, last ${last[1]}${units === '' ? '' : ` ${units}`}`
}

/**
 * @param {readonly Point[]} points @param {string | undefined} color @param {number} index of the series @param {number} count of them
 * @param {(ts: number) => number} x @param {(value: number) => number} y @param {number} low
 */
function bars(points, color, index, count, x, y, low) {
  const gap = points.slice(1).reduce((least, [ts], at) => Math.min(least, x(ts) - x(points[at]?.[0] ?? 0)), 24)
  const wide = Math.max((gap * 0.8) / count, 1)
  const floor = y(Math.max(low, 0))
  return points.map(([ts, value]) => {
    const top = Math.min(y(value), floor)
    const left = x(ts) - (wide * count) / 2 + index * wide
    return svg('rect', {
      x: left,
      y: top,
      width: wide,
      height: Math.max(Math.abs(y(value) - floor), 1),
      ...coloured('fill', color),
    })
  })
}

/** @param {'stroke' | 'fill'} what @param {string | undefined} color */
function coloured(what, color) {
  return color === undefined ? {} : { style: `${what}:${color}` }
}
