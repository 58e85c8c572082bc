/** When a rule holds: comparisons or a script, at once or for some time, always or by a schedule. */
import { DAYS, KINDS, OPERATIONS, UNITS, VALUE_TYPES, newComparison } from './alarm-shapes.js'
import { choice, field, hide, make, textArea } from './dom.js'

/** @typedef {import('./alarm-shapes.js').Condition} Condition */
/** @typedef {import('./alarm-shapes.js').Comparison} Comparison */

const LOGIC = /** @type {const} */ ([
  ['AND', 'all of these hold'],
  ['OR', 'one of these holds'],
  ['SCRIPT', 'a script answers true'],
])
const TIMES = /** @type {const} */ ([
  ['ALWAYS', 'always'],
  ['SCHEDULE', 'on some days, between two times'],
])
const YES_NO = /** @type {const} */ ([
  ['true', 'true'],
  ['false', 'false'],
])
const WORKDAYS = [1, 2, 3, 4, 5]

/** @param {Condition} condition */
export function conditionRows(condition) {
  const logic = choice('Where', 'logic', LOGIC, condition.script === '' ? condition.logic : 'SCRIPT')
  /** @type {ReturnType<typeof comparisonRow>[]} */
  let rows = []
  const list = make('div')
  const add = make(
    'button',
    { type: 'button', click: () => append(newComparison(rows[0]?.read().argument ?? '')).focus() },
    'Add a comparison',
  )
  for (const each of condition.comparisons) append(each)
  const compared = make('fieldset', { class: 'plain', 'aria-label': 'Comparisons' }, list, add)
  const script = textArea('Script in TBEL', 'script', condition.script || 'return value > 50;', { class: 'short' })
  const kind = choice('It counts', 'countKind', KINDS, condition.kind)
  const amount = number('How long', 'amount', condition.amount)
  const times = number('How often', 'times', condition.amount)
  const unit = choice('Unit', 'unit', UNITS, condition.unit)
  const when = choice('It looks', 'when', TIMES, condition.schedule === undefined ? 'ALWAYS' : 'SCHEDULE')
  const schedule = scheduleRows(condition.schedule)
  const show = () => {
    const isScript = logic.input.value === 'SCRIPT'
    hide(compared, isScript)
    hide(script.row, !isScript)
    hide(amount.row, kind.input.value !== 'DURATION')
    hide(unit.row, kind.input.value !== 'DURATION')
    hide(times.row, kind.input.value !== 'REPEATING')
    hide(schedule.element, when.input.value !== 'SCHEDULE')
  }
  for (const { input } of [logic, kind, when]) input.addEventListener('change', show)
  show()
  const element = make(
    'div',
    {},
    logic.row,
    compared,
    script.row,
    make('div', { class: 'choice' }, kind.row, amount.row, unit.row, times.row),
    when.row,
    schedule.element,
  )
  return {
    element,
    focus: () => logic.input.focus(),
    /** @returns {Condition} */
    read: () => ({
      logic: logic.input.value === 'OR' ? 'OR' : 'AND',
      comparisons: rows.map((row) => row.read()),
      script: logic.input.value === 'SCRIPT' ? script.input.value : '',
      kind: kind.input.value,
      amount: (kind.input.value === 'REPEATING' ? times : amount).input.value,
      unit: unit.input.value,
      schedule: when.input.value === 'SCHEDULE' ? schedule.read() : undefined,
    }),
  }

  /** @param {Comparison} comparison */
  function append(comparison) {
    const row = comparisonRow(comparison, () => {
      if (rows.length === 1) return
      rows = rows.filter((each) => each !== row)
      row.element.remove()
      add.focus()
    })
    rows.push(row)
    list.append(row.element)
    return row
  }
}

