/** Keys with which programs call as this user. */
import { dangerous } from './dialog.js'
import { copyable, field, form, make, messageOf, tell, timeText } from './dom.js'
import { pagedList } from './paged.js'
import { call } from './session.js'

/** @typedef {Record<string, any>} Json */

const DAY_MS = 86_400_000
const LIFETIMES = /** @type {const} */ ({ '30 days': 30, '90 days': 90, 'A year': 365, 'No end': 0 })

/** @param {import('./session.js').User} user */
export async function apiKeySettings(user) {
  const list = pagedList({
    caption: 'API keys',
    heads: ['For', 'Made', 'Until', 'State', 'Do'],
    cells: (/** @type {Json} */ key) => cells(key),
    path: `/api/apiKeys/${user.id.id}`,
    asked: () => ({ sortProperty: 'createdTime', sortOrder: 'DESC' }),
  })
  const what = field('What for', { name: 'description', required: true, autocomplete: 'off' })
  const lifetime = make(
    'select',
    { name: 'lifetime' },
    ...Object.keys(LIFETIMES).map((text) => make('option', {}, text)),
  )
  const value = make('div', { role: 'status' })
  const adding = form('Make the key', [what.row, make('label', {}, 'Good for', lifetime)], async () => {
    value.replaceChildren()
    const days = Object.entries(LIFETIMES).find(([name]) => name === lifetime.value)?.[1] ?? 0
    const key = await call('POST', '/api/apiKey', {
      userId: user.id,
      description: what.input.value.trim(),
      enabled: true,
      expirationTime: days === 0 ? 0 : Date.now() + days * DAY_MS,
    })
    value.replaceChildren(
      make('p', {}, 'Keep it now: it is shown this once. Programs send it as the header:'),
      copyable(`X-Authorization: ApiKey ${key.value}`, 'the header'),
    )
    what.input.value = ''
    await list.show()
  })
  const element = make('div', {}, list.element, make('details', {}, make('summary', {}, 'Make a key'), adding, value))
  await list.show()
  return element

  /** @param {Json} key @returns {import('./dom.js').Child[]} */
  function cells({ id, description, createdTime, expirationTime, expired, enabled }) {
    const state = expired ? 'expired' : enabled ? 'good' : 'switched off'
    const change = make(
      'button',
      {
        type: 'button',
        'aria-label': `${enabled ? 'Switch off' : 'Switch on'}: ${description}`,
        click: () => void turn(id.id, !enabled),
      },
      enabled ? 'Switch off' : 'Switch on',
    )
    const remove = dangerous('Delete', `Delete the key for ${description}`, () => removed(id.id), {
      of: description,
      done: list.focus,
    })
    const until = expirationTime > 0 ? timeText(expirationTime) : 'no end'
    return [description, timeText(createdTime), until, state, make('span', { class: 'acts' }, change, remove)]
  }

  /** @param {string} id */
  async function removed(id) {
    await call('DELETE', `/api/apiKey/${id}`)
    await list.show()
  }

  /** @param {string} id @param {boolean} isEnabled */
  async function turn(id, isEnabled) {
    try {
      await call('PUT', `/api/apiKey/${id}/enabled/${isEnabled}`)
      await list.show()
    } catch (error) {
      tell(list.told, messageOf(error), true)
    }
  }
}
