/** One customer: its users, and the devices, assets and dashboards that they see. */
import { dangerous } from './dialog.js'
import { field, form, make, messageOf, tell } from './dom.js'
import { namedField } from './named-field.js'
import { pagedList } from './paged.js'
import { call } from './session.js'
import { userAddition } from './user-form.js'
import { userList } from './users.js'

/** @typedef {Record<string, any>} Json */

/** @param {import('./pages.js').Place} place */
export async function customerPage({ main, id }) {
  const customer = await call('GET', `/api/customer/${encodeURIComponent(id)}`)
  const isPublic = customer.additionalInfo?.isPublic === true
  const users = userList(`/api/customer/${id}/users`)
  const devices = given({
    caption: 'Devices',
    one: 'device',
    path: `/api/customer/${id}/devices`,
    offer: '/api/tenant/devices',
    sort: 'name',
    page: '/devices',
    give: (each) => call('POST', `/api/customer/${id}/device/${each}`),
    take: (each) => call('DELETE', `/api/customer/device/${each}`),
  })
  const assets = given({
    caption: 'Assets',
    one: 'asset',
    path: `/api/customer/${id}/assets`,
    offer: '/api/tenant/assets',
    sort: 'name',
    page: '/assets',
    give: (each) => call('POST', `/api/customer/${id}/asset/${each}`),
    take: (each) => call('DELETE', `/api/customer/asset/${each}`),
  })
  const dashboards = given({
    caption: 'Dashboards',
    one: 'dashboard',
    path: `/api/customer/${id}/dashboards`,
    offer: '/api/tenant/dashboards',
    sort: 'title',
    page: '/dashboards',
    give: (each) => call('POST', `/api/customer/${id}/dashboard/${each}`),
    take: (each) => call('DELETE', `/api/customer/${id}/dashboard/${each}`),
  })
  const title = field('Name', { name: 'title', required: true, autocomplete: 'off' })
  title.input.value = customer.title
  const heading = make('h1', {}, customer.title)
  let present = customer
  const renaming = form('Rename', [title.row], async () => {
    present = await call('POST', '/api/customer', { ...present, title: title.input.value.trim() })
    heading.textContent = present.title
    return 'Renamed.'
  })
  const remove = dangerous(
    'Delete the customer',
    () => `Delete "${present.title}" with its users for ever`,
    async () => {
      await call('DELETE', `/api/customer/${id}`)
      location.assign('/customers')
    },
  )
  main.replaceChildren(
    make('p', {}, make('a', { href: '/customers' }, 'Customers')),
    heading,
    ...(isPublic
      ? [make('p', {}, 'What is here is seen by everybody who has a link, without a login.')]
      : [
          make('h2', {}, 'Users'),
          users.element,
          userAddition({ authority: 'CUSTOMER_USER', customerId: customer.id }, users.show),
        ]),
    make('h2', {}, 'Devices'),
    devices.element,
    make('h2', {}, 'Assets'),
    assets.element,
    make('h2', {}, 'Dashboards'),
    dashboards.element,
    ...(isPublic ? [] : [make('h2', {}, 'Settings'), renaming, remove]),
  )
  await Promise.all([...(isPublic ? [] : [users.show()]), devices.show(), assets.show(), dashboards.show()])
}

/**
 * What the customer has of one kind, and the way to give it more.
 * @param {object} parts
 * @param {string} parts.caption
 * @param {string} parts.one
 * @param {string} parts.path of those that it has
 * @param {string} parts.offer of those that there are
 * @param {string} parts.sort the member that is its name
 * @param {string} parts.page
 * @param {(id: string) => Promise<unknown>} parts.give
 * @param {(id: string) => Promise<unknown>} parts.take
 */
function given({ caption, one, path, offer, sort, page, give, take }) {
  const list = pagedList({
    caption,
    heads: ['Name', 'Do'],
    cells: (/** @type {Json} */ record) => [
      make('a', { href: `${page}/${record['id'].id}` }, record[sort]),
      taking(record),
    ],
    path,
    asked: () => ({ sortProperty: sort, sortOrder: 'ASC' }),
  })
  const name = namedField({ label: `Name of the ${one}`, name: one, one, path: () => offer, sort })
  const giving = form(`Assign the ${one}`, [name.row, name.options], async () => {
    const found = await name.find()
    await give(found['id'].id)
    await list.show()
    name.input.value = ''
    return `"${found[sort]}" is assigned.`
  })

  /** @param {Json} record */
  function taking(record) {
    const click = async () => {
      try {
        await take(record['id'].id)
        await list.show()
        name.input.focus()
      } catch (error) {
        tell(list.told, messageOf(error), true)
      }
    }
    return make('button', { type: 'button', 'aria-label': `Unassign ${record[sort]}`, click }, 'Unassign')
  }

  return { element: make('div', {}, list.element, giving), show: list.show }
}
