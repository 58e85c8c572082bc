/** The device profiles of the tenant, and a new one. */
import { choice, field, form, make, timeText } from './dom.js'
import { pagedList, searchField } from './paged.js'
import { call } from './session.js'

/** @typedef {Record<string, any>} Json */

export const TRANSPORTS = /** @type {readonly (readonly [string, string])[]} */ ([
  ['DEFAULT', 'any: MQTT, HTTP, CoAP'],
  ['MQTT', 'MQTT, with topics and payload of its own'],
  ['COAP', 'CoAP, with a payload of its own'],
  ['LWM2M', 'LwM2M'],
])

/** @param {import('./pages.js').Place} place */
export async function profilesPage({ main, query }) {
  const search = searchField(query, () => void list.turnTo(1))
  const list = pagedList({
    caption: 'Device profiles',
    heads: ['Name', 'What for', 'Transport', 'Made'],
    cells: (/** @type {Json} */ profile) => {
      const link = make('a', { href: `/profiles/${profile['id'].id}` }, profile['name'])
      const mark = make('strong', { class: 'mark', title: 'Devices made without a profile get it' }, 'default')
      return [
        profile['default'] ? make('span', {}, link, ' ', mark) : link,
        profile['description'] ?? '',
        profile['transportType'] === 'DEFAULT' ? 'any' : profile['transportType'],
        timeText(profile['createdTime']),
      ]
    },
    path: '/api/deviceProfiles',
    asked: () => ({ sortProperty: 'name', sortOrder: 'ASC', ...search.searched('textSearch') }),
    kept: () => search.searched('search'),
    query,
  })
  main.replaceChildren(
    make('h1', {}, 'Device profiles'),
    make(
      'p',
      {},
      'What devices of a kind have in common: how they speak, which rule chain gets their messages, when they raise alarms.',
    ),
    search.row,
    list.element,
    addition(),
  )
  await list.show()
}

function addition() {
  const name = field('Name', { name: 'name', required: true, autocomplete: 'off' })
  const transport = choice('Its devices speak (fixed once it has devices)', 'transport', TRANSPORTS, 'DEFAULT')
  const adding = form('Add the profile', [name.row, transport.row], async () => {
    const made = await call('POST', '/api/deviceProfile', {
      name: name.input.value.trim(),
      type: 'DEFAULT',
      transportType: transport.input.value,
      provisionType: 'DISABLED',
    })
    location.assign(`/profiles/${made.id.id}`)
  })
  return make('details', {}, make('summary', {}, 'Add a device profile'), adding)
}
