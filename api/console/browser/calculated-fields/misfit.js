/** What is wrong with one field of a form stands at that field, and the focus goes there. */
import { make } from '../dom.js'

/** @typedef {HTMLInputElement | HTMLSelectElement | HTMLTextAreaElement} Input */

/** Of a form, before it is sent. */
export class Misfit extends Error {
  /** @param {Input} input @param {string} message */
  constructor(input, message) {
    super(message)
    this.input = input
  }
}

/** The path by which the server names what is in a field. @param {Input} input @param {string} path */
export function member(input, path) {
  input.dataset['member'] = path
}

/** Nothing where the error is of no field that is shown. @param {HTMLElement} form @param {unknown} error */
export function pointOut(form, error) {
  if (error instanceof Misfit) return mark(error.input, error.message)
  if (!(error instanceof Error)) return
  const text = error.message.replace(/^Validation error: /, '')
  for (const input of form.querySelectorAll('[data-member]')) {
    const path = input instanceof HTMLElement ? (input.dataset['member'] ?? '') : ''
    if (isInput(input) && text.startsWith(`${path} `)) return mark(input, text.slice(path.length + 1))
  }
}

/** What is sent again is judged anew. @param {HTMLElement} form */
export function forget(form) {
  for (const input of form.querySelectorAll('[aria-invalid]')) input.dispatchEvent(new Event(FORGET))
}

const FORGET = 'forget'
let marks = 0

/** Until it is changed. @param {Input} input @param {string} reason */
function mark(input, reason) {
  const id = `misfit-${++marks}`
  // Read with the field as its description; within its label it would be its name too.
  const told = make('span', { id, class: 'wrong misfit', 'aria-hidden': 'true' }, reason)
  input.after(told)
  input.setAttribute('aria-invalid', 'true')
  input.setAttribute('aria-describedby', id)
  const unmark = () => {
    told.remove()
    for (const name of ['aria-invalid', 'aria-describedby']) input.removeAttribute(name)
    for (const each of ['input', 'change', FORGET]) input.removeEventListener(each, unmark)
  }
  for (const each of ['input', 'change', FORGET]) input.addEventListener(each, unmark)
  input.focus()
}

/** @param {Element} element @returns {element is Input} */
function isInput(element) {
  return (
    element instanceof HTMLInputElement ||
    element instanceof HTMLSelectElement ||
    element instanceof HTMLTextAreaElement
  )
}
