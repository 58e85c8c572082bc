/** Customers: whose users see what is given to them. */
import { field, form, make, timeText } from './dom.js'
import { pagedList, searchField } from './paged.js'
import { call } from './session.js'

/** @typedef {Record<string, any>} Json */

/** @param {import('./pages.js').Place} place */
export async function customersPage({ main, query }) {
  const search = searchField(query, () => void list.turnTo(1))
  const list = pagedList({
    caption: 'Customers',
    heads: ['Name', 'Made'],
    cells: (/** @type {Json} */ { id, title, createdTime, additionalInfo }) => {
      const link = make('a', { href: `/customers/${id.id}` }, title)
      const isPublic = additionalInfo?.isPublic === true
      return [make('span', {}, link, isPublic ? ' (everybody, without a login)' : ''), timeText(createdTime)]
    },
    path: '/api/customers',
    asked: () => ({ sortProperty: 'title', sortOrder: 'ASC', ...search.searched('textSearch') }),
    kept: () => search.searched('search'),
    query,
  })
  const title = field('Name', { name: 'title', required: true, autocomplete: 'off' })
  const adding = form('Add the customer', [title.row], async () => {
    const made = await call('POST', '/api/customer', { title: title.input.value.trim() })
    location.assign(`/customers/${made.id.id}`)
  })
  main.replaceChildren(
    make('h1', {}, 'Customers'),
    make('p', {}, 'Users of a customer see the devices and dashboards that are given to it, and nothing else.'),
    search.row,
    list.element,
    make('details', {}, make('summary', {}, 'Add a customer'), adding),
  )
  await list.show()
}
