/** The latest values of an entity, as they are now. */
import { shortened, table, timeText } from './dom.js'
import { call } from './session.js'

/** @param {string} entityType @param {string} id @param {string} none what is said where there are none @returns {Promise<Node | string>} */
export async function latestOf(entityType, id, none) {
  /** @type {Record<string, { ts: number, value: string | null }[]>} */
  const found = await call('GET', `/api/plugins/telemetry/${entityType}/${id}/values/timeseries`)
  const rows = Object.entries(found).map(([key, [point]]) => [
    key,
    shortened(point?.value ?? ''),
    timeText(point?.ts ?? 0),
  ])
  return rows.length === 0 ? none : table('Latest values', ['Key', 'Value', 'Time'], rows)
}
