/**
 * A dashboard as ThingsBoard stores it: which widgets a state shows, and where. What changes it answers another configuration and leaves what
 * it does not know as it is, so that a file which came from elsewhere goes back whole. Knows no page.
 */
import { kindOf } from './widget-kinds.js'

/** JSON that came from a server or a file: looked at, never trusted. @typedef {Record<string, any>} Json */
/** In cells of the grid. @typedef {{ col: number, row: number, sizeX: number, sizeY: number }} Place */
/** @typedef {{ id: string, title: string, kind: import('./widget-kinds.js').Kind, widget: Json, place: Place }} Placed */
/** @typedef {{ id: string, name: string, isRoot: boolean }} State */

export const COLUMNS = 24
/** Beyond it a page would be higher than anything can show. */
const LAST_ROW = 2_000

/** @param {Json} [configuration] @returns {State[]} the root first */
export function statesOf(configuration) {
  return Object.entries(objectOf(configuration?.['states']))
    .map(([id, state]) => ({ id, name: textOf(state?.name) || id, isRoot: state?.root === true }))
    .sort((a, b) => Number(b.isRoot) - Number(a.isRoot))
}

/** By rows, then columns: the order in which they are read. @param {Json} configuration @param {string} stateId @returns {Placed[]} */
export function placedWidgets(configuration, stateId) {
  const widgets = objectOf(configuration['widgets'])
  const placed = Object.entries(placesOf(configuration, stateId)).flatMap(([id, at]) => {
    const widget = widgetOf(widgets, id)
    if (widget === undefined) return []
    return [{ id, title: titleOf(widget), kind: kindOf(widget), widget, place: placeOf(at, widget) }]
  })
  return placed.sort((a, b) => a.place.row - b.place.row || a.place.col - b.place.col)
}

/** @param {Json} configuration @param {string} stateId */
export function columnsOf(configuration, stateId) {
  const columns = mainLayout(configuration, stateId)?.['gridSettings']?.columns
  return Number.isInteger(columns) && columns > 0 && columns <= 1_000 ? Number(columns) : COLUMNS
}

/** @param {Json} configuration @param {string} stateId @param {string} id @param {Place} wanted */
export function withPlace(configuration, stateId, id, wanted) {
  const columns = columnsOf(configuration, stateId)
  const places = new Map(placedWidgets(configuration, stateId).map((each) => [each.id, each.place]))
  const sizeX = within(wanted.sizeX, 1, columns)
  const place = {
    sizeX,
    sizeY: within(wanted.sizeY, 1, LAST_ROW),
    col: within(wanted.col, 0, columns - sizeX),
    row: within(wanted.row, 0, LAST_ROW),
  }
  places.set(id, place)
  const next = structuredClone(configuration)
  const kept = layoutFor(next, stateId)['widgets']
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

/** From this state; from the dashboard where no other state shows it. @param {Json} configuration @param {string} stateId @param {string} id */
export function withoutWidget(configuration, stateId, id) {
  const next = structuredClone(configuration)
  delete layoutFor(next, stateId)['widgets'][id]
  if (statesOf(next).every((state) => !Object.hasOwn(placesOf(next, state.id), id))) delete next['widgets']?.[id]
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

/** @param {Json} configuration @param {string} stateId @returns {Json | undefined} */
function mainLayout(configuration, stateId) {
  const state = objectOf(configuration['states'])[stateId]
  return state?.layouts?.main ?? undefined
}

/** Of the layout that is there, or of one that is made: of an old dashboard, as its widgets stand. @param {Json} configuration @param {string} stateId @returns {Json} */
function layoutFor(configuration, stateId) {
  const placed = placedWidgets(configuration, stateId).map(({ id, place }) => [id, place])
  const states = (configuration['states'] = objectOf(configuration['states']))
  const state = (states[stateId] ??= { name: stateId, root: true, layouts: {} })
  const layouts = (state.layouts = objectOf(state.layouts))
  const main = (layouts['main'] ??= {
    widgets: Object.fromEntries(placed),
    gridSettings: { columns: COLUMNS, margin: 10 },
  })
  main.widgets = objectOf(main.widgets)
  return main
}

/** Old dashboards have no states: their widgets say themselves where they stand. @param {Json} configuration @param {string} stateId @returns {Json} */
function placesOf(configuration, stateId) {
  const main = mainLayout(configuration, stateId)
  if (main !== undefined) return objectOf(main['widgets'])
  if (Object.keys(objectOf(configuration['states'])).length > 0) return {}
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
