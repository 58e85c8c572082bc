/**
 * The graph of a rule chain as it is drawn. Graphs are never changed in place, so a step back is the graph of before. Nodes have keys that hold
 * only here: the server names nodes by their places in a list, which a save may change.
 */
import { layered } from './layout.js'

/** @typedef {{ entityType: string, id: string }} Id */
/** @typedef {Readonly<Record<string, unknown>>} Members */
/** @typedef {{ failuresEnabled?: boolean, allEnabled?: boolean, allEnabledUntil?: number }} DebugSettings */

/**
 * @typedef {object} DrawnNode
 * @property {number} key
 * @property {Id | undefined} id undefined until it is saved
 * @property {string} type
 * @property {string} name
 * @property {number} x of its left edge
 * @property {number} y of its upper edge
 * @property {DebugSettings | null} debugSettings
 * @property {boolean} singletonMode
 * @property {string | null} queueName
 * @property {number} configurationVersion
 * @property {Members} configuration
 * @property {unknown} additionalInfo
 */

/** @typedef {{ from: number, to: number, type: string }} Link keys of nodes, and the label */
/** @typedef {{ first: number | undefined, nodes: readonly DrawnNode[], links: readonly Link[], notes: unknown }} Graph */

/**
 * As the server has it. `debugMode` is what files of before say for `debugSettings`.
 * @typedef {Partial<Omit<DrawnNode, 'key' | 'x' | 'y'>> & { type: string, debugMode?: boolean }} NodeJson
 * @typedef {{ firstNodeIndex: number | null, nodes: readonly NodeJson[], connections: readonly { fromIndex: number, toIndex: number, type: string }[] | null, notes?: unknown, version?: number }} Metadata
 */

/** @param {Metadata} metadata @returns {Graph} */
export function graphOf({ firstNodeIndex, nodes, connections, notes }) {
  const drawn = nodes.map((node, key) => ({ ...drawnOf(node, key), ...placeOf(node.additionalInfo) }))
  const links = (connections ?? []).map(({ fromIndex, toIndex, type }) => ({ from: fromIndex, to: toIndex, type }))
  return placed({ first: firstNodeIndex ?? undefined, nodes: drawn, links, notes })
}

/** @param {NodeJson} node @param {number} key @returns {DrawnNode} */
function drawnOf(node, key) {
  return {
    ...{ key, id: node.id, type: node.type, name: node.name ?? '', x: Number.NaN, y: Number.NaN },
    debugSettings: node.debugSettings ?? null,
    singletonMode: node.singletonMode ?? false,
    queueName: node.queueName ?? null,
    configurationVersion: node.configurationVersion ?? 0,
    configuration: node.configuration ?? {},
    additionalInfo: node.additionalInfo ?? null,
  }
}

/** @param {unknown} info */
function placeOf(info) {
  const { layoutX, layoutY } = membersOf(info)
  return typeof layoutX === 'number' && typeof layoutY === 'number' ? { x: layoutX, y: layoutY } : {}
}

/** An object's; none of anything else. @param {unknown} value @returns {Members} */
export function membersOf(value) {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : {}
}

/** Nodes without a place get one: below the others, where there are any. @param {Graph} graph @returns {Graph} */
function placed(graph) {
  const known = graph.nodes.filter(({ x }) => !Number.isNaN(x))
  if (known.length === graph.nodes.length) return graph
  const places = layered(graph)
  const below = known.length === 0 ? 0 : Math.max(...known.map(({ y }) => y)) + 60
  return mapped(graph, (node) => {
    const place = places.get(node.key)
    return place === undefined || !Number.isNaN(node.x) ? node : { ...node, x: place.x, y: place.y + below }
  })
}

/** All nodes anew by what leads where. @param {Graph} graph @returns {Graph} */
export function tidied(graph) {
  const places = layered(graph)
  return mapped(graph, (node) => ({ ...node, ...places.get(node.key) }))
}

/**
 * As `POST /api/ruleChain/metadata` takes it.
 * @param {Graph} graph @param {Id} ruleChainId @param {number | undefined} version undefined: whichever the chain has
 */
export function metadataOf(graph, ruleChainId, version) {
  const places = new Map(graph.nodes.map(({ key }, index) => [key, index]))
  const at = (/** @type {number} */ key) => places.get(key) ?? -1
  return {
    ruleChainId,
    ...(version === undefined ? {} : { version }),
    firstNodeIndex: graph.first === undefined ? null : at(graph.first),
    nodes: graph.nodes.map(({ key: _key, x, y, additionalInfo, ...node }) => ({
      ...node,
      additionalInfo: { ...membersOf(additionalInfo), layoutX: Math.round(x), layoutY: Math.round(y) },
    })),
    connections: graph.links.map(({ from, to, type }) => ({ fromIndex: at(from), toIndex: at(to), type })),
    ...(graph.notes === undefined ? {} : { notes: graph.notes }),
  }
}

/**
 * The graph as the server answers a save, under the keys that its nodes have here: known ones by their ids, then the new ones in their order.
 * @param {Graph} sent @param {Metadata} answer @returns {Graph}
 */
