/** Who changed what, the newest first. */
import { make, timeText } from './dom.js'
import { pagedList, searchField } from './paged.js'

/** @typedef {Record<string, any>} Json */

const SPANS = /** @type {const} */ ({
  'Last hour': 3_600_000,
  'Last day': 86_400_000,
  'Last 7 days': 604_800_000,
  'Last 30 days': 2_592_000_000,
  All: 0,
})

/** @param {import('./pages.js').Place} place */
export async function auditPage({ main, query }) {
  const search = searchField(query, () => void list.turnTo(1))
  const span = make('select', { name: 'span' }, ...Object.keys(SPANS).map((text) => make('option', {}, text)))
  span.value = Object.hasOwn(SPANS, query.get('span') ?? '') ? (query.get('span') ?? '') : 'Last 7 days'
  const list = pagedList({
    caption: 'Changes',
    heads: ['When', 'User', 'Action', 'Entity', 'Result', 'Address'],
    cells: (/** @type {Json} */ entry) => [
      timeText(entry.createdTime),
      entry.userName,
      entry.actionType.toLowerCase().replaceAll('_', ' '),
      `${entry.entityId.entityType.toLowerCase().replaceAll('_', ' ')} ${entry.entityName ?? ''}`,
      entry.actionStatus === 'SUCCESS' ? 'done' : `failed: ${entry.actionFailureDetails}`,
      entry.clientAddress ?? '',
    ],
    path: '/api/audit/logs',
    asked() {
      const ms = Object.entries(SPANS).find(([name]) => name === span.value)?.[1] ?? 0
      const time = ms === 0 ? {} : { startTime: String(Date.now() - ms) }
      return {
        sortProperty: 'createdTime',
        sortOrder: 'DESC',
        includeClientAddress: 'true',
        ...time,
        ...search.searched('textSearch'),
      }
    },
    kept: () => ({ span: span.value, ...search.searched('search') }),
    query,
  })
  span.addEventListener('change', () => void list.turnTo(1))
  main.replaceChildren(
    make('h1', {}, 'Audit log'),
    make('div', { class: 'choice' }, search.row, make('label', {}, 'Over', span)),
    list.element,
  )
  document.body.classList.add('roomy')
  await list.show()
}
