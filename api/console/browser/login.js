/** Log-in with its second factor, and the way out for who forgot the password. */
import { field, form, make } from './dom.js'
import { isPage } from './pages.js'
import { Refused, borrowTokens, keepTokens, send } from './session.js'

const PASSWORD_EXPIRED = 15

/** @param {HTMLElement} main @param {URLSearchParams} query */
export function loginPage(main, query) {
  const email = field('E-mail', { type: 'email', name: 'username', autocomplete: 'username', required: true })
  const password = field('Password', {
    type: 'password',
    name: 'password',
    autocomplete: 'current-password',
    required: true,
  })
  const login = async () => {
    const answer = await send('POST', '/api/auth/login', {
      username: email.input.value,
      password: password.input.value,
    }).catch(chooseAnother)
    if (answer.scope === undefined) return enter(answer, query)
    if (answer.scope !== 'PRE_VERIFICATION_TOKEN') return setUpFirst(main, answer.token)
    await secondFactor(main, answer.token, query)
  }
  main.replaceChildren(
    make('h1', {}, 'Log in'),
    ...(query.has('ended') ? [make('p', { role: 'status' }, 'Your session has ended. Log in again.')] : []),
    form('Log in', [email.row, password.row], login),
    make('p', {}, make('a', { href: '/login/resetPasswordRequest' }, 'Forgot your password?')),
  )
  email.input.focus()
}

/** @param {HTMLElement} main */
export function forgottenPage(main) {
  const email = field('E-mail', { type: 'email', name: 'email', autocomplete: 'username', required: true })
  main.replaceChildren(
    make('h1', {}, 'Forgotten password'),
    make('p', {}, 'You get a mail with a link to a page where you choose another.'),
    form('Send the mail', [email.row], async () => {
      await send('POST', '/api/noauth/resetPasswordByEmail', { email: email.input.value })
      return 'If there is an account with this address, a mail is on its way. None came? Ask your administrator: this server may have no mail set up.'
    }),
    make('p', {}, make('a', { href: '/login' }, 'Back to the login')),
  )
  email.input.focus()
}

/** Who must have a second factor and has none. @param {HTMLElement} main @param {string} token good for that alone */
async function setUpFirst(main, token) {
  borrowTokens({ token, refreshToken: '' })
  const { secondFactorSettings } = await import('./second-factor.js')
  main.replaceChildren(
    make('h1', {}, 'Second factor'),
    make('p', {}, 'This server wants you to have one. Set one up, then log in with it.'),
    await secondFactorSettings(),
    make('p', {}, make('a', { href: '/login' }, 'Back to the login')),
  )
}

/** Who gave the right password, which is too old, goes on to choose another. @param {unknown} error */
function chooseAnother(error) {
  if (!(error instanceof Refused) || error.body['errorCode'] !== PASSWORD_EXPIRED) throw error
  location.assign(`/login/resetPassword?resetToken=${encodeURIComponent(String(error.body['resetToken']))}`)
  throw new Error('Your password is too old: choose another.')
}

/** @param {HTMLElement} main @param {string} token @param {URLSearchParams} query */
async function secondFactor(main, token, query) {
  /** @type {{ type: string, default: boolean, contact: string | null }[]} */
  const providers = await send('GET', '/api/auth/2fa/providers', undefined, token)
  const choice = make('select', { name: 'provider' }, ...providers.map(({ type }) => make('option', {}, type)))
  choice.value = (providers.find((provider) => provider.default) ?? providers[0])?.type ?? ''
  const code = field('Code', { name: 'code', autocomplete: 'one-time-code', required: true })
  const path = (/** @type {string} */ step) =>
    `/api/auth/2fa/verification/${step}?providerType=${encodeURIComponent(choice.value)}`
  const sending = form('Send me a code', [], async () => {
    await send('POST', path('send'), undefined, token)
    return 'A code is on its way.'
  })
  const showSending = () => (sending.hidden = !['SMS', 'EMAIL'].includes(choice.value))
  choice.addEventListener('change', showSending)
  showSending()
  main.replaceChildren(
    make('h1', {}, 'Second factor'),
    make('label', {}, 'By', choice),
    sending,
    form('Go on', [code.row], async () => {
      const check = `${path('check')}&verificationCode=${encodeURIComponent(code.input.value.trim())}`
      enter(await send('POST', check, undefined, token), query)
    }),
  )
  code.input.focus()
}

/** @param {{ token: string, refreshToken: string }} tokens @param {URLSearchParams} query */
function enter(tokens, query) {
  keepTokens(tokens)
  location.assign(pathAfterLogin(query.get('next')))
}

/** Only to pages of ours: whoever made the link to the login may have written anything there. @param {string | null} next */
export function pathAfterLogin(next) {
  return next !== null && isPage(next) ? next : '/devices'
}
