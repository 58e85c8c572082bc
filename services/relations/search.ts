/** Walks relations level by level from a root. Source: `rest-api.md` 10. */
import { entityId, type EntityId, type EntityType } from '../../model/entity-id.ts'
import { farEnd, nearEnd, type Relation, type RelationDirection, type RelationGroup } from '../../model/relation.ts'
import type { RelationRepository } from '../../storage/entities/relations.ts'
import { RelationErrors } from './errors.ts'

/** Relations of one answer: they are read into memory. */
export const MAX_FOUND = 100_000
/** A search that names no depth goes so far. */
export const MAX_LEVELS = 100

export interface RelationSearch {
  readonly root: EntityId
  readonly direction: RelationDirection
  readonly group?: RelationGroup
  /** Steps from the root; absent or 0: all. */
  readonly maxLevel?: number
  /** Only relations that end the walk: at the last level, or where nothing follows. */
  readonly lastLevelOnly?: boolean
}

export interface RelationFilter {
  /** Absent: any. */
  readonly type?: string | undefined
  /** Of the far end; empty: any. */
  readonly entityTypes: readonly EntityType[]
}

/**
 * Each relation once, nearest first. Every entity is visited once, so a circle ends the walk; the relation that closes it is among
 * the found ones. Throws `TOO_MANY_FOUND`, `TOO_DEEP`.
 */
export async function searchRelations(
  relations: Pick<RelationRepository, 'findOf'>,
  tenantId: string,
  search: RelationSearch,
): Promise<readonly Relation[]> {
  const { root, direction, group = 'COMMON', maxLevel = 0, lastLevelOnly = false } = search
  const visited = new Set([root.id])
  const found: Relation[] = []
  const atLastLevel = new Set<Relation>()
  const goesOn = new Set<string>()
  let ids: readonly string[] = [root.id]
  for (let level = 1; ids.length > 0 && (maxLevel <= 0 || level <= maxLevel); level++) {
    const limit = MAX_FOUND - found.length + 1
    const read = await relations.findOf({ tenantId, direction, ids, group, limit })
    if (read.length === limit) throw RelationErrors.TOO_MANY_FOUND({ limit: MAX_FOUND })
    if (level > MAX_LEVELS && read.length > 0) throw RelationErrors.TOO_DEEP({ limit: MAX_LEVELS })
    const next = new Set<string>()
    for (const relation of read) {
      found.push(relation)
      if (level === maxLevel) atLastLevel.add(relation)
      goesOn.add(nearEnd(relation, direction).id)
      const { id } = farEnd(relation, direction)
      if (!visited.has(id)) next.add(id)
    }
    for (const id of next) visited.add(id)
    ids = [...next]
  }
  if (!lastLevelOnly) return found
  return found.filter((relation) => atLastLevel.has(relation) || !goesOn.has(farEnd(relation, direction).id))
}

/** Those that one of the filters lets through; all where there is none. */
export function filtered(
  relations: readonly Relation[],
  direction: RelationDirection,
  filters: readonly RelationFilter[],
): readonly Relation[] {
  if (filters.length === 0) return relations
  return relations.filter((relation) => {
    const { entityType } = farEnd(relation, direction)
    return filters.some(
      ({ type, entityTypes }) =>
        (type === undefined || type === relation.type) &&
        (entityTypes.length === 0 || entityTypes.includes(entityType)),
    )
  })
}

/** The far ends, each once. */
export function farEnds(relations: readonly Relation[], direction: RelationDirection): readonly EntityId[] {
  const ends = new Map<string, EntityId>()
  for (const relation of relations) {
    const end = farEnd(relation, direction)
    ends.set(end.id, entityId(end.entityType, end.id))
  }
  return [...ends.values()]
}
