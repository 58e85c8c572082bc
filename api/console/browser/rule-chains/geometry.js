/** Where things of the drawing lie. Knows no page. */

export const WIDTH = 190
export const HEIGHT = 48
const MARGIN = 40
const SMALLEST = 0.2
const LARGEST = 2
/** Texts are small, and can be read. */
const READABLE = 0.65
/** A chain of few nodes is not blown up. */
const LARGEST_FIT = 1.2

/** @typedef {{ x: number, y: number }} Point */
/** Drawing to window: `x * scale + left`. @typedef {{ left: number, top: number, scale: number }} View */
/** @typedef {'ArrowLeft' | 'ArrowRight' | 'ArrowUp' | 'ArrowDown'} Arrow */

export const ARROWS = /** @type {const} */ ({
  ArrowLeft: { x: -1, y: 0 },
  ArrowRight: { x: 1, y: 0 },
  ArrowUp: { x: 0, y: -1 },
  ArrowDown: { x: 0, y: 1 },
})

/** @param {string} key @returns {key is Arrow} */
export function isArrow(key) {
  return Object.hasOwn(ARROWS, key)
}

/** @param {Point} node */
export function outOf({ x, y }) {
  return { x: x + WIDTH, y: y + HEIGHT / 2 }
}

/** @param {Point} node */
export function intoOf({ x, y }) {
  return { x, y: y + HEIGHT / 2 }
}

/** The way of a connection; its middle is that of its ends. @param {Point} from @param {Point} to */
export function curve(from, to) {
  const bend = Math.max(40, Math.abs(to.x - from.x) / 2)
  return `M${from.x} ${from.y}C${from.x + bend} ${from.y} ${to.x - bend} ${to.y} ${to.x} ${to.y}`
}

/** Where messages come in, left of the node that they come to. @param {readonly (Point & { key: number })[]} nodes @param {number | undefined} first */
export function entrance(nodes, first) {
  const node = nodes.find(({ key }) => key === first)
  if (node !== undefined) return { x: node.x - 130, y: node.y + HEIGHT / 2 }
  if (nodes.length === 0) return { x: 60, y: 60 }
  return { x: Math.min(...nodes.map(({ x }) => x)) - 130, y: Math.min(...nodes.map(({ y }) => y)) + HEIGHT / 2 }
}

/** The nearest node that way; undefined where there is none. @param {readonly (Point & { key: number })[]} nodes @param {number} key @param {Arrow} arrow */
export function nextThatWay(nodes, key, arrow) {
  const from = nodes.find((node) => node.key === key)
  if (from === undefined) return undefined
  const { x: right, y: down } = ARROWS[arrow]
  let best
  let least = Infinity
  for (const node of nodes) {
    const along = (node.x - from.x) * right + (node.y - from.y) * down
    const beside = Math.abs((node.x - from.x) * down) + Math.abs((node.y - from.y) * right)
    // What lies straight ahead comes before what is nearer but aside.
    const far = along + 2 * beside
    if (node.key === key || along <= 0 || far >= least) continue
    least = far
    best = node.key
  }
  return best
}

/** By columns, as messages go. @template {Point} Node @param {readonly Node[]} nodes */
export function inReadingOrder(nodes) {
  return [...nodes].sort((a, b) => a.x - b.x || a.y - b.y)
}

/** All of it in the window. @param {readonly (Point & { key: number })[]} nodes @param {number | undefined} first @param {{ width: number, height: number }} room @returns {View} */
export function fitted(nodes, first, { width, height }) {
  if (nodes.length === 0 || width === 0 || height === 0) return { left: 0, top: 0, scale: 1 }
  const begin = entrance(nodes, first)
  const left = Math.min(begin.x - 50, ...nodes.map(({ x }) => x)) - MARGIN / 2
  const top = Math.min(...nodes.map(({ y }) => y)) - MARGIN
  const right = Math.max(...nodes.map(({ x }) => x)) + WIDTH + MARGIN
  const bottom = Math.max(...nodes.map(({ y }) => y)) + HEIGHT + MARGIN
  const scale = within(Math.min(width / (right - left), height / (bottom - top)), SMALLEST, LARGEST_FIT)
  return { scale, left: (width - (left + right) * scale) / 2, top: (height - (top + bottom) * scale) / 2 }
}

/** What one begins with: all of it where that can be read, else where messages come in. @param {readonly (Point & { key: number })[]} nodes @param {number | undefined} first @param {{ width: number, height: number }} room @returns {View} */
export function beginningView(nodes, first, room) {
  const all = fitted(nodes, first, room)
  if (all.scale >= READABLE || nodes.length === 0) return all
  const { x, y } = entrance(nodes, first)
  return { scale: READABLE, left: MARGIN / 2 - (x - 50) * READABLE, top: room.height / 2 - y * READABLE }
}

/** What lies at `at` (of the window) stays there. @param {View} view @param {number} factor @param {Point} at @returns {View} */
export function zoomed(view, factor, at) {
  const scale = within(view.scale * factor, SMALLEST, LARGEST)
  const change = scale / view.scale
  return { scale, left: at.x - (at.x - view.left) * change, top: at.y - (at.y - view.top) * change }
}

/** @param {View} view @param {Point} at of the window @returns {Point} of the drawing */
export function inDrawing({ left, top, scale }, at) {
  return { x: (at.x - left) / scale, y: (at.y - top) / scale }
}

/** Near to `wanted`, where no node lies. @param {readonly Point[]} nodes @param {Point} wanted @returns {Point} */
export function freePlace(nodes, wanted) {
  const place = { x: Math.round(wanted.x), y: Math.round(wanted.y) }
  while (nodes.some(({ x, y }) => Math.abs(x - place.x) < WIDTH && Math.abs(y - place.y) < HEIGHT + 10))
    place.y += HEIGHT + 20
  return place
}

/** @param {number} value @param {number} least @param {number} most */
function within(value, least, most) {
  return Math.min(Math.max(value, least), most)
}
