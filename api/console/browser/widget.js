/** One widget on the page: its frame, what feeds it, and that it is drawn again as values come. */
import { filterOf, keyFiltersOf } from './aliases.js'
import { alarmsWidget } from './alarms-widget.js'
import { objectOf, textOf } from './board.js'
import { DRAWINGS } from './drawings.js'
import { make, messageOf, oncePerFrame, tell } from './dom.js'
import { keysOf, source } from './source.js'
import { redrawn, spanOfWidget } from './widget-parts.js'

/** @typedef {Record<string, any>} Json */
/** @typedef {import('./widget-parts.js').Surroundings} Surroundings */
/** @typedef {import('./widget-parts.js').Parts} Parts */
/** @typedef {{ element: HTMLElement, tools: HTMLElement, close: () => void }} WidgetView */

const TICK_MS = 5_000
const OVER_TIME = ['line', 'bar', 'series']

/** @param {import('./board.js').Placed} placed @param {Surroundings} around @returns {WidgetView} */
export function widgetView(placed, around) {
  const { title, kind, widget } = placed
  const config = objectOf(widget['config'])
  const tools = make('span', { class: 'tools' })
  const heading = make('h2', {}, title)
  const body = make('div', { class: 'body', tabindex: '0', role: 'group', 'aria-label': `${title}: values` })
  const note = make('p', { role: 'status' })
  const element = make(
    'section',
    { class: 'widget', 'aria-label': title },
    make('header', {}, heading, tools),
    body,
    note,
  )
  const parts = { placed, around, config, body, note, tools }
  const close = kind.drawing === 'alarms' ? alarmsWidget(parts) : kind.drawing === 'text' ? text(parts) : values(parts)
  return { element, tools, close }
}

/** @param {Parts} parts @returns {() => void} */
function values({ placed: { kind, title }, around, config, body, note, tools }) {
  const isOverTime = OVER_TIME.includes(kind.drawing) || kind.type === 'timeseries'
  const sourced = (Array.isArray(config['datasources']) ? config['datasources'] : []).map(objectOf)
  /** @type {string[]} */
  const said = kind.drawing === 'other' ? [`"${kind.name}" is not drawn on this page: these are its values.`] : []
  let refusal = ''
  let isTable = false
  let size = { width: 0, height: 0 }

  const draw = () => {
    if (size.width === 0) return
    const all = sources.map((each) => each.told())
    const [first] = all
    const told = {
      lines: all.flatMap(({ lines }) => lines),
      shown: sum(all.map(({ shown }) => shown)),
      total: sum(all.map(({ total }) => total)),
      startTs: first?.startTs ?? 0,
      endTs: first?.endTs ?? 0,
    }
    const drawing = isTable ? 'series' : kind.drawing
    if (drawing === 'alarms' || drawing === 'text') return
    const room = { ...size, settings: objectOf(config['settings']), linkOf: linkTo(config) }
    if (told.lines.length > 0) redrawn(body, DRAWINGS[drawing](told, room))
    else if (isAnswered)
      redrawn(body, [make('p', {}, sources.length === 0 ? 'There is nothing to show.' : 'No entity fits.')])
    const more = told.total > told.shown ? [`The first ${told.shown} of ${told.total.toLocaleString()}.`] : []
    const words = [...said, ...more, refusal].filter((line) => line !== '').join(' ')
    if (note.textContent !== words) tell(note, words, refusal !== '')
  }
  let isAnswered = false
  const drawSoon = oncePerFrame(draw)
  const sources = sourced.flatMap((datasource) => {
    const found = filterOf(datasource, around.configuration, around.chosen)
    if ('reason' in found) {
      said.push(found.reason)
      return []
    }
    return source({
      live: around.live,
      filter: found.filter,
      keyFilters: keyFiltersOf(datasource, around.configuration),
      keys: keysOf(datasource['dataKeys']),
      span: isOverTime ? () => spanOfWidget(config, around) : undefined,
      onChange() {
        isAnswered = true
        refusal = ''
        drawSoon()
      },
      onRefused(error) {
        refusal = messageOf(error)
        drawSoon()
      },
    })
  })
  if (sources.length === 0) {
    isAnswered = true
    if (said.length === 0) said.push(`"${kind.name || title}" has no data.`)
  }
  if (kind.drawing === 'line' || kind.drawing === 'bar') tools.append(tableChoice())

  function tableChoice() {
    const button = make(
      'button',
      { type: 'button', 'aria-pressed': 'false', 'aria-label': `As a table: ${title}` },
      'Table',
    )
    button.addEventListener('click', () => {
      isTable = !isTable
      button.setAttribute('aria-pressed', String(isTable))
      draw()
    })
    return button
  }

  const watch = new ResizeObserver(() => {
    const { clientWidth: width, clientHeight: height } = body
    // A scrollbar that comes with the drawing is no reason for another.
    if (Math.abs(width - size.width) < 20 && Math.abs(height - size.height) < 20) return
    size = { width, height }
    drawSoon()
  })
  watch.observe(body)
  const timer = isOverTime ? setInterval(() => document.hidden || drawSoon(), TICK_MS) : undefined
  return () => {
    watch.disconnect()
    clearInterval(timer)
    for (const each of sources) each.close()
  }
}

/** HTML and Markdown of others are shown as text: what they would load or run is not. @param {Parts} parts @returns {() => void} */
function text({ placed: { kind, title }, config, body }) {
  const { cardHtml, markdownTextPattern } = objectOf(config['settings'])
  const own = textOf(markdownTextPattern) || plain(textOf(cardHtml))
  body.replaceChildren(
    make('p', { class: 'plain' }, own.trim() || `"${kind.name || title}" has no text and is not drawn on this page.`),
  )
  return () => undefined
}

/** @param {string} html */
function plain(html) {
  return new DOMParser().parseFromString(html, 'text/html').body.textContent ?? ''
}

/** Another state of the dashboard, where a click on an entity leads there. @param {Json} config */
function linkTo(config) {
  const actions = Object.values(objectOf(config['actions'])).flat().map(objectOf)
  const opening = actions.find(({ type }) => type === 'openDashboardState' || type === 'updateDashboardState')
  const target = textOf(opening?.['targetDashboardStateId'])
  if (target === '') return () => undefined
  return (/** @type {import('./source.js').Line} */ { entityType, entityId }) => {
    const query = new URLSearchParams(location.search)
    query.set('state', target)
    query.set('entity', `${entityType}:${entityId}`)
    return `${location.pathname}?${query}`
  }
}

/** @param {readonly number[]} numbers */
function sum(numbers) {
  return numbers.reduce((all, each) => all + each, 0)
}
