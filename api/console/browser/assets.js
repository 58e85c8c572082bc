/** Assets: what devices stand in or belong to. */
import { csvImport } from './csv-import.js'
import { ASSET_COLUMNS } from './csv-shapes.js'
import { choice, field, form, make, timeText } from './dom.js'
import { assetProfilesOffered, offerWhenUnfolded } from './offered.js'
import { pagedList, searchField } from './paged.js'
import { call } from './session.js'

/** @typedef {Record<string, any>} Json */

/** @param {import('./pages.js').Place} place */
export async function assetsPage({ main, query, user }) {
  const mayChange = user.authority === 'TENANT_ADMIN'
  const search = searchField(query, () => void list.turnTo(1))
  const owner = mayChange ? '/api/tenant' : `/api/customer/${user.customerId.id}`
  const list = pagedList({
    caption: 'Assets',
    heads: mayChange ? ['Name', 'Label', 'Profile', 'Customer', 'Made'] : ['Name', 'Label', 'Profile', 'Made'],
    cells: (/** @type {Json} */ asset) => {
      const { id, name, label, type, customerTitle, customerId, createdTime } = asset
      const customer = customerTitle ? make('a', { href: `/customers/${customerId.id}` }, customerTitle) : ''
      const link = make('a', { href: `/assets/${id.id}` }, name)
      return [link, label ?? '', type, ...(mayChange ? [customer] : []), timeText(createdTime)]
    },
    path: `${owner}/assetInfos`,
    asked: () => ({ sortProperty: 'name', sortOrder: 'ASC', ...search.searched('textSearch') }),
    kept: () => search.searched('search'),
    query,
    none: mayChange
      ? 'There are no assets: an asset is what devices stand in, such as a building or a line.'
      : 'No assets.',
  })
  main.replaceChildren(make('h1', {}, 'Assets'), search.row, list.element)
  if (mayChange) main.append(addition(), csvImport({ one: 'asset', offered: ASSET_COLUMNS, onChange: list.show }))
  await list.show()
}

function addition() {
  const name = field('Name', { name: 'name', required: true, autocomplete: 'off' })
  const profile = choice('Asset profile', 'profile', [['', 'the default one']])
  const adding = form('Add the asset', [name.row, profile.row], async () => {
    const chosen = profile.input.value
    const made = await call('POST', '/api/asset', {
      name: name.input.value.trim(),
      ...(chosen === '' ? {} : { assetProfileId: { entityType: 'ASSET_PROFILE', id: chosen } }),
    })
    location.assign(`/assets/${made.id.id}`)
  })
  const element = make('details', {}, make('summary', {}, 'Add an asset'), adding)
  offerWhenUnfolded(element, profile.input, assetProfilesOffered)
  return element
}
