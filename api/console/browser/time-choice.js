/** Which time a dashboard shows: as it is stored, or as its reader chooses. */
import { make } from './dom.js'
import { AGGREGATIONS, SPANS, spanOf, storedWindow } from './time-window.js'

/** @typedef {Record<string, any>} Json */

const FIXED = 'From … to …'
const STORED = 'As stored'
const WORDS = /** @type {const} */ ({
  NONE: 'None',
  AVG: 'Average',
  MIN: 'Minimum',
  MAX: 'Maximum',
  SUM: 'Sum',
  COUNT: 'Count',
})

/**
 * @param {Json | undefined} stored @param {(window: Json | undefined) => void} onChange
 * @returns {{ element: HTMLElement, window: () => Json | undefined }}
 */
export function timeChoice(stored, onChange) {
  let window = stored
  const options = [STORED, ...Object.keys(SPANS), FIXED].map((text) => make('option', {}, text))
  const span = make('select', { name: 'window' }, ...options)
  const mode = make(
    'select',
    { name: 'mode' },
    make('option', { value: 'live' }, 'Live'),
    make('option', { value: 'still' }, 'History'),
  )
  const agg = make(
    'select',
    { name: 'agg' },
    ...AGGREGATIONS.map((name) => make('option', { value: name }, WORDS[name])),
  )
  const from = make('input', { type: 'datetime-local', name: 'from', step: '1' })
  const to = make('input', { type: 'datetime-local', name: 'to', step: '1' })
  const fixed = make(
    'span',
    { class: 'choice', hidden: true },
    make('label', {}, 'From', from),
    make('label', {}, 'To', to),
  )
  const present = spanOf(stored, Date.now())
  mode.value = present.isLive ? 'live' : 'still'
  agg.value = present.agg

  const change = () => {
    const isFixed = span.value === FIXED
    fixed.hidden = !isFixed
    mode.disabled = isFixed
    if (isFixed && from.value === '') {
      const { startTs, endTs } = spanOf(window, Date.now())
      from.value = localText(startTs)
      to.value = localText(endTs)
    }
    const [startTs, endTs] = [new Date(from.value).getTime(), new Date(to.value).getTime()]
    from.setCustomValidity(isFixed && !(endTs > startTs) ? 'It must be earlier than "To".' : '')
    if (isFixed && !from.reportValidity()) return
    const choice = { isLive: mode.value === 'live', agg: agg.value }
    const ms = Object.entries(SPANS).find(([name]) => name === span.value)?.[1]
    const before = spanOf(stored, Date.now())
    window = isFixed
      ? storedWindow({ ...choice, fixed: [startTs, endTs] })
      : storedWindow({ ...choice, ms: ms ?? before.endTs - before.startTs })
    const isAsStored = span.value === STORED && choice.isLive === before.isLive && choice.agg === before.agg
    if (isAsStored) window = stored
    onChange(window)
  }
  for (const each of [span, mode, agg, from, to]) each.addEventListener('change', change)
  const element = make(
    'div',
    { class: 'choice', role: 'group', 'aria-label': 'Time' },
    make('label', {}, 'Show', span),
    make('label', {}, 'Mode', mode),
    make('label', {}, 'Aggregation', agg),
    fixed,
  )
  return { element, window: () => window }
}

/** As `datetime-local` takes it, in this page's time zone. @param {number} ts */
function localText(ts) {
  const time = new Date(ts)
  return new Date(ts - time.getTimezoneOffset() * 60_000).toISOString().slice(0, 19)
}
