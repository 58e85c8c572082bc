/** What an entity belongs to and what belongs to it; for administrators also changed. */
import { dangerous } from './dialog.js'
import { choice, field, form, make, messageOf, table, tell } from './dom.js'
import { call } from './session.js'

/** @typedef {Record<string, any>} Json */
/** @typedef {{ entityType: string, id: string }} EntityId */

const PAGES_OF = /** @type {Readonly<Record<string, string>>} */ ({
  ASSET: '/assets',
  DEVICE: '/devices',
  CUSTOMER: '/customers',
  DASHBOARD: '/dashboards',
  RULE_CHAIN: '/ruleChains',
})
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
      const page = PAGES_OF[entityType]
      const link = page === undefined ? name : make('a', { href: `${page}/${id}` }, name)
      return [
        link,
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
    const options = make('datalist', { id: 'related' })
    const name = field('Name', { name: 'related', list: 'related', required: true, autocomplete: 'off' })
    const type = field('Relation', { name: 'relationType', required: true, autocomplete: 'off' })
    type.input.value = 'Contains'
    const find = async () => {
      const many = kind.input.value === 'DEVICE' ? 'devices' : 'assets'
      const text = name.input.value.trim()
      const query = new URLSearchParams({
        pageSize: '50',
        page: '0',
        sortProperty: 'name',
        sortOrder: 'ASC',
        ...(text === '' ? {} : { textSearch: text }),
      })
      /** @type {{ data: { id: EntityId, name: string }[] }} */
      const found = await call('GET', `/api/tenant/${many}?${query}`)
      options.replaceChildren(...found.data.map((each) => make('option', { value: each.name })))
      return found.data
    }
    // Where none can be read, none are offered; the form says why when it is sent.
    const offer = () => void find().catch(() => undefined)
    for (const event of ['focus', 'input']) name.input.addEventListener(event, offer)
    const adding = form('Add it', [kind.row, name.row, options, type.row], async () => {
      const wanted = name.input.value.trim()
      const other = (await find()).find((each) => each.name === wanted)
      if (other === undefined) throw new Error('There is none of this name: choose one of those that are offered.')
      await call('POST', '/api/relation', {
        from: entity,
        to: other.id,
        type: type.input.value.trim(),
        typeGroup: 'COMMON',
      })
      await show().catch((error) => tell(told, messageOf(error), true))
      name.input.value = ''
      return `"${wanted}" belongs to it now.`
    })
    return make('details', {}, make('summary', {}, 'Add what belongs to it'), adding)
  }
}
