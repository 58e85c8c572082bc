/** A directed, named link between two entities of any type. Source: `rest-api.md` 10. */
import type { EntityId } from './entity-id.ts'
import type { JsonObject, JsonValue } from './json.ts'

export const RELATION_GROUPS = [
  'COMMON',
  'DASHBOARD',
  'RULE_CHAIN',
  'RULE_NODE',
  'EDGE',
  'EDGE_AUTO_ASSIGN_RULE_CHAIN',
] as const
export type RelationGroup = (typeof RELATION_GROUPS)[number]

export const RELATION_DIRECTIONS = ['FROM', 'TO'] as const
/** Which end a search begins at: `FROM` follows relations from the root, `TO` those that lead to it. */
export type RelationDirection = (typeof RELATION_DIRECTIONS)[number]

/** What identifies a relation within its tenant. */
export interface RelationKey {
  readonly from: EntityId
  readonly to: EntityId
  /** Case matters. */
  readonly type: string
  readonly typeGroup: RelationGroup
}

export interface Relation extends RelationKey {
  readonly version: number
  readonly additionalInfo: JsonValue
}

export interface RelationWithName {
  readonly relation: Relation
  /** Of the far end. */
  readonly name: string | null
}

export function farEnd({ from, to }: Pick<RelationKey, 'from' | 'to'>, direction: RelationDirection): EntityId {
  return direction === 'FROM' ? to : from
}

export function relationJson({ from, to, type, typeGroup, version, additionalInfo }: Relation): JsonObject {
  return { from: { ...from }, to: { ...to }, type, typeGroup, version, additionalInfo }
}

export function nearEnd(relation: Pick<RelationKey, 'from' | 'to'>, direction: RelationDirection): EntityId {
  return farEnd(relation, direction === 'FROM' ? 'TO' : 'FROM')
}
