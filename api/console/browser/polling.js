/** Reading again and again while somebody looks: one reading at a time, and none for a page that nobody uses any more. */
import { make } from './dom.js'

/** So long after the last key or movement a page stands still: else one that was left open would keep its session for ever. */
export const IDLE_MS = 3_600_000
const MOVES = ['pointermove', 'pointerdown', 'keydown', 'wheel', 'touchstart']

/**
 * The next reading begins `everyMs` after the one before has ended: a slow server is not asked twice at once.
 * @param {number} everyMs @param {() => Promise<unknown>} read says itself what went wrong
 * @param {Surroundings} [around]
 * @returns {{ stop: () => void }}
 */
export function polling(everyMs, read, around = ofPage()) {
  let isStopped = false
  const next = () => void around.later(() => void look(), everyMs)
  const look = async () => {
    if (isStopped) return
    if (around.mayRead()) await read().catch(() => undefined)
    if (!isStopped) next()
  }
  next()
  const stop = () => (isStopped = true)
  around.atEnd(stop)
  return { stop }
}

/**
 * For a part of a page: not while it is folded up, and no more once it was taken out of the page.
 * @param {Part} part @param {number} everyMs @param {() => Promise<unknown>} read
 * @param {Surroundings} [around]
 */
export function pollingIn(part, everyMs, read, around) {
  const look = async () => {
    if (!part.isConnected) poll.stop()
    else if (part.checkVisibility()) await read()
  }
  const poll = polling(everyMs, look, around)
}

/** As much of an element as is used. @typedef {{ readonly isConnected: boolean, checkVisibility(): boolean }} Part */
/** @typedef {{ later: (act: () => void, afterMs: number) => unknown, mayRead: () => boolean, atEnd: (act: () => void) => void }} Surroundings */

/** @type {Surroundings | undefined} */
let page

/** One for all polls of a page, which says that it stands still. @returns {Surroundings} */
function ofPage() {
  page ??= surroundings()
  return page
}

/** @returns {Surroundings} */
function surroundings() {
  let usedAt = performance.now()
  const told = make('p', { role: 'status', class: 'still', hidden: true })
  document.querySelector('main')?.before(told)
  for (const move of MOVES)
    addEventListener(
      move,
      () => {
        usedAt = performance.now()
        told.hidden = true
      },
      { passive: true, capture: true },
    )
  return {
    later: (act, afterMs) => setTimeout(act, afterMs),
    mayRead() {
      const isIdle = performance.now() - usedAt > IDLE_MS
      if (isIdle && told.hidden) {
        told.hidden = false
        told.textContent =
          'Nobody used this page for an hour: its figures stand still. Move the pointer or press a key to go on.'
      }
      return !isIdle && !document.hidden
    },
    atEnd: (act) => addEventListener('pagehide', act),
  }
}
