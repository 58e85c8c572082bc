/** Which page this is, by its address. Each page is loaded whole, so that back, reload and focus are the browser's own. */
import { make, messageOf } from './dom.js'
import { forgottenPage, loginPage } from './login.js'
import { showNavigation } from './navigation.js'
import { pageAt } from './pages.js'
import { SessionEnded, borrowTokens, call, onSessionEnd, send, storedTokens } from './session.js'

const main = /** @type {HTMLElement} */ (document.querySelector('main'))
const navigation = /** @type {HTMLElement} */ (document.querySelector('nav'))
const query = new URLSearchParams(location.search)

/** @param {unknown} error */
function show(error) {
  if (error instanceof SessionEnded) return toLogin(true)
  const again = make('button', { type: 'button', click: () => location.reload() }, 'Try again')
  main.replaceChildren(
    make('h1', {}, 'That did not work'),
    make('p', { role: 'alert', class: 'wrong' }, messageOf(error)),
    again,
  )
}

/** @param {boolean} hasEnded */
function toLogin(hasEnded) {
  location.replace(`/login?${hasEnded ? 'ended&' : ''}next=${encodeURIComponent(location.pathname)}`)
}

async function page() {
  if (location.pathname === '/login') return loginPage(main, query)
  if (location.pathname === '/login/resetPasswordRequest') return forgottenPage(main)
  const publicId = query.get('publicId')
  if (publicId !== null) borrowTokens(await send('POST', '/api/auth/login/public', { publicId }))
  if (storedTokens() === undefined) return toLogin(false)
  /** @type {import('./session.js').User} */
  const user = publicId === null ? await call('GET', '/api/auth/user') : anybody(publicId)
  if (publicId === null) {
    showNavigation(navigation, user)
    addEventListener('storage', () => void seeWhoIsThere(user))
  }
  const { path, open } = pageAt(location.pathname, user.authority)
  const id = path.exec(location.pathname)?.[1] ?? ''
  return open({ main, query, user, id, onEnded: show })
}

/** Who reads what is public is no user of the server. @param {string} publicId @returns {import('./session.js').User} */
function anybody(publicId) {
  return { id: { id: '' }, email: '', authority: 'CUSTOMER_USER', customerId: { id: publicId } }
}

/** Another tab logged out, or somebody else in: what this one shows is not for who comes next. @param {import('./session.js').User} user */
async function seeWhoIsThere({ id }) {
  if (storedTokens() === undefined) return toLogin(false)
  // Tokens were renewed in most cases; where it can not be read, the next call says so.
  const now = await call('GET', '/api/auth/user').catch(() => ({ id }))
  if (now.id.id !== id.id) location.reload()
}

onSessionEnd(() => toLogin(true))
// A page that the browser kept for the way back shows what was: its connection is closed, and its user may have logged out.
addEventListener('pageshow', ({ persisted }) => persisted && location.reload())

page()
  .catch(show)
  .finally(() => {
    document.title = `${main.querySelector('h1')?.textContent ?? 'Log in'} - Millrace`
    // Nothing moves any more for what is still on its way.
    main.removeAttribute('aria-busy')
  })
