/** Rule chains as files: every form in which they are exported becomes what `POST /api/ruleChains/import` takes. Knows no page. */
import { membersOf } from './graph.js'

/** Ids of a file hold only within it. */
const ID_IN_FILE = '00000000-0000-4000-8000-000000000001'
const LARGEST_BYTES = 20_000_000

/** @typedef {{ ruleChains: unknown[], metadata: unknown[] }} ImportBody */

/**
 * Throws an error that says what is wrong where.
 * @param {string} text @param {string} fileName @returns {ImportBody}
 */
export function importBody(text, fileName) {
  const file = membersOf(parsed(text, fileName))
  if (Array.isArray(file['ruleChains'])) return many(file, fileName)
  const [chain, graph] = chainAndGraph(file, fileName)
  checkGraph(membersOf(graph), fileName)
  const { name } = membersOf(chain)
  if (typeof name !== 'string' || name.trim() === '')
    throw new Error(`${fileName}: the rule chain has no "name". Write one into the file.`)
  const id = { entityType: 'RULE_CHAIN', id: ID_IN_FILE }
  return { ruleChains: [{ ...membersOf(chain), id }], metadata: [{ ...membersOf(graph), ruleChainId: id }] }
}

/** @param {string} text @param {string} fileName */
function parsed(text, fileName) {
  if (text.length > LARGEST_BYTES) throw new Error(`${fileName} is too large for a rule chain.`)
  /** @type {unknown} */
  let value
  try {
    value = JSON.parse(text)
  } catch (error) {
    throw new Error(`${fileName} is not JSON: ${error instanceof Error ? error.message : ''}`, { cause: error })
  }
  return value
}

/** @param {import('./graph.js').Members} file @param {string} fileName @returns {ImportBody} */
function many({ ruleChains, metadata }, fileName) {
  if (!Array.isArray(ruleChains) || !Array.isArray(metadata))
    throw new Error(`${fileName} has "ruleChains" without "metadata": export it again.`)
  for (const graph of metadata) checkGraph(membersOf(graph), fileName)
  return { ruleChains, metadata }
}

/** @param {import('./graph.js').Members} file @param {string} fileName */
function chainAndGraph(file, fileName) {
  if ('ruleChain' in file && 'metadata' in file) return [file['ruleChain'], file['metadata']]
  if ('entity' in file && 'metaData' in file) return [file['entity'], file['metaData']]
  if ('nodes' in file) return [{ name: fileName.replace(/\.json$/i, '') }, file]
  throw new Error(
    `${fileName} is no rule chain: it has neither "ruleChain" with "metadata", nor "ruleChains" with "metadata", nor "nodes" with "connections". Is it the export of something else?`,
  )
}

/** @param {import('./graph.js').Members} graph @param {string} fileName */
function checkGraph({ nodes, connections }, fileName) {
  if (!Array.isArray(nodes)) throw new Error(`${fileName}: "metadata" has no list "nodes".`)
  for (const [index, node] of nodes.entries()) {
    const { type, name } = membersOf(node)
    const which = typeof name === 'string' && name !== '' ? `node "${name}"` : `node ${index + 1}`
    if (typeof type !== 'string' || type === '') throw new Error(`${fileName}: ${which} has no "type".`)
  }
  if (connections === null || connections === undefined) return
  if (!Array.isArray(connections)) throw new Error(`${fileName}: "connections" is not a list.`)
  for (const [index, connection] of connections.entries()) {
    const { fromIndex, toIndex, type } = membersOf(connection)
    for (const place of [fromIndex, toIndex])
      if (typeof place !== 'number' || nodes[place] === undefined)
        throw new Error(`${fileName}: connection ${index + 1} leads from or to a node that is not in the file.`)
    if (typeof type !== 'string' || type.trim() === '')
      throw new Error(`${fileName}: connection ${index + 1} has no label ("type").`)
  }
}

/** Types of nodes in it, each once. @param {ImportBody} body */
export function typesIn({ metadata }) {
  const nodes = metadata.flatMap((graph) => {
    const list = membersOf(graph)['nodes']
    return Array.isArray(list) ? list : []
  })
  return [...new Set(nodes.map((node) => String(membersOf(node)['type'])))]
}

/** Members that hold only on the server that the chain is exported from. */
const OWN_OF_CHAIN = ['id', 'createdTime', 'tenantId', 'version', 'externalId']
const OWN_OF_NODE = ['id', 'createdTime', 'ruleChainId', 'externalId']
const OWN_OF_GRAPH = ['ruleChainId', 'version']

/** One chain as a file holds it. @param {unknown} chain @param {unknown} metadata */
export function exportOf(chain, metadata) {
  const { nodes, ...graph } = membersOf(metadata)
  return {
    ruleChain: { ...without(chain, OWN_OF_CHAIN), firstRuleNodeId: null, root: false },
    metadata: {
      ...without(graph, OWN_OF_GRAPH),
      nodes: Array.isArray(nodes) ? nodes.map((node) => without(node, OWN_OF_NODE)) : [],
    },
  }
}

/** @param {unknown} value @param {readonly string[]} names */
function without(value, names) {
  return Object.fromEntries(Object.entries(membersOf(value)).filter(([name]) => !names.includes(name)))
}

/** Under a name that every file system takes. @param {string} name */
export function fileNameOf(name) {
  const plain = name.replaceAll(/[^\p{L}\p{N}]+/gu, '_').replaceAll(/^_|_$/g, '')
  return `${plain.toLowerCase() || 'rule_chain'}.json`
}
