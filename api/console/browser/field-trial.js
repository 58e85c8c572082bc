/** Tries a formula or a script with values that somebody gives; nothing is kept. */
import { form, make, textArea } from './dom.js'
import { samplesOf, tried } from './field-shapes.js'
import { parsedObject } from './parsed-object.js'
import { call } from './session.js'

/** @typedef {{ arguments: import('./field-shapes.js').Argument[], expression: string, output: string }} Trial */

/** @param {string} type @param {() => Trial} trial what is in the form now */
export function fieldTrial(type, trial) {
  const samples = textArea('Values of the arguments, as JSON', 'samples', '')
  const result = make('pre', { hidden: true })
  const trying = form('Try it', [samples.row], async () => {
    result.hidden = true
    const { expression, output } = trial()
    const script = tried(type, expression, output)
    if (script === undefined)
      throw new Error(
        'Formulas with functions, powers or products without a sign are not tried here. Save it: "What it did" shows its results.',
      )
    const answer = await call('POST', '/api/calculatedField/testScript', {
      expression: script,
      arguments: parsedObject(samples.input.value),
    })
    if (answer.error !== '') throw new Error(answer.error)
    result.textContent = answer.output
    result.hidden = false
    return 'It makes this, and nothing is kept:'
  })
  const element = make('details', {}, make('summary', {}, 'Try it on values'), trying, result)
  // Of the arguments that there are now.
  element.addEventListener('toggle', () => {
    if (element.open) samples.input.value = JSON.stringify(samplesOf(trial().arguments, Date.now()), null, 2)
  })
  return element
}
