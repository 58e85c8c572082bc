/** One line over time, as wide as there is room. */
import { chart } from './chart.js'

/** @typedef {import('./points.js').Point} Point */

/** Drawn as wide as it is shown, so that its texts keep their size; within these. */
const NARROWEST = 300
const WIDEST = 1000
const HEIGHT = 260

/**
 * @param {string} name of what is drawn @param {readonly Point[]} points by time @param {number} startTs @param {number} endTs
 * @param {number} room pixels from left to right
 * @returns {Node}
 */
export function plot(name, points, startTs, endTs, room) {
  if (points.length === 0) return document.createTextNode('No numbers in this time.')
  const width = Math.min(Math.max(room, NARROWEST), WIDEST)
  return chart([{ name, units: '', points }], { startTs, endTs, width, height: HEIGHT, isBars: false })
}
