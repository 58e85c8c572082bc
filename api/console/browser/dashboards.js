/** The list of dashboards; for who may: new ones, files of ThingsBoard, who sees them. */
import { emptyConfiguration } from './board.js'
import { field, form, make, messageOf, tell, timeText } from './dom.js'
import { dashboardFile, dashboardOfFile } from './dashboard-file.js'
import { pagedList, searchField } from './paged.js'
import { call } from './session.js'

/** @typedef {Record<string, any>} Json */

const WRITTEN = 'application/json'

/** @param {import('./pages.js').Place} place */
export async function dashboardsPage({ main, query, user }) {
  const mayChange = user.authority === 'TENANT_ADMIN'
  const search = searchField(query, () => void list.turnTo(1))
  const list = pagedList({
    caption: 'Dashboards',
    heads: mayChange ? ['Name', 'Seen by', 'Made', 'Do'] : ['Name', 'Made'],
    cells: (/** @type {Json} */ row) => cells(row),
    path: mayChange ? '/api/tenant/dashboards' : `/api/customer/${user.customerId.id}/dashboards`,
    asked: () => ({ sortProperty: 'title', sortOrder: 'ASC', ...search.searched('textSearch') }),
    kept: () => search.searched('search'),
    query,
  })
  main.replaceChildren(make('h1', {}, 'Dashboards'), search.row, list.element)
  if (mayChange) main.append(addition(), importing(list))
  await list.show()

  /** @param {Json} info @returns {import('./dom.js').Child[]} */
  function cells({ id, title, createdTime, assignedCustomers }) {
    const link = make('a', { href: `/dashboards/${id.id}` }, title)
    if (!mayChange) return [link, timeText(createdTime)]
    const names = (assignedCustomers ?? []).map((/** @type {Json} */ each) =>
      each.public ? 'everybody with the link' : each.title,
    )
    const acts = make(
      'span',
      { class: 'acts' },
      make(
        'button',
        { type: 'button', 'aria-label': `Settings of ${title}`, click: () => void settings(id.id) },
        'Settings',
      ),
      make(
        'button',
        { type: 'button', 'aria-label': `Export ${title}`, click: () => void exported(id.id, list.told) },
        'Export',
      ),
    )
    return [link, names.join(', '), timeText(createdTime), acts]
  }

  /** @param {string} id */
  async function settings(id) {
    try {
      const { dashboardSettings } = await import('./dashboard-settings.js')
      await dashboardSettings(id)
      await list.show()
      search.input.focus()
    } catch (error) {
      tell(list.told, messageOf(error), true)
    }
  }
}

function addition() {
  const title = field('Name', { name: 'title', required: true, autocomplete: 'off' })
  const adding = form('Add the dashboard', [title.row], async () => {
    const made = await call('POST', '/api/dashboard', {
      title: title.input.value.trim(),
      configuration: emptyConfiguration(),
    })
    location.assign(`/dashboards/${made.id.id}`)
  })
  return make('details', {}, make('summary', {}, 'Add a dashboard'), adding)
}

/** @param {{ show: () => Promise<void> }} list */
function importing(list) {
  const file = field('A file as ThingsBoard exports it', {
    type: 'file',
    name: 'file',
    accept: `.json,${WRITTEN}`,
    required: true,
  })
  const adding = form('Import the dashboard', [file.row], async () => {
    const [chosen] = file.input.files ?? []
    if (chosen === undefined) return
    const made = await call('POST', '/api/dashboard', dashboardOfFile(await chosen.text()))
    await list.show()
    file.input.value = ''
    return `"${made.title}" is there.`
  })
  return make('details', {}, make('summary', {}, 'Import a dashboard'), adding)
}

/** @param {string} id @param {HTMLElement} told */
async function exported(id, told) {
  try {
    const dashboard = await call('GET', `/api/dashboard/${id}?includeResources=true`)
    const address = URL.createObjectURL(new Blob([dashboardFile(dashboard)], { type: WRITTEN }))
    const name = `${dashboard.title.toLowerCase().replaceAll(/[^\p{L}\p{N}]+/gu, '_')}.json`
    make('a', { href: address, download: name }).click()
    URL.revokeObjectURL(address)
    tell(told, `"${name}" was written.`)
  } catch (error) {
    tell(told, messageOf(error), true)
  }
}
