/** The arguments of a calculated field: which values it reads, each under a name of its own. */
import { choice, field, hide, make } from './dom.js'
import { ARGUMENT_KINDS, SCOPES, sourceText } from './field-shapes.js'

/** @typedef {import('./field-shapes.js').Argument} Argument */

const VARIABLE = '[\\p{L}_$][\\p{L}\\p{N}_$]*'

/** @param {readonly Argument[]} shown @param {boolean} hasWindows whether windows of values may be read */
export function argumentRows(shown, hasWindows) {
  /** @type {{ element: HTMLElement, read: () => Argument, focus: () => void }[]} */
  let rows = []
  const list = make('div')
  const add = make('button', { type: 'button', click: () => added() }, 'Add an argument')
  const legend = make('legend', {}, 'Values that it reads')
  const element = make('fieldset', {}, legend, list, add)
  for (const each of shown) append(each)
  return { element, read: () => rows.map((row) => row.read()) }

  function added() {
    append({
      name: '',
      kind: 'TS_LATEST',
      key: '',
      scope: 'SERVER_SCOPE',
      defaultValue: '',
      limit: '',
      timeWindow: '',
      before: {},
    })
    rows.at(-1)?.focus()
  }

  /** @param {Argument} argument */
  function append(argument) {
    const row = argumentRow(argument, hasWindows, () => {
      rows = rows.filter((each) => each !== row)
      row.element.remove()
      add.focus()
    })
    rows.push(row)
    list.append(row.element)
  }
}

/** @param {Argument} argument @param {boolean} hasWindows @param {() => void} remove */
function argumentRow(argument, hasWindows, remove) {
  const name = text('Called', 'argument', argument.name, {
    required: true,
    pattern: VARIABLE,
    title: 'a letter, then letters and digits',
    placeholder: 't',
  })
  const kinds = ARGUMENT_KINDS.filter(([kind]) => hasWindows || kind !== 'TS_ROLLING')
  const kind = choice('What', 'kind', kinds, argument.kind)
  const key = text('Key', 'argumentKey', argument.key, { required: true, placeholder: 'temperature' })
  const scope = choice('Scope', 'scope', SCOPES, argument.scope)
  const value = text('Where there is none yet', 'defaultValue', argument.defaultValue, { placeholder: 'it waits' })
  const window = text('Seconds', 'timeWindow', argument.timeWindow, { type: 'number', min: '0.001', step: 'any' })
  const limit = text('At most so many', 'mostValues', argument.limit, { type: 'number', min: '1', step: '1' })
  const show = () => {
    scope.row.hidden = kind.input.value !== 'ATTRIBUTE'
    value.row.hidden = kind.input.value === 'TS_ROLLING'
    for (const { row } of [window, limit]) hide(row, kind.input.value !== 'TS_ROLLING')
  }
  kind.input.addEventListener('change', show)
  show()
  const source = sourceText(argument.before)
  const button = make('button', { type: 'button', click: remove }, 'Remove')
  const name2 = () => button.setAttribute('aria-label', `Remove ${name.input.value || 'the argument'}`)
  name.input.addEventListener('input', name2)
  name2()
  const element = make(
    'div',
    { class: 'argument', role: 'group', 'aria-label': 'Argument' },
    ...[name, kind, key, scope, value, window, limit].map(({ row }) => row),
    ...(source === '' ? [] : [make('span', {}, source)]),
    button,
  )
  return {
    element,
    focus: () => name.input.focus(),
    /** @returns {Argument} */
    read: () => ({
      name: name.input.value.trim(),
      kind: kind.input.value,
      key: key.input.value.trim(),
      scope: scope.input.value,
      defaultValue: value.input.value,
      limit: limit.input.value,
      timeWindow: window.input.value,
      before: argument.before,
    }),
  }
}

/** @param {string} label @param {string} name @param {string} value @param {Record<string, string | boolean>} more */
function text(label, name, value, more) {
  const made = field(label, { name, autocomplete: 'off', ...more })
  made.input.value = value
  return made
}
