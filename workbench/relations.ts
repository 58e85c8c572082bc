/** Relations of a rehearsed world, searched by the platform's own search. */
import type { NodeRelation, RelationLevels } from '../engine/rulechain/capabilities/relations.ts'
import type { EntityId } from '../model/entity-id.ts'
import { nearEnd, type Relation, type RelationDirection } from '../model/relation.ts'
import { farEnds, filtered, searchRelations, type RelationFilter } from '../services/relations/search.ts'

export class RehearsedRelations {
  private readonly tenantId: string
  private held: readonly Relation[] = []

  constructor(tenantId: string) {
    this.tenantId = tenantId
  }

  has(relation: NodeRelation): boolean {
    return this.held.some((other) => isSame(other, relation))
  }

  /** False where it is there. */
  add(relation: NodeRelation): boolean {
    if (this.has(relation)) return false
    this.held = [...this.held, { ...relation, typeGroup: 'COMMON', version: 1, additionalInfo: null }]
    return true
  }

  /** False where there is none. */
  delete(relation: NodeRelation): boolean {
    const isThere = this.has(relation)
    this.held = this.held.filter((other) => !isSame(other, relation))
    return isThere
  }

  list(entity: EntityId, direction: RelationDirection, type?: string): readonly Relation[] {
    return this.of([entity.id], direction).filter((relation) => type === undefined || relation.type === type)
  }

  async find(
    root: EntityId,
    { direction, maxLevel, fetchLastLevelOnly }: RelationLevels,
    filters: readonly RelationFilter[],
  ): Promise<readonly EntityId[]> {
    const source = {
      findOf: ({ ids, direction: way }: { readonly ids: readonly string[]; readonly direction: RelationDirection }) =>
        Promise.resolve(this.of(ids, way)),
    }
    const search = { root, direction, maxLevel, lastLevelOnly: fetchLastLevelOnly }
    const found = await searchRelations(source, this.tenantId, search)
    return farEnds(filtered(found, direction, filters), direction)
  }

  private of(ids: readonly string[], direction: RelationDirection): readonly Relation[] {
    return this.held.filter((relation) => ids.includes(nearEnd(relation, direction).id))
  }
}

function isSame(a: NodeRelation, b: NodeRelation): boolean {
  return a.from.id === b.from.id && a.to.id === b.to.id && a.type === b.type
}
