/** One asset profile: rule chain, queue and dashboard of its assets, their alarms, and what is calculated of them. */
import { alarmRules } from './alarm-rules.js'
import { calculatedFieldsOf } from './calculated-fields.js'
import { form, make } from './dom.js'
import { dashboardsOffered, queuesOffered, ruleChainsOffered } from './offered.js'
import { profileActs, sharedRows } from './profile-form.js'
import { call } from './session.js'

/** @typedef {Record<string, any>} Json */

/** @param {import('./pages.js').Place} place */
export async function assetProfilePage({ main, id }) {
  const path = `/api/assetProfile/${encodeURIComponent(id)}`
  const [profile, chains, dashboards, queues] = await Promise.all([
    call('GET', path),
    ruleChainsOffered(),
    dashboardsOffered(),
    queuesOffered(),
  ])
  /** @type {Json} */
  let present = profile
  const heading = make('h1', { tabindex: '-1' }, profile.name)
  const standing = make('p', {})
  const shared = sharedRows(present, { chains, dashboards, queues })
  const saving = form('Save', shared.rows, async () => {
    present = await call('POST', '/api/assetProfile', { ...present, ...shared.change() })
    fill()
    return 'Saved: messages go this way from now on.'
  })
  const acts = profileActs({
    path,
    list: '/assetProfiles',
    members: 'Assets',
    present: () => present,
    onDefault(made) {
      present = made
      fill()
      heading.focus()
    },
  })
  main.replaceChildren(
    make('p', {}, make('a', { href: '/assetProfiles' }, 'Asset profiles')),
    heading,
    standing,
    saving,
    make('h2', {}, 'Alarms'),
    alarmRules({ entityType: 'ASSET_PROFILE', id: present['id'].id }),
    make('h2', {}, 'Calculated fields'),
    calculatedFieldsOf({ entityType: 'ASSET_PROFILE', id: present['id'].id }),
    make('h2', {}, 'More'),
    acts.element,
  )
  fill()

  function fill() {
    heading.textContent = present['name']
    standing.textContent = present['default'] === true ? 'Assets made without a profile get this one.' : ''
    standing.hidden = present['default'] !== true
    acts.fill()
  }
}
