/** The forms of figures: over related entities, and over intervals of the calendar. */
import { choice, field, make } from '../dom.js'
import { argumentRows } from './argument-rows.js'
import { durationRow } from './duration-row.js'
import { argumentsOf, namedOf, outputOf, storedOutput } from './field-shapes.js'
import { INTERVALS, intervalOf, metricsOf, storedInterval } from './figure-shapes.js'
import { foundNow } from './found-now.js'
import { keyOptions } from './keys.js'
import { relatedTo } from './members.js'
import { metricRows } from './metric-rows.js'
import { member } from './misfit.js'
import { outputRows } from './output-rows.js'
import { readingAnew } from './reading-anew.js'
import { relationRow } from './relation-rows.js'

/** @typedef {Record<string, any>} Json */
/** @typedef {import('./editor.js').Editor} Editor */

/** @param {Json} before @param {import('./editor.js').Surroundings} around @returns {Editor} */
export function relatedFiguresForm(before, { owner }) {
  const relation = relationRow(before['relation'], 'relation')
  const found = foundNow(owner, ['entity', 'entities'], (from) => relatedTo(from, [relation.read()]))
  const whom = make('fieldset', {}, make('legend', {}, 'Over whom'), relation.element, found)
  const keys = keyOptions(owner, relation.read)
  const latest = make('input', { type: 'checkbox', name: 'useLatestTs', checked: before['useLatestTs'] === true })
  const time = make('label', { class: 'tick' }, latest, 'Its time is that of the newest value')
  const figures = figureParts(before, { kinds: ['TS_LATEST', 'ATTRIBUTE'], keys }, (type) => {
    time.hidden = type !== 'TIME_SERIES'
  })
  const { deduplicationIntervalInSec: seconds, ...others } = before
  const every = durationRow('Calculated at most once in', 'every', seconds, {
    ...{ path: 'deduplicationIntervalInSec', required: false },
  })
  const anew = readingAnew(before, 'Look for other related entities even without news')
  return {
    rows: [whom, ...figures.rows, every.element, anew.tick, anew.every, figures.output, time],
    configuration() {
      const interval = every.read()
      return {
        ...{ ...others, relation: relation.read(), ...figures.read(), ...anew.read() },
        ...(interval === undefined ? {} : { deduplicationIntervalInSec: interval }),
        useLatestTs: latest.checked,
      }
    },
    trial: figures.trial,
  }
}

/** @param {Json} before @param {import('./editor.js').Surroundings} around @returns {Editor} */
export function intervalFiguresForm(before, { keys }) {
  const figures = figureParts(before, { kinds: ['TS_LATEST'], keys })
  const interval = intervalRows(before['interval'])
  const { watermark, ...others } = before
  const late = durationRow('Late values count for (nothing: not at all)', 'watermark', watermark?.duration, {
    ...{ path: 'watermark.duration', min: '0', required: false },
  })
  const between = make('input', {
    ...{ type: 'checkbox', name: 'intermediate', checked: before['produceIntermediateResult'] === true },
  })
  const tick = make('label', { class: 'tick' }, between, 'Tell of an interval before it ends, too')
  return {
    rows: [...figures.rows, interval.element, late.element, tick, figures.output],
    configuration() {
      const duration = late.read()
      return {
        ...{ ...others, ...figures.read(), interval: interval.read(), produceIntermediateResult: between.checked },
        ...(duration === undefined ? {} : { watermark: { ...watermark, duration } }),
      }
    },
    trial: figures.trial,
  }
}

/** What both have. @param {Json} before @param {import('./argument-rows.js').Offered} offered @param {(type: string) => void} [onType] of the output */
function figureParts(before, offered, onType) {
  let onNames = () => {}
  const values = argumentRows(argumentsOf(before['arguments']), { ...offered, onNames: () => onNames() })
  const metrics = metricRows(metricsOf(before['metrics']), values.names)
  onNames = metrics.refresh
  const output = outputRows(outputOf(before['output']), false, onType)
  return {
    rows: [values.element, metrics.element],
    output: output.row,
    read: () => ({
      arguments: namedOf(values.read()),
      metrics: metrics.read(),
      output: storedOutput(before['output'], output.read()),
    }),
    trial: () => ({ arguments: values.read(), scripts: metrics.scripts() }),
  }
}

/** @param {Json | undefined} before */
function intervalRows(before) {
  const shown = intervalOf(before)
  const type = choice('An interval is one', 'interval', INTERVALS, shown.type)
  const zones = make(
    'datalist',
    { id: 'zones' },
    ...Intl.supportedValuesOf('timeZone').map((value) => make('option', { value })),
  )
  const zone = field('Time zone', { name: 'zone', required: true, autocomplete: 'off', list: zones.id })
  zone.input.value = shown.zone
  member(zone.input, 'interval.tz')
  const length = durationRow('Length', 'length', shown.durationSec ?? 900, { path: 'interval.durationSec' })
  const offset = durationRow('It begins later by (nothing: not at all)', 'offset', shown.offsetSec, {
    ...{ path: 'interval.offsetSec', min: '0', required: false },
  })
  const show = () => length.hide(type.input.value !== 'CUSTOM')
  type.input.addEventListener('change', show)
  show()
  const legend = make('legend', {}, 'Intervals')
  const first = make('div', { class: 'choice' }, type.row, zone.row)
  return {
    element: make('fieldset', {}, legend, first, length.element, offset.element, zones),
    read: () =>
      storedInterval(before, {
        ...{ type: type.input.value, zone: zone.input.value.trim() },
        ...{ durationSec: length.read(), offsetSec: offset.read() },
      }),
  }
}
