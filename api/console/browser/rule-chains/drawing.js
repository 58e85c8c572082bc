/** The parts of the drawing: nodes, connections, and where messages come in. */
import { svg } from '../svg.js'
import { groupName } from './catalogue.js'
import { HEIGHT, WIDTH, curve, intoOf, outOf } from './geometry.js'
import { connections, nodeOf } from './graph.js'

/** Letters that have room. */
const LETTERS = 24
const LETTERS_OF_LABEL = 32

/** @typedef {import('./graph.js').DrawnNode} DrawnNode */
/** @typedef {import('./graph.js').Graph} Graph */
/** What is known of a node beside how it is drawn. @typedef {{ messages: number, failures: number, error: string }} Seen */

/**
 * @param {DrawnNode} node
 * @param {import('./catalogue.js').Component | undefined} component undefined for a type that the server does not run
 * @param {Seen | undefined} seen
 * @param {{ isSelected: boolean, isFocus: boolean, label: string }} look
 */
export function nodeShape(node, component, seen, { isSelected, isFocus, label }) {
  const { inEnabled = true, outEnabled = true } = component?.configurationDescriptor.nodeDefinition ?? {}
  const isWrong = seen !== undefined && (seen.failures > 0 || seen.error !== '')
  const group = (component?.type ?? 'unknown').toLowerCase()
  return svg(
    'g',
    {
      ...{ class: `node ${group}${isSelected ? ' selected' : ''}`, 'data-node': node.key, 'data-key': node.key },
      ...{ transform: `translate(${node.x} ${node.y})`, role: 'button', 'aria-label': label },
      ...{ 'aria-pressed': String(isSelected), tabindex: isFocus ? 0 : -1 },
    },
    svg('title', {}, `${node.name}\n${component?.name ?? node.type}`),
    svg('rect', { class: 'box', width: WIDTH, height: HEIGHT, rx: 6 }),
    svg('rect', { class: 'band', width: 6, height: HEIGHT, rx: 3 }),
    svg('text', { class: 'name', x: 16, y: 20 }, shortened(node.name, LETTERS)),
    svg('text', { class: 'kind', x: 16, y: 37 }, shortened(component?.name ?? 'unknown type', LETTERS)),
    ...(isDebugged(node) ? [svg('circle', { class: 'watched', cx: WIDTH - 12, cy: 12, r: 4 })] : []),
    ...(seen === undefined || seen.messages === 0 ? [] : [count(seen.messages)]),
    ...(inEnabled ? [svg('circle', { class: 'port', cx: 0, cy: HEIGHT / 2, r: 5 })] : []),
    ...(outEnabled
      ? [svg('circle', { class: 'port out', 'data-out': node.key, cx: WIDTH, cy: HEIGHT / 2, r: 7 })]
      : []),
    ...(isWrong ? [badge(seen)] : []),
  )
}

/** @param {number} messages */
function count(messages) {
  return svg('text', { class: 'count', x: WIDTH - 12, y: 37, 'text-anchor': 'end' }, briefly(messages))
}

/** @param {Seen} seen */
function badge({ failures, error }) {
  const text = failures > 0 ? briefly(failures) : '!'
  const width = 12 + 7 * text.length
  return svg(
    'g',
    { class: 'badge', transform: `translate(${WIDTH - width / 2} -2)` },
    svg('title', {}, error === '' ? `${failures} failed` : error),
    svg('rect', { x: -width / 2, y: -9, width, height: 18, rx: 9 }),
    svg('text', { y: 4, 'text-anchor': 'middle' }, text),
  )
}

const BRIEF = new Intl.NumberFormat(undefined, { notation: 'compact', maximumFractionDigits: 1 })

/** @param {number} value */
export function briefly(value) {
  return BRIEF.format(value)
}

