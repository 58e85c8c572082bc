/** The own account: names, another password, a second factor, keys for programs. */
import { field, form, make } from './dom.js'
import { call, keepTokens } from './session.js'

/** @typedef {Record<string, any>} Json */

const LANGUAGES = /** @type {Readonly<Record<string, string>>} */ ({
  en_US: 'English',
  de_DE: 'Deutsch',
  es_ES: 'Español',
  fr_FR: 'Français',
  it_IT: 'Italiano',
  ja_JP: '日本語',
  ko_KR: '한국어',
  pt_BR: 'Português',
  zh_CN: '中文',
})

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
  main.replaceChildren(
    make('h1', {}, 'Account'),
    ...(user.authority === 'CUSTOMER_USER'
      ? []
      : [make('p', {}, make('a', { href: '/audit' }, 'Audit log'), ': who changed what')]),
    make('h2', {}, 'You'),
    profile(user),
    make('h2', {}, 'Password'),
    change,
    make('h2', {}, 'Second factor'),
    later(async () => (await import('./second-factor.js')).secondFactorSettings()),
    make('h2', {}, 'API keys'),
    later(async () => (await import('./api-keys.js')).apiKeySettings(user)),
  )
}

/** @param {string} label @param {AutoFill} autocomplete */
function password(label, autocomplete) {
  return field(label, { type: 'password', autocomplete, required: true })
}

/** @param {import('./session.js').User & Json} user */
function profile(user) {
  const first = field('First name', { name: 'firstName', autocomplete: 'given-name' })
  const last = field('Last name', { name: 'lastName', autocomplete: 'family-name' })
  first.input.value = user['firstName'] ?? ''
  last.input.value = user['lastName'] ?? ''
  const known = user['additionalInfo']?.lang
  const offered = {
    ...(typeof known === 'string' && known !== '' ? { [known]: LANGUAGES[known] ?? known } : {}),
    ...LANGUAGES,
  }
  const language = make(
    'select',
    { name: 'lang' },
    ...Object.entries(offered).map(([value, text]) => make('option', { value }, text)),
  )
  if (typeof known === 'string' && known !== '') language.value = known
  const row = make('label', {}, 'Language (for clients that have several: these pages are English)', language)
  return form('Save', [first.row, last.row, row], async () => {
    const present = await call('GET', `/api/user/${user.id.id}`)
    const names = { firstName: first.input.value.trim(), lastName: last.input.value.trim() }
    const additionalInfo = { ...present.additionalInfo, lang: language.value }
    await call('POST', '/api/user?sendActivationMail=false', { ...present, ...names, additionalInfo })
    return 'Saved.'
  })
}

/** What comes a moment after the rest. @param {() => Promise<Node>} content */
function later(content) {
  const inside = make('div', {}, 'Loading …')
  content().then(
    (node) => inside.replaceChildren(node),
    (error) =>
      inside.replaceChildren(
        make('p', { role: 'alert', class: 'wrong' }, error instanceof Error ? error.message : String(error)),
      ),
  )
  return inside
}
