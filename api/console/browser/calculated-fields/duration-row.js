/** A time that is stored in seconds, said in the largest unit of which it is a whole number. */
import { choice, field, hide, make } from '../dom.js'
import { UNITS, inUnit, secondsOf } from './figure-shapes.js'
import { member } from './misfit.js'

/** @param {string} label @param {string} name of the input @param {number | undefined} seconds @param {{ path: string, min?: string, required?: boolean }} more */
export function durationRow(label, name, seconds, { path, min = '1', required = true }) {
  const shown = inUnit(seconds)
  const amount = field(label, { name, type: 'number', min, step: 'any', required, autocomplete: 'off' })
  amount.input.value = shown.amount
  member(amount.input, path)
  const unit = choice('Unit', `${name}Unit`, UNITS, shown.unit)
  const element = make('div', { class: 'choice' }, amount.row, unit.row)
  return {
    element,
    hide: (/** @type {boolean} */ isHidden) => hide(element, isHidden),
    /** Undefined where it is empty. @returns {number | undefined} */
    read: () => (amount.input.value === '' ? undefined : secondsOf(amount.input.value, unit.input.value)),
  }
}
