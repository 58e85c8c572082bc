/** One tenant, for the system administrator: its administrators, and what its profile allows. */
import { dangerous, make, table } from './dom.js'
import { call } from './session.js'
import { userAddition } from './user-form.js'
import { userList } from './users.js'

/** @typedef {Record<string, any>} Json */

/** @param {import('./pages.js').Place} place */
export async function tenantPage({ main, id }) {
  const tenant = await call('GET', `/api/tenant/${encodeURIComponent(id)}`)
  const profile = await call('GET', `/api/tenantProfile/${tenant.tenantProfileId.id}`)
  const users = userList(`/api/tenant/${id}/users`, new URLSearchParams())
  const remove = dangerous(
    'Delete the tenant',
    `Delete "${tenant.title}" with all its devices and values for ever`,
    async () => {
      await call('DELETE', `/api/tenant/${id}`)
      location.assign('/tenants')
    },
  )
  main.replaceChildren(
    make('p', {}, make('a', { href: '/tenants' }, 'Tenants')),
    make('h1', {}, tenant.title),
    make('h2', {}, 'Administrators'),
    users.element,
    userAddition({ authority: 'TENANT_ADMIN', tenantId: tenant.id }, users.show),
    make('h2', {}, 'Limits and queues'),
    make(
      'p',
      {},
      `By the tenant profile "${profile.name}"${profile.isolatedTbRuleEngine === true ? ', with queues of its own' : ''}. What is not here has no limit.`,
    ),
    limits(profile),
    make('h2', {}, 'Delete'),
    remove,
  )
  await users.show()
}

/** @param {Json} profile */
function limits({ profileData }) {
  const { configuration = {}, queueConfiguration } = profileData ?? {}
  const set = Object.entries(configuration).filter(
    ([name, value]) => name !== 'type' && value !== null && value !== '' && value !== 0 && value !== false,
  )
  const queues = (queueConfiguration ?? []).map(
    (/** @type {Json} */ { name, partitions, submitStrategy, processingStrategy }) => [
      name,
      String(partitions),
      words(String(submitStrategy?.type ?? '')),
      words(String(processingStrategy?.type ?? '')),
    ],
  )
  return make(
    'div',
    {},
    set.length === 0
      ? make('p', {}, 'No limits.')
      : table(
          'Limits',
          ['What', 'Limit'],
          set.map(([name, value]) => [words(name), String(value)]),
        ),
    ...(queues.length === 0 ? [] : [table('Queues', ['Name', 'Partitions', 'Submits', 'Failures'], queues)]),
  )
}

/** `maxDevices` as people read it. @param {string} name */
export function words(name) {
  const apart = /[a-z]/.test(name) ? name.replaceAll(/([a-z\d])([A-Z])/g, '$1 $2') : name.replaceAll('_', ' ')
  const lower = apart.toLowerCase()
  return lower.charAt(0).toUpperCase() + lower.slice(1)
}
