/** The own account: another password. */
import { field, form, make } from './dom.js'
import { call, keepTokens } from './session.js'

/** @param {HTMLElement} main @param {import('./session.js').User} user */
export function accountPage(main, user) {
  const name = field('E-mail', { name: 'username', autocomplete: 'username', readonly: true })
  name.input.value = user.email
  const old = password('Present password', 'current-password')
  const chosen = password('New password', 'new-password')
  const again = password('The new one again', 'new-password')
  const rows = [name, old, chosen, again].map(({ row }) => row)
  const change = form('Change the password', rows, async () => {
    if (chosen.input.value !== again.input.value) throw new Error('The new passwords are not the same.')
    const body = { currentPassword: old.input.value, newPassword: chosen.input.value }
    keepTokens(await call('POST', '/api/auth/changePassword', body))
    for (const { input } of [old, chosen, again]) input.value = ''
    return 'The password is changed. You are logged out everywhere else.'
  })
  main.replaceChildren(make('h1', {}, 'Account'), change)
}

/** @param {string} label @param {AutoFill} autocomplete */
function password(label, autocomplete) {
  return field(label, { type: 'password', autocomplete, required: true })
}
