/** The grid of a dashboard's state: widgets where they stand. What did not change stays as it is when another configuration is shown. */
import { columnsOf, placedWidgets } from './board.js'
import { make } from './dom.js'
import { widgetView } from './widget.js'

/** @typedef {Record<string, any>} Json */
/** @typedef {import('./board.js').Placed} Placed */
/**
 * @typedef {object} BoardView
 * @property {import('./board.js').Side} side
 * @property {HTMLElement} element
 * @property {(configuration: Json, isPassing?: boolean) => void} show `isPassing` while something is dragged: what moves in the document loses the pointer
 * @property {() => void} again reads all again: the time that is shown is another
 * @property {(id: string) => HTMLElement | undefined} elementOf
 * @property {(decorate: ((placed: Placed, view: import('./widget.js').WidgetView) => void) | undefined) => void} decorateWith
 * @property {() => void} close
 */

/**
 * @param {Omit<import('./widget.js').Surroundings, 'configuration'> & { stateId: string, side: import('./board.js').Side, emptyText: string }} around
 * @returns {BoardView}
 */
export function boardView({ stateId, side, emptyText, ...around }) {
  const element = make('div', { class: 'board' })
  /** @type {Map<string, { seen: string, view: import('./widget.js').WidgetView }>} */
  const views = new Map()
  /** @type {Json} */
  let shown = {}
  /** @type {((placed: Placed, view: import('./widget.js').WidgetView) => void) | undefined} */
  let decorate

  /** @param {Json} configuration @param {boolean} [isPassing] */
  const show = (configuration, isPassing = false) => {
    shown = configuration
    const all = placedWidgets(configuration, stateId, side)
    const ids = new Set(all.map(({ id }) => id))
    for (const [id, { view }] of views) if (!ids.has(id)) drop(id, view)
    element.style.setProperty('--columns', String(columnsOf(configuration, stateId, side)))
    for (const child of [...element.children]) if (child.tagName === 'P') child.remove()
    all.forEach((placed, index) => {
      const view = viewOf(placed, configuration)
      const { col, row, sizeX, sizeY } = placed.place
      view.element.style.gridArea = `${row + 1} / ${col + 1} / span ${sizeY} / span ${sizeX}`
      view.element.style.setProperty('--rows', String(sizeY))
      // In the order in which they stand, for who reads them one by one; moved only where it must, as that loses the focus.
      if (!isPassing && element.children[index] !== view.element)
        element.insertBefore(view.element, element.children[index] ?? null)
    })
    if (all.length === 0) element.replaceChildren(make('p', {}, emptyText))
  }

  /** @param {Placed} placed @param {Json} configuration */
  function viewOf(placed, configuration) {
    const seen = JSON.stringify([placed.widget, configuration['entityAliases'], configuration['filters']])
    const known = views.get(placed.id)
    if (known?.seen === seen) return known.view
    if (known !== undefined) drop(placed.id, known.view)
    const view = widgetView(placed, { ...around, configuration })
    views.set(placed.id, { seen, view })
    decorate?.(placed, view)
    return view
  }

  /** @param {string} id @param {import('./widget.js').WidgetView} view */
  function drop(id, view) {
    view.close()
    view.element.remove()
    views.delete(id)
  }

  const again = () => {
    for (const [id, { view }] of views) drop(id, view)
    show(shown)
  }

  return {
    side,
    element,
    show,
    again,
    elementOf: (id) => views.get(id)?.view.element,
    decorateWith(wanted) {
      decorate = wanted
      again()
    },
    close() {
      for (const [id, { view }] of views) drop(id, view)
    },
  }
}
