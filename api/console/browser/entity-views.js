/** Entity views: a device or an asset as a customer may see it: some of its values, over some time. */
import { choice, field, form, make, timeText } from './dom.js'
import { entityLink } from './entity-link.js'
import { namedField } from './named-field.js'
import { pagedList, searchField } from './paged.js'
import { call } from './session.js'

/** @typedef {Record<string, any>} Json */

/** @param {import('./pages.js').Place} place */
export async function entityViewsPage({ main, query, user }) {
  const mayChange = user.authority === 'TENANT_ADMIN'
  const search = searchField(query, () => void list.turnTo(1))
  const owner = mayChange ? '/api/tenant' : `/api/customer/${user.customerId.id}`
  const list = pagedList({
    caption: 'Entity views',
    heads: mayChange ? ['Name', 'Type', 'Seen by', 'Made'] : ['Name', 'Type', 'Made'],
    cells: (/** @type {Json} */ { id, name, type, customerId, customerTitle, createdTime }) => [
      make('a', { href: `/entityViews/${id.id}` }, name),
      type,
      ...(mayChange ? [customerTitle ? entityLink(customerId, customerTitle) : 'nobody'] : []),
      timeText(createdTime),
    ],
    path: `${owner}/entityViewInfos`,
    asked: () => ({ sortProperty: 'name', sortOrder: 'ASC', ...search.searched('textSearch') }),
    kept: () => search.searched('search'),
    query,
    none: mayChange
      ? 'There are no entity views: one shows some values of a device or an asset to a customer, without the device itself.'
      : 'No entity views.',
  })
  main.replaceChildren(make('h1', {}, 'Entity views'), search.row, list.element, ...(mayChange ? [addition()] : []))
  await list.show()
}

function addition() {
  const name = field('Name', { name: 'name', required: true, autocomplete: 'off' })
  const type = field('Type', { name: 'type', required: true, autocomplete: 'off', placeholder: 'such as meter' })
  const kind = choice(
    'It shows',
    'kind',
    [
      ['device', 'a device'],
      ['asset', 'an asset'],
    ],
    'device',
  )
  const source = namedField({
    label: 'Its name',
    name: 'source',
    one: 'entity',
    path: () => `/api/tenant/${kind.input.value}s`,
  })
  const hint = make('p', {}, 'It shows nothing before you choose values.')
  const adding = form(
    'Add the entity view',
    [name.row, type.row, kind.row, source.row, source.options, hint],
    async () => {
      const { id: entityId } = await source.find()
      const made = await call('POST', '/api/entityView', {
        ...{ name: name.input.value.trim(), type: type.input.value.trim(), entityId, startTimeMs: 0, endTimeMs: 0 },
        keys: { timeseries: [], attributes: { cs: [], ss: [], sh: [] } },
      })
      location.assign(`/entityViews/${made.id.id}`)
    },
  )
  return make('details', {}, make('summary', {}, 'Add an entity view'), adding)
}
