/** The arguments of a calculated field: which values it reads, each under a name of its own. */
import { choice, field, hide, make } from '../dom.js'
import { ARGUMENT_KINDS, SCOPES, sourceText } from './field-shapes.js'
import { Misfit, member } from './misfit.js'

/** @typedef {import('./field-shapes.js').Argument} Argument */

const VARIABLE = '[\\p{L}_$][\\p{L}\\p{N}_$]*'

/** `kinds` that may be read, `keys` that are offered. @typedef {{ kinds: readonly string[], keys: import('./keys.js').KeyOptions }} Offered */

/** @param {readonly Argument[]} shown @param {Offered & { onNames?: () => void }} offered `onNames`: one was added, removed or is called otherwise */
export function argumentRows(shown, { onNames = () => undefined, ...offered }) {
  /** @type {ReturnType<typeof argumentRow>[]} */
  let rows = []
  const list = make('div')
  const add = make('button', { type: 'button', click: () => added() }, 'Add an argument')
  const legend = make('legend', {}, 'Values that it reads')
  const element = make(
    'fieldset',
    { focusin: () => void offered.keys.offer() },
    legend,
    list,
    add,
    offered.keys.element,
  )
  for (const each of shown) append(each)
  return { element, read, names: () => rows.map((row) => row.name.value.trim()) }

  /** Throws where two have one name. */
  function read() {
    const all = rows.map((row) => row.read())
    const second = all.findIndex(({ name }, index) => all.findIndex((each) => each.name === name) < index)
    const row = rows[second]
    if (row === undefined) return all
    throw new Misfit(row.name, `Two arguments are called "${row.name.value}": give one another name.`)
  }

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
    rows.at(-1)?.name.focus()
  }

  /** @param {Argument} argument */
  function append(argument) {
    const row = argumentRow(argument, offered, () => {
      rows = rows.filter((each) => each !== row)
      row.element.remove()
      add.focus()
      onNames()
    })
    row.name.addEventListener('input', onNames)
    rows.push(row)
    list.append(row.element)
    onNames()
  }
}

/** @param {Argument} argument @param {Offered} offered @param {() => void} remove */
function argumentRow(argument, offered, remove) {
  const name = text('Called', 'argument', argument.name, {
    required: true,
    pattern: VARIABLE,
    title: 'a letter, then letters and digits',
    placeholder: 't',
  })
  const kinds = ARGUMENT_KINDS.filter(([each]) => offered.kinds.includes(each))
  const kind = choice('What', 'kind', kinds, argument.kind)
  const list = offered.keys.element.id
  const key = text('Key', 'argumentKey', argument.key, { required: true, placeholder: 'temperature', list })
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
    name: name.input,
    /** @returns {Argument} */
    read() {
      const path = `arguments.${name.input.value.trim()}`
      member(key.input, `${path}.refEntityKey.key`)
      member(limit.input, `${path}.limit`)
      return {
        name: name.input.value.trim(),
        kind: kind.input.value,
        key: key.input.value.trim(),
        scope: scope.input.value,
        defaultValue: value.input.value,
        limit: limit.input.value,
        timeWindow: window.input.value,
        before: argument.before,
      }
    },
  }
}

/** @param {string} label @param {string} name @param {string} value @param {Record<string, string | boolean>} more */
function text(label, name, value, more) {
  const made = field(label, { name, autocomplete: 'off', ...more })
  made.input.value = value
  return made
}
