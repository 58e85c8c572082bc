/** How a live connection of a page is opened, and how the page says that it is one. */
import { messageOf, tell } from './dom.js'
import { liveUrl } from './live.js'
import { SessionEnded, freshToken } from './session.js'

/**
 * What `connected` and `follow` take from a page.
 * @param {HTMLElement} told where it is said @param {(error: unknown) => void} onEnded of the session
 */
export function liveState(told, onEnded) {
  return {
    url: liveUrl(),
    token: freshToken,
    isFinal: (/** @type {unknown} */ error) => error instanceof SessionEnded,
    onState: (/** @type {import('./live.js').State} */ at) => {
      if (at.state === 'live') tell(told, 'Live.')
      else if (at.state === 'waiting')
        tell(told, 'The connection is lost: what is shown may be old. Trying again …', true)
      else if (at.error instanceof SessionEnded) onEnded(at.error)
      else tell(told, `Not live: ${messageOf(at.error)}`, true)
    },
  }
}
