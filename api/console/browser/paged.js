/** A list that the server searches and cuts into pages, so that many rows cost no more than a page. The address keeps where one is. */
import { field, make, messageOf, table, tell } from './dom.js'
import { call } from './session.js'

const PAGE_SIZE = 20
const TYPING_MS = 300

/**
 * @template Row
 * @param {object} parts
 * @param {string} parts.caption such as `Devices`
 * @param {readonly string[]} parts.heads
 * @param {(row: Row) => readonly import('./dom.js').Child[]} parts.cells
 * @param {string} parts.path of the call
 * @param {() => Record<string, string>} parts.asked parameters of the call beside those of paging
 * @param {() => Record<string, string>} parts.kept of the choice, in the address of the page
 * @param {URLSearchParams} parts.query of that address
 */
export function pagedList({ caption, heads, cells, path, asked, kept, query }) {
  const list = make('div')
  const told = make('p', { role: 'status' })
  let page = Math.max(Number.parseInt(query.get('page') ?? '1', 10) || 1, 1)
  let turn = 0

  const show = async () => {
    const own = ++turn
    const paging = { pageSize: String(PAGE_SIZE), page: String(page - 1) }
    try {
      const found = await call('GET', `${path}?${new URLSearchParams({ ...paging, ...asked() })}`)
      // An answer that a later one overtook.
      if (own !== turn) return
      history.replaceState(null, '', `${location.pathname}?${new URLSearchParams({ ...kept(), page: String(page) })}`)
      const buttons = make('p', {}, to('Previous', page - 1, page > 1), ' ', to('Next', page + 1, found.hasNext))
      list.replaceChildren(table(caption, heads, found.data.map(cells)), buttons)
      tell(told, countText(caption, found.totalElements, page, found.data.length))
    } catch (error) {
      if (own === turn) tell(told, messageOf(error), true)
    }
  }

  const turnTo = (/** @type {number} */ number) => {
    page = number
    return show()
  }

  /** @param {string} text @param {number} number @param {boolean} isThere */
  function to(text, number, isThere) {
    return make('button', { type: 'button', disabled: !isThere, click: () => void turnTo(number) }, text)
  }

  return { element: make('div', {}, told, list), told, show, turnTo }
}

/** What the server searches by, a moment after the last letter. @param {URLSearchParams} query of the address @param {() => void} onChange */
export function searchField(query, onChange) {
  const { input, row } = field('Search', { type: 'search', name: 'search', autocomplete: 'off' })
  input.value = query.get('search') ?? ''
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let typing
  input.addEventListener('input', () => {
    clearTimeout(typing)
    typing = setTimeout(onChange, TYPING_MS)
  })
  /** @param {string} name of the parameter @returns {Record<string, string>} */
  const searched = (name) => {
    const text = input.value.trim()
    return text === '' ? {} : { [name]: text }
  }
  return { input, row, searched }
}

/** @param {string} caption @param {number} total @param {number} page @param {number} shown */
export function countText(caption, total, page, shown) {
  if (total === 0) return `No ${caption.toLowerCase()}.`
  const first = (page - 1) * PAGE_SIZE + 1
  if (shown === 0) return `This page is behind the last of ${total.toLocaleString()}.`
  return `${first.toLocaleString()} to ${(first + shown - 1).toLocaleString()} of ${total.toLocaleString()}`
}
