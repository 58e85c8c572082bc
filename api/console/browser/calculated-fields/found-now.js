/** What a form finds with what is in it now: asked for by a button, so that nothing is read that nobody wants. */
import { make, messageOf, tell } from '../dom.js'
import { entityLink } from '../entity-link.js'
import { memberOf } from './members.js'

/** @typedef {import('./members.js').Named} Named */
/** `note`: what is to be said of it. @typedef {Named & { note?: string }} Found */

export const MAX_SHOWN = 20

/** @param {import('./members.js').EntityId} owner @param {readonly [one: string, many: string]} what @param {(from: import('./members.js').EntityId) => Promise<readonly Found[]>} find */
export function foundNow(owner, what, find) {
  const told = make('p', { role: 'status' })
  const list = make('ul', { hidden: true })
  const button = make('button', { type: 'button', click: () => void look() }, 'See what it finds now')
  return make('div', { class: 'found' }, button, told, list)

  async function look() {
    button.disabled = true
    list.hidden = true
    tell(told, '')
    try {
      const from = await memberOf(owner)
      if (from === undefined) return tell(told, 'Nothing has this profile yet: there is nobody to look from.')
      const found = await find(from.entity)
      const seenFrom = from.name === '' ? '' : `, seen from ${from.name}`
      tell(told, textOf(found.length, what) + seenFrom + (found.length === 0 ? '.' : ':'))
      list.replaceChildren(
        ...found.slice(0, MAX_SHOWN).map(({ entity, name, note }) => line(entityLink(entity, name), note)),
      )
      if (found.length > MAX_SHOWN) list.append(make('li', {}, '…'))
      list.hidden = found.length === 0
    } catch (error) {
      tell(told, messageOf(error), true)
    } finally {
      button.disabled = false
    }
  }
}

/** @param {Node} link @param {string | undefined} note */
function line(link, note) {
  return make('li', {}, link, ...(note === undefined ? [] : [make('span', { class: 'wrong' }, ` (${note})`)]))
}

/** @param {number} count @param {readonly [one: string, many: string]} what */
function textOf(count, [one, many]) {
  return count === 0 ? `No ${many}` : `${count.toLocaleString()} ${count === 1 ? one : many}`
}
