/** One tenant profile: each limit in a field of its own. */
import { asDefault } from './default-profile.js'
import { confirmed, dangerous } from './dialog.js'
import { field, form, make } from './dom.js'
import { call } from './session.js'
import { words } from './words.js'

/** @typedef {Record<string, any>} Json */
/** @typedef {{ row: Node, name: string, value: () => unknown }} LimitField */

/** @param {import('./pages.js').Place} place */
export async function tenantProfilePage({ main, id }) {
  const path = `/api/tenantProfile/${encodeURIComponent(id)}`
  const profile = await call('GET', path)
  /** @type {Json} */
  let present = profile
  const heading = make('h1', { tabindex: '-1' }, profile.name)
  const name = field('Name', { name: 'name', required: true, autocomplete: 'off' })
  name.input.value = profile.name
  const description = field('What for', { name: 'description', autocomplete: 'off' })
  description.input.value = profile.description ?? ''
  const limits = limitFields(profile.profileData?.configuration ?? {})
  const rows = [name.row, description.row, make('div', { class: 'fields' }, ...limits.map(({ row }) => row))]
  const saving = form('Save', rows, async () => {
    const { profileData } = present
    const configuration = {
      ...profileData.configuration,
      ...Object.fromEntries(limits.map((each) => [each.name, each.value()])),
    }
    present = await call('POST', '/api/tenantProfile', {
      ...present,
      name: name.input.value.trim(),
      description: description.input.value.trim(),
      profileData: { ...profileData, configuration },
    })
    heading.textContent = present['name']
    return 'Saved: it counts at once.'
  })
  const first = make('button', { type: 'button', click: () => void makeDefault() }, 'Make it the default')
  const remove = dangerous(
    'Delete the profile',
    () => `Delete "${present['name']}" for ever`,
    async () => {
      await call('DELETE', path)
      location.assign('/tenantProfiles')
    },
  )
  const others = make('p', { class: 'acts' }, first, remove)
  others.hidden = profile.default === true
  document.body.classList.add('roomy')
  main.replaceChildren(
    make('p', {}, make('a', { href: '/tenantProfiles' }, 'Tenant profiles')),
    heading,
    make(
      'p',
      {},
      '0, or an empty field, is no limit. A rate is how often in how many seconds, such as 100:1; several, parted by commas, hold together: 100:1,2000:60.',
    ),
    saving,
    others,
  )

  async function makeDefault() {
    const text = 'Tenants that are made without a profile get it from now on. Those that are there keep theirs.'
    const act = async () => (present = asDefault(present, await call('POST', `${path}/default`)))
    if (!(await confirmed(`Make "${present['name']}" the default?`, text, 'Make it the default', act))) return
    others.hidden = true
    heading.focus()
  }
}

/** By what the profile holds: the server tells each limit that there is. @param {Json} configuration @returns {LimitField[]} */
function limitFields(configuration) {
  return Object.entries(configuration).flatMap(
    /** @returns {LimitField[]} */ ([name, value]) => {
      if (name === 'type' || (typeof value === 'object' && value !== null)) return []
      if (typeof value === 'boolean') {
        const box = make('input', { type: 'checkbox', name, checked: value })
        return [{ name, row: make('label', { class: 'tick' }, box, words(name)), value: () => box.checked }]
      }
      const isNumber = typeof value === 'number'
      const made = field(words(name), {
        name,
        autocomplete: 'off',
        ...(isNumber ? { type: 'number', min: '0', step: 'any' } : { placeholder: 'no limit' }),
      })
      made.input.value = value === null || value === undefined ? '' : String(value)
      return [
        { name, row: made.row, value: () => (isNumber ? Number(made.input.value) : textOrNull(made.input.value)) },
      ]
    },
  )
}

/** @param {string} text */
function textOrNull(text) {
  return text.trim() === '' ? null : text.trim()
}
