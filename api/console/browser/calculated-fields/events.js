/** What a calculated field notes of its calculations, and the newest of them as they come. */
import { choice, make, messageOf, shortened, tell, timeText } from '../dom.js'
import { entityLink } from '../entity-link.js'
import { NOTED, notedOf } from '../noted.js'
import { pagedList } from '../paged.js'
import { polling } from '../polling.js'

/** @typedef {Record<string, any>} Json */

const LOOK_MS = 3_000

/** @param {Json} record @param {(change: Json) => Promise<void>} save */
export async function fieldEvents({ id, tenantId, debugSettings }, save) {
  const list = pagedList({
    caption: 'Calculations',
    heads: ['When', 'Of', 'From', 'Result'],
    cells: (/** @type {Json} */ { createdTime, body }) => [
      timeText(createdTime),
      entityLink({ entityType: body.entityType, id: body.entityId }, body.entityId.slice(0, 8), {
        title: body.entityId,
      }),
      make('pre', {}, shortened(body.arguments ?? '')),
      body.error
        ? make('span', { class: 'wrong' }, shortened(body.error))
        : make('pre', {}, shortened(body.result ?? 'none')),
    ],
    path: `/api/events/CALCULATED_FIELD/${id.id}/DEBUG_CALCULATED_FIELD`,
    asked: () => ({ tenantId: tenantId.id, sortProperty: 'createdTime', sortOrder: 'DESC' }),
    none: 'Nothing was noted: choose what to note, and send a value.',
  })
  const noted = choice(
    'Note',
    'noted',
    Object.keys(NOTED).map((text) => [text, text]),
    notedOf(debugSettings),
  )
  const told = make('p', { role: 'status' })
  noted.input.addEventListener('change', () => {
    save({ debugSettings: NOTED[noted.input.value] }).then(
      () => tell(told, 'It is noted so from the next value on.'),
      (error) => tell(told, messageOf(error), true),
    )
  })
  await list.show()
  polling(LOOK_MS, list.refresh)
  return make('div', {}, noted.row, told, list.element)
}
