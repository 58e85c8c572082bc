/** Fields of a form for JSON: each hands on its value as it is typed, and notes what is wrong with it beside it. */
import { make } from '../dom.js'
import { blank, mistakeIn } from './schema.js'
import { membersOf } from './graph.js'

/** @typedef {import('./schema.js').Field} Field */
/** @typedef {import('./graph.js').Members} Members */
/** @typedef {(value: unknown) => void} Changed */
/** Where a mistake is noted; '' takes it away. @typedef {(path: string, mistake: string) => void} Note */

/**
 * The members of an object.
 * @param {readonly Field[]} fields @param {Members} values @param {(values: Members) => void} changed @param {Note} note @param {string} path
 * @returns {HTMLElement[]}
 */
export function fieldRows(fields, values, changed, note, path) {
  let current = values
  return fields.map((field) => {
    const take = (/** @type {unknown} */ value) => {
      current = { ...current, [field.name]: value }
      changed(current)
    }
    const value = Object.hasOwn(values, field.name) ? values[field.name] : field.fallback
    return fieldRow(field, value, take, note, `${path}/${field.name}`)
  })
}

/** @param {Field} field @param {unknown} value @param {Changed} changed @param {Note} note @param {string} path */
function fieldRow(field, value, changed, note, path) {
  if (!fits(field, value)) return jsonRow(field, value, changed, note, path)
  switch (field.kind) {
    case 'flag':
      return flagRow(field, value === true, changed)
    case 'choice':
      return choiceRow(field, value, changed, note, path)
    case 'choices':
      return choicesRow(field, Array.isArray(value) ? value : [], changed)
    case 'group':
      return groupRow(field, value, changed, note, path)
    case 'rows':
      return rowsRow(field, Array.isArray(value) ? value : [], changed, note, path)
    case 'variant':
      return variantRow(field, membersOf(value), changed, note, path)
    case 'map':
      return mapRow(field, membersOf(value), changed)
    case 'json':
      return jsonRow(field, value, changed, note, path)
    case 'texts':
      return textsRow(field, Array.isArray(value) ? value : [], changed, note, path)
    case 'text':
    case 'long':
    case 'secret':
    case 'number':
      return textRow(field, value, changed, note, path)
  }
}

/** Whether the field can show it: a file may hold anything. @param {Field} field @param {unknown} value */
function fits({ kind, choices }, value) {
  if (value === undefined || value === null) return true
  switch (kind) {
    case 'text':
    case 'long':
    case 'secret':
    case 'choice':
      return typeof value === 'string'
    case 'number':
      return typeof value === 'number'
    case 'flag':
      return typeof value === 'boolean'
    case 'texts':
      return Array.isArray(value) && value.every((each) => typeof each === 'string' && !each.includes('\n'))
    case 'choices':
      return Array.isArray(value) && value.every((each) => choices.includes(each))
    case 'rows':
      return Array.isArray(value) && value.every((each) => typeof each === 'object' && each !== null)
    case 'map':
      return Object.values(membersOf(value)).every((each) => typeof each === 'string') && !Array.isArray(value)
    case 'group':
    case 'variant':
      return typeof value === 'object' && !Array.isArray(value)
    case 'json':
      return true
  }
}

let lastId = 0

/**
 * A label over its input, with help below, and what is wrong.
 * @param {Field} field @param {HTMLInputElement | HTMLTextAreaElement | HTMLSelectElement} input @param {Note} note @param {string} path
 * @param {string} [hint] beside the help of the node
 */
function labelled(field, input, note, path, hint = '') {
  const id = `field-${++lastId}`
  const wrong = make('span', { class: 'wrong', id: `${id}-wrong` })
  const help = [field.help, hint].filter(Boolean).join(' ')
  input.setAttribute('aria-describedby', `${id}-help ${id}-wrong`)
  if (field.isRequired) input.setAttribute('aria-required', 'true')
  input.dataset['path'] = path
  const tell = (/** @type {string} */ mistake) => {
    wrong.textContent = mistake
    input.setAttribute('aria-invalid', String(mistake !== ''))
    note(path, mistake)
  }
  const label = make('label', {}, make('span', { class: 'title' }, field.title, field.isRequired ? ' *' : ''), input)
  const row = make('div', { class: 'field' }, label, make('small', { id: `${id}-help` }, help), wrong)
  return { row, tell }
}

/** @param {Field} field @param {unknown} value @param {Changed} changed @param {Note} note @param {string} path */
function textRow(field, value, changed, note, path) {
  const input = textInput(field)
  input.value = value === undefined || value === null ? '' : String(value)
  const { row, tell } = labelled(field, input, note, path)
  input.addEventListener('input', () => {
    const typed = valueOf(field, input.value)
    const mistake = mistakeIn(field, typed)
    tell(mistake)
    if (mistake === '') changed(typed)
  })
  return row
}

