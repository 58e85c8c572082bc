/** Tries a formula or scripts with values that somebody gives; nothing is kept. */
import { form, make, textArea } from '../dom.js'
import { parsedObject } from '../parsed-object.js'
import { call } from '../session.js'
import { samplesOf } from './field-shapes.js'

/** Each with what it is of, '' where there is one alone; undefined: it is none that can be tried. @typedef {{ of: string, script: string | undefined }} Tried */
/** @typedef {{ arguments: import('./field-shapes.js').Argument[], scripts: readonly Tried[] }} Trial */

/** @param {() => Trial} trial what is in the form now */
export function fieldTrial(trial) {
  const samples = textArea('Values of the arguments, as JSON', 'samples', '')
  const result = make('pre', { hidden: true })
  const trying = form('Try it', [samples.row], async () => {
    result.hidden = true
    const { scripts } = trial()
    if (scripts.length === 0) throw new Error('It has no script: values are taken as they are.')
    const lines = []
    for (const { of, script } of scripts) lines.push(`${of === '' ? '' : `${of}: `}${await outcomeOf(script)}`)
    result.textContent = lines.join('\n')
    result.hidden = false
    return 'It makes this, and nothing is kept:'
  })
  const element = make('details', {}, make('summary', {}, 'Try it on values'), trying, result)
  // Of the arguments that there are now.
  element.addEventListener('toggle', () => {
    if (element.open) samples.input.value = JSON.stringify(samplesOf(trial().arguments, Date.now()), null, 2)
  })
  return element

  /** @param {string | undefined} script @returns {Promise<string>} */
  async function outcomeOf(script) {
    if (script === undefined)
      throw new Error(
        'Formulas with functions, powers or products without a sign are not tried here. Save it: "What it did" shows its results.',
      )
    const answer = await call('POST', '/api/calculatedField/testScript', {
      expression: script,
      arguments: parsedObject(samples.input.value),
    })
    if (answer.error !== '') throw new Error(answer.error)
    return answer.output
  }
}
