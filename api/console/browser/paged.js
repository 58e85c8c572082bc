/** A list that the server searches and cuts into pages, so that many rows cost no more than a page. The address keeps where one is. */
import { field, make, messageOf, table, tell } from './dom.js'
import { call } from './session.js'

const PAGE_SIZE = 20
const TYPING_MS = 300

/** As the server answers it. @typedef {{ data: any[], totalElements: number, hasNext: boolean }} Page */

/**
 * @template Row
 * @param {object} parts
 * @param {string} parts.caption such as `Devices`
 * @param {readonly string[]} parts.heads
 * @param {(row: Row) => readonly import('./dom.js').Child[]} parts.cells
 * @param {string} [parts.path] of the call
 * @param {() => Record<string, string>} [parts.asked] parameters of the call beside those of paging
 * @param {(page: number, pageSize: number) => Promise<Page>} [parts.read] in place of a call; the first page is 0
 * @param {() => Record<string, string>} [parts.kept] of the choice, in the address of the page
 * @param {URLSearchParams} [parts.query] of that address; without one the list is one of several on its page, and the address says nothing of it
 * @param {string} [parts.none] what is said where there are none, and how to begin
 */
export function pagedList({ caption, heads, cells, path, asked = () => ({}), read, kept = () => ({}), query, none }) {
  const list = make('div')
  const told = make('p', { role: 'status' })
  const isInAddress = query !== undefined
  let page = Math.max(Number.parseInt(query?.get('page') ?? '1', 10) || 1, 1)
  let turn = 0

  let shown = ''

  /** @param {boolean} isSoftly what did not change is left alone: somebody may be about to press a button in it */
  const look = async (isSoftly) => {
    const own = ++turn
    // Nobody asked for it: what was said already is not read out again.
    const say = (/** @type {string} */ text, isWrong = false) => {
      if (!isSoftly || told.textContent !== text) tell(told, text, isWrong)
    }
    try {
      const found = await (read ?? called)(page - 1, PAGE_SIZE)
      // An answer that a later one overtook.
      if (own !== turn) return
      const now = JSON.stringify([page, found])
      if (isSoftly && now === shown) return
      shown = now
      if (isInAddress)
        history.replaceState(null, '', `${location.pathname}?${new URLSearchParams({ ...kept(), page: String(page) })}`)
      const isOne = page === 1 && !found.hasNext
      const focused = focusIn(list)
      const left = regionIn(list)?.scrollLeft ?? 0
      list.replaceChildren(
        ...(found.totalElements === 0 ? [] : [table(caption, heads, found.data.map(cells))]),
        ...(isOne ? [] : [make('p', {}, to('Previous', page - 1, page > 1), ' ', to('Next', page + 1, found.hasNext))]),
      )
      const isSearched = Object.keys(kept()).length > 0
      const isEmpty = found.totalElements === 0 && !isSearched && none !== undefined
      say(isEmpty ? none : countText(caption, found.totalElements, page, found.data.length))
      const region = regionIn(list)
      if (focused !== undefined) focusOn(list, focused, isSoftly)
      if (region !== null) region.scrollLeft = left
    } catch (error) {
      if (own !== turn) return
      shown = ''
      say(messageOf(error), true)
    }
  }
  const show = () => look(false)

  /** @param {number} number @param {number} size @returns {Promise<Page>} */
  function called(number, size) {
    const paging = { pageSize: String(size), page: String(number) }
    return call('GET', `${path}?${new URLSearchParams({ ...paging, ...asked() })}`)
  }

  const turnTo = (/** @type {number} */ number) => {
    page = number
    return show()
  }

  /** @param {string} text @param {number} number @param {boolean} isThere */
  function to(text, number, isThere) {
    return make('button', { type: 'button', disabled: !isThere, click: () => void turnTo(number) }, text)
  }

  /** Where a button is gone with its row, the focus stays at the list. */
  const focus = () => focusOn(list, '')

  return { element: make('div', {}, told, list), told, show, refresh: () => look(true), turnTo, focus }
}

/** A page of what was read whole, as the server would cut it. @param {readonly unknown[]} all @param {number} page @param {number} pageSize @returns {Page} */
export function pageOf(all, page, pageSize) {
  const end = (page + 1) * pageSize
  return { data: all.slice(end - pageSize, end), totalElements: all.length, hasNext: end < all.length }
}

/** The name of what has the focus in there; undefined where nothing has. @param {HTMLElement} list */
function focusIn(list) {
  const at = document.activeElement
  return at !== null && list.contains(at) ? nameOf(at) : undefined
}

/** What has that name now, or else the table. @param {HTMLElement} list @param {string} name @param {boolean} [preventScroll] who scrolled away from it stays where they are */
function focusOn(list, name, preventScroll = false) {
  const same = [...list.querySelectorAll('a, button:not([disabled])')].find((each) => nameOf(each) === name)
  const at = same ?? regionIn(list)
  if (at instanceof HTMLElement) at.focus({ preventScroll })
}

/** The table, which scrolls by itself. @param {HTMLElement} list */
function regionIn(list) {
  return list.querySelector('[role=region]')
}

/** @param {Element} element */
function nameOf(element) {
  return element.getAttribute('aria-label') ?? element.textContent ?? ''
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
