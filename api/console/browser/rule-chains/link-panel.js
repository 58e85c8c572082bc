/** One connection. */
import { make } from '../dom.js'
import { connect } from './connecting.js'
import { nodeOf } from './graph.js'

/** @typedef {{ from: number, to: number }} Link */

/**
 * @param {object} parts
 * @param {import('./state.js').State} parts.state
 * @param {import('./catalogue.js').Catalogue} parts.catalogue
 * @param {(text: string, isWrong?: boolean) => void} parts.say
 * @param {() => void} parts.close
 * @param {(link: Link) => void} parts.remove
 * @param {Link} link
 */
export function linkPanel({ state, catalogue, say, close, remove }, link) {
  const what = make('p', {})
  const change = () => void connect(state, catalogue, link.from, link.to).then((text) => text !== '' && say(text))
  const first = make('button', { type: 'button', click: change }, 'Change its labels')
  const element = make(
    'div',
    {},
    make(
      'div',
      { class: 'heading' },
      make('h2', {}, 'Connection'),
      make('button', { type: 'button', class: 'plain', click: close }, 'Close'),
    ),
    what,
    make('p', { class: 'acts' }, first, make('button', { type: 'button', click: () => remove(link) }, 'Take it away')),
  )
  const refresh = () => {
    const graph = state.graph()
    const labels = graph.links.filter(({ from, to }) => from === link.from && to === link.to).map(({ type }) => type)
    what.textContent = `${nodeOf(graph, link.from)?.name ?? ''} → ${nodeOf(graph, link.to)?.name ?? ''}: ${labels.join(', ')}`
  }
  refresh()
  const focus = () => first.focus()
  return { element, refresh, refreshFigures: () => undefined, focus, focusConnecting: focus }
}
