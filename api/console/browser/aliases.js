/** Of which entities a widget tells: aliases and filters of a dashboard, as the server is asked for them. Knows no page. */
import { objectOf, textOf } from './board.js'

/** @typedef {Record<string, any>} Json */
/** The entity that was chosen elsewhere in the dashboard. @typedef {{ entityType: string, id: string }} Chosen */

/**
 * The server's entity filter, or why there is none.
 * @param {Json} datasource @param {Json} configuration @param {Chosen} [chosen]
 * @returns {{ filter: Json } | { reason: string }}
 */
export function filterOf(datasource, configuration, chosen) {
  const { type, deviceId, entityAliasId } = datasource
  if (type === 'function') return { reason: 'It shows made-up values of its editor: there is nothing behind it.' }
  if (textOf(deviceId) !== '') return { filter: single('DEVICE', deviceId) }
  const alias = objectOf(objectOf(configuration['entityAliases'])[entityAliasId])
  const filter = objectOf(alias['filter'])
  if (textOf(filter['type']) === '') return { reason: 'It names no entities: edit it and say of which it tells.' }
  if (filter['type'] === 'stateEntity') {
    const entity = chosen ?? filter['defaultStateEntity']
    if (textOf(entity?.id) === '')
      return { reason: 'It tells of the entity that is chosen in another state of this dashboard.' }
    return { filter: single(entity.entityType, entity.id) }
  }
  if (filter['rootStateEntity'] === true) {
    const root = chosen ?? filter['defaultStateEntity']
    if (textOf(root?.id) === '')
      return { reason: 'It tells of what belongs to the entity that is chosen in another state of this dashboard.' }
    return { filter: { ...filter, rootStateEntity: false, rootEntity: root } }
  }
  return { filter }
}

/** What `filterId` of the datasource says, as the server takes it. @param {Json} datasource @param {Json} configuration @returns {Json[]} */
export function keyFiltersOf(datasource, configuration) {
  const filter = objectOf(objectOf(configuration['filters'])[datasource['filterId']])
  const infos = Array.isArray(filter['keyFilters']) ? filter['keyFilters'] : []
  return infos.map(objectOf).flatMap(({ key, valueType, value, predicates }) =>
    (Array.isArray(predicates) ? predicates : []).map((info) => ({
      key,
      valueType,
      ...(value === undefined ? {} : { value }),
      predicate: predicateOf(info),
    })),
  )
}

/** @param {Json} info @returns {Json} */
function predicateOf(info) {
  const predicate = objectOf(info['keyFilterPredicate'])
  if (predicate['type'] !== 'COMPLEX') return predicate
  return { ...predicate, predicates: (predicate['predicates'] ?? []).map(predicateOf) }
}

/** @param {string} entityType @param {string} id */
function single(entityType, id) {
  return { type: 'singleEntity', singleEntity: { entityType, id } }
}

/** The alias that has this filter, or a new one. @param {Json} configuration @param {string} name @param {Json} filter @param {() => string} newId @returns {{ configuration: Json, aliasId: string }} */
export function withAlias(configuration, name, filter, newId) {
  const aliases = objectOf(configuration['entityAliases'])
  const wanted = JSON.stringify(filter)
  const known = Object.keys(aliases).find((id) => JSON.stringify(aliases[id]?.filter) === wanted)
  if (known !== undefined) return { configuration, aliasId: known }
  const aliasId = newId()
  const entityAliases = { ...aliases, [aliasId]: { id: aliasId, alias: freeName(name, aliases), filter } }
  return { configuration: { ...configuration, entityAliases }, aliasId }
}

/** ThingsBoard wants each alias to have a name of its own. @param {string} name @param {Json} aliases */
function freeName(name, aliases) {
  const taken = new Set(Object.values(aliases).map((alias) => alias?.alias))
  let free = name
  for (let number = 2; taken.has(free); number++) free = `${name} ${number}`
  return free
}
