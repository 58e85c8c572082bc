/** One asset: what it belongs to and what belongs to it, its values, attributes and alarms. */
import { customerChoice } from './customer-choice.js'
import { dangerous } from './dialog.js'
import { choice, field, form, make } from './dom.js'
import { latestOf } from './latest.js'
import { assetProfilesOffered } from './offered.js'
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
    unfolding('Latest values', () => latestOf('ASSET', id, 'None.')),
    unfolding('Attributes', async () => (await import('./attributes.js')).attributesOf('ASSET', id, mayChange)),
    unfolding('Alarms', async () => (await import('./alarms.js')).alarmsOf('ASSET', id)),
    ...(mayChange
      ? [
          unfolding('Alarm rules', async () => (await import('./alarm-rules.js')).alarmRules(asset.id)),
          unfolding('Calculated fields', async () =>
            (await import('./calculated-fields.js')).calculatedFieldsOf(asset.id),
          ),
          unfolding('Settings', () => settings(path, describe)),
        ]
      : []),
  )
}

/** @param {string} path @param {(asset: Json) => void} onChange */
async function settings(path, onChange) {
  const [asset, profiles] = await Promise.all([call('GET', path), assetProfilesOffered()])
  const customer = await customerChoice(asset.customerId, {
    assign: (to) => call('POST', `/api/customer/${to}/asset/${asset.id.id}`),
    unassign: () => call('DELETE', `/api/customer/asset/${asset.id.id}`),
  })
  /** @type {Json} */
  let present = asset
  const name = field('Name', { name: 'name', required: true, autocomplete: 'off' })
  name.input.value = asset.name
  const label = field('Label', { name: 'label', autocomplete: 'off' })
  label.input.value = asset.label ?? ''
  const profile = choice('Asset profile', 'profile', profiles, asset.assetProfileId.id)
  const saving = form(
    'Save',
    [...[name, label, profile, customer].map(({ row }) => row), ...customer.more],
    async () => {
      present = await call('POST', '/api/asset', {
        ...present,
        name: name.input.value.trim(),
        label: label.input.value.trim() === '' ? null : label.input.value.trim(),
        assetProfileId: { entityType: 'ASSET_PROFILE', id: profile.input.value },
        type: null,
      })
      present = (await customer.save()) ?? present
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
