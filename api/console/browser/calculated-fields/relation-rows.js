/** Along which relations a calculated field looks, and what it finds there now. */
import { choice, field, make } from '../dom.js'
import { member } from './misfit.js'

/** @typedef {import('./members.js').Level} Level */

const DIRECTIONS = /** @type {readonly (readonly [string, string])[]} */ ([
  ['FROM', 'what it has: relations from it'],
  ['TO', 'what it belongs to: relations to it'],
])
/** As the web page and others name them; any other name may be typed. */
const COMMON_TYPES = ['Contains', 'Manages', 'Supports', 'Uses']

let lists = 0

/** @param {Level} level @param {string} path of its member in the configuration */
export function relationRow(level, path) {
  const direction = choice('Related as', 'direction', DIRECTIONS, level.direction)
  const options = make(
    'datalist',
    { id: `relations-${++lists}` },
    ...COMMON_TYPES.map((value) => make('option', { value })),
  )
  const type = field('Relation', { name: 'relationType', required: true, autocomplete: 'off', list: options.id })
  type.input.value = level.relationType
  member(type.input, `${path}.relationType`)
  return {
    element: make('div', { class: 'choice' }, direction.row, type.row, options),
    focus: () => direction.input.focus(),
    /** @returns {Level} */
    read: () => ({ direction: direction.input.value, relationType: type.input.value.trim() }),
  }
}