/** @param {Comparison} comparison @param {() => void} remove */
function comparisonRow(comparison, remove) {
  const argument = field('Value', {
    name: 'compared',
    required: true,
    autocomplete: 'off',
    placeholder: 'as called above',
  })
  argument.input.value = comparison.argument
  const type = choice('It is a', 'valueType', VALUE_TYPES, comparison.valueType)
  const operation = choice('is', 'operation', OPERATIONS[comparison.valueType] ?? [], comparison.operation)
  const from = choice(
    'compared with',
    'against',
    [
      ['', 'a fixed value'],
      ['other', 'another value'],
    ],
    comparison.other === '' ? '' : 'other',
  )
  const value = field('Limit', { name: 'limit', required: true, autocomplete: 'off' })
  value.input.value = comparison.value
  const yes = choice('Limit', 'yes', YES_NO, comparison.value === 'false' ? 'false' : 'true')
  const other = field('Which', { name: 'other', required: true, autocomplete: 'off', placeholder: 'as called above' })
  other.input.value = comparison.other
  const unit = choice('Unit', 'absence', UNITS, comparison.unit)
  const isBoolean = () => type.input.value === 'BOOLEAN' && operation.input.value !== 'NO_DATA'
  const show = () => {
    const isNumber = type.input.value === 'NUMERIC' || operation.input.value === 'NO_DATA'
    value.input.type = isNumber ? 'number' : 'text'
    value.input.step = 'any'
    const isOther = from.input.value === 'other'
    hide(value.row, isOther || isBoolean())
    hide(yes.row, isOther || !isBoolean())
    hide(other.row, !isOther)
    hide(unit.row, operation.input.value !== 'NO_DATA')
  }
  type.input.addEventListener('change', () => {
    const offered = OPERATIONS[type.input.value] ?? []
    const chosen = operation.input.value
    operation.input.replaceChildren(...offered.map(([each, text]) => make('option', { value: each }, text)))
    if (offered.some(([each]) => each === chosen)) operation.input.value = chosen
    show()
  })
  for (const { input } of [operation, from]) input.addEventListener('change', show)
  show()
  const button = make('button', { type: 'button', click: remove }, 'Remove')
  const parts = [argument, type, operation, from, value, yes, other, unit].map(({ row }) => row)
  return {
    element: make('div', { class: 'condition', role: 'group', 'aria-label': 'Comparison' }, ...parts, button),
    focus: () => argument.input.focus(),
    /** @returns {Comparison} */
    read: () => ({
      argument: argument.input.value.trim(),
      valueType: type.input.value,
      operation: operation.input.value,
      value: isBoolean() ? yes.input.value : value.input.value,
      other: from.input.value === 'other' ? other.input.value.trim() : '',
      unit: unit.input.value,
    }),
  }
}

/** @param {import('./alarm-shapes.js').Schedule | undefined} schedule */
function scheduleRows(schedule) {
  const days = DAYS.map((text, index) => {
    const isOn = (schedule?.days ?? WORKDAYS).includes(index + 1)
    const box = make('input', { type: 'checkbox', name: `day${index + 1}`, checked: isOn })
    return { box, day: index + 1, row: make('label', { class: 'tick' }, box, text) }
  })
  const from = field('From', { name: 'from', type: 'time', required: true })
  from.input.value = schedule?.from ?? '08:00'
  const until = field('Until', { name: 'until', type: 'time', required: true })
  until.input.value = schedule?.until ?? '18:00'
  const zone = field('Time zone', { name: 'timezone', required: true, autocomplete: 'off' })
  zone.input.value = schedule?.timezone ?? Intl.DateTimeFormat().resolvedOptions().timeZone
  return {
    element: make(
      'fieldset',
      { class: 'plain', 'aria-label': 'Schedule' },
      make('div', { class: 'choice' }, ...days.map(({ row }) => row)),
      make('div', { class: 'choice' }, from.row, until.row, zone.row),
    ),
    read: () => ({
      timezone: zone.input.value.trim(),
      days: days.filter(({ box }) => box.checked).map(({ day }) => day),
      from: from.input.value,
      until: until.input.value,
    }),
  }
}

/** @param {string} label @param {string} name @param {string} value */
function number(label, name, value) {
  const made = field(label, { name, type: 'number', min: '1', step: '1', required: true })
  made.input.value = value
  return made
}
