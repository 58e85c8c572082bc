/** One asset: what it belongs to and what belongs to it, its values, attributes and alarms. */
import { dangerous } from './dialog.js'
import { choice, field, form, make, shortened, table, timeText } from './dom.js'
import { assetProfilesOffered, customersOffered } from './offered.js'
import { relationsOf } from './relations.js'
import { call } from './session.js'
import { unfolding } from './unfolding.js'

/** @typedef {Record<string, any>} Json */

/** @param {import('./pages.js').Place} place */
export async function assetPage({ main, id, user }) {
  const mayChange = user.authority === 'TENANT_ADMIN'
  const path = `/api/asset/${encodeURIComponent(id)}`
  const asset = await call('GET', `/api/asset/info/${encodeURIComponent(id)}`)
  const heading = make('h1', {}, asset.name)
  const about = make('p', {})
  const describe = (/** @type {Json} */ { name, type, label }) => {
    heading.textContent = name
    about.textContent = [type, label].filter(Boolean).join(' · ')
  }
  describe(asset)
  main.replaceChildren(
    make('p', {}, make('a', { href: '/assets' }, 'Assets')),
    heading,
    about,
    make('h2', {}, 'Place'),
    await relationsOf(asset.id, mayChange),
    unfolding('Latest values', () => latest(id)),
    unfolding('Attributes', async () => (await import('./attributes.js')).attributesOf('ASSET', id, mayChange)),
    unfolding('Alarms', async () => (await import('./alarms.js')).alarmsOf('ASSET', id)),
    ...(mayChange
      ? [
          unfolding('Alarm rules', async () => (await import('./alarm-rules.js')).alarmRules(asset.id)),
          unfolding('Settings', () => settings(path, describe)),
        ]
      : []),
  )
}

/** @param {string} id */
async function latest(id) {
  /** @type {Record<string, { ts: number, value: string | null }[]>} */
  const found = await call('GET', `/api/plugins/telemetry/ASSET/${id}/values/timeseries`)
  const rows = Object.entries(found).map(([key, [point]]) => [
    key,
    shortened(point?.value ?? ''),
    timeText(point?.ts ?? 0),
  ])
  return rows.length === 0 ? 'None.' : table('Latest values', ['Key', 'Value', 'Time'], rows)
}

/** @param {string} path @param {(asset: Json) => void} onChange */
async function settings(path, onChange) {
  const [asset, profiles, customers] = await Promise.all([
    call('GET', path),
    assetProfilesOffered(),
    customersOffered(),
  ])
  /** @type {Json} */
  let present = asset
  let owner = customers.some(([each]) => each === asset.customerId?.id) ? asset.customerId.id : ''
  const name = field('Name', { name: 'name', required: true, autocomplete: 'off' })
  name.input.value = asset.name
  const label = field('Label', { name: 'label', autocomplete: 'off' })
  label.input.value = asset.label ?? ''
  const profile = choice('Asset profile', 'profile', profiles, asset.assetProfileId.id)
  const customer = choice('Seen by users of', 'customer', [['', 'nobody'], ...customers], owner)
  const saving = form(
    'Save',
    [name, label, profile, customer].map(({ row }) => row),
    async () => {
      present = await call('POST', '/api/asset', {
        ...present,
        name: name.input.value.trim(),
        label: label.input.value.trim() === '' ? null : label.input.value.trim(),
        assetProfileId: { entityType: 'ASSET_PROFILE', id: profile.input.value },
        type: null,
      })
      const chosen = customer.input.value
      if (chosen !== owner) {
        present = await (chosen === ''
          ? call('DELETE', `/api/customer/asset/${present['id'].id}`)
          : call('POST', `/api/customer/${chosen}/asset/${present['id'].id}`))
        owner = chosen
      }
      onChange(present)
      return 'Saved.'
    },
  )
  const remove = dangerous(
    'Delete the asset',
    () => `Delete "${present['name']}" for ever`,
    async () => {
      await call('DELETE', path)
      location.assign('/assets')
    },
  )
  return make('div', {}, saving, make('h3', {}, 'Delete'), remove)
}
