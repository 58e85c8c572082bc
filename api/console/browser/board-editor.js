/** A dashboard is changed: widgets added, moved, made larger, removed; each step can be undone, and nothing is kept until it is saved. */
import { columnsOf, placedWidgets, withChanged, withPlace, withWidget, withoutWidget } from './board.js'
import { make, messageOf, tell } from './dom.js'
import { Refused, call } from './session.js'
import { uuid } from './uuid.js'
import { openWidgetForm } from './widget-form.js'

/** @typedef {Record<string, any>} Json */
/** @typedef {import('./board-view.js').BoardView} BoardView */

const CONFLICT = 409
const MAX_STEPS = 100
/** What arrows do, in cells. @type {Readonly<Record<string, readonly [number, number]>>} */
const ARROWS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }

/**
 * @param {object} parts
 * @param {Json} parts.dashboard as the server answered it last
 * @param {string} parts.stateId
 * @param {readonly import('./board-view.js').BoardView[]} parts.views of the layouts, the main one first
 * @param {HTMLElement} parts.bar where the buttons go
 * @param {() => Json | undefined} parts.window that is shown, and saved with it
 */
export function boardEditor({ dashboard, stateId, views, bar, window }) {
  let saved = dashboard
  /** @type {Json} */
  let present = dashboard['configuration']
  /** @type {Json[]} */
  const before = []
  /** @type {Json[]} */
  const undone = []
  const told = make('p', { role: 'status' })
  const spoken = make('p', { role: 'status', class: 'spoken' })
  const undo = make('button', { type: 'button', click: () => step(before, undone) }, 'Undo')
  const redo = make('button', { type: 'button', click: () => step(undone, before) }, 'Redo')
  const add = make('button', { type: 'button', click: () => void addWidget().catch(failed) }, 'Add a widget')
  const keep = make('button', { type: 'button', click: () => void save() }, 'Save')
  const leave = make('button', { type: 'button', click: () => location.reload() }, 'Stop editing')
  const choice = make('span', { class: 'acts' })
  bar.replaceChildren(add, undo, redo, keep, leave, choice, told, spoken)
  for (const view of views) view.element.classList.add('edited')
  let isLeft = false
  const isChanged = () =>
    !isLeft && (present !== saved['configuration'] || window() !== saved['configuration'].timewindow)
  addEventListener('beforeunload', (event) => isChanged() && event.preventDefault())
  for (const view of views) view.decorateWith((placed, shown) => decorate(view, placed, shown))
  buttons()
  add.focus()

  function drop() {
    isLeft = true
    location.reload()
  }

  /** @param {unknown} error */
  function failed(error) {
    tell(told, messageOf(error), true)
  }

  function buttons() {
    undo.disabled = before.length === 0
    redo.disabled = undone.length === 0
  }

  function showAll() {
    for (const view of views) view.show(present)
  }

  /** @param {string} id */
  function elementOf(id) {
    return views.map((view) => view.elementOf(id)).find((element) => element !== undefined)
  }

  /** @param {Json} next */
  function put(next) {
    before.push(present)
    if (before.length > MAX_STEPS) before.shift()
    undone.length = 0
    present = next
    showAll()
    buttons()
  }

  /** @param {Json[]} from @param {Json[]} to */
  function step(from, to) {
    const next = from.pop()
    if (next === undefined) return
    to.push(present)
    present = next
    showAll()
    buttons()
  }

  async function addWidget() {
    const made = await openWidgetForm({ configuration: present })
    if (made === undefined) return add.focus()
    const id = uuid()
    put(withWidget(made.configuration, stateId, id, { ...made.widget, id }))
    const element = elementOf(id)
    element?.scrollIntoView({ block: 'nearest' })
    element?.querySelector('button')?.focus()
    spoken.textContent = 'The widget was added below the others.'
  }

  /** @param {Json} [over] the version that is written over on purpose */
  async function save(over) {
    keep.disabled = true
    choice.replaceChildren()
    tell(told, 'Saving …')
    const sent = present
    try {
      const version = over === undefined ? saved['version'] : over['version']
      const timewindow = window()
      const configuration = timewindow === undefined ? present : { ...present, timewindow }
      saved = await call('POST', '/api/dashboard', { ...saved, configuration, version })
      saved['configuration'] = configuration
      // What was changed while it was under way stays changed.
      if (present === sent) present = configuration
      tell(told, 'Saved.')
    } catch (error) {
      const isConflict = error instanceof Refused && error.status === CONFLICT
      const wrong = isConflict ? await conflict().catch((other) => other) : error
      if (wrong !== undefined) tell(told, `Not saved: ${messageOf(wrong)}`, true)
    } finally {
      keep.disabled = false
    }
  }

  /** Nobody's work is lost without a word. */
  async function conflict() {
    const theirs = await call('GET', `/api/dashboard/${saved['id'].id}`)
    tell(told, 'Not saved: somebody else has saved this dashboard since you opened it.', true)
    const load = make('button', { type: 'button', click: drop }, 'Show theirs, drop mine')
    const over = make('button', { type: 'button', click: () => void save(theirs) }, 'Save mine over theirs')
    choice.replaceChildren(load, over)
    load.focus()
  }

  /** @param {BoardView} board @param {import('./board.js').Placed} placed @param {import('./widget.js').WidgetView} shown */
  function decorate(board, { id, title }, { element, tools }) {
    const move = make(
      'button',
      {
        type: 'button',
        class: 'grip',
        title: 'Drag, or arrow keys to move; with Shift they change the size',
        'aria-label': `Move ${title}: arrow keys; with Shift they change its size`,
      },
      '✥',
    )
    const change = make(
      'button',
      { type: 'button', 'aria-label': `Change ${title}`, click: () => void changeWidget(board, id).catch(failed) },
      'Change',
    )
    const remove = make(
      'button',
      { type: 'button', 'aria-label': `Remove ${title}`, click: () => removeWidget(board, id, title) },
      'Remove',
    )
    const corner = make('span', { class: 'corner', 'aria-hidden': 'true' })
    tools.append(move, change, remove)
    element.append(corner)
    move.addEventListener('keydown', (event) => {
      const [x, y] = ARROWS[event.key] ?? [0, 0]
      if (x === 0 && y === 0) return
      event.preventDefault()
      shift(board, id, x, y, event.shiftKey)
    })
    dragged(board, move, id, false)
    dragged(board, corner, id, true)
  }

  /** @param {BoardView} board @param {string} id @param {number} x @param {number} y cells @param {boolean} isSize */
  function shift(board, id, x, y, isSize) {
    const place = placeOf(board, id)
    if (place === undefined) return
    const wanted = isSize
      ? { ...place, sizeX: place.sizeX + x, sizeY: place.sizeY + y }
      : { ...place, col: place.col + x, row: place.row + y }
    put(withPlace(present, stateId, id, wanted, board.side))
    // Its place in the document may be another now, which took the focus away.
    focusOn(board.elementOf(id)?.querySelector('.grip'))
    const at = placeOf(board, id)
    if (at !== undefined)
      spoken.textContent = `Column ${at.col + 1}, row ${at.row + 1}, ${at.sizeX} wide, ${at.sizeY} high.`
  }

  /** @param {BoardView} board @param {string} id */
  function placeOf({ side }, id) {
    return placedWidgets(present, stateId, side).find((each) => each.id === id)?.place
  }

  /** @param {BoardView} board @param {HTMLElement} handle @param {string} id @param {boolean} isSize */
  function dragged(board, handle, id, isSize) {
    handle.addEventListener('pointerdown', (event) => {
      const start = placeOf(board, id)
      if (start === undefined || event.button !== 0) return
      event.preventDefault()
      handle.setPointerCapture(event.pointerId)
      handle.focus()
      const from = present
      const ended = new AbortController()
      const { width, height } = cell(board)
      /** @param {PointerEvent} to */
      const placeAt = (to) => {
        const [x, y] = [
          Math.round((to.clientX - event.clientX) / width),
          Math.round((to.clientY - event.clientY) / height),
        ]
        return isSize
          ? { ...start, sizeX: start.sizeX + x, sizeY: start.sizeY + y }
          : { ...start, col: start.col + x, row: start.row + y }
      }
      /** @param {PointerEvent} to */
      const moved = (to) => board.show(withPlace(from, stateId, id, placeAt(to), board.side), true)
      /** @param {PointerEvent} to */
      const dropped = (to) => {
        ended.abort()
        const next = withPlace(from, stateId, id, placeAt(to), board.side)
        if (JSON.stringify(next) === JSON.stringify(from)) board.show(from)
        else put(next)
      }
      const { signal } = ended
      handle.addEventListener('pointermove', moved, { signal })
      handle.addEventListener('pointerup', dropped, { signal })
      handle.addEventListener('pointercancel', () => (ended.abort(), board.show(from)), { signal })
    })
  }

  /** @param {BoardView} board */
  function cell({ side, element }) {
    const style = getComputedStyle(element)
    const gap = Number.parseFloat(style.columnGap) || 0
    const columns = columnsOf(present, stateId, side)
    return {
      width: (element.clientWidth + gap) / columns,
      height: (Number.parseFloat(style.gridAutoRows) || 40) + gap,
    }
  }

  /** @param {BoardView} board @param {string} id */
  async function changeWidget(board, id) {
    const placed = placedWidgets(present, stateId, board.side).find((each) => each.id === id)
    if (placed === undefined) return
    const made = await openWidgetForm({ configuration: present, widget: placed.widget })
    if (made !== undefined) put(withChanged(made.configuration, id, made.widget))
    focusOn(board.elementOf(id)?.querySelector('[aria-label^="Change "]'))
  }

  /** @param {BoardView} board @param {string} id @param {string} title */
  function removeWidget({ side }, id, title) {
    put(withoutWidget(present, stateId, id, side))
    spoken.textContent = `${title} was removed. "Undo" brings it back.`
    undo.focus()
  }
}

/** @param {Element | null | undefined} element */
function focusOn(element) {
  if (element instanceof HTMLElement) element.focus()
}
