/** Queues of the rule engine: of the system, which all tenants use, and of the tenant. */
import { field, form, make } from './dom.js'
import { pagedList } from './paged.js'
import { NEW_QUEUE, SUBMITS, failureText, isOfSystem, nameOf, qualifiedName, waitingByQueue } from './queue-shapes.js'
import { call } from './session.js'

/** @typedef {Record<string, any>} Json */

const MAX_LANES = 500

/** @param {import('./pages.js').Place} place */
export async function queuesPage({ main, query, user }) {
  const isSystem = user.authority === 'SYS_ADMIN'
  const parked = await call('GET', `/api/parked?pageSize=${MAX_LANES}&page=0`)
  const waiting = waitingByQueue(parked.data)
  const list = pagedList({
    caption: 'Queues',
    heads: ['Name', ...(isSystem ? [] : ['Of']), 'Hands out', 'What fails', 'Waits apart'],
    cells: (/** @type {Json} */ queue) => [
      make('a', { href: `/queues/${queue['id'].id}` }, queue['name']),
      ...(isSystem ? [] : [isOfSystem(queue) ? 'the system' : 'this tenant']),
      nameOf(SUBMITS, queue['submitStrategy'].type),
      failureText(queue['processingStrategy']),
      waitingText(waiting.get(qualifiedName(queue)), parked.hasNext),
    ],
    path: '/api/queues',
    asked: () => ({ serviceType: 'TB_RULE_ENGINE', sortProperty: 'name', sortOrder: 'ASC' }),
    query,
  })
  document.body.classList.add('roomy')
  main.replaceChildren(
    make('h1', {}, 'Queues'),
    make(
      'p',
      {},
      'A queue says how many messages are in process at once, and what becomes of those that fail. Devices use the one that their profile names, else Main.',
    ),
    list.element,
    make('p', {}, make('a', { href: '/failures' }, 'What waits for another try or was given up')),
    addition(isSystem),
  )
  await list.show()
}

/** @param {boolean} isSystem */
function addition(isSystem) {
  const name = field('Name', {
    name: 'name',
    required: true,
    autocomplete: 'off',
    pattern: '[a-zA-Z0-9._\\-]+',
    title: 'letters, digits, dots, hyphens and underscores',
  })
  const about = isSystem ? 'All tenants may use it.' : 'Nobody but this tenant sees it.'
  const adding = form('Add the queue', [name.row, make('p', {}, `${about} The name stays.`)], async () => {
    const made = await call('POST', '/api/queues?serviceType=TB_RULE_ENGINE', {
      ...NEW_QUEUE,
      name: name.input.value.trim(),
    })
    location.assign(`/queues/${made.id.id}`)
  })
  return make('details', {}, make('summary', {}, 'Add a queue'), adding)
}

/** @param {{ lanes: number, messages: number } | undefined} found @param {boolean} isCut */
function waitingText(found, isCut) {
  const least = isCut ? 'at least ' : ''
  if (found === undefined) return isCut ? 'not known' : 'nothing'
  const { messages, lanes } = found
  return make('a', { href: '/failures' }, `${least}${messages.toLocaleString()} messages of ${lanes.toLocaleString()}`)
}
