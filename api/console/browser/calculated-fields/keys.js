/** Keys that a form of a calculated field offers: those that its entities have. */
import { make } from '../dom.js'
import { call } from '../session.js'
import { memberOf } from './members.js'

/** @typedef {import('./members.js').EntityId} EntityId */
/** @typedef {import('./members.js').Level} Level */
/** `offer` fills it for what is asked last. @typedef {{ element: HTMLDataListElement, offer: () => Promise<void> }} KeyOptions */

const MAX_ENTITIES = 50
let lists = 0

/** @param {EntityId} owner @param {() => Level | undefined} [relation] the entities have this relation to the owner; undefined: they are of the owner @returns {KeyOptions} */
export function keyOptions(owner, relation = () => undefined) {
  const element = make('datalist', { id: `keys-${++lists}` })
  let offered = ''
  return { element, offer }

  async function offer() {
    const level = relation()
    const asked = JSON.stringify(level ?? {})
    if (asked === offered) return
    offered = asked
    // Where none can be read none are offered, and any may be typed.
    const keys = await keysOf(owner, level).catch(() => [])
    if (asked === offered) element.replaceChildren(...keys.map((value) => make('option', { value })))
  }
}

/** @param {EntityId} owner @param {Level | undefined} level @returns {Promise<string[]>} */
async function keysOf(owner, level) {
  const member = await memberOf(owner)
  if (member === undefined) return []
  const entityFilter =
    level === undefined
      ? { type: 'singleEntity', singleEntity: member.entity }
      : {
          ...{ type: 'relationsQuery', rootEntity: member.entity, direction: level.direction, maxLevel: 1 },
          filters: [{ relationType: level.relationType, entityTypes: [] }],
        }
  const pageLink = { pageSize: MAX_ENTITIES, page: 0 }
  const query = { entityFilter, pageLink, entityFields: [], latestValues: [] }
  const found = await call('POST', '/api/entitiesQuery/find/keys?timeseries=true&attributes=true', query)
  return [...new Set([...found.timeseries, ...found.attribute])]
}
