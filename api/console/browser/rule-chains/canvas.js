/** The graph as a drawing that is panned, zoomed and changed by pointer and keyboard. It holds no graph of its own: it is told what to draw. */
import { make } from '../dom.js'
import { svg } from '../svg.js'
import { arrowHead, entranceShape, labelShape, linkShape, nodeShape, spokenName } from './drawing.js'
import {
  ARROWS,
  beginningView,
  curve,
  entrance,
  fitted,
  inDrawing,
  inReadingOrder,
  isArrow,
  nextThatWay,
  outOf,
  zoomed,
} from './geometry.js'
import { connections, nodeOf } from './graph.js'

/** @typedef {import('./graph.js').Graph} Graph */
/** @typedef {import('./geometry.js').Point} Point */
/** @typedef {{ node: number } | { from: number, to: number } | undefined} Selected */
/** @typedef {ReadonlyMap<string, import('./drawing.js').Seen>} SeenNodes by ids */

/**
 * @typedef {object} CanvasParts
 * @property {import('./catalogue.js').Catalogue} catalogue
 * @property {(selected: Selected) => void} select
 * @property {(key: number) => void} open the form of a node, with the focus in it
 * @property {(key: number, place: Point) => void} move
 * @property {(from: number | 'input', to: number) => void} connect
 * @property {(key: number) => void} beginConnecting without a pointer
 * @property {(selected: Selected) => void} remove
 */

/** What a pointer does that is down. @typedef {{ move: (at: Point) => void, end: (event: PointerEvent) => void }} Drag */

const STEP = 10
const ZOOM = 1.25
/** Pixels: a hand that trembles drags nothing. */
const STILL = 3