/** @param {Graph} graph @param {{ from: number, to: number, labels: readonly string[] }} connection @param {boolean} isSelected */
export function linkShape(graph, { from, to, labels }, isSelected) {
  const [source, target] = [nodeOf(graph, from), nodeOf(graph, to)]
  if (source === undefined || target === undefined) return svg('g')
  const [begin, end] = [outOf(source), intoOf(target)]
  const path = curve(begin, end)
  const text = labels.join(' / ')
  const kind = `link${labels.every((label) => label === 'Failure') ? ' failure' : ''}${isSelected ? ' selected' : ''}`
  // What it says to a screen reader is in the names of its nodes.
  return svg(
    'g',
    { class: kind, 'data-link': `${from} ${to}`, 'data-key': `${from} ${to}`, 'aria-hidden': 'true' },
    svg('title', {}, text),
    svg('path', { class: 'reach', d: path }),
    svg('path', { class: 'way', d: path, 'marker-end': 'url(#arrow)' }),
  )
}

/** Over the nodes, where there is little room between them. @param {Graph} graph @param {{ from: number, to: number, labels: readonly string[] }} connection */
export function labelShape(graph, { from, to, labels }) {
  const [source, target] = [nodeOf(graph, from), nodeOf(graph, to)]
  if (source === undefined || target === undefined) return svg('text')
  const [begin, end] = [outOf(source), intoOf(target)]
  const middle = { x: (begin.x + end.x) / 2, y: (begin.y + end.y) / 2 - 6, 'text-anchor': 'middle' }
  const name = { class: 'label', 'data-link': `${from} ${to}`, 'data-key': `${from} ${to}`, 'aria-hidden': 'true' }
  return svg('text', { ...name, ...middle }, shortened(labels.join(' / '), LETTERS_OF_LABEL))
}

/** @param {import('./geometry.js').Point} at @param {DrawnNode | undefined} first */
export function entranceShape(at, first) {
  const way =
    first === undefined
      ? []
      : [svg('path', { class: 'way', d: curve({ x: at.x + 50, y: at.y }, intoOf(first)), 'marker-end': 'url(#arrow)' })]
  return svg(
    'g',
    { class: 'entrance', 'data-key': 'input', 'aria-hidden': 'true' },
    ...way,
    svg('title', {}, 'Messages come in here: drag the dot to the node where they begin'),
    svg('rect', { x: at.x - 40, y: at.y - 15, width: 90, height: 30, rx: 15 }),
    svg('text', { x: at.x + 3, y: at.y + 4, 'text-anchor': 'middle' }, 'Input'),
    svg('circle', { class: 'port out', 'data-out': 'input', cx: at.x + 50, cy: at.y, r: 7 }),
  )
}

export function arrowHead() {
  const shape = svg('path', { d: 'M0 0L8 4L0 8z' })
  const size = { viewBox: '0 0 8 8', markerWidth: 8, markerHeight: 8, refX: 12, refY: 4 }
  return svg('defs', {}, svg('marker', { id: 'arrow', ...size, orient: 'auto', markerUnits: 'userSpaceOnUse' }, shape))
}

/** All that the drawing shows of a node, for who hears it. @param {Graph} graph @param {DrawnNode} node @param {import('./catalogue.js').Component | undefined} component @param {Seen | undefined} seen */
export function spokenName(graph, node, component, seen) {
  const outgoing = connections(graph).filter(({ from }) => from === node.key)
  const ways = outgoing.map(({ to, labels }) => `${labels.join(', ')} to ${nodeOf(graph, to)?.name ?? ''}`)
  return [
    `${node.name}: ${component === undefined ? `unknown type ${node.type}` : `${component.name}, ${groupName(component.type)}`}`,
    ...(graph.first === node.key ? ['messages begin here'] : []),
    ...(ways.length === 0 ? ['leads nowhere'] : ways),
    ...(seen !== undefined && seen.failures > 0 ? [`${seen.failures} failed`] : []),
    ...(seen !== undefined && seen.error !== '' ? [`last error: ${shortened(seen.error, 200)}`] : []),
  ].join('; ')
}

/** @param {DrawnNode} node */
export function isDebugged({ debugSettings }) {
  return debugSettings?.allEnabled === true || (debugSettings?.allEnabledUntil ?? 0) > Date.now()
}

/** @param {string} text @param {number} most */
export function shortened(text, most) {
  return text.length <= most ? text : `${text.slice(0, most - 1)}…`
}
