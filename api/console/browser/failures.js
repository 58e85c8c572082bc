/** Messages that rule chains could not process: those that wait for another try, and those that were given up. */
import { dangerous } from './dialog.js'
import { make, messageOf, shortened, table, tell, timeText } from './dom.js'
import { entityLink } from './entity-link.js'
import { pagedList } from './paged.js'
import { plainName } from './queue-shapes.js'
import { call } from './session.js'

/** @typedef {Record<string, any>} Json */

const LETTERS = 20
const LOOK_MS = 500
const LOOKS = 20

/** @param {import('./pages.js').Place} place */
export async function failuresPage({ main, user }) {
  const isTenant = user.authority === 'TENANT_ADMIN'
  const letters = isTenant ? deadLetters() : undefined
  const parked = parkedLanes(() => letters?.show())
  document.body.classList.add('roomy')
  main.replaceChildren(
    make('h1', {}, 'Failed messages'),
    make('h2', {}, 'Waiting for another try'),
    make(
      'p',
      {},
      'A device whose message fails again and again waits apart, in order, so that the others go on. It is tried again by itself, ever later.',
    ),
    parked.element,
    ...(letters === undefined
      ? []
      : [
          make('h2', {}, 'Given up'),
          make(
            'p',
            {},
            'They failed every try that their queue allows. Mend what the reason says, then send them again: they go through the rule chains once more.',
          ),
          letters.element,
        ]),
  )
  await Promise.all([parked.show(), letters?.show()])
}

/** @param {() => unknown} onGivenUp */
function parkedLanes(onGivenUp) {
  const again = make('button', { type: 'button', click: () => void list.show() }, 'Look again')
  /** @type {Set<string>} */
  const shown = new Set()
  const list = pagedList({
    caption: 'Waiting devices',
    heads: ['Of', 'Queue', 'Messages', 'Why', 'Since', 'Tries', 'Next try', 'Do'],
    cells: (/** @type {Json} */ lane) => {
      const { id, originator, queueName, messages, bytes, reason, since, tries, nextTry } = lane
      shown.add(id)
      return [
        shortLink(originator),
        plainName(queueName),
        `${messages.toLocaleString()} (${bytes.toLocaleString()} bytes)`,
        shortened(reason),
        timeText(since),
        String(tries),
        nextTry === null ? 'now' : timeText(nextTry),
        make('span', { class: 'acts' }, retry(lane), giveUp(lane)),
      ]
    },
    path: '/api/parked',
    asked() {
      shown.clear()
      return {}
    },
    none: 'Nothing waits: every message was processed, or given up.',
  })
  return { element: make('div', {}, list.element, again), show: list.show }

  /** @param {Json} lane */
  function retry({ id, originator }) {
    const click = async () => {
      try {
        await call('POST', `/api/parked/${id}/retry`)
        await list.show()
        tell(list.told, 'It is being tried. "Look again" shows what came of it.')
        again.focus()
      } catch (error) {
        tell(list.told, messageOf(error), true)
      }
    }
    return make('button', { type: 'button', 'aria-label': `Try now: ${originator.id}`, click }, 'Try now')
  }

  /** @param {Json} lane */
  function giveUp({ id, messages, originator }) {
    const act = async () => {
      await call('POST', `/api/parked/${id}/deadLetters`)
      await list.show()
      // It goes a moment after that was said.
      for (let look = 0; look < LOOKS && shown.has(id); look++) {
        await new Promise((done) => setTimeout(done, LOOK_MS))
        await list.show()
      }
      await onGivenUp()
    }
    const question = `Give up ${messages.toLocaleString()} messages`
    const text =
      'They go to those that were given up, from where they can be sent again. What the device sends next is processed at once.'
    return dangerous('Give up', question, act, { of: originator.id, done: () => again.focus(), text })
  }
}

/** They have no number of their own to page by: each page begins behind the one before. */
function deadLetters() {
  const told = make('p', { role: 'status' })
  const list = make('div')
  const first = make('button', { type: 'button', click: () => void show(0) }, 'From the first')
  const next = make('button', { type: 'button', click: () => void show(last) }, 'Next')
  let from = 0
  let last = 0

  /** @param {number} [after] the page that is shown, where it is not given */
  const show = async (after = from) => {
    try {
      const { data, hasNext } = await call('GET', `/api/deadLetters?limit=${LETTERS}&after=${after}`)
      from = after
      last = data.at(-1)?.id ?? after
      const heads = ['When', 'Of', 'Type', 'Why', 'Tries', 'Message', 'Do']
      list.replaceChildren(...(data.length === 0 ? [] : [table('Given up', heads, data.map(cells))]))
      next.hidden = !hasNext
      first.hidden = after === 0
      tell(told, data.length > 0 ? '' : after === 0 ? 'None were given up.' : 'There are no more.')
    } catch (error) {
      tell(told, messageOf(error), true)
    }
  }
  return { element: make('div', {}, told, list, make('p', { class: 'acts' }, first, next)), show }

  /** @param {Json} letter @returns {import('./dom.js').Child[]} */
  function cells({ id, time, reason, attempts, message }) {
    const { originator, type, data, metadata } = message
    const body = make(
      'details',
      {},
      make('summary', {}, data.length > 40 ? `${data.slice(0, 40)} …` : data),
      make('pre', {}, shortened(data)),
      make('pre', {}, shortened(JSON.stringify(metadata, null, 2))),
    )
    const remove = dangerous('Delete', 'Delete the message for ever', () => act('DELETE', id), { of: String(id), done })
    const acts = make('span', { class: 'acts' }, replay(id), remove)
    return [timeText(time), shortLink(originator), type, shortened(reason), String(attempts), body, acts]
  }

  /** @param {number} id */
  function replay(id) {
    const click = async () => {
      try {
        await act('POST', id, '/replay')
        tell(told, 'It was sent again. It comes back here where it fails once more.')
        done()
      } catch (error) {
        tell(told, messageOf(error), true)
      }
    }
    return make('button', { type: 'button', 'aria-label': `Send again: ${id}`, click }, 'Send again')
  }

  /** @param {string} method @param {number} id @param {string} [step] */
  async function act(method, id, step = '') {
    await call(method, `/api/deadLetters/${id}${step}`)
    await show()
  }

  function done() {
    const at = list.querySelector('[role=region]')
    if (at instanceof HTMLElement) at.focus()
  }
}

/** Only their ids are told. @param {{ entityType: string, id: string }} entity */
function shortLink(entity) {
  return entityLink(entity, `${entity.entityType.toLowerCase()} ${entity.id.slice(0, 8)}`, { title: entity.id })
}
