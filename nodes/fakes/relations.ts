/** Relations of a test's tenant: a list that is walked level by level. */
import type { EntityId } from '../../model/entity-id.ts'
import type { RelationDirection } from '../../model/relation.ts'
import type {
  NodeRelation,
  NodeRelations,
  RelatedDevicesQuery,
  RelationCause,
  RelationLevels,
  RelationsQuery,
} from '../../engine/rulechain/capabilities/relations.ts'

export class FakeRelations implements NodeRelations {
  readonly held: NodeRelation[] = []
  /** Of each change, the calculated fields behind it. */
  readonly behind: (readonly string[] | undefined)[] = []
  /** Of devices, for `relatedDevices`. */
  private readonly typeOf: (device: EntityId) => string | null | undefined

  constructor(typeOf: (device: EntityId) => string | null | undefined) {
    this.typeOf = typeOf
  }

  exists(relation: NodeRelation): boolean {
    return this.held.some((held) => isSame(held, relation))
  }

  list(entity: EntityId, direction: RelationDirection, type?: string): readonly NodeRelation[] {
    return this.held.filter(
      (held) => (direction === 'FROM' ? held.from : held.to).id === entity.id && (type ?? held.type) === held.type,
    )
  }

  find(root: EntityId, query: RelationsQuery): readonly EntityId[] {
    const { filters } = query
    return this.walk(root, query, (relation, end) =>
      filters.length === 0
        ? true
        : filters.some(
            ({ relationType, entityTypes }) =>
              (relationType ?? relation.type) === relation.type &&
              (entityTypes.length === 0 || entityTypes.includes(end.entityType)),
          ),
    )
  }

  relatedDevices(root: EntityId, query: RelatedDevicesQuery): readonly EntityId[] {
    const { relationType, deviceTypes } = query
    return this.walk(
      root,
      query,
      (relation, end) =>
        (relationType ?? relation.type) === relation.type &&
        end.entityType === 'DEVICE' &&
        deviceTypes.includes(this.typeOf(end) ?? ''),
    )
  }

  async create(relation: NodeRelation, cause?: RelationCause): Promise<boolean> {
    if (this.exists(relation)) return false
    this.behind.push(cause?.calculatedFieldIds)
    this.held.push(relation)
    return true
  }

  async delete(relation: NodeRelation, cause?: RelationCause): Promise<boolean> {
    const place = this.held.findIndex((held) => isSame(held, relation))
    if (place < 0) return false
    this.held.splice(place, 1)
    this.behind.push(cause?.calculatedFieldIds)
    return true
  }

  private walk(
    root: EntityId,
    { direction, maxLevel, fetchLastLevelOnly }: RelationLevels,
    isWanted: (relation: NodeRelation, end: EntityId) => boolean,
  ): readonly EntityId[] {
    const found = new Map<string, EntityId>()
    const seen = new Set([root.id])
    let level: readonly EntityId[] = [root]
    for (let depth = 1; level.length > 0 && (maxLevel <= 0 || depth <= maxLevel); depth++) {
      const next: EntityId[] = []
      for (const relation of level.flatMap((entity) => this.list(entity, direction))) {
        const end = direction === 'FROM' ? relation.to : relation.from
        const isLast = depth === maxLevel || this.list(end, direction).length === 0
        if (isWanted(relation, end) && (!fetchLastLevelOnly || isLast)) found.set(end.id, end)
        if (!seen.has(end.id)) next.push(end)
        seen.add(end.id)
      }
      level = next
    }
    return [...found.values()]
  }
}

function isSame(one: NodeRelation, other: NodeRelation): boolean {
  return one.from.id === other.from.id && one.to.id === other.to.id && one.type === other.type
}
