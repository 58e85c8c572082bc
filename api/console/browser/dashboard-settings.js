/** Name of a dashboard, who sees it, and its end. */
import { dangerous, dialog } from './dialog.js'
import { field, form, make } from './dom.js'
import { call } from './session.js'

/** @typedef {Record<string, any>} Json */

const MAX_CUSTOMERS = 1_000

/** Resolves when it is closed. @param {string} id */
export async function dashboardSettings(id) {
  let dashboard = await call('GET', `/api/dashboard/${id}`)
  const found = await call('GET', `/api/customers?pageSize=${MAX_CUSTOMERS}&page=0&sortProperty=title&sortOrder=ASC`)
  /** @type {Json[]} */
  const customers = found.data.filter((/** @type {Json} */ { additionalInfo }) => additionalInfo?.isPublic !== true)
  /** @returns {string[]} */
  const assigned = () => (dashboard.assignedCustomers ?? []).map((/** @type {Json} */ each) => each.customerId.id)
  const publicOne = () => (dashboard.assignedCustomers ?? []).find((/** @type {Json} */ each) => each.public)

  const title = field('Name', { name: 'title', required: true, autocomplete: 'off' })
  title.input.value = dashboard.title
  const renaming = form('Rename', [title.row], async () => {
    dashboard = await call('POST', '/api/dashboard', { ...dashboard, title: title.input.value.trim() })
    return 'Renamed.'
  })

  const before = new Set(assigned())
  const ticks = customers.map(({ id: { id: customerId }, title: name }) => {
    const box = make('input', { type: 'checkbox', value: customerId, checked: before.has(customerId) })
    return { box, row: make('label', { class: 'tick' }, box, name) }
  })
  const seeing = form(
    'Assign to these customers',
    ticks.map(({ row }) => row),
    async () => {
      const wanted = ticks.filter(({ box }) => box.checked).map(({ box }) => box.value)
      const offered = ticks.map(({ box }) => box.value)
      dashboard = await call('POST', `/api/dashboard/${id}/customers`, assignedThen(assigned(), offered, wanted))
      return wanted.length === 0 ? 'No customer sees it.' : `${wanted.length} customers see it.`
    },
  )

  const link = make('div')
  const showLink = () => {
    const everybody = publicOne()
    open.textContent = everybody === undefined ? 'Make it public' : 'End that it is public'
    if (everybody === undefined) return link.replaceChildren('Only who logs in sees it.')
    const address = `${location.origin}/dashboards/${id}?publicId=${everybody.customerId.id}`
    link.replaceChildren(
      make('p', {}, 'Everybody who has this link sees it, without a login:'),
      make('pre', {}, address),
      make('p', {}, 'They see values of devices that are public too: make those public on their own.'),
    )
  }
  const opening = form('Make it public', [], async () => {
    dashboard = await call(publicOne() === undefined ? 'POST' : 'DELETE', `/api/customer/public/dashboard/${id}`)
    showLink()
  })
  const open = /** @type {HTMLButtonElement} */ (opening.querySelector('button'))
  showLink()

  const remove = dangerous(
    'Delete the dashboard',
    () => `Delete "${dashboard.title}" for ever`,
    async () => {
      await call('DELETE', `/api/dashboard/${id}`)
      close()
    },
  )
  const { element, close } = dialog(`Settings of ${dashboard.title}`, [
    renaming,
    make('h3', {}, 'Customers'),
    customers.length === 0 ? make('p', {}, 'There are no customers yet.') : seeing,
    make('h3', {}, 'Everybody'),
    link,
    opening,
    make('h3', {}, 'Delete'),
    remove,
    make('p', {}, make('button', { type: 'button', click: () => close() }, 'Close')),
  ])
  /** @type {Promise<void>} */
  const closed = new Promise((resolve) => element.addEventListener('close', () => resolve()))
  return closed
}

/**
 * Who sees it once it is saved: who is ticked, and who sees it already and is not offered: everybody, and customers beyond those that are read.
 * @param {readonly string[]} assigned @param {readonly string[]} offered @param {readonly string[]} ticked
 */
export function assignedThen(assigned, offered, ticked) {
  const asked = new Set(offered)
  return [...ticked, ...assigned.filter((id) => !asked.has(id))]
}
