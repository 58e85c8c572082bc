/** The list of devices, a new one, and many from a file. */
import { csvImport } from './csv-import.js'
import { DEVICE_COLUMNS } from './csv-shapes.js'
import { choice, field, form, make, timeText } from './dom.js'
import { profilesOffered, offerWhenUnfolded } from './offered.js'
import { pagedList, searchField } from './paged.js'
import { polling } from './polling.js'
import { call } from './session.js'

/** @typedef {{ id: { id: string }, name: string, label: string | null, type: string, active: boolean, createdTime: number }} DeviceInfo */

/** Whoever watches which devices are active waits no longer. */
const LOOK_MS = 5_000

/** @param {HTMLElement} main @param {URLSearchParams} query @param {import('./session.js').User} user */
export async function devicesPage(main, query, user) {
  const search = searchField(query, () => void list.turnTo(1))
  const owner = user.authority === 'CUSTOMER_USER' ? `/api/customer/${user.customerId.id}` : '/api/tenant'
  const list = pagedList({
    caption: 'Devices',
    heads: ['Name', 'Label', 'Profile', 'State', 'Made'],
    cells,
    path: `${owner}/deviceInfos`,
    asked: () => ({ sortProperty: 'name', sortOrder: 'ASC', ...search.searched('textSearch') }),
    kept: () => search.searched('search'),
    query,
    none:
      user.authority === 'TENANT_ADMIN'
        ? 'There are no devices: "Add a device" makes one, and shows the commands by which it sends.'
        : 'No devices.',
  })
  main.replaceChildren(make('h1', {}, 'Devices'), search.row, list.element)
  if (user.authority === 'TENANT_ADMIN')
    main.append(addition(), csvImport({ one: 'device', offered: DEVICE_COLUMNS, onChange: list.show }))
  await list.show()
  polling(LOOK_MS, list.refresh)
}

/** @param {DeviceInfo} device */
function cells({ id, name, label, type, active, createdTime }) {
  const link = make('a', { href: `/devices/${id.id}` }, name)
  return [link, label ?? '', type, active ? 'active' : 'inactive', timeText(createdTime)]
}

function addition() {
  const name = field('Name', { name: 'name', required: true, autocomplete: 'off' })
  const label = field('Label (optional)', { name: 'label', autocomplete: 'off' })
  const profile = choice('Device profile', 'profile', [['', 'the default one']])
  const hint = make(
    'p',
    {},
    'A profile says how devices of a kind speak, which rule chain gets their messages and when they raise alarms: ',
    make('a', { href: '/profiles' }, 'device profiles'),
    '.',
  )
  const adding = form('Add the device', [name.row, label.row, profile.row, hint], async () => {
    const chosen = profile.input.value
    const made = await call('POST', '/api/device', {
      name: name.input.value.trim(),
      ...(label.input.value.trim() === '' ? {} : { label: label.input.value.trim() }),
      ...(chosen === '' ? {} : { deviceProfileId: { entityType: 'DEVICE_PROFILE', id: chosen } }),
    })
    location.assign(`/devices/${made.id.id}`)
  })
  const element = make('details', {}, make('summary', {}, 'Add a device'), adding)
  offerWhenUnfolded(element, profile.input, profilesOffered)
  return element
}
