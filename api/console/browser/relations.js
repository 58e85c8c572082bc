/** What an entity belongs to and what belongs to it; for administrators also changed. */
import { dangerous } from './dialog.js'
import { choice, field, form, make, messageOf, table, tell } from './dom.js'
import { entityLink } from './entity-link.js'
import { namedField } from './named-field.js'
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
  const list = make('div')
  const show = async () => {
    const { entityType, id } = entity
    const [up, down] = await Promise.all([
      call('GET', `/api/relations/info?toId=${id}&toType=${entityType}`),
      call('GET', `/api/relations/info?fromId=${id}&fromType=${entityType}`),
    ])
    list.replaceChildren(
      ...(up.length === 0 ? [] : [tableOf('Belongs to', up, 'from')]),
      ...(down.length === 0 ? [] : [tableOf('Has', down, 'to')]),
    )
    tell(told, up.length + down.length === 0 ? 'It belongs to nothing, and nothing to it.' : '')
  }
  await show()
  return make('div', {}, told, list, ...(mayChange ? [addition()] : []))

  /** @param {string} caption @param {readonly Json[]} relations @param {'from' | 'to'} end */
  function tableOf(caption, relations, end) {
    const rows = relations.map((relation) => {
      const { entityType, id } = relation[end]
      const name = relation[`${end}Name`] ?? id
      return [
        entityLink(relation[end], name),
        entityType.toLowerCase().replaceAll('_', ' '),
        relation['type'],
        ...(mayChange ? [removal(relation, name)] : []),
      ]
    })
    return table(caption, ['Name', 'Kind', 'Relation', ...(mayChange ? ['Do'] : [])], rows)
  }

  /** @param {Json} relation @param {string} name */
  function removal({ from, to, type, typeGroup }, name) {
    const act = async () => {
      const query = new URLSearchParams({
        ...{ fromId: from.id, fromType: from.entityType, relationType: type, relationTypeGroup: typeGroup },
        ...{ toId: to.id, toType: to.entityType },
      })
      await call('DELETE', `/api/relation?${query}`)
      await show()
    }
    const done = () => {
      const region = list.querySelector('[role=region]')
      if (region instanceof HTMLElement) region.focus()
    }
    return dangerous('Take apart', `Take it apart from "${name}"`, act, {
      of: name,
      text: 'Both stay; the relation goes.',
      done,
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
