/**
 * A dashboard as ThingsBoard stores it: which widgets a state shows, and where. What changes it answers another configuration and leaves what
 * it does not know as it is, so that a file which came from elsewhere goes back whole. Knows no page.
 */
import { kindOf } from './widget-kinds.js'

/** JSON that came from a server or a file: looked at, never trusted. @typedef {Record<string, any>} Json */
/** In cells of the grid. @typedef {{ col: number, row: number, sizeX: number, sizeY: number }} Place */
/** @typedef {{ id: string, title: string, kind: import('./widget-kinds.js').Kind, widget: Json, place: Place }} Placed */
/** @typedef {{ id: string, name: string, isRoot: boolean }} State */
/** A state has one layout, or two side by side. @typedef {'main' | 'right'} Side */

export const COLUMNS = 24
const SIDES = /** @type {const} */ (['main', 'right'])
/** Beyond it a page would be higher than anything can show. */
const LAST_ROW = 2_000

/** @param {Json} [configuration] @returns {State[]} the root first */
export function statesOf(configuration) {
  return Object.entries(objectOf(configuration?.['states']))
    .map(([id, state]) => ({ id, name: textOf(state?.name) || id, isRoot: state?.root === true }))
    .sort((a, b) => Number(b.isRoot) - Number(a.isRoot))
}

/**
 * How wide each layout of a state is, as `flex` has it; one where there is no second.
 * @param {Json} configuration @param {string} stateId @returns {{ side: Side, flex: string }[]}
 */
export function sidesOf(configuration, stateId) {
  const right = layoutOf(configuration, stateId, 'right')
  if (right === undefined) return [{ side: 'main', flex: '1 1 0' }]
  const { type, leftWidthPercentage: left, fixedWidth, fixedLayout } = objectOf(right['gridSettings']?.layoutDimension)
  const share = within(left ?? 50, 5, 95)
  const width = (/** @type {Side} */ side, /** @type {number} */ part) =>
    type === 'fixed' ? (side === fixedLayout ? `0 0 ${within(fixedWidth, 50, 4_000)}px` : '1 1 0') : `${part} 1 0`
  return [
    { side: 'main', flex: width('main', share) },
    { side: 'right', flex: width('right', 100 - share) },
  ]
}

/** By rows, then columns: the order in which they are read. @param {Json} configuration @param {string} stateId @param {Side} [side] @returns {Placed[]} */
export function placedWidgets(configuration, stateId, side = 'main') {
  const widgets = objectOf(configuration['widgets'])
  const placed = Object.entries(placesOf(configuration, stateId, side)).flatMap(([id, at]) => {
    const widget = widgetOf(widgets, id)
    if (widget === undefined) return []
    return [{ id, title: titleOf(widget), kind: kindOf(widget), widget, place: placeOf(at, widget) }]
  })
  return placed.sort((a, b) => a.place.row - b.place.row || a.place.col - b.place.col)
}

/** @param {Json} configuration @param {string} stateId @param {Side} [side] */
export function columnsOf(configuration, stateId, side = 'main') {
  const columns = layoutOf(configuration, stateId, side)?.['gridSettings']?.columns
  return Number.isInteger(columns) && columns > 0 && columns <= 1_000 ? Number(columns) : COLUMNS
}

/** @param {Json} configuration @param {string} stateId @param {string} id @param {Place} wanted @param {Side} [side] */
export function withPlace(configuration, stateId, id, wanted, side = 'main') {
  const columns = columnsOf(configuration, stateId, side)
  const places = new Map(placedWidgets(configuration, stateId, side).map((each) => [each.id, each.place]))
  const sizeX = within(wanted.sizeX, 1, columns)
  const place = {
    sizeX,
    sizeY: within(wanted.sizeY, 1, LAST_ROW),
    col: within(wanted.col, 0, columns - sizeX),
    row: within(wanted.row, 0, LAST_ROW),
  }
  places.set(id, place)
  const next = structuredClone(configuration)
  const kept = layoutFor(next, stateId, side)['widgets']
  for (const [each, at] of pushed(places, id)) kept[each] = { ...objectOf(kept[each]), ...at }
  return next
}

/** Below all others. @param {Json} configuration @param {string} stateId @param {string} id @param {Json} widget its id stands in it */
export function withWidget(configuration, stateId, id, widget) {
  const row = Math.max(0, ...placedWidgets(configuration, stateId).map(({ place }) => place.row + place.sizeY))
  const next = structuredClone(configuration)
  next['widgets'] = { ...objectOf(next['widgets']), [id]: widget }
  const { sizeX, sizeY } = widget
  layoutFor(next, stateId)['widgets'][id] = { sizeX, sizeY, row, col: 0 }
  return next
}

/** Another widget in the place of one. @param {Json} configuration @param {string} id @param {Json} widget */
export function withChanged(configuration, id, widget) {
  const next = structuredClone(configuration)
  const widgets = objectOf(next['widgets'])
  const key = Object.hasOwn(widgets, id) ? id : Object.keys(widgets).find((each) => widgets[each]?.id === id)
  if (key !== undefined) widgets[key] = widget
  return next
}

