/** What is being edited: the graph with its steps back, what is selected, what is saved, and what is wrong. Everybody who shows it is told. */
import { beginning, done, redone, saved, undone } from './history.js'

/** @typedef {import('./graph.js').Graph} Graph */
/** @typedef {import('./canvas.js').Selected} Selected */
/** `graph`: changed here; `replaced`: by a step back or by the server, so that forms are made anew. @typedef {'graph' | 'replaced' | 'selected' | 'mistakes'} Change */
/** @typedef {ReturnType<typeof editorState>} State */

/** @param {Graph} graph @param {number} version */
export function editorState(graph, version) {
  let history = beginning(graph)
  let kept = { graph, version }
  /** @type {Selected} */
  let selected
  /** By node and place in its form. @type {Map<number, Map<string, string>>} */
  const mistakes = new Map()
  /** @type {((change: Change) => void)[]} */
  const listeners = []
  const tell = (/** @type {Change} */ change) => listeners.forEach((listener) => listener(change))

  return {
    listen: (/** @type {(change: Change) => void} */ listener) => void listeners.push(listener),
    graph: () => history.graph,
    /** As it was read or saved here last. */
    base: () => kept.graph,
    version: () => kept.version,
    selected: () => selected,
    isChanged: () => history.graph !== kept.graph,
    mayUndo: () => history.past.length > 0,
    mayRedo: () => history.future.length > 0,
    /** @param {Graph} next @param {string} [label] of steps that are one with the one before */
    change(next, label) {
      history = done(history, next, label)
      if (selected !== undefined && !exists(next, selected)) this.select(undefined)
      tell('graph')
    },
    undo: () => replace(undone(history)),
    redo: () => replace(redone(history)),
    /** @param {Selected} next */
    select(next) {
      if (JSON.stringify(next) === JSON.stringify(selected)) return
      selected = next
      tell('selected')
    },
    /** @param {Graph} sent @param {Graph} answer @param {number} version */
    saved(sent, answer, version) {
      const isWhole = history.graph === sent
      history = saved(history, sent, answer)
      kept = { graph: answer, version }
      tell(isWhole ? 'replaced' : 'graph')
    },
    /** @param {number} version of the chain, whose graph is about to be replaced */
    sawVersion(version) {
      kept = { ...kept, version }
    },
    /** @param {number} key @param {string} path '' for all of the node @param {string} mistake '' where there is none */
    note(key, path, mistake) {
      const own = mistakes.get(key) ?? new Map()
      if (path === '') own.clear()
      else if (mistake === '') own.delete(path)
      else own.set(path, mistake)
      mistakes.set(key, own)
      tell('mistakes')
    },
    /** The first of a node that is still there. @returns {{ key: number, text: string } | undefined} */
    mistake() {
      for (const { key } of history.graph.nodes) {
        const [text] = mistakes.get(key)?.values() ?? []
        if (text !== undefined) return { key, text }
      }
      return undefined
    },
  }

  /** @param {import('./history.js').History} next */
  function replace(next) {
    if (next === history) return
    history = next
    // Forms are made anew from what is there: what was typed and could not be taken is gone.
    mistakes.clear()
    if (selected !== undefined && !exists(next.graph, selected)) selected = undefined
    tell('replaced')
  }
}

/** @param {Graph} graph @param {NonNullable<Selected>} selected */
function exists(graph, selected) {
  if ('node' in selected) return graph.nodes.some(({ key }) => key === selected.node)
  return graph.links.some(({ from, to }) => from === selected.from && to === selected.to)
}
