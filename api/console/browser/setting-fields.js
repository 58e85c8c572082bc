/** Fields of the settings that the server keeps as JSON; it never shows their secrets. */
import { field } from './dom.js'

/** @param {string} label @param {string} name @param {Record<string, any>} value @param {Record<string, string | boolean>} [more] */
export function textField(label, name, value, more = {}) {
  const made = field(label, { name, required: true, autocomplete: 'off', ...more })
  made.input.value = String(value[name] ?? '')
  return made
}

/** What is left out is the secret that is kept. @param {string} label @param {string} name */
export function passwordField(label, name) {
  const made = field(`${label} (empty: the one that is kept)`, { name, type: 'password', autocomplete: 'new-password' })
  return { ...made, given: () => (made.input.value === '' ? {} : { [name]: made.input.value }) }
}
