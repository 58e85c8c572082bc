/** What tenants of a kind may use, for the system administrator: the list, and a new one. */
import { field, form, make, timeText } from './dom.js'
import { pagedList, searchField } from './paged.js'
import { call } from './session.js'

/** @typedef {Record<string, any>} Json */

/** @param {import('./pages.js').Place} place */
export async function tenantProfilesPage({ main, query }) {
  const search = searchField(query, () => void list.turnTo(1))
  const list = pagedList({
    caption: 'Tenant profiles',
    heads: ['Name', 'What for', 'Made'],
    cells: (/** @type {Json} */ profile) => {
      const link = make('a', { href: `/tenantProfiles/${profile['id'].id}` }, profile['name'])
      const mark = make('strong', { class: 'mark', title: 'Tenants made without a profile get it' }, 'default')
      const name = profile['default'] ? make('span', {}, link, ' ', mark) : link
      return [name, profile['description'] ?? '', timeText(profile['createdTime'])]
    },
    path: '/api/tenantProfiles',
    asked: () => ({ sortProperty: 'name', sortOrder: 'ASC', ...search.searched('textSearch') }),
    kept: () => search.searched('search'),
    query,
  })
  const name = field('Name', { name: 'name', required: true, autocomplete: 'off' })
  const adding = form('Add the profile', [name.row], async () => {
    const made = await call('POST', '/api/tenantProfile', { name: name.input.value.trim() })
    location.assign(`/tenantProfiles/${made.id.id}`)
  })
  main.replaceChildren(
    make('h1', {}, 'Tenant profiles'),
    make('p', {}, 'How much tenants may have and use. A tenant has the profile that its page says.'),
    search.row,
    list.element,
    make('details', {}, make('summary', {}, 'Add a tenant profile'), adding),
  )
  await list.show()
}
