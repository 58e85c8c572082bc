/** Steps back and forward over graphs. */
import { identified } from './graph.js'

/** @typedef {import('./graph.js').Graph} Graph */
/** @typedef {{ graph: Graph, past: readonly Graph[], future: readonly Graph[], label: string }} History */

/** Graphs share what they have in common, so that a step costs little. */
const MAX_STEPS = 200

/** @param {Graph} graph @returns {History} */
export function beginning(graph) {
  return { graph, past: [], future: [], label: '' }
}

/** Steps of one label behind each other are one, such as the letters of a name. @param {History} history @param {Graph} graph @param {string} [label] @returns {History} */
export function done({ past, label: last, graph: before }, graph, label = '') {
  if (graph === before) return { graph, past, future: [], label }
  const joins = label !== '' && label === last && past.length > 0
  return { graph, past: joins ? past : [...past, before].slice(-MAX_STEPS), future: [], label }
}

/** @param {History} history @returns {History} */
export function undone(history) {
  const graph = history.past.at(-1)
  if (graph === undefined) return history
  return { graph, past: history.past.slice(0, -1), future: [history.graph, ...history.future], label: '' }
}

/** @param {History} history @returns {History} */
export function redone(history) {
  const [graph, ...future] = history.future
  if (graph === undefined) return history
  return { graph, past: [...history.past, history.graph], future, label: '' }
}

/**
 * After a save: nodes have ids now in every step. What was changed while it was under way stays changed.
 * @param {History} history @param {Graph} sent @param {Graph} saved @returns {History}
 */
export function saved(history, sent, saved) {
  const known = (/** @type {Graph} */ graph) => identified(graph, saved)
  const graph = history.graph === sent ? saved : known(history.graph)
  return { graph, past: history.past.map(known), future: history.future.map(known), label: '' }
}
