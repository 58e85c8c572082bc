/** The form of propagation: which values go to which related entities, as they are or by a script. */
import { hide, make, textArea, choice } from '../dom.js'
import { argumentRows } from './argument-rows.js'
import { argumentsOf, namedOf, outputOf, storedOutput } from './field-shapes.js'
import { foundNow } from './found-now.js'
import { relatedTo } from './members.js'
import { Misfit, member } from './misfit.js'
import { outputRows } from './output-rows.js'
import { relationRow } from './relation-rows.js'

/** @typedef {Record<string, any>} Json */

const WAYS = /** @type {readonly (readonly [string, string])[]} */ ([
  ['VALUES', 'the values as they are, each under its name'],
  ['SCRIPT', 'what a script makes of them'],
])

/** @param {Json} before @param {import('./editor.js').Surroundings} around @returns {import('./editor.js').Editor} */
export function propagationForm(before, { owner, keys }) {
  const kinds = ['TS_LATEST', 'ATTRIBUTE', 'TS_ROLLING']
  const values = argumentRows(argumentsOf(before['arguments']), { kinds, keys })
  const relation = relationRow(before['relation'], 'relation')
  const found = foundNow(owner, ['entity', 'entities'], (from) => relatedTo(from, [relation.read()]))
  const targets = make('fieldset', {}, make('legend', {}, 'To whom they go'), relation.element, found)
  const isScript = before['applyExpressionToResolvedArguments'] === true
  const way = choice('It writes', 'way', WAYS, isScript ? 'SCRIPT' : 'VALUES')
  const expression = textArea(
    'Script: it answers an object of values, such as return {"double": t * 2};',
    'expression',
    before['expression'] ?? '',
    { required: true, class: 'short' },
  )
  member(expression.input, 'expression')
  const show = () => hide(expression.row, way.input.value !== 'SCRIPT')
  way.input.addEventListener('change', show)
  show()
  const output = outputRows(outputOf(before['output']), false)
  const hasScript = () => way.input.value === 'SCRIPT'
  const read = () => {
    const all = values.read()
    const window = all.find(({ kind }) => kind === 'TS_ROLLING')
    if (window === undefined || hasScript()) return namedOf(all)
    throw new Misfit(way.input, `"${window.name}" is a window of values: a script makes values of it.`)
  }
  return {
    rows: [values.element, targets, way.row, expression.row, output.row],
    configuration: () => ({
      ...before,
      arguments: read(),
      relation: relation.read(),
      applyExpressionToResolvedArguments: hasScript(),
      // Kept where it is not used, for who goes back.
      ...(expression.input.value.trim() === '' ? {} : { expression: expression.input.value }),
      output: storedOutput(before['output'], output.read()),
    }),
    trial: () => ({
      arguments: values.read(),
      scripts: hasScript() ? [{ of: '', script: expression.input.value }] : [],
    }),
  }
}