/** @param {Field} field */
function textInput({ kind, name }) {
  if (kind === 'long' || (kind === 'secret' && /key|cert/i.test(name)))
    return make('textarea', {
      rows: kind === 'long' ? '6' : '3',
      spellcheck: 'false',
      class: 'code',
      autocomplete: 'off',
    })
  if (kind === 'secret') return make('input', { type: 'password', autocomplete: 'new-password' })
  return make('input', { autocomplete: 'off', ...(kind === 'number' ? { inputmode: 'decimal' } : {}) })
}

/** What was typed, as JSON has it. @param {Field} field @param {string} text @returns {unknown} */
function valueOf({ kind, mayBeNull, isRequired, fallback }, text) {
  if (kind === 'number') {
    if (text.trim() === '') return isRequired && !mayBeNull ? undefined : mayBeNull ? null : (fallback ?? null)
    return /^\s*[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?\s*$/i.test(text) ? Number(text) : Number.NaN
  }
  return text === '' && mayBeNull && (fallback === null || fallback === undefined) ? null : text
}

/** @param {Field} field @param {boolean} value @param {Changed} changed */
function flagRow(field, value, changed) {
  const id = `field-${++lastId}`
  const input = make('input', { type: 'checkbox', 'aria-describedby': id })
  input.checked = value
  input.addEventListener('change', () => changed(input.checked))
  return make(
    'div',
    { class: 'field' },
    make('label', { class: 'tick' }, input, field.title),
    make('small', { id }, field.help),
  )
}

/** @param {Field} field @param {unknown} value @param {Changed} changed @param {Note} note @param {string} path */
function choiceRow(field, value, changed, note, path) {
  const present = typeof value === 'string' ? value : ''
  const offered = [...(field.isRequired && present !== '' ? [] : ['']), ...field.choices]
  if (!offered.includes(present)) offered.push(present)
  const select = make(
    'select',
    {},
    ...offered.map((text) => make('option', { value: text }, text === '' ? '(none)' : text)),
  )
  select.value = present
  const { row, tell } = labelled(field, select, note, path)
  const check = () => tell(mistakeIn(field, select.value))
  if (!field.choices.includes(present) && present !== '') check()
  select.addEventListener('change', () => {
    check()
    if (mistakeIn(field, select.value) === '')
      changed(select.value !== '' ? select.value : field.mayBeNull ? null : undefined)
  })
  return row
}

/** @param {Field} field @param {readonly unknown[]} value @param {Changed} changed */
function choicesRow(field, value, changed) {
  const boxes = field.choices.map((text) => {
    const box = make('input', { type: 'checkbox', value: text })
    box.checked = value.includes(text)
    return box
  })
  const element = fieldset(field, ...boxes.map((box) => make('label', { class: 'tick' }, box, box.value)))
  element.addEventListener('change', () => changed(boxes.filter(({ checked }) => checked).map((box) => box.value)))
  return element
}

/** @param {Field} field @param {readonly unknown[]} value @param {Changed} changed @param {Note} note @param {string} path */
function textsRow(field, value, changed, note, path) {
  const input = make('textarea', {
    rows: String(Math.min(Math.max(value.length + 1, 2), 8)),
    spellcheck: 'false',
    class: 'code',
  })
  input.value = value.join('\n')
  const { row } = labelled(field, input, note, path, 'One on each line.')
  input.addEventListener('input', () =>
    changed(
      input.value
        .split('\n')
        .map((line) => line.trim())
        .filter(Boolean),
    ),
  )
  return row
}

/** @param {Field} field @param {unknown} value @param {Changed} changed @param {Note} note @param {string} path */
function groupRow(field, value, changed, note, path) {
  const element = fieldset(field)
  const [legend, help] = [...element.children]
  const show = (/** @type {unknown} */ present) => {
    const isThere = present !== null && present !== undefined
    const click = () => {
      const next = isThere ? null : blank(field.fields)
      forget(element, note)
      changed(next)
      show(next)
    }
    const turn = make('button', { type: 'button', click }, isThere ? 'Leave it out' : 'Fill it in')
    const inside = isThere ? fieldRows(field.fields, membersOf(present), changed, note, path) : []
    element.replaceChildren(
      ...[legend, help].filter((part) => part !== undefined),
      ...inside,
      ...(field.mayBeNull || !isThere ? [turn] : []),
    )
  }
  show(value)
  return element
}

/** @param {Field} field @param {readonly unknown[]} value @param {Changed} changed @param {Note} note @param {string} path */
function rowsRow(field, value, changed, note, path) {
  let current = [...value]
  const list = make('div')
  const take = (/** @type {unknown[]} */ next) => {
    current = next
    changed(current)
  }
  const show = () =>
    list.replaceChildren(
      ...current.map((row, index) => {
        const put = (/** @type {Members} */ members) => take(current.map((each, at) => (at === index ? members : each)))
        const remove = make(
          'button',
          {
            type: 'button',
            'aria-label': `Remove entry ${index + 1} of ${field.title}`,
            click: () => change(current.filter((_, at) => at !== index)),
          },
          'Remove',
        )
        return make(
          'fieldset',
          { class: 'row' },
          make('legend', {}, `${index + 1}`),
          ...fieldRows(field.fields, membersOf(row), put, note, `${path}/${index}`),
          remove,
        )
      }),
    )
  const change = (/** @type {unknown[]} */ next) => {
    // What is said of rows goes with them: they are counted anew.
    forget(list, note)
    take(next)
    show()
    add.focus()
  }
  const add = make('button', { type: 'button', click: () => change([...current, blank(field.fields)]) }, 'Add one')
  show()
  return fieldset(field, list, add)
}

/** @param {Field} field @param {Members} value @param {Changed} changed @param {Note} note @param {string} path */
function variantRow(field, value, changed, note, path) {
  const inside = make('div')
  const choice = make(
    'select',
    { 'aria-label': field.title },
    ...field.variants.map((variant) => make('option', {}, variant.value)),
  )
  let current = value
  const take = (/** @type {Members} */ members) => changed((current = members))
  const show = () => {
    const fields = field.variants.find((variant) => variant.value === current[field.tag])?.fields ?? []
    inside.replaceChildren(...fieldRows(fields, current, take, note, path))
  }
  choice.value = String(current[field.tag] ?? '')
  choice.addEventListener('change', () => {
    forget(inside, note)
    const fields = field.variants.find((variant) => variant.value === choice.value)?.fields ?? []
    take({ [field.tag]: choice.value, ...blank(fields) })
    show()
  })
  show()
  return fieldset(field, choice, inside)
}

/** @param {Field} field @param {Members} value @param {Changed} changed */
function mapRow(field, value, changed) {
  const list = make('div')
  const rows = () => [...list.children].map((row) => [...row.querySelectorAll('input')].map((input) => input.value))
  const take = () =>
    changed(Object.fromEntries(rows().flatMap(([name = '', text = '']) => (name === '' ? [] : [[name, text]]))))
  const addRow = (/** @type {string} */ name, /** @type {string} */ text) => {
    const inputs = [
      make('input', { 'aria-label': `${field.title}: name`, autocomplete: 'off' }),
      make('input', { 'aria-label': `${field.title}: value`, autocomplete: 'off' }),
    ]
    for (const [at, input] of inputs.entries()) {
      input.value = [name, text][at] ?? ''
      input.addEventListener('input', take)
    }
    const remove = () => {
      row.remove()
      take()
      add.focus()
    }
    const row = make(
      'div',
      { class: 'pair' },
      ...inputs,
      make(
        'button',
        { type: 'button', 'aria-label': `Remove ${name || 'this entry'} of ${field.title}`, click: remove },
        'Remove',
      ),
    )
    list.append(row)
    return inputs
  }
  const add = make('button', { type: 'button', click: () => addRow('', '')[0]?.focus() }, 'Add one')
  for (const [name, text] of Object.entries(value)) addRow(name, String(text))
  return fieldset(field, list, add)
}

/** @param {Field} field @param {unknown} value @param {Changed} changed @param {Note} note @param {string} path */
function jsonRow(field, value, changed, note, path) {
  const input = make('textarea', { rows: '5', spellcheck: 'false', class: 'code' })
  input.value = value === undefined ? '' : JSON.stringify(value, null, 2)
  const { row, tell } = labelled(field, input, note, path, 'As JSON.')
  input.addEventListener('input', () => {
    const read = readJson(input.value)
    tell(read.mistake)
    if (read.mistake === '') changed(read.value)
  })
  return row
}

/** @param {string} text @returns {{ value: unknown, mistake: string }} */
export function readJson(text) {
  if (text.trim() === '') return { value: null, mistake: '' }
  try {
    return { value: JSON.parse(text), mistake: '' }
  } catch (error) {
    return { value: undefined, mistake: `This is not JSON: ${error instanceof Error ? error.message : ''}` }
  }
}

/** @param {Field} field @param {...Node} children */
function fieldset(field, ...children) {
  return make('fieldset', {}, make('legend', {}, field.title), make('small', {}, field.help), ...children)
}

/** What is taken away has nothing wrong with it any more. @param {Element} element @param {Note} note */
function forget(element, note) {
  for (const input of element.querySelectorAll('[data-path]')) note(input.getAttribute('data-path') ?? '', '')
}
