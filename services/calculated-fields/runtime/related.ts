/** Whom relations lead to, level by level: one query for many near ends. What is asked for each value is kept until a relation of the tenant changes. */
import type { EntityId } from '../../../model/entity-id.ts'
import { farEnd, nearEnd, type Relation, type RelationDirection } from '../../../model/relation.ts'
import type { ChangeFeed } from '../../../engine/subscriptions/change.ts'
import { KnownRelations } from '../../node-capabilities/known-relations.ts'
import type { RelationService } from '../../relations/relations.ts'

export interface RelatedParts {
  readonly relations: Pick<RelationService, 'listOfMany'>
  readonly feed: Pick<ChangeFeed, 'listenToAll' | 'onGap'>
}

export interface RelationLevel {
  readonly direction: RelationDirection
  readonly relationType: string
}

export interface Related {
  readonly ends: readonly EntityId[]
  /** Some level has as many as are asked for: there may be more, and more behind these. */
  readonly isCut: boolean
}

/** Near ends of one query: few of them lead to as many far ends as are asked for. */
const ENDS_A_QUERY = 100

export class RelatedEntities {
  private readonly relations: RelatedParts['relations']
  private readonly known: KnownRelations

  constructor({ relations, feed }: RelatedParts) {
    this.relations = relations
    this.known = new KnownRelations(feed)
  }

  /** The far ends of the last level, each once, at most `most`, as they are stored now. */
  async find(
    tenantId: string,
    root: EntityId,
    levels: readonly RelationLevel[],
    most: number,
  ): Promise<readonly EntityId[]> {
    return (await this.walk(tenantId, root, levels, most)).ends
  }

  /** Who has `entity` at the far end of `levels`, as the change feed has told. */
  async findBackwards(
    tenantId: string,
    entity: EntityId,
    levels: readonly RelationLevel[],
    most: number,
  ): Promise<Related> {
    const back = levels.toReversed().map(({ direction, relationType }) => ({
      relationType,
      direction: direction === 'FROM' ? ('TO' as const) : ('FROM' as const),
    }))
    const question = JSON.stringify([entity.id, most, back])
    return this.known.walks.find(tenantId, question, () => this.walk(tenantId, entity, back, most))
  }

  close(): void {
    this.known.close()
  }

  private async walk(
    tenantId: string,
    root: EntityId,
    levels: readonly RelationLevel[],
    most: number,
  ): Promise<Related> {
    let ends: readonly EntityId[] = [root]
    let isCut = false
    for (const level of levels) {
      ends = await this.next(tenantId, ends, level, most)
      isCut ||= ends.length >= most
    }
    return { ends, isCut }
  }

  private async next(
    tenantId: string,
    ends: readonly EntityId[],
    { direction, relationType: type }: RelationLevel,
    most: number,
  ): Promise<readonly EntityId[]> {
    const next = new Map<string, EntityId>()
    // Each relation that comes to one entity asks for its first ones: all of them would be read as often as there are some.
    const options = ends.length === 1 ? { type, most } : { type }
    for (let start = 0; start < ends.length && next.size < most; start += ENDS_A_QUERY) {
      const some = ends.slice(start, start + ENDS_A_QUERY)
      const found = await this.relations.listOfMany(tenantId, direction, some, options)
      for (const relation of inOrderOf(some, found, direction)) {
        if (next.size >= most) break
        const { entityType, id } = farEnd(relation, direction)
        next.set(id, { entityType, id })
      }
    }
    return [...next.values()]
  }
}

/** By near end: the first of several sources counts. */
function inOrderOf(
  ends: readonly EntityId[],
  relations: readonly Relation[],
  direction: RelationDirection,
): readonly Relation[] {
  const byEnd = Map.groupBy(relations, (relation) => nearEnd(relation, direction).id)
  return ends.flatMap(({ id }) => byEnd.get(id) ?? [])
}