/** From this state; from the dashboard where no other state shows it. @param {Json} configuration @param {string} stateId @param {string} id @param {Side} [side] */
export function withoutWidget(configuration, stateId, id, side = 'main') {
  const next = structuredClone(configuration)
  delete layoutFor(next, stateId, side)['widgets'][id]
  const isShown = (/** @type {State} */ state) =>
    SIDES.some((each) => Object.hasOwn(placesOf(next, state.id, each), id))
  if (!statesOf(next).some(isShown)) delete next['widgets']?.[id]
  return next
}

/** The others make room downwards, each as little as it must. @param {Map<string, Place>} places @param {string} first who stays */
export function pushed(places, first) {
  /** @type {Map<string, Place>} */
  const done = new Map()
  const start = places.get(first)
  if (start !== undefined) done.set(first, start)
  const others = [...places].filter(([id]) => id !== first).sort(([, a], [, b]) => a.row - b.row || a.col - b.col)
  for (const [id, place] of others) {
    let row = place.row
    for (;;) {
      const inTheWay = [...done.values()].filter((other) => overlaps({ ...place, row }, other))
      if (inTheWay.length === 0) break
      row = Math.max(...inTheWay.map((other) => other.row + other.sizeY))
    }
    done.set(id, { ...place, row })
  }
  return done
}

/** A dashboard with nothing on it yet. @returns {Json} */
export function emptyConfiguration() {
  return {
    description: '',
    widgets: {},
    states: {
      default: {
        name: 'Default',
        root: true,
        layouts: { main: { widgets: {}, gridSettings: { columns: COLUMNS, margin: 10 } } },
      },
    },
    entityAliases: {},
    filters: {},
    timewindow: {
      selectedTab: 0,
      realtime: { realtimeType: 0, timewindowMs: 3_600_000, interval: 10_000 },
      aggregation: { type: 'NONE', limit: 2_000 },
    },
    settings: { stateControllerId: 'entity', showTitle: true },
  }
}

/** @param {Place} a @param {Place} b */
function overlaps(a, b) {
  return a.col < b.col + b.sizeX && b.col < a.col + a.sizeX && a.row < b.row + b.sizeY && b.row < a.row + a.sizeY
}

/** @param {Json} configuration @param {string} stateId @param {Side} side @returns {Json | undefined} */
function layoutOf(configuration, stateId, side) {
  const state = objectOf(configuration['states'])[stateId]
  return state?.layouts?.[side] ?? undefined
}

/** Of the layout that is there, or of one that is made: of an old dashboard, as its widgets stand. @param {Json} configuration @param {string} stateId @param {Side} [side] @returns {Json} */
function layoutFor(configuration, stateId, side = 'main') {
  const placed = placedWidgets(configuration, stateId, side).map(({ id, place }) => [id, place])
  const states = (configuration['states'] = objectOf(configuration['states']))
  const state = (states[stateId] ??= { name: stateId, root: true, layouts: {} })
  const layouts = (state.layouts = objectOf(state.layouts))
  const layout = (layouts[side] ??= {
    widgets: Object.fromEntries(placed),
    gridSettings: { columns: COLUMNS, margin: 10 },
  })
  layout.widgets = objectOf(layout.widgets)
  return layout
}

/** Old dashboards have no states: their widgets say themselves where they stand. @param {Json} configuration @param {string} stateId @param {Side} side @returns {Json} */
function placesOf(configuration, stateId, side) {
  const layout = layoutOf(configuration, stateId, side)
  if (layout !== undefined) return objectOf(layout['widgets'])
  if (side === 'right' || Object.keys(objectOf(configuration['states'])).length > 0) return {}
  return Object.fromEntries(
    Object.entries(objectOf(configuration['widgets'])).map(([key, widget]) => [textOf(widget?.id) || key, widget]),
  )
}

/** @param {Json} widgets @param {string} id @returns {Json | undefined} */
function widgetOf(widgets, id) {
  const found = Object.hasOwn(widgets, id) ? widgets[id] : Object.values(widgets).find((each) => each?.id === id)
  return typeof found === 'object' && found !== null ? found : undefined
}

/** @param {any} at @param {Json} widget @returns {Place} */
function placeOf(at, widget) {
  const sizeX = within(at?.sizeX ?? widget['sizeX'], 1, 1_000)
  return {
    col: within(at?.col, 0, 1_000),
    row: within(at?.row, 0, LAST_ROW),
    sizeX,
    sizeY: within(at?.sizeY ?? widget['sizeY'], 1, LAST_ROW),
  }
}

/** @param {Json} widget */
function titleOf(widget) {
  return textOf(widget['config']?.title) || textOf(widget['title']) || kindOf(widget).name
}

/** @param {unknown} value @param {number} least @param {number} most */
function within(value, least, most) {
  const number = Math.round(Number(value ?? least))
  return Number.isFinite(number) ? Math.min(Math.max(number, least), Math.max(least, most)) : least
}

/** @param {unknown} value @returns {Json} */
export function objectOf(value) {
  return typeof value === 'object' && value !== null ? value : {}
}

/** @param {unknown} value */
export function textOf(value) {
  return typeof value === 'string' ? value : ''
}
