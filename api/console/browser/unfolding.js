/** A part of a page that is read when somebody unfolds it. */
import { make, messageOf } from './dom.js'
import { Refused } from './session.js'

/** Asked for when it is opened. @param {string} title @param {() => Promise<Node | string>} content */
export function unfolding(title, content) {
  const inside = make('div')
  const element = make('details', {}, make('summary', {}, title), inside)
  element.addEventListener('toggle', () => {
    if (!element.open) return
    inside.replaceChildren(make('p', { role: 'status' }, 'Loading …'))
    content().then(
      (node) => inside.replaceChildren(node),
      (error) => inside.replaceChildren(make('p', { role: 'alert', class: 'wrong' }, reasonOf(error))),
    )
  })
  return element
}

/** @param {unknown} error */
function reasonOf(error) {
  return error instanceof Refused && error.status === 403 ? 'You may not see this.' : messageOf(error)
}
