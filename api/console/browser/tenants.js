/** For the system administrator: tenants, and a new one with its first administrator, which is how an installation without demo data begins. */
import { copyable, field, form, make, timeText } from './dom.js'
import { pagedList, searchField } from './paged.js'
import { call } from './session.js'

/** @param {import('./pages.js').Place} place */
export async function tenantsPage({ main, query }) {
  const search = searchField(query, () => void list.turnTo(1))
  const list = pagedList({
    caption: 'Tenants',
    heads: ['Name', 'Profile', 'Made'],
    cells: (
      /** @type {{ id: { id: string }, title: string, tenantProfileName: string, createdTime: number }} */ tenant,
    ) => [
      make('a', { href: `/tenants/${tenant.id.id}` }, tenant.title),
      tenant.tenantProfileName,
      timeText(tenant.createdTime),
    ],
    path: '/api/tenantInfos',
    asked: () => ({ sortProperty: 'title', sortOrder: 'ASC', ...search.searched('textSearch') }),
    kept: () => search.searched('search'),
    query,
  })
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
      copyable(address, 'the link'),
    )
    await list.show()
    return 'The tenant is there.'
  })
  main.replaceChildren(
    make('h1', {}, 'Tenants'),
    make('p', {}, 'Devices belong to tenants: log in as an administrator of a tenant to see them.'),
    search.row,
    list.element,
    make('details', {}, make('summary', {}, 'Add a tenant'), adding, link),
  )
  await list.show()
}
