/** The form of a formula or a script. */
import { make, textArea } from '../dom.js'
import { argumentRows } from './argument-rows.js'
import { configurationOf, shownOf, tried } from './field-shapes.js'
import { member } from './misfit.js'
import { outputRows } from './output-rows.js'

/** @typedef {Record<string, any>} Json */

/** @param {Json} before @param {import('./editor.js').Surroundings} around @returns {import('./editor.js').Editor} */
export function formulaForm(before, { keys }) {
  const shown = shownOf(before)
  const isSimple = before['type'] === 'SIMPLE'
  const values = argumentRows(shown.arguments, {
    kinds: isSimple ? ['TS_LATEST', 'ATTRIBUTE'] : ['TS_LATEST', 'ATTRIBUTE', 'TS_ROLLING'],
    keys,
  })
  const expression = textArea(
    isSimple
      ? 'Formula, such as (t - 32) / 1.8'
      : 'Script: it answers an object of values, such as return {"mean": w.mean()};',
    'expression',
    shown.expression,
    { required: true, class: 'short' },
  )
  member(expression.input, 'expression')
  const latest = make('input', { type: 'checkbox', name: 'useLatestTs', checked: shown.useLatestTs })
  const time = make('label', { class: 'tick' }, latest, 'Its time is that of the newest argument')
  const output = outputRows(shown.output, isSimple, (type) => {
    time.hidden = !isSimple || type !== 'TIME_SERIES'
  })
  return {
    rows: [values.element, expression.row, output.row, time],
    configuration: () =>
      configurationOf(before, {
        arguments: values.read(),
        expression: expression.input.value,
        output: output.read(),
        useLatestTs: latest.checked,
      }),
    trial: () => ({
      arguments: values.read(),
      scripts: [{ of: '', script: tried(before['type'], expression.input.value, output.read().name) }],
    }),
  }
}
