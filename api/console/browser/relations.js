/** What an entity belongs to and what belongs to it; for administrators also changed. */
import { dangerous } from './dialog.js'
import { choice, field, form, make, messageOf, tell } from './dom.js'
import { entityLink } from './entity-link.js'
import { namedField } from './named-field.js'
import { pageOf, pagedList } from './paged.js'
import { call } from './session.js'

/** @typedef {Record<string, any>} Json */
/** @typedef {{ entityType: string, id: string }} EntityId */

const KINDS = /** @type {readonly (readonly [string, string])[]} */ ([
  ['DEVICE', 'device'],
  ['ASSET', 'asset'],
])

/** @param {EntityId} entity @param {boolean} mayChange */
export async function relationsOf(entity, mayChange) {
  const told = make('p', { role: 'status' })
  /** @type {Record<'from' | 'to', Json[]>} */
  const found = { from: [], to: [] }
  const lists = { from: listOf('Belongs to', 'from'), to: listOf('Has', 'to') }
  const show = async () => {
    const { entityType, id } = entity
    found.from = await call('GET', `/api/relations/info?toId=${id}&toType=${entityType}`)
    found.to = await call('GET', `/api/relations/info?fromId=${id}&fromType=${entityType}`)
    for (const end of /** @type {const} */ (['from', 'to'])) {
      lists[end].element.hidden = found[end].length === 0
      await lists[end].show()
    }
    const isAlone = found.from.length + found.to.length === 0
    tell(told, isAlone ? 'It belongs to nothing, and nothing to it.' : '')
  }
  await show()
  return make('div', {}, told, lists.from.element, lists.to.element, ...(mayChange ? [addition()] : []))

  /** The server tells all of them at once; so many are shown. @param {string} caption @param {'from' | 'to'} end */
  function listOf(caption, end) {
    return pagedList({
      caption,
      heads: ['Name', 'Kind', 'Relation', ...(mayChange ? ['Do'] : [])],
      cells: (/** @type {Json} */ relation) => {
        const { entityType, id } = relation[end]
        const name = relation[`${end}Name`] ?? id
        return [
          entityLink(relation[end], name),
          entityType.toLowerCase().replaceAll('_', ' '),
          relation['type'],
          ...(mayChange ? [removal(relation, name, end)] : []),
        ]
      },
      read: async (page, pageSize) => pageOf(found[end], page, pageSize),
    })
  }

  /** @param {Json} relation @param {string} name @param {'from' | 'to'} end @returns {Node} */
  function removal({ from, to, type, typeGroup }, name, end) {
    const act = async () => {
      const query = new URLSearchParams({
        ...{ fromId: from.id, fromType: from.entityType, relationType: type, relationTypeGroup: typeGroup },
        ...{ toId: to.id, toType: to.entityType },
      })
      await call('DELETE', `/api/relation?${query}`)
      await show()
    }
    return dangerous('Take apart', `Take it apart from "${name}"`, act, {
      of: name,
      text: 'Both stay; the relation goes.',
      done: () => lists[end].focus(),
    })
  }

  function addition() {
    const kind = choice('Kind', 'kind', KINDS, 'DEVICE')
    const many = () => (kind.input.value === 'DEVICE' ? 'devices' : 'assets')
    const name = namedField({ label: 'Name', name: 'related', one: 'entity', path: () => `/api/tenant/${many()}` })
    const type = field('Relation', { name: 'relationType', required: true, autocomplete: 'off' })
    type.input.value = 'Contains'
    const adding = form('Add it', [kind.row, name.row, name.options, type.row], async () => {
      const other = await name.find()
      const relation = { from: entity, to: other['id'], type: type.input.value.trim(), typeGroup: 'COMMON' }
      await call('POST', '/api/relation', relation)
      await show().catch((error) => tell(told, messageOf(error), true))
      name.input.value = ''
      return `"${other['name']}" belongs to it now.`
    })
    return make('details', {}, make('summary', {}, 'Add what belongs to it'), adding)
  }
}
