/** Geofencing as its form shows it, and back. Knows no page. */

/** @typedef {Record<string, any>} Json */
/** @typedef {import('./members.js').Level} Level */
/** @typedef {import('./members.js').EntityId} EntityId */
/** Where the zones come from. @typedef {{ kind: string, entity: EntityId | undefined, levels: readonly Level[] }} Source */
/** `relates`: whether it is related to zones that it is in. @typedef {{ name: string, source: Source, perimeter: string, strategy: string, relates: boolean, relation: Level, before: Json }} Group */

export const SOURCES = /** @type {readonly (readonly [string, string])[]} */ ([
  ['RELATED', 'what it is related to'],
  ['ENTITY', 'one device or asset'],
  ['OWNER', 'its customer or tenant'],
  ['OWN', 'itself'],
])

export const STRATEGIES = /** @type {readonly (readonly [string, string])[]} */ ([
  ['REPORT_TRANSITION_EVENTS_AND_PRESENCE_STATUS', 'when it enters and leaves, and where it is'],
  ['REPORT_TRANSITION_EVENTS_ONLY', 'when it enters and leaves'],
  ['REPORT_PRESENCE_STATUS_ONLY', 'where it is'],
])

/** @type {Level} */
const STEP = { direction: 'FROM', relationType: 'Contains' }

/** @param {Json} stored @returns {Source} */
export function sourceOf({ refEntityId, refDynamicSourceConfiguration: dynamic }) {
  if (refEntityId !== undefined && refEntityId !== null) return { kind: 'ENTITY', entity: refEntityId, levels: [STEP] }
  if (dynamic === undefined || dynamic === null) return { kind: 'OWN', entity: undefined, levels: [STEP] }
  if (dynamic.type === 'CURRENT_OWNER') return { kind: 'OWNER', entity: undefined, levels: [STEP] }
  return { kind: 'RELATED', entity: undefined, levels: dynamic.levels }
}

/** @param {Source} source @returns {Json} */
export function storedSource({ kind, entity, levels }) {
  if (kind === 'ENTITY') return { refEntityId: entity }
  if (kind === 'OWNER') return { refDynamicSourceConfiguration: { type: 'CURRENT_OWNER' } }
  if (kind === 'OWN') return {}
  return { refDynamicSourceConfiguration: { type: 'RELATION_PATH_QUERY', levels } }
}

/** @param {Json | undefined} groups @returns {Group[]} */
export function groupsOf(groups) {
  return Object.entries(groups ?? {}).map(([name, before]) => ({
    ...{ name, source: sourceOf(before), perimeter: before.perimeterKeyName ?? '', before },
    strategy: before.reportStrategy ?? STRATEGIES[0]?.[0] ?? '',
    relates: before.createRelationsWithMatchedZones === true,
    relation: { direction: before.direction ?? 'FROM', relationType: before.relationType ?? '' },
  }))
}

/** @param {string} name @returns {Group} */
export function newGroup(name) {
  return {
    ...{
      name,
      source: sourceOf({ refDynamicSourceConfiguration: { levels: [STEP] } }),
      perimeter: 'perimeter',
      before: {},
    },
    ...{ strategy: STRATEGIES[0]?.[0] ?? '', relates: false, relation: { direction: 'FROM', relationType: '' } },
  }
}

/** What the form does not show stays as it is. @param {readonly Group[]} shown @returns {Json} */
export function namedGroups(shown) {
  return Object.fromEntries(
    shown.map(({ name, source, perimeter, strategy, relates, relation, before }) => {
      const { refEntityId: _entity, refDynamicSourceConfiguration: _dynamic, ...others } = before
      return [
        name,
        {
          ...{ ...others, ...storedSource(source), perimeterKeyName: perimeter, reportStrategy: strategy },
          createRelationsWithMatchedZones: relates,
          ...(relates ? relation : {}),
        },
      ]
    }),
  )
}
