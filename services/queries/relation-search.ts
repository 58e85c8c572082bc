/** Walks along relations, level by level: what entity queries find from a root. Source: `rest-api.md` 7.1. */
import type { EntityId } from '../../model/entity-id.ts'
import type { RelationRule, RelationSearch } from '../../model/entity-query.ts'
import { farEnd, nearEnd, type RelationDirection, type RelationKey } from '../../model/relation.ts'
import { QueryErrors } from './errors.ts'

/** Reads the relations that begin (FROM) or end (TO) at any of the entities. */
export type ReadRelations = (read: {
  readonly tenantId: string
  readonly direction: RelationDirection
  readonly ids: readonly string[]
  readonly limit: number
}) => Promise<readonly RelationKey[]>

/** Relations that one search passes. */
const MAX_STEPS = 100_000
export const MAX_LEVEL = 50

export class RelationSearches {
  private readonly read: ReadRelations

  constructor(read: ReadRelations) {
    this.read = read
  }

  /** Each once. A circle ends where it meets what was passed. Throws TOO_MANY_RELATED. */
  async search(
    tenantId: string,
    roots: readonly EntityId[],
    search: Omit<RelationSearch, 'roots'>,
  ): Promise<readonly EntityId[]> {
    const { direction, rules, lastLevelOnly } = search
    const levels = search.maxLevel < 1 || search.maxLevel > MAX_LEVEL ? MAX_LEVEL : search.maxLevel
    const passed = new Set(roots.map(nameOf))
    const found = new Map<string, EntityId>()
    const withNext = new Set<string>()
    const atLastLevel = new Set<string>()
    let frontier = roots
    let steps = 0
    for (let level = 1; level <= levels && frontier.length > 0; level++) {
      const ids = frontier.map(({ id }) => id)
      const taken = await this.read({ tenantId, direction, ids, limit: MAX_STEPS + 1 - steps })
      steps += taken.length
      if (steps > MAX_STEPS) throw QueryErrors.TOO_MANY_RELATED({ limit: MAX_STEPS })
      const next: EntityId[] = []
      for (const relation of taken) {
        const far = farEnd(relation, direction)
        const name = nameOf(far)
        withNext.add(nameOf(nearEnd(relation, direction)))
        if (level === levels) atLastLevel.add(name)
        if (isWanted(rules, far, relation.type)) found.set(name, far)
        if (passed.has(name)) continue
        passed.add(name)
        next.push(far)
      }
      frontier = next
    }
    const all = [...found]
    if (!lastLevelOnly) return all.map(([, entity]) => entity)
    return all.filter(([name]) => atLastLevel.has(name) || !withNext.has(name)).map(([, entity]) => entity)
  }
}

function isWanted(rules: readonly RelationRule[], { entityType }: EntityId, type: string): boolean {
  if (rules.length === 0) return true
  return rules.some(({ relationType, entityTypes, isNegated }) => {
    if (entityTypes.length > 0 && !entityTypes.includes(entityType)) return false
    return relationType === undefined || (relationType === type) !== isNegated
  })
}

function nameOf({ entityType, id }: EntityId): string {
  return `${entityType} ${id}`
}
