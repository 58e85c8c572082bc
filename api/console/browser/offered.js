/** What a form offers of what the tenant has: id and name, by name. */
import { make, messageOf } from './dom.js'
import { call } from './session.js'

/** Beyond these many a choice is no help. */
const MOST = 500

/** @typedef {[id: string, name: string][]} Offered */

/** Device profiles; the default one is marked. @returns {Promise<Offered>} */
export async function profilesOffered() {
  const found = await page('/api/deviceProfiles', 'name')
  return found.map(({ id, name, default: isDefault }) => [id.id, isDefault ? `${name} (default)` : name])
}

/** @returns {Promise<Offered>} */
export async function assetProfilesOffered() {
  const found = await page('/api/assetProfiles', 'name')
  return found.map(({ id, name, default: isDefault }) => [id.id, isDefault ? `${name} (default)` : name])
}

/** For the system administrator. @returns {Promise<Offered>} */
export async function tenantProfilesOffered() {
  const found = await page('/api/tenantProfiles', 'name')
  return found.map(({ id, name }) => [id.id, name])
}

/** @returns {Promise<{ offered: Offered, hasMore: boolean }>} */
export async function customersOffered() {
  const { data, hasNext } = await read('/api/customers', 'title')
  return { offered: data.map(({ id, title }) => [id.id, title]), hasMore: hasNext }
}

/** @returns {Promise<Offered>} */
export async function ruleChainsOffered() {
  const found = await page('/api/ruleChains', 'name')
  return found.map(({ id, name, root }) => [id.id, root ? `${name} (root)` : name])
}

/** @returns {Promise<Offered>} */
export async function dashboardsOffered() {
  const found = await page('/api/tenant/dashboards', 'title')
  return found.map(({ id, title }) => [id.id, title])
}

/** Of a profile. @param {string} profileId @param {'FIRMWARE' | 'SOFTWARE'} type @returns {Promise<Offered>} */
export async function packagesOffered(profileId, type) {
  const found = await page(`/api/otaPackages/${encodeURIComponent(profileId)}/${type}`, 'title')
  return found.map(({ id, title, version }) => [id.id, `${title} ${version}`])
}

/** Queues are named, not numbered. @returns {Promise<Offered>} */
export async function queuesOffered() {
  const found = await page('/api/queues?serviceType=TB_RULE_ENGINE', 'name')
  return found.map(({ name }) => [name, name])
}

/** Adds what is read when the part of the page is unfolded. @param {HTMLDetailsElement} part @param {HTMLSelectElement} input @param {() => Promise<Offered>} read */
export function offerWhenUnfolded(part, input, read) {
  const offer = async () => {
    try {
      input.append(...(await read()).map(([value, text]) => make('option', { value }, text)))
    } catch (error) {
      input.append(make('option', { disabled: true }, `Others cannot be read: ${messageOf(error)}`))
    }
  }
  part.addEventListener('toggle', () => void offer(), { once: true })
}

/** @param {string} path @param {string} sort */
async function page(path, sort) {
  return (await read(path, sort)).data
}

/** @param {string} path @param {string} sort @returns {Promise<{ data: Record<string, any>[], hasNext: boolean }>} */
function read(path, sort) {
  const query = new URLSearchParams({ pageSize: String(MOST), page: '0', sortProperty: sort, sortOrder: 'ASC' })
  return call('GET', `${path}${path.includes('?') ? '&' : '?'}${query}`)
}
