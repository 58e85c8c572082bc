/** The list of devices: searched and paged by the server, so that a fleet costs no more than a page. */
import { field, form, make, messageOf, table, tell, timeText } from './dom.js'
import { call } from './session.js'

const PAGE_SIZE = 20
const TYPING_MS = 300

/** @typedef {{ id: { id: string }, name: string, label: string | null, type: string, active: boolean, createdTime: number }} DeviceInfo */

/** @param {HTMLElement} main @param {URLSearchParams} query @param {import('./session.js').User} user */
export async function devicesPage(main, query, user) {
  const search = field('Search', { type: 'search', name: 'search', autocomplete: 'off' })
  search.input.value = query.get('search') ?? ''
  const list = make('div')
  const told = make('p', { role: 'status' })
  let page = Math.max(Number.parseInt(query.get('page') ?? '1', 10) || 1, 1)
  let asked = 0
  const owner = user.authority === 'CUSTOMER_USER' ? `/api/customer/${user.customerId.id}` : '/api/tenant'

  const show = async () => {
    const turn = ++asked
    const text = search.input.value.trim()
    const parameters = new URLSearchParams({
      pageSize: String(PAGE_SIZE),
      page: String(page - 1),
      sortProperty: 'name',
      sortOrder: 'ASC',
      ...(text === '' ? {} : { textSearch: text }),
    })
    try {
      const found = await call('GET', `${owner}/deviceInfos?${parameters}`)
      // An answer that a later one overtook.
      if (turn !== asked) return
      const address = new URLSearchParams({ ...(text === '' ? {} : { search: text }), page: String(page) })
      history.replaceState(null, '', `/devices?${address}`)
      list.replaceChildren(
        table('Devices', ['Name', 'Label', 'Profile', 'State', 'Made'], found.data.map(row)),
        paging(),
      )
      tell(told, countText(found.totalElements, page, found.data.length))

      function paging() {
        const turnTo = (/** @type {string} */ text, /** @type {number} */ to, /** @type {boolean} */ isThere) =>
          make('button', { type: 'button', disabled: !isThere, click: () => ((page = to), show()) }, text)
        return make('p', {}, turnTo('Previous', page - 1, page > 1), ' ', turnTo('Next', page + 1, found.hasNext))
      }
    } catch (error) {
      if (turn === asked) tell(told, messageOf(error), true)
    }
  }

  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let typing
  search.input.addEventListener('input', () => {
    clearTimeout(typing)
    typing = setTimeout(() => ((page = 1), void show()), TYPING_MS)
  })
  main.replaceChildren(make('h1', {}, 'Devices'), search.row, told, list)
  if (user.authority === 'TENANT_ADMIN') main.append(addition())
  await show()
}

/** @param {DeviceInfo} device */
function row({ id, name, label, type, active, createdTime }) {
  const link = make('a', { href: `/devices/${id.id}` }, name)
  return [link, label ?? '', type, active ? 'active' : 'inactive', timeText(createdTime)]
}

/** @param {number} total @param {number} page @param {number} shown */
export function countText(total, page, shown) {
  if (total === 0) return 'No devices.'
  const first = (page - 1) * PAGE_SIZE + 1
  if (shown === 0) return `This page is behind the last of ${total.toLocaleString()} devices.`
  return `${first.toLocaleString()} to ${(first + shown - 1).toLocaleString()} of ${total.toLocaleString()}`
}

function addition() {
  const name = field('Name', { name: 'name', required: true, autocomplete: 'off' })
  const adding = form('Add the device', [name.row], async () => {
    const made = await call('POST', '/api/device', { name: name.input.value.trim() })
    location.assign(`/devices/${made.id.id}`)
  })
  return make('details', {}, make('summary', {}, 'Add a device'), adding)
}
