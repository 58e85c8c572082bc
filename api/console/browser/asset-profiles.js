/** The asset profiles of the tenant, and a new one. */
import { field, form, make, timeText } from './dom.js'
import { pagedList, searchField } from './paged.js'
import { call } from './session.js'

/** @typedef {Record<string, any>} Json */

/** @param {import('./pages.js').Place} place */
export async function assetProfilesPage({ main, query }) {
  const search = searchField(query, () => void list.turnTo(1))
  const list = pagedList({
    caption: 'Asset profiles',
    heads: ['Name', 'What for', 'Made'],
    cells: (/** @type {Json} */ profile) => {
      const link = make('a', { href: `/assetProfiles/${profile['id'].id}` }, profile['name'])
      const mark = make('strong', { class: 'mark', title: 'Assets made without a profile get it' }, 'default')
      return [
        profile['default'] ? make('span', {}, link, ' ', mark) : link,
        profile['description'] ?? '',
        timeText(profile['createdTime']),
      ]
    },
    path: '/api/assetProfiles',
    asked: () => ({ sortProperty: 'name', sortOrder: 'ASC', ...search.searched('textSearch') }),
    kept: () => search.searched('search'),
    query,
  })
  const name = field('Name', { name: 'name', required: true, autocomplete: 'off' })
  const adding = form('Add the profile', [name.row], async () => {
    const made = await call('POST', '/api/assetProfile', { name: name.input.value.trim() })
    location.assign(`/assetProfiles/${made.id.id}`)
  })
  main.replaceChildren(
    make('h1', {}, 'Asset profiles'),
    make(
      'p',
      {},
      'What assets of a kind have in common: which rule chain gets their messages, what is calculated of them.',
    ),
    search.row,
    list.element,
    make('details', {}, make('summary', {}, 'Add an asset profile'), adding),
  )
  await list.show()
}
