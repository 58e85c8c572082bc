/** Which page this is, by its address. Each page is loaded whole, so that back, reload and focus are the browser's own. */
import { accountPage } from './account.js'
import { alarmsPage } from './alarms.js'
import { devicePage } from './device.js'
import { devicesPage } from './devices.js'
import { make, messageOf } from './dom.js'
import { forgottenPage, loginPage } from './login.js'
import { SessionEnded, call, logOut, onSessionEnd, storedTokens } from './session.js'
import { tenantsPage } from './tenants.js'

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
  if (storedTokens() === undefined) return toLogin(false)
  /** @type {import('./session.js').User} */
  const user = await call('GET', '/api/auth/user')
  const isSystem = user.authority === 'SYS_ADMIN'
  const links = {
    ...(isSystem ? { '/tenants': 'Tenants' } : { '/devices': 'Devices', '/alarms': 'Alarms' }),
    ...(user.authority === 'TENANT_ADMIN' ? { '/ruleChains': 'Rule chains' } : {}),
    '/account': 'Account',
  }
  navigation.replaceChildren(
    ...Object.entries(links).map(([href, text]) =>
      make('a', { href, ...(location.pathname === href ? { 'aria-current': 'page' } : {}) }, text),
    ),
    make('span', {}, user.email),
    make(
      'button',
      {
        type: 'button',
        click: () =>
          logOut()
            // The tokens are gone here, whatever the server says; where it was not reached, its session ends by itself.
            .catch(() => undefined)
            .then(() => location.assign('/login')),
      },
      'Log out',
    ),
  )
  // Another tab logged out: what this one shows is not for who comes next.
  addEventListener('storage', () => storedTokens() === undefined && toLogin(false))
  if (location.pathname === '/account') return accountPage(main, user)
  if (isSystem) return tenantsPage(main)
  if (location.pathname === '/alarms') return alarmsPage(main, query)
  const ruleChain = /^\/ruleChains(?:\/([\w-]+))?$/.exec(location.pathname)
  if (ruleChain !== null && user.authority === 'TENANT_ADMIN') {
    // Who opens no rule chain loads none of what draws them.
    if (ruleChain[1] === undefined) return (await import('./rule-chains/list.js')).ruleChainsPage(main, query)
    return (await import('./rule-chains/editor.js')).ruleChainPage(main, ruleChain[1])
  }
  const deviceId = /^\/devices\/([\w-]+)$/.exec(location.pathname)?.[1]
  return deviceId === undefined ? devicesPage(main, query, user) : devicePage(main, deviceId, show)
}

onSessionEnd(() => toLogin(true))
// A page that the browser kept for the way back shows what was: its connection is closed, and its user may have logged out.
addEventListener('pageshow', ({ persisted }) => persisted && location.reload())

page()
  .catch(show)
  .finally(() => (document.title = `${main.querySelector('h1')?.textContent ?? 'Log in'} - Millrace`))