export function savedGraph(sent, answer) {
  const known = new Map(sent.nodes.map(({ id, key }) => [id?.id, key]))
  const answered = new Set(answer.nodes.map(({ id }) => id?.id))
  const fresh = sent.nodes.filter(({ id }) => id === undefined || !answered.has(id.id)).map(({ key }) => key)
  const keys = answer.nodes.map(({ id }) => known.get(id?.id) ?? fresh.shift() ?? -1)
  const at = (/** @type {number} */ index) => keys[index] ?? -1
  const { first, nodes, links, notes } = graphOf(answer)
  return {
    first: first === undefined ? undefined : at(first),
    nodes: nodes.map((node) => ({ ...node, key: at(node.key) })),
    links: links.map(({ from, to, type }) => ({ from: at(from), to: at(to), type })),
    notes,
  }
}

/** Nodes under the ids that a save gave to them. @param {Graph} graph @param {Graph} saved @returns {Graph} */
export function identified(graph, saved) {
  const ids = new Map(saved.nodes.map(({ key, id }) => [key, id]))
  return mapped(graph, (node) => (ids.has(node.key) ? { ...node, id: ids.get(node.key) } : node))
}

/** @param {Graph} graph @param {(node: DrawnNode) => DrawnNode} change @returns {Graph} */
function mapped(graph, change) {
  return { ...graph, nodes: graph.nodes.map(change) }
}

/** @param {Graph} graph @param {number | undefined} key */
export function nodeOf(graph, key) {
  return graph.nodes.find((node) => node.key === key)
}

/** The first node of a chain is where its messages begin. @param {Graph} graph @param {Omit<DrawnNode, 'key'>} node */
export function withNode(graph, node) {
  const key = graph.nodes.reduce((most, each) => Math.max(most, each.key + 1), 0)
  const first = graph.nodes.length === 0 ? key : graph.first
  return { key, graph: { ...graph, first, nodes: [...graph.nodes, { ...node, key }] } }
}

/** @param {Graph} graph @param {number} key @param {Partial<DrawnNode>} change @returns {Graph} */
export function withChange(graph, key, change) {
  return mapped(graph, (node) => (node.key === key ? { ...node, ...change } : node))
}

/** @param {Graph} graph @param {number} key @returns {Graph} */
export function withoutNode(graph, key) {
  return {
    ...graph,
    first: graph.first === key ? undefined : graph.first,
    nodes: graph.nodes.filter((node) => node.key !== key),
    links: graph.links.filter(({ from, to }) => from !== key && to !== key),
  }
}

/** What leads from one node to another, by exactly these labels; none of them takes the connection away. @param {Graph} graph @param {number} from @param {number} to @param {readonly string[]} labels @returns {Graph} */
export function withLabels(graph, from, to, labels) {
  const others = graph.links.filter((link) => link.from !== from || link.to !== to)
  return { ...graph, links: [...others, ...[...new Set(labels)].map((type) => ({ from, to, type }))] }
}

/** @typedef {{ readonly from: number, readonly to: number, readonly labels: readonly string[] }} Connection */

/** A drawing asks for them at each node. @type {WeakMap<Graph, readonly Connection[]>} */
const drawn = new WeakMap()

/** Connections, each with all of its labels. @param {Graph} graph @returns {readonly Connection[]} */
export function connections(graph) {
  const known = drawn.get(graph) ?? connectionsIn(graph)
  drawn.set(graph, known)
  return known
}

/** @param {Graph} graph @returns {Connection[]} */
function connectionsIn(graph) {
  /** @type {Map<string, { from: number, to: number, labels: string[] }>} */
  const byEnds = new Map()
  for (const { from, to, type } of graph.links) {
    const known = byEnds.get(`${from} ${to}`)
    if (known === undefined) byEnds.set(`${from} ${to}`, { from, to, labels: [type] })
    else known.labels.push(type)
  }
  return [...byEnds.values()]
}

/** Why the one may not lead to the other; undefined where it may. @param {Graph} graph @param {number} from @param {number} to */
export function obstacle(graph, from, to) {
  if (from === to) return 'A node can not lead to itself.'
  if (!leadingTo(graph, from).has(to)) return undefined
  const name = nodeOf(graph, to)?.name ?? ''
  const own = nodeOf(graph, from)?.name ?? ''
  return `"${name}" leads to "${own}" already: messages would go in a circle. Put them into a queue again by a checkpoint node of another chain, or draw the connection the other way round.`
}

/** The nodes that lead to one, by whatever way. @param {Graph} graph @param {number} key @returns {ReadonlySet<number>} */
export function leadingTo({ links }, key) {
  /** @type {Map<number, number[]>} */
  const sources = new Map()
  for (const { from, to } of links) sources.set(to, [...(sources.get(to) ?? []), from])
  /** @type {Set<number>} */
  const found = new Set()
  const open = [key]
  for (let at = open.pop(); at !== undefined; at = open.pop())
    for (const from of sources.get(at) ?? [])
      if (!found.has(from)) {
        found.add(from)
        open.push(from)
      }
  return found
}

/** @param {Graph} graph */
export function inOrderOfNames({ nodes }) {
  return [...nodes].sort((a, b) => a.name.localeCompare(b.name) || a.key - b.key)
}