/** @param {CanvasParts} parts */
export function canvas(parts) {
  const links = svg('g')
  const nodes = svg('g')
  const labels = svg('g')
  const rubber = svg('path', { class: 'rubber' })
  const world = svg('g', {}, links, nodes, labels, rubber)
  const drawing = svg(
    'svg',
    { role: 'application', 'aria-label': 'Drawing of the rule chain', 'aria-describedby': 'drawing-keys' },
    arrowHead(),
    world,
  )
  const keys = make(
    'p',
    { id: 'drawing-keys', class: 'keys' },
    'Arrows: go to the next node. Enter: open it. Shift with arrows: move it. C: connect it. Delete: delete it. +, −, 0: zoom.',
  )
  /** @type {Graph} */
  let graph = { first: undefined, nodes: [], links: [], notes: undefined }
  /** @type {Selected} */
  let selected
  /** @type {SeenNodes} */
  let seen = new Map()
  let view = { left: 0, top: 0, scale: 1 }
  /** Of the node that Tab comes to. @type {number | undefined} */
  let focus
  /** @type {Drag | undefined} */
  let drag
  /** What is seen when the window changes, until somebody looks elsewhere. @type {typeof fitted | undefined} */
  let seenWhole = beginningView

  const show = () => world.setAttribute('transform', `translate(${view.left} ${view.top}) scale(${view.scale})`)

  const draw = () => {
    if (nodeOf(graph, focus) === undefined) focus = inReadingOrder(graph.nodes)[0]?.key
    const hadFocus = nodes.contains(document.activeElement)
    const at = entrance(graph.nodes, graph.first)
    renew(links, [
      entranceShape(at, nodeOf(graph, graph.first)),
      ...connections(graph).map((each) => linkShape(graph, each, isLink(each))),
    ])
    renew(
      labels,
      connections(graph).map((each) => labelShape(graph, each)),
    )
    renew(nodes, inReadingOrder(graph.nodes).map(shapeFor))
    if (hadFocus && !nodes.contains(document.activeElement)) shapeOf(focus)?.focus()
  }

  /** @param {import('./graph.js').DrawnNode} node */
  const shapeFor = (node) => {
    const component = parts.catalogue.get(node.type)
    const known = node.id === undefined ? undefined : seen.get(node.id.id)
    const isSelected = selected !== undefined && 'node' in selected && selected.node === node.key
    const label = spokenName(graph, node, component, known)
    return nodeShape(node, component, known, { isSelected, isFocus: node.key === focus, label })
  }

  /** @param {{ from: number, to: number }} link */
  const isLink = ({ from, to }) =>
    selected !== undefined && 'from' in selected && selected.from === from && selected.to === to

  /** @param {number | undefined} key @returns {SVGElement | null} */
  const shapeOf = (key) => nodes.querySelector(`[data-node="${key}"]`)

  /** @param {MouseEvent} event @returns {Point} */
  const inWindow = ({ clientX, clientY }) => {
    const { left, top } = drawing.getBoundingClientRect()
    return { x: clientX - left, y: clientY - top }
  }

  /** @param {number | undefined} key */
  const focusNode = (key) => {
    focus = key
    for (const shape of nodes.children) shape.setAttribute('tabindex', shape === shapeOf(key) ? '0' : '-1')
    shapeOf(key)?.focus()
    reveal(key)
  }

  /** Into the window, where it is outside. @param {number | undefined} key */
  const reveal = (key) => {
    const shape = shapeOf(key)?.getBoundingClientRect()
    const room = drawing.getBoundingClientRect()
    if (shape === undefined) return
    const outside = (
      /** @type {number} */ low,
      /** @type {number} */ high,
      /** @type {number} */ from,
      /** @type {number} */ to,
    ) => (low < from ? from - low + STEP : high > to ? to - high - STEP : 0)
    const right = outside(shape.left, shape.right, room.left, room.right)
    const down = outside(shape.top, shape.bottom, room.top, room.bottom)
    if (right === 0 && down === 0) return
    look({ ...view, left: view.left + right, top: view.top + down })
  }

  const refit = () => {
    if (seenWhole === undefined) return
    view = seenWhole(graph.nodes, graph.first, drawing.getBoundingClientRect())
    show()
  }
  const fit = () => {
    seenWhole = fitted
    refit()
  }
  new ResizeObserver(refit).observe(drawing)

  /** @param {import('./geometry.js').View} next */
  const look = (next) => {
    view = next
    seenWhole = undefined
    show()
  }

  /** @param {number} factor @param {Point} [at] */
  const zoom = (factor, at) => {
    const { width, height } = drawing.getBoundingClientRect()
    look(zoomed(view, factor, at ?? { x: width / 2, y: height / 2 }))
  }

  drawing.addEventListener('pointerdown', (event) => {
    if (event.button !== 0 || !(event.target instanceof Element)) return
    drawing.setPointerCapture(event.pointerId)
    drag = dragOf(event.target, inWindow(event))
  })
  drawing.addEventListener('pointermove', (event) => drag?.move(inWindow(event)))
  drawing.addEventListener('pointerup', (event) => {
    const ended = drag
    drag = undefined
    ended?.end(event)
  })
  drawing.addEventListener('pointercancel', () => stopDragging())
  drawing.addEventListener(
    'wheel',
    (event) => {
      event.preventDefault()
      if (event.ctrlKey || event.metaKey) return zoom(Math.exp(-event.deltaY / 300), inWindow(event))
      look({ ...view, left: view.left - event.deltaX, top: view.top - event.deltaY })
    },
    { passive: false },
  )

  const stopDragging = () => {
    drag = undefined
    rubber.removeAttribute('d')
  }

  /** @param {Element} target @param {Point} begin @returns {Drag} */
  const dragOf = (target, begin) => {
    const out = target.closest('[data-out]')?.getAttribute('data-out')
    if (out !== null && out !== undefined) return connecting(out === 'input' ? 'input' : Number(out))
    const key = target.closest('[data-node]')?.getAttribute('data-node')
    if (key !== null && key !== undefined) return moving(Number(key), begin)
    const link = target.closest('[data-link]')?.getAttribute('data-link')?.split(' ').map(Number)
    return panning(begin, link === undefined ? undefined : { from: link[0] ?? -1, to: link[1] ?? -1 })
  }

  /** @param {number | 'input'} from @returns {Drag} */
  const connecting = (from) => {
    const source = from === 'input' ? undefined : nodeOf(graph, from)
    const at = entrance(graph.nodes, graph.first)
    const begin = source === undefined ? { x: at.x + 50, y: at.y } : outOf(source)
    return {
      move: (to) => rubber.setAttribute('d', curve(begin, inDrawing(view, to))),
      end: ({ clientX, clientY }) => {
        rubber.removeAttribute('d')
        // The pointer is captured: its target is the drawing wherever it is.
        const over = document.elementFromPoint(clientX, clientY)?.closest('[data-node]')?.getAttribute('data-node')
        if (over !== null && over !== undefined) parts.connect(from, Number(over))
      },
    }
  }

  /** @param {number} key @param {Point} begin @returns {Drag} */
  const moving = (key, begin) => {
    const node = nodeOf(graph, key)
    let isStill = true
    focusNode(key)
    parts.select({ node: key })
    return {
      move: (at) => {
        isStill &&= Math.hypot(at.x - begin.x, at.y - begin.y) < STILL
        if (isStill || node === undefined) return
        parts.move(key, { x: node.x + (at.x - begin.x) / view.scale, y: node.y + (at.y - begin.y) / view.scale })
      },
      end: () => undefined,
    }
  }

  /** @param {Point} begin @param {Selected} link @returns {Drag} */
  const panning = (begin, link) => {
    const before = view
    let isStill = true
    return {
      move: (at) => {
        isStill &&= Math.hypot(at.x - begin.x, at.y - begin.y) < STILL
        if (isStill) return
        look({ ...before, left: before.left + at.x - begin.x, top: before.top + at.y - begin.y })
      },
      end: () => {
        if (isStill) parts.select(link)
      },
    }
  }

  drawing.addEventListener('focusin', ({ target }) => {
    const key = target instanceof Element ? target.closest('[data-node]')?.getAttribute('data-node') : undefined
    if (key !== null && key !== undefined) focus = Number(key)
  })
  drawing.addEventListener('keydown', (event) => {
    if (!event.ctrlKey && !event.metaKey && !event.altKey && pressed(event.key, event.shiftKey)) event.preventDefault()
  })

  /** @param {string} key @param {boolean} isShifted @returns {boolean} whether it meant something */
  const pressed = (key, isShifted) => {
    if (key === 'Escape') stopDragging()
    if (key === '+' || key === '=') zoom(ZOOM)
    else if (key === '-') zoom(1 / ZOOM)
    else if (key === '0') fit()
    else if (key === 'Escape') parts.select(undefined)
    else return focus !== undefined && pressedOnNode(key, isShifted, focus)
    return true
  }

  /** @param {string} key @param {boolean} isShifted @param {number} at */
  const pressedOnNode = (key, isShifted, at) => {
    const node = nodeOf(graph, at)
    if (node === undefined) return false
    if (isArrow(key) && isShifted) {
      parts.move(at, { x: node.x + ARROWS[key].x * STEP, y: node.y + ARROWS[key].y * STEP })
      reveal(at)
    } else if (isArrow(key)) focusNode(nextThatWay(graph.nodes, at, key) ?? at)
    else if (key === 'Enter' || key === ' ') parts.open(at)
    else if (key === 'c' || key === 'C') parts.beginConnecting(at)
    else if (key === 'Delete' || key === 'Backspace') parts.remove({ node: at })
    else return false
    return true
  }

  return {
    element: make('div', { class: 'canvas' }, drawing, keys),
    /** @param {Graph} next @param {Selected} chosen @param {SeenNodes} known */
    draw(next, chosen, known) {
      graph = next
      selected = chosen
      seen = known
      draw()
    },
    fit,
    zoomIn: () => zoom(ZOOM),
    zoomOut: () => zoom(1 / ZOOM),
    focusNode,
    /** Where a new node is seen. @returns {Point} */
    middle: () => {
      const { width, height } = drawing.getBoundingClientRect()
      return inDrawing(view, { x: width / 2, y: height / 2 })
    },
  }
}

/**
 * What stays is changed in its place: the focus, and a pointer that rests on it, stay too.
 * @param {SVGElement} group @param {readonly SVGElement[]} shapes
 */
function renew(group, shapes) {
  const before = new Map([...group.children].map((shape) => [shape.getAttribute('data-key'), shape]))
  for (const [index, shape] of shapes.entries()) {
    const old = before.get(shape.getAttribute('data-key'))
    const kept = old ?? shape
    before.delete(shape.getAttribute('data-key'))
    if (old !== undefined && old.outerHTML !== shape.outerHTML) {
      for (const { name, value } of shape.attributes) old.setAttribute(name, value)
      if (old.innerHTML !== shape.innerHTML) old.replaceChildren(...shape.childNodes)
    }
    if (group.children[index] !== kept) group.insertBefore(kept, group.children[index] ?? null)
  }
  for (const gone of before.values()) gone.remove()
}
