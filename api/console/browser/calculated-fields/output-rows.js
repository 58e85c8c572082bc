/** Where the results of a calculated field are kept. */
import { choice, field, hide, make } from '../dom.js'
import { SCOPES } from './field-shapes.js'
import { member } from './misfit.js'

/** @typedef {import('./field-shapes.js').Output} Output */

const OUTPUTS = /** @type {readonly (readonly [string, string])[]} */ ([
  ['TIME_SERIES', 'time series'],
  ['ATTRIBUTES', 'attributes'],
])

/** @param {Output} output @param {boolean} hasName whether it is one value, under a key of its own @param {(type: string) => void} [onType] */
export function outputRows(output, hasName, onType = () => undefined) {
  const type = choice('The result is kept as', 'outputType', OUTPUTS, output.type)
  const name = field('Its key', { name: 'outputName', autocomplete: 'off', required: true })
  name.input.value = output.name
  hide(name.row, !hasName)
  const scope = choice('Scope of the attributes', 'outputScope', SCOPES, output.scope)
  const decimals = field('Decimals', { name: 'decimals', type: 'number', step: '1', placeholder: 'all' })
  decimals.input.value = output.decimals
  member(name.input, 'output.name')
  member(decimals.input, 'output.decimalsByDefault')
  const show = () => {
    scope.row.hidden = type.input.value !== 'ATTRIBUTES'
    onType(type.input.value)
  }
  type.input.addEventListener('change', show)
  show()
  return {
    row: make('div', { class: 'choice' }, type.row, name.row, scope.row, decimals.row),
    /** @returns {Output} */
    read: () => ({
      type: type.input.value,
      name: name.input.value.trim(),
      scope: scope.input.value,
      decimals: decimals.input.value,
    }),
  }
}
