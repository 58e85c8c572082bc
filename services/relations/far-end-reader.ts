/** What lists of relations show. */
import type { Principal } from '../../model/principal.ts'
import type { Relation, RelationDirection, RelationWithName } from '../../model/relation.ts'

/** What lists of relations show of the entities that they lead to. */
export interface FarEndReader {
  /** Of the relations those of which the caller may read both ends. */
  readable(
    principal: Principal,
    direction: RelationDirection,
    relations: readonly Relation[],
  ): Promise<readonly RelationWithName[]>
}
