/** The form of a formula or a script. */
import { argumentRows } from './argument-rows.js'
import { choice, field, make, textArea } from './dom.js'
import { SCOPES, configurationOf, shownOf } from './field-shapes.js'

/** @typedef {Record<string, any>} Json */

const OUTPUTS = /** @type {readonly (readonly [string, string])[]} */ ([
  ['TIME_SERIES', 'time series'],
  ['ATTRIBUTES', 'attributes'],
])

/** Undefined for a type that has no form. @param {Json} before @returns {import('./calculated-field.js').Editor | undefined} */
export function fieldForm(before) {
  const shown = shownOf(before)
  if (shown === undefined) return undefined
  const isSimple = before['type'] === 'SIMPLE'
  const values = argumentRows(shown.arguments, !isSimple)
  const expression = textArea(
    isSimple
      ? 'Formula, such as (t - 32) / 1.8'
      : 'Script: it answers an object of values, such as return {"mean": w.mean()};',
    'expression',
    shown.expression,
    { required: true, class: 'short' },
  )
  const type = choice('The result is kept as', 'outputType', OUTPUTS, shown.output.type)
  const name = field('Its key', { name: 'outputName', autocomplete: 'off', required: isSimple })
  name.input.value = shown.output.name
  name.row.hidden = !isSimple
  const scope = choice('Scope of the attributes', 'outputScope', SCOPES, shown.output.scope)
  const decimals = field('Decimals', { name: 'decimals', type: 'number', step: '1', placeholder: 'all' })
  decimals.input.value = shown.output.decimals
  const latest = make('input', { type: 'checkbox', name: 'useLatestTs', checked: shown.useLatestTs })
  const time = make('label', { class: 'tick' }, latest, 'Its time is that of the newest argument')
  const show = () => {
    scope.row.hidden = type.input.value !== 'ATTRIBUTES'
    time.hidden = !isSimple || type.input.value !== 'TIME_SERIES'
  }
  type.input.addEventListener('change', show)
  show()
  const output = make('div', { class: 'choice' }, type.row, name.row, scope.row, decimals.row)
  return {
    rows: [values.element, expression.row, output, time],
    configuration: () =>
      configurationOf(before, {
        arguments: values.read(),
        expression: expression.input.value,
        output: {
          type: type.input.value,
          name: name.input.value.trim(),
          scope: scope.input.value,
          decimals: decimals.input.value,
        },
        useLatestTs: latest.checked,
      }),
    trial: () => ({ arguments: values.read(), expression: expression.input.value, output: name.input.value.trim() }),
  }
}
