/** Kinds of widgets: what ThingsBoard calls them, and as which of ours they are drawn. Knows no page. */

/** @typedef {'line' | 'bar' | 'cards' | 'latest' | 'series' | 'gauge' | 'attributes' | 'alarms' | 'text' | 'other'} Drawing */
/** `name` is the type's, as its author wrote it. @typedef {{ drawing: Drawing, name: string, type: string }} Kind */

/** Where the first that fits counts. @type {readonly (readonly [RegExp, Drawing])[]} */
const BY_NAME = [
  [/alarms?_table|alarm_widgets/, 'alarms'],
  [/timeseries_table/, 'series'],
  [/entities_table|latest_values_table|entity_table/, 'latest'],
  [/attributes_card/, 'attributes'],
  [/gauge|speedometer|thermometer|compass/, 'gauge'],
  [/html_card|markdown|html_value_card/, 'text'],
  [/bar/, 'bar'],
  [/card|value|indicator|level|status|count/, 'cards'],
]

/** Those that a new widget can be. `fqn` is what ThingsBoard draws. */
export const NEW_KINDS = /** @type {const} */ ([
  { drawing: 'line', text: 'Line chart', fqn: 'system.time_series_chart', type: 'timeseries', sizeX: 12, sizeY: 6 },
  {
    drawing: 'bar',
    text: 'Bar chart',
    fqn: 'system.charts.timeseries_bars_flot',
    type: 'timeseries',
    sizeX: 12,
    sizeY: 6,
  },
  {
    drawing: 'cards',
    text: 'Latest values as cards',
    fqn: 'system.cards.value_card',
    type: 'latest',
    sizeX: 8,
    sizeY: 3,
  },
  {
    drawing: 'latest',
    text: 'Latest values as a table',
    fqn: 'system.cards.entities_table',
    type: 'latest',
    sizeX: 12,
    sizeY: 5,
  },
  { drawing: 'gauge', text: 'Gauge', fqn: 'system.digital_gauges.gauge_justgage', type: 'latest', sizeX: 6, sizeY: 5 },
  {
    drawing: 'attributes',
    text: 'Attributes',
    fqn: 'system.cards.attributes_card',
    type: 'latest',
    sizeX: 8,
    sizeY: 4,
  },
  {
    drawing: 'series',
    text: 'Values over time as a table',
    fqn: 'system.cards.timeseries_table',
    type: 'timeseries',
    sizeX: 12,
    sizeY: 6,
  },
  { drawing: 'alarms', text: 'Alarms', fqn: 'system.alarm_widgets.alarms_table', type: 'alarm', sizeX: 12, sizeY: 6 },
])

/** @param {Record<string, any>} widget as stored @returns {Kind} */
export function kindOf({ typeFullFqn, isSystemType, bundleAlias, typeAlias, type }) {
  const old = [isSystemType === false ? 'tenant' : 'system', bundleAlias, typeAlias].filter(Boolean).join('.')
  const name = typeof typeFullFqn === 'string' && typeFullFqn !== '' ? typeFullFqn : old
  return { name, type: typeof type === 'string' ? type : '', drawing: drawingOf(name.toLowerCase(), type) }
}

/** @param {string} name @param {unknown} type @returns {Drawing} */
function drawingOf(name, type) {
  const fitting = BY_NAME.find(([pattern]) => pattern.test(name))?.[1]
  if (type === 'timeseries') return fitting === 'bar' || fitting === 'series' ? fitting : fallback(name)
  if (type === 'alarm') return 'alarms'
  if (type === 'static') return 'text'
  if (type === 'latest')
    return fitting === undefined || ['bar', 'series', 'alarms'].includes(fitting) ? 'other' : fitting
  return 'other'
}

/** Cards over time show how a value went: a line does so too. @param {string} name @returns {Drawing} */
function fallback(name) {
  return /chart|line|card|flot|point|range|state/.test(name) ? 'line' : 'series'
}
