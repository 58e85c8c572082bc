/** One user: the names, whether the user may log in, the link of who was not here yet, and the end. */
import { dangerous } from './dialog.js'
import { field, form, make, messageOf, tell, timeText } from './dom.js'
import { call } from './session.js'
import { AUTHORITIES, activation } from './user-form.js'

/** @typedef {Record<string, any>} Json */

/** @param {import('./pages.js').Place} place */
export async function userPage({ main, id, user: self }) {
  /** @type {Json} */
  let user = await call('GET', `/api/user/${encodeURIComponent(id)}`)
  const isSelf = self.email === user['email']
  const list = listOf(user, self.authority === 'SYS_ADMIN')
  const state = make('p', {})
  const told = make('p', { role: 'status' })
  const acts = make('p', { class: 'acts' })
  const link = make('div', { role: 'status' })
  const first = field('First name', { name: 'firstName', autocomplete: 'off' })
  const last = field('Last name', { name: 'lastName', autocomplete: 'off' })
  const email = field('E-mail', { type: 'email', name: 'email', required: true, autocomplete: 'off' })
  const saving = form('Save', [email.row, first.row, last.row], async () => {
    const names = {
      email: email.input.value.trim(),
      firstName: first.input.value.trim(),
      lastName: last.input.value.trim(),
    }
    await call('POST', '/api/user?sendActivationMail=false', { ...user, ...names })
    await show()
    return 'Saved.'
  })
  const title = make('h1', {}, user['email'])
  main.replaceChildren(
    make('p', {}, make('a', { href: list.href }, list.text)),
    title,
    state,
    acts,
    told,
    link,
    saving,
    ...(isSelf
      ? []
      : [make('h2', {}, 'Delete'), dangerous('Delete the user', () => `Delete ${user['email']} for ever`, remove)]),
  )
  fill()

  async function show() {
    user = await call('GET', `/api/user/${id}`)
    fill()
  }

  function fill() {
    const { userCredentialsEnabled: isEnabled, userActivated: isActivated, lastLoginTs } = user['additionalInfo'] ?? {}
    const authority =
      AUTHORITIES[/** @type {import('./pages.js').Authority} */ (user['authority'])] ?? user['authority']
    const login = lastLoginTs > 0 ? `last logged in ${timeText(lastLoginTs)}` : 'never logged in'
    const may = isEnabled ? 'may log in' : isActivated ? 'may not log in' : 'has not chosen a password yet'
    title.textContent = user['email']
    state.textContent = [authority, may, login].join(' · ')
    email.input.value = user['email']
    first.input.value = user['firstName'] ?? ''
    last.input.value = user['lastName'] ?? ''
    acts.replaceChildren(
      ...(isActivated && !isSelf ? [button(isEnabled ? 'Lock out' : 'Let in again', () => enable(!isEnabled))] : []),
      ...(isActivated
        ? []
        : [
            button('Show the activation link', async () => link.replaceChildren(...(await activation(id)))),
            button('Mail the activation link', mail),
          ]),
    )
  }

  /** @param {string} text @param {() => Promise<unknown>} act */
  function button(text, act) {
    const click = async () => {
      tell(told, '')
      await act().catch((error) => tell(told, messageOf(error), true))
    }
    return make('button', { type: 'button', click }, text)
  }

  /** @param {boolean} isEnabled */
  async function enable(isEnabled) {
    await call('POST', `/api/user/${id}/userCredentialsEnabled?userCredentialsEnabled=${isEnabled}`)
    await show()
    tell(told, isEnabled ? 'The user may log in again.' : 'The user may not log in any more; all sessions have ended.')
    acts.querySelector('button')?.focus()
  }

  async function mail() {
    await call('POST', `/api/user/sendActivationMail?email=${encodeURIComponent(user['email'])}`)
    tell(told, 'A mail is on its way.')
  }

  async function remove() {
    await call('DELETE', `/api/user/${id}`)
    location.assign(list.href)
  }
}

/** Where the user stands in a list. @param {Json} user @param {boolean} isSystem */
function listOf({ authority, customerId, tenantId }, isSystem) {
  if (isSystem) return { href: `/tenants/${tenantId.id}`, text: 'Tenant' }
  if (authority === 'CUSTOMER_USER') return { href: `/customers/${customerId.id}`, text: 'Customer' }
  return { href: '/users', text: 'Users' }
}
