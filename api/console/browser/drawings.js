/** What a widget shows of its values, by its drawing. Each answers nodes and keeps nothing. */
import { chart, COLOURS } from './chart.js'
import { bareTable, make, shortened, timeText } from './dom.js'
import { svg } from './svg.js'

/** @typedef {import('./source.js').Line} Line */
/** @typedef {import('./source.js').Told} Told */
/** @typedef {{ width: number, height: number, settings: Record<string, any>, linkOf?: (line: Line) => string | undefined }} Room */
/** @typedef {(told: Told, room: Room) => Node[]} Draw */

const MAX_ROWS = 100
const LINE_OF_LEGEND = 22
const WIDTH_OF_LETTER = 7
const WIDTH_OF_MARK = 36
/** Of a number that says nothing of its digits. */
const DIGITS = 5

/** @type {Record<Exclude<import('./widget-kinds.js').Drawing, 'alarms' | 'text'>, Draw>} */
export const DRAWINGS = {
  line: (told, room) => overTime(told, room, false),
  bar: (told, room) => overTime(told, room, true),
  cards,
  latest,
  series,
  gauge,
  attributes,
  other: (told, room) => (told.lines.some(({ points }) => points.length > 0) ? series(told, room) : latest(told, room)),
}

/** @param {Told} told @param {Room} room @param {boolean} isBars */
function overTime({ lines, startTs, endTs }, { width, height }, isBars) {
  const several = new Set(lines.map(({ entityId }) => entityId)).size > 1
  const all = lines.map(({ key, entityName, points }, index) => ({
    name: several ? `${entityName}: ${key.label}` : key.label,
    units: key.units,
    color: colourOf(key.color, index, several),
    points,
  }))
  if (all.every(({ points }) => points.length === 0)) return [make('p', {}, 'No numbers in this time.')]
  const texts = lines.map(({ key, points }, index) => {
    const last = points.at(-1)?.[1]
    return `${all[index]?.name ?? ''} ${last === undefined ? '' : shownText(String(last), key)}`
  })
  const legend = make(
    'ul',
    { class: 'legend', 'aria-hidden': 'true' },
    ...texts.map((text, index) => make('li', {}, make('span', { style: `background:${all[index]?.color}` }), text)),
  )
  const legendWidth = texts.reduce((sum, text) => sum + text.length * WIDTH_OF_LETTER + WIDTH_OF_MARK, 0)
  const legendHeight = (Math.floor(legendWidth / width) + 1) * LINE_OF_LEGEND + 4
  const look = { startTs, endTs, width, height: Math.max(height - legendHeight, 120), isBars }
  return [chart(all, look), legend]
}

