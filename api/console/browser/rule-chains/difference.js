/** What differs between two states of a rule chain, in words. Places on the drawing count for nothing. Knows no page. */

/** @typedef {import('./graph.js').Graph} Graph */
/** @typedef {import('./graph.js').DrawnNode} DrawnNode */
/** `touched`: names of the nodes that were changed or deleted, by their ids. @typedef {{ lines: string[], touched: Map<string, string> }} Difference */

/** @param {Graph} before @param {Graph} after both as they are saved, or one of them with what was changed since @returns {Difference} */
export function difference(before, after) {
  const [old, now] = [byId(before), byId(after)]
  const lines = []
  /** @type {Map<string, string>} */
  const touched = new Map()
  for (const [id, node] of old) {
    const other = now.get(id)
    if (other !== undefined && contentOf(other) === contentOf(node)) continue
    touched.set(id, node.name)
    lines.push(other === undefined ? `deleted "${node.name}"` : changedText(node, other))
  }
  const added = after.nodes.filter(({ id }) => id === undefined || !old.has(id.id))
  lines.push(...added.map(({ name }) => `added "${name}"`))
  const [linksBefore, linksAfter] = [linksOf(before), linksOf(after)]
  for (const [link, words] of linksAfter) if (!linksBefore.has(link)) lines.push(`connected ${words}`)
  for (const [link, words] of linksBefore) if (!linksAfter.has(link)) lines.push(`took apart ${words}`)
  const first = firstOf(after)
  if (idOf(firstOf(before)) !== idOf(first))
    lines.push(`messages begin at ${first === undefined ? 'no node' : `"${first.name}"`}`)
  return { lines, touched }
}

/** Names of the nodes that both touched. @param {Difference} one @param {Difference} other */
export function contested(one, other) {
  return [...one.touched].filter(([id]) => other.touched.has(id)).map(([, name]) => name)
}

/** @param {DrawnNode} before @param {DrawnNode} after */
function changedText(before, after) {
  if (before.name !== after.name) return `renamed "${before.name}" to "${after.name}"`
  const keys = [...new Set([...Object.keys(before.configuration), ...Object.keys(after.configuration)])]
  const changed = keys.filter((key) => text(before.configuration[key]) !== text(after.configuration[key]))
  return `changed "${before.name}"${changed.length === 0 ? '' : `: ${changed.join(', ')}`}`
}

/** @param {Graph} graph */
function byId({ nodes }) {
  return new Map(nodes.flatMap((node) => (node.id === undefined ? [] : [/** @type {const} */ ([node.id.id, node])])))
}

/** @param {DrawnNode} node */
function contentOf({ type, name, configuration, debugSettings, queueName, singletonMode }) {
  return text([type, name, configuration, debugSettings?.failuresEnabled ?? false, queueName, singletonMode])
}

/** By ids, since a node that was renamed keeps its connections. @param {Graph} graph @returns {Map<string, string>} */
function linksOf({ nodes, links }) {
  const byKey = new Map(nodes.map((node) => [node.key, node]))
  return new Map(
    links.map(({ from, to, type }) => {
      const [begin, end] = [byKey.get(from), byKey.get(to)]
      return [text([idOf(begin), idOf(end), type]), `"${begin?.name ?? ''}" to "${end?.name ?? ''}" (${type})`]
    }),
  )
}

/** @param {Graph} graph */
function firstOf({ first, nodes }) {
  return nodes.find(({ key }) => key === first)
}

/** One that is not saved has none: it is told by its key. @param {DrawnNode | undefined} node */
function idOf(node) {
  return node?.id?.id ?? String(node?.key)
}

/** Members in one order, whoever wrote them. @param {unknown} value */
function text(value) {
  return JSON.stringify(value, (_key, inner) =>
    typeof inner === 'object' && inner !== null && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : 1)))
      : inner,
  )
}
