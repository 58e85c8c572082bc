/** The users that an administrator has. */
import { make, timeText } from './dom.js'
import { pagedList, searchField } from './paged.js'
import { AUTHORITIES, nameOf, userAddition } from './user-form.js'

/** @typedef {Record<string, any>} Json */

/** @param {import('./pages.js').Place} place */
export async function usersPage({ main, query }) {
  const search = searchField(query, () => void list.turnTo(1))
  const list = userList('/api/users', query, search)
  main.replaceChildren(
    make('h1', {}, 'Users'),
    make(
      'p',
      {},
      'Administrators see and change everything of this tenant. Users of a customer are added at ',
      make('a', { href: '/customers' }, 'their customer'),
      '.',
    ),
    search.row,
    list.element,
    userAddition({ authority: 'TENANT_ADMIN' }, list.show),
  )
  await list.show()
}

/** @param {string} path of the call @param {URLSearchParams} [query] @param {ReturnType<typeof searchField>} [search] */
export function userList(path, query, search) {
  return pagedList({
    caption: 'Users',
    heads: ['E-mail', 'Name', 'Role', 'Made'],
    cells: (/** @type {Json} */ user) => [
      make('a', { href: `/users/${user.id.id}` }, user.email),
      nameOf(user),
      AUTHORITIES[/** @type {import('./pages.js').Authority} */ (user.authority)] ?? user.authority,
      timeText(user.createdTime),
    ],
    path,
    asked: () => ({ sortProperty: 'email', sortOrder: 'ASC', ...search?.searched('textSearch') }),
    kept: () => search?.searched('search') ?? {},
    ...(query === undefined ? {} : { query }),
  })
}
