/** Relations of a rehearsed world, walked as the platform walks them. */
import type { NodeRelation, RelationLevels } from '../engine/rulechain/capabilities/relations.ts'
import type { EntityId } from '../model/entity-id.ts'
import type { RelationDirection } from '../model/relation.ts'

/** Breadth first, so that the nearest come first. */
export function related(
  relations: readonly NodeRelation[],
  root: EntityId,
  { direction, maxLevel, fetchLastLevelOnly }: RelationLevels,
  matches: (relation: NodeRelation, far: EntityId) => boolean,
): readonly EntityId[] {
  const found = new Map<string, EntityId>()
  const seen = new Set([root.id])
  let edge = [root]
  for (let level = 1; edge.length > 0 && (maxLevel <= 0 || level <= maxLevel); level++) {
    const next: EntityId[] = []
    for (const near of edge) {
      for (const relation of relations) {
        if (nearEnd(relation, direction).id !== near.id) continue
        const far = farEnd(relation, direction)
        if (seen.has(far.id) || !matches(relation, far)) continue
        seen.add(far.id)
        next.push(far)
        const isLast = level === maxLevel || !relations.some((one) => nearEnd(one, direction).id === far.id)
        if (!fetchLastLevelOnly || isLast) found.set(far.id, far)
      }
    }
    edge = next
  }
  return [...found.values()]
}

export function sameRelation(a: NodeRelation, b: NodeRelation): boolean {
  return a.from.id === b.from.id && a.to.id === b.to.id && a.type === b.type
}

export function nearEnd({ from, to }: NodeRelation, direction: RelationDirection): EntityId {
  return direction === 'FROM' ? from : to
}

function farEnd({ from, to }: NodeRelation, direction: RelationDirection): EntityId {
  return direction === 'FROM' ? to : from
}
