/** The row of pages, with the less used ones in a list that unfolds, and who is logged in. */
import { make } from './dom.js'
import { PAGES } from './pages.js'
import { logOut, onSessionEnd } from './session.js'

/** @param {HTMLElement} navigation @param {import('./session.js').User} user */
export function showNavigation(navigation, { authority, email }) {
  const links = PAGES.filter(({ who }) => who.includes(authority)).flatMap(({ link }) => link ?? [])
  const row = links.filter(({ isSecond }) => isSecond !== true)
  const others = links.filter(({ isSecond }) => isSecond === true)
  const account = row.pop()
  navigation.replaceChildren(
    ...row.map(linkTo),
    ...(others.length === 0 ? [] : [unfolding(others)]),
    make(
      'span',
      { class: 'who' },
      make('span', {}, email),
      ...(account === undefined ? [] : [linkTo(account)]),
      leaving(),
    ),
  )
}

/** @param {import('./pages.js').Link} link */
function linkTo({ href, text }) {
  return make('a', { href, ...(isAt(href) ? { 'aria-current': 'page' } : {}) }, text)
}

/** @param {readonly import('./pages.js').Link[]} links */
function unfolding(links) {
  const here = links.find(({ href }) => isAt(href))
  const summary = make('summary', {}, here === undefined ? 'More' : `More: ${here.text}`)
  const element = make('details', {}, summary, make('div', {}, ...links.map(linkTo)))
  element.addEventListener('keydown', ({ key }) => {
    if (key !== 'Escape' || !element.open) return
    element.open = false
    summary.focus()
  })
  // Whoever goes elsewhere, by pointer or by keyboard, has no list over the page.
  addEventListener('pointerdown', ({ target }) => close(target))
  element.addEventListener('focusout', ({ relatedTarget }) => relatedTarget !== null && close(relatedTarget))
  return element

  /** @param {EventTarget | null} target */
  function close(target) {
    if (!(target instanceof Node && element.contains(target))) element.open = false
  }
}

/** @param {string} href */
function isAt(href) {
  return location.pathname === href
}

function leaving() {
  const click = () => {
    // What the page reads meanwhile may be refused first.
    onSessionEnd(() => undefined)
    return (
      logOut()
        // The tokens are gone here, whatever the server says; where it was not reached, its session ends by itself.
        .catch(() => undefined)
        .then(() => location.assign('/login'))
    )
  }
  return make('button', { type: 'button', click }, 'Log out')
}
