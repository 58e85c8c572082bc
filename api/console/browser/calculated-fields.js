/** What is calculated: of the tenant, or of one entity or profile. */
import { dangerous } from './dialog.js'
import { choice, form, field, make } from './dom.js'
import { entityLink } from './entity-link.js'
import { TYPES, typeText } from './calculated-fields/field-shapes.js'
import { ownerChoice, ownerText } from './owner.js'
import { pagedList, searchField } from './paged.js'
import { call } from './session.js'

/** @typedef {Record<string, any>} Json */
/** @typedef {{ entityType: string, id: string }} EntityId */

const NAMED = TYPES.map(([type, name]) => /** @type {const} */ ([type, name]))
/** Alarm rules have lists of their own. */
const BUT_ALARMS = NAMED.filter(([type]) => type !== 'ALARM')

/** @param {import('./pages.js').Place} place */
export async function calculatedFieldsPage({ main, query }) {
  const search = searchField(query, () => void list.turnTo(1))
  const list = pagedList({
    caption: 'Calculated fields',
    heads: ['Name', 'What', 'Of', 'Do'],
    cells: (/** @type {Json} */ record) => {
      const { entityId, entityName, type } = record
      const of = make(
        'span',
        {},
        `${ownerText(entityId.entityType)}: `,
        entityLink(entityId, entityName ?? entityId.id),
      )
      return [linkTo(record), typeText(type), of, removalOf(record)]
    },
    path: '/api/calculatedFields',
    asked: () => ({ sortProperty: 'name', sortOrder: 'ASC', ...search.searched('textSearch') }),
    kept: () => search.searched('search'),
    query,
    none: 'Nothing is calculated yet: a calculated field makes a value of others as they come, such as a mean, or raises alarms.',
  })
  const owner = ownerChoice()
  main.replaceChildren(
    make('h1', {}, 'Calculated fields'),
    make('p', {}, 'Values that are calculated of others as they come, and alarm rules.'),
    search.row,
    list.element,
    addition(NAMED, owner.rows, owner.find),
  )
  await list.show()

  /** @param {Json} record @returns {Node} */
  function removalOf(record) {
    return removal(record, list)
  }
}

/** @param {EntityId} owner */
export function calculatedFieldsOf(owner) {
  const list = pagedList({
    caption: 'Calculated fields',
    heads: ['Name', 'What', 'Do'],
    cells: (/** @type {Json} */ record) => [linkTo(record), typeText(record['type']), removalOf(record)],
    path: '/api/calculatedFields',
    asked: () => ({
      ...{ sortProperty: 'name', sortOrder: 'ASC', entityType: owner.entityType, entities: owner.id },
      types: BUT_ALARMS.map(([type]) => type).join(),
    }),
    none: 'Nothing is calculated of it yet: a calculated field makes a value of others as they come.',
  })
  void list.show()
  return make(
    'div',
    {},
    list.element,
    addition(BUT_ALARMS, [], async () => owner),
  )

  /** @param {Json} record @returns {Node} */
  function removalOf(record) {
    return removal(record, list)
  }
}

/** @param {readonly (readonly [string, string])[]} types @param {readonly Node[]} rows of whose it is @param {() => Promise<EntityId>} owner */
function addition(types, rows, owner) {
  const name = field('Name', { name: 'fieldName', required: true, autocomplete: 'off' })
  const type = choice('What', 'fieldType', types, types[0]?.[0] ?? '')
  const about = make('p', {})
  const explain = () => (about.textContent = TYPES.find(([each]) => each === type.input.value)?.[2] ?? '')
  type.input.addEventListener('change', explain)
  explain()
  const going = form('Go on', [name.row, type.row, about, ...rows], async () => {
    const { entityType, id } = await owner()
    const query = new URLSearchParams({ name: name.input.value.trim(), type: type.input.value, entityType, id })
    location.assign(`/calculatedFields/new?${query}`)
  })
  return make('details', {}, make('summary', {}, 'Add a calculated field'), going)
}

/** @param {Json} record */
function linkTo({ id, name }) {
  return make('a', { href: `/calculatedFields/${id.id}` }, name)
}

/** @param {Json} record @param {{ show: () => Promise<void>, focus: () => void }} list */
function removal({ id, name }, list) {
  const act = async () => {
    await call('DELETE', `/api/calculatedField/${id.id}`)
    await list.show()
  }
  const text = 'Values and alarms that it made stay; no more come.'
  return dangerous('Delete', `Delete "${name}" for ever`, act, { of: name, done: list.focus, text })
}