/** The colours of keys do not tell entities apart. @param {string} own @param {number} index @param {boolean} several */
function colourOf(own, index, several) {
  const ours = COLOURS[index % COLOURS.length] ?? '#1f77b4'
  return !several && /^(#[\da-f]{3,8}|rgba?\([\d\s.,%]+\)|[a-z]+)$/i.test(own) ? own : ours
}

/** @type {Draw} */
function cards({ lines }) {
  const several = new Set(lines.map(({ entityId }) => entityId)).size > 1
  return [
    make(
      'dl',
      { class: 'cards' },
      ...lines.map(({ key, entityName, latest: { ts, value } }) =>
        make(
          'div',
          {},
          make('dt', {}, several ? `${entityName}: ${key.label}` : key.label),
          make('dd', {}, shownText(value, key), make('small', {}, ts === 0 ? 'no value yet' : timeText(ts))),
        ),
      ),
    ),
  ]
}

/** @type {Draw} */
function latest({ lines }, { linkOf }) {
  /** @type {Map<string, Line[]>} */
  const byEntity = new Map()
  for (const line of lines) byEntity.set(line.entityId, [...(byEntity.get(line.entityId) ?? []), line])
  const labels = [...byEntity.values()][0]?.map(({ key }) => key.label) ?? []
  const rows = [...byEntity.values()].map((own) => {
    const [first] = own
    const href = first && linkOf?.(first)
    const name = first?.entityName ?? ''
    return [
      href === undefined ? name : make('a', { href }, name),
      ...own.map(({ key, latest: { value } }) => shownText(value, key)),
    ]
  })
  return [bareTable(['Name', ...labels], rows)]
}

/** @type {Draw} */
function attributes({ lines }) {
  const several = new Set(lines.map(({ entityId }) => entityId)).size > 1
  const rows = lines.map(({ key, entityName, latest: { ts, value } }) => [
    several ? `${entityName}: ${key.label}` : key.label,
    shownText(value, key),
    ts === 0 ? '' : timeText(ts),
  ])
  return [bareTable(['Key', 'Value', 'Changed'], rows)]
}

/** The newest first. @type {Draw} */
function series({ lines }) {
  const several = new Set(lines.map(({ entityId }) => entityId)).size > 1
  /** @type {Map<number, string[]>} */
  const byTime = new Map()
  lines.forEach(({ points, key }, index) => {
    for (const [ts, value] of points.slice(-MAX_ROWS)) {
      const row = byTime.get(ts) ?? lines.map(() => '')
      row[index] = shownText(String(value), key)
      byTime.set(ts, row)
    }
  })
  const rows = [...byTime].sort(([a], [b]) => b - a).slice(0, MAX_ROWS)
  if (rows.length === 0) return [make('p', {}, 'No numbers in this time.')]
  const heads = lines.map(({ key, entityName }) => (several ? `${entityName}: ${key.label}` : key.label))
  return [
    bareTable(
      ['Time', ...heads],
      rows.map(([ts, cells]) => [timeText(ts), ...cells]),
    ),
  ]
}

/** @type {Draw} */
function gauge({ lines }, { settings, height }) {
  const low = numberOr(settings['minValue'], 0)
  const high = Math.max(numberOr(settings['maxValue'], 100), low + 1e-9)
  const several = new Set(lines.map(({ entityId }) => entityId)).size > 1
  const each = lines.map(({ key, entityName, latest: { value } }) => {
    const number = value === '' ? NaN : Number(value)
    const name = several ? `${entityName}: ${key.label}` : key.label
    const text = shownText(value, key)
    const part = Number.isFinite(number) ? Math.min(Math.max((number - low) / (high - low), 0), 1) : 0
    const drawing = svg('svg', {
      viewBox: '0 0 200 120',
      class: 'gauge',
      style: `max-height:${Math.max(height - 40, 90)}px`,
    })
    drawing.append(
      svg('path', { d: arc(1), class: 'dial' }),
      ...(part > 0 ? [svg('path', { d: arc(part), class: 'pointer' })] : []),
      svg('text', { x: 100, y: 92, 'text-anchor': 'middle', class: 'reading' }, text),
      svg('text', { x: 20, y: 116, 'text-anchor': 'middle' }, String(low)),
      svg('text', { x: 180, y: 116, 'text-anchor': 'middle' }, String(high)),
    )
    const meter = {
      role: 'meter',
      'aria-label': name,
      'aria-valuemin': String(low),
      'aria-valuemax': String(high),
      'aria-valuenow': String(Number.isFinite(number) ? number : low),
      'aria-valuetext': text,
    }
    return make('div', meter, drawing, make('p', { 'aria-hidden': 'true' }, name))
  })
  return [make('div', { class: 'gauges' }, ...each)]
}

/** A half circle as far as `part` of it. @param {number} part */
function arc(part) {
  const angle = Math.PI * (1 - part)
  const [x, y] = [100 + 80 * Math.cos(angle), 100 - 80 * Math.sin(angle)]
  return `M 20 100 A 80 80 0 0 1 ${x.toFixed(2)} ${y.toFixed(2)}`
}

/** @param {string} value @param {import('./source.js').Key} key */
export function shownText(value, { decimals, units }) {
  if (value === '') return '–'
  const number = Number(value)
  const isNumber = value.trim() !== '' && Number.isFinite(number)
  const digits = decimals === undefined ? undefined : Math.min(Math.max(decimals, 0), 20)
  const text = !isNumber ? shortened(value) : digits === undefined ? rounded(value, number) : number.toFixed(digits)
  return units === '' ? text : `${text} ${units}`
}

/** Short numbers stay as they came: `2.50` and long integers too. @param {string} value @param {number} number */
function rounded(value, number) {
  return value.length > DIGITS + 2 && !Number.isInteger(number) ? String(Number(number.toPrecision(DIGITS))) : value
}

/** @param {unknown} value @param {number} otherwise */
function numberOr(value, otherwise) {
  const number = typeof value === 'number' ? value : typeof value === 'string' && value !== '' ? Number(value) : NaN
  return Number.isFinite(number) ? number : otherwise
}
