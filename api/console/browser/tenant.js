/** One tenant, for the system administrator: its administrators, and what its profile allows. */
import { dangerous } from './dialog.js'
import { choice, form, make, table } from './dom.js'
import { tenantProfilesOffered } from './offered.js'
import { call } from './session.js'
import { userAddition } from './user-form.js'
import { userList } from './users.js'
import { words } from './words.js'

/** @typedef {Record<string, any>} Json */

/** @param {import('./pages.js').Place} place */
export async function tenantPage({ main, id }) {
  const tenant = await call('GET', `/api/tenant/${encodeURIComponent(id)}`)
  const profile = await call('GET', `/api/tenantProfile/${tenant.tenantProfileId.id}`)
  const users = userList(`/api/tenant/${id}/users`)
  const remove = dangerous(
    'Delete the tenant',
    `Delete "${tenant.title}" with all its devices and values for ever`,
    async () => {
      await call('DELETE', `/api/tenant/${id}`)
      location.assign('/tenants')
    },
  )
  const profiles = choice('Tenant profile', 'profile', await tenantProfilesOffered(), profile.id.id)
  const chosen = form('Give it this profile', [profiles.row], async () => {
    const tenantProfileId = { entityType: 'TENANT_PROFILE', id: profiles.input.value }
    await call('POST', '/api/tenant', { ...tenant, tenantProfileId })
    location.reload()
  })
  main.replaceChildren(
    make('p', {}, make('a', { href: '/tenants' }, 'Tenants')),
    make('h1', {}, tenant.title),
    make('h2', {}, 'Administrators'),
    users.element,
    userAddition({ authority: 'TENANT_ADMIN', tenantId: tenant.id }, users.show),
    make('h2', {}, 'Limits and queues'),
    chosen,
    make(
      'p',
      {},
      'By the tenant profile ',
      make('a', { href: `/tenantProfiles/${profile.id.id}` }, profile.name),
      `${profile.isolatedTbRuleEngine === true ? ', with queues of its own' : ''}. What is not here has no limit.`,
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
