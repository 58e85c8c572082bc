/** For the system administrator: tenants, and a new one with its first administrator, which is how an installation without demo data begins. */
import { field, form, make, table, timeText } from './dom.js'
import { call } from './session.js'

const MOST_SHOWN = 100

/** @param {HTMLElement} main */
export async function tenantsPage(main) {
  const list = make('div')
  const show = async () => {
    const found = await call('GET', `/api/tenants?pageSize=${MOST_SHOWN}&page=0&sortProperty=title&sortOrder=ASC`)
    const rows = found.data.map((/** @type {{ id: { id: string }, title: string, createdTime: number }} */ tenant) => [
      make('a', { href: `/tenants/${tenant.id.id}` }, tenant.title),
      timeText(tenant.createdTime),
    ])
    const more = found.hasNext ? [make('p', {}, `The first ${MOST_SHOWN} of ${found.totalElements}.`)] : []
    list.replaceChildren(table('Tenants', ['Name', 'Made'], rows), ...more)
  }
  const title = field('Name of the tenant', { name: 'title', required: true, autocomplete: 'off' })
  const email = field('E-mail of its administrator', {
    type: 'email',
    name: 'email',
    required: true,
    autocomplete: 'off',
  })
  const link = make('div', { role: 'status' })
  const adding = form('Add the tenant', [title.row, email.row], async () => {
    link.replaceChildren()
    const tenant = await call('POST', '/api/tenant', { title: title.input.value.trim() })
    const administrator = { email: email.input.value.trim(), authority: 'TENANT_ADMIN', tenantId: tenant.id }
    /** @type {{ id: { id: string } }} */
    let user
    try {
      user = await call('POST', '/api/user?sendActivationMail=false', administrator)
    } catch (error) {
      // Else the tenant would stand there without anybody, and its name again at the next try.
      await call('DELETE', `/api/tenant/${tenant.id.id}`)
      throw error
    }
    const address = await call('GET', `/api/user/${user.id.id}/activationLink`)
    link.replaceChildren(
      make('p', {}, 'Send this link to the administrator, who chooses a password there:'),
      make('pre', {}, address),
    )
    await show()
    return 'The tenant is there.'
  })
  main.replaceChildren(
    make('h1', {}, 'Tenants'),
    make('p', {}, 'Devices belong to tenants: log in as an administrator of a tenant to see them.'),
    list,
    make('details', {}, make('summary', {}, 'Add a tenant'), adding, link),
  )
  await show()
}
