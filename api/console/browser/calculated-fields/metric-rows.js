/** The figures of an aggregation: what is added up of which value, under which key. */
import { choice, field, hide, make, textArea } from '../dom.js'
import { FUNCTIONS, followed, namedMetrics } from './figure-shapes.js'
import { Misfit, member } from './misfit.js'

/** @typedef {import('./figure-shapes.js').Metric} Metric */

const BY_SCRIPT = ''
const COUNTED = /** @type {const} */ ([
  ['ALL', 'all values'],
  ['FILTER', 'those for which a script answers true'],
])

/** @param {readonly Metric[]} shown @param {() => readonly string[]} names of the arguments now */
export function metricRows(shown, names) {
  /** @type {ReturnType<typeof metricRow>[]} */
  let rows = []
  const list = make('div')
  const add = make('button', { type: 'button', click: () => added() }, 'Add a figure')
  const element = make('fieldset', {}, make('legend', {}, 'Figures that it makes'), list, add)
  for (const each of shown) append(each)
  return {
    element,
    refresh: () => rows.forEach((row) => row.offer(names())),
    /** Throws where two have one key. */
    read: () => namedMetrics(all()),
    scripts: () => all().flatMap(scriptsOf),
  }

  function all() {
    /** @type {Set<string>} */
    const seen = new Set()
    for (const row of rows) {
      const { name } = row.read()
      if (seen.has(name)) throw new Misfit(row.name, `Two figures have the key "${name}": give one another.`)
      seen.add(name)
    }
    if (rows.length === 0) throw new Error('Add a figure: without one nothing is calculated.')
    return rows.map((row) => row.read())
  }

  function added() {
    append({
      ...{ name: '', fn: 'AVG', script: '', filter: '', defaultValue: '', before: {} },
      argument: names()[0] ?? '',
    })
    rows.at(-1)?.name.focus()
  }

  /** @param {Metric} metric */
  function append(metric) {
    const row = metricRow(metric, names(), () => {
      rows = rows.filter((each) => each !== row)
      row.element.remove()
      add.focus()
    })
    rows.push(row)
    list.append(row.element)
  }
}

/** @param {Metric} metric @param {readonly string[]} names @param {() => void} remove */
function metricRow(metric, names, remove) {
  const name = field('Key', { name: 'metric', required: true, autocomplete: 'off', placeholder: 'mean' })
  name.input.value = metric.name
  const fn = choice('What', 'function', FUNCTIONS, metric.fn)
  const of = choice('Of', 'metricOf', [], '')
  const script = textArea(
    'Script: what it answers is added up, such as return t * 2;',
    'metricScript',
    metric.script || `return ${names[0] ?? 't'};`,
    { required: true, class: 'short' },
  )
  const counted = choice('Of these', 'counted', COUNTED, metric.filter === '' ? 'ALL' : 'FILTER')
  const filter = textArea(
    'Script: a value counts where it answers true',
    'filter',
    metric.filter || `return ${names[0] ?? 't'} > 0;`,
    { required: true, class: 'short' },
  )
  const value = field('Where there is none', {
    name: 'metricDefault',
    type: 'number',
    step: 'any',
    placeholder: 'nothing',
  })
  value.input.value = metric.defaultValue
  /** @type {readonly string[]} */
  let offered = []
  // An argument that was added just now has no name yet.
  const isByScript = metric.argument === '' && !names.includes('')
  choose(names, isByScript ? undefined : metric.argument, names.indexOf(metric.argument))
  const show = () => {
    hide(script.row, !hasScript())
    hide(filter.row, counted.input.value !== 'FILTER')
  }
  for (const { input } of [of, counted]) input.addEventListener('change', show)
  show()
  const button = make('button', { type: 'button', click: remove }, 'Remove')
  const say = () => button.setAttribute('aria-label', `Remove ${name.input.value || 'the figure'}`)
  name.input.addEventListener('input', say)
  say()
  const parts = [name, fn, of, counted, value].map(({ row }) => row)
  const line = make('div', { class: 'argument' }, ...parts, button)
  const element = make('div', { role: 'group', 'aria-label': 'Figure' }, line, script.row, filter.row)
  return {
    element,
    name: name.input,
    offer,
    /** @returns {Metric} */
    read() {
      const key = name.input.value.trim()
      const isScript = hasScript()
      member(of.input, `metrics.${key}.input.key`)
      member(script.input, `metrics.${key}.input.function`)
      return {
        ...{ name: key, fn: fn.input.value, argument: isScript ? '' : of.input.value, before: metric.before },
        script: isScript ? script.input.value : '',
        filter: counted.input.value === 'FILTER' ? filter.input.value : '',
        defaultValue: value.input.value,
      }
    },
  }

  /** By its place: an argument without a name yet has the value of the script. */
  function hasScript() {
    return of.input.selectedIndex === of.input.options.length - 1
  }

  /** An argument that was given another name is followed; one that is gone stays chosen until another is. @param {readonly string[]} now */
  function offer(now) {
    if (hasScript()) return choose(now, undefined, -1)
    const { selectedIndex: at, value } = of.input
    const place = at < offered.length ? followed(offered, now, at) : now.indexOf(value)
    choose(now, value, place)
  }

  /** @param {readonly string[]} now @param {string | undefined} argument undefined for the script @param {number} place of the argument, -1 where it is gone */
  function choose(now, argument, place) {
    const gone = argument === undefined || place >= 0 ? [] : [argument]
    of.input.replaceChildren(
      ...[...now, ...gone].map((each) => make('option', { value: each }, each)),
      make('option', { value: BY_SCRIPT }, 'what a script makes'),
    )
    of.input.selectedIndex = argument === undefined || place < 0 ? now.length : place
    offered = now
  }
}

/** To be tried. @param {Metric} metric */
function scriptsOf({ name, script, filter }) {
  return [
    ...(filter === '' ? [] : [{ of: `${name}, whether a value counts`, script: filter }]),
    ...(script === '' ? [] : [{ of: `${name}, the value`, script }]),
  ]
}
