/** Where the page of an entity is. */
import { make } from './dom.js'

const PAGES = /** @type {Readonly<Record<string, string>>} */ ({
  ASSET: '/assets',
  ASSET_PROFILE: '/assetProfiles',
  CALCULATED_FIELD: '/calculatedFields',
  CUSTOMER: '/customers',
  DASHBOARD: '/dashboards',
  DEVICE: '/devices',
  DEVICE_PROFILE: '/profiles',
  ENTITY_VIEW: '/entityViews',
  RULE_CHAIN: '/ruleChains',
})

/** The name alone where its type has no page. @param {{ entityType: string, id: string }} entity @param {string} name @param {Record<string, string>} [more] attributes */
export function entityLink({ entityType, id }, name, more = {}) {
  const page = PAGES[entityType]
  return page === undefined ? make('span', more, name) : make('a', { ...more, href: `${page}/${id}` }, name)
}
