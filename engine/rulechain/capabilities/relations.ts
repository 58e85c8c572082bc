/** Relations between entities of the tenant, of the group COMMON. */
import type { EntityId, EntityType } from '../../../model/entity-id.ts'
import type { Message } from '../../../model/message.ts'
import type { RelationDirection } from '../../../model/relation.ts'
import type { Soon } from './soon.ts'

export interface NodeRelation {
  readonly from: EntityId
  readonly to: EntityId
  readonly type: string
}

export interface RelationLevels {
  /** FROM: the root is the `from` side. */
  readonly direction: RelationDirection
  /** 0 is without limit. */
  readonly maxLevel: number
  readonly fetchLastLevelOnly: boolean
}

export interface RelationsQuery extends RelationLevels {
  /** None means all; no relation type means any, and so do no entity types. */
  readonly filters: readonly {
    readonly relationType: string | undefined
    readonly entityTypes: readonly EntityType[]
  }[]
}

export interface RelatedDevicesQuery extends RelationLevels {
  /** Undefined: any. */
  readonly relationType: string | undefined
  /** Names of device profiles; none means no device, as in the reference. */
  readonly deviceTypes: readonly string[]
}

/** The message that a node changes a relation for: calculated fields that it came from are not calculated of the change. */
export type RelationCause = Pick<Message, 'calculatedFieldIds'>

export interface NodeRelations {
  exists(relation: NodeRelation): Soon<boolean>
  /** Of one entity, one level. */
  list(entity: EntityId, direction: RelationDirection, type?: string): Soon<readonly NodeRelation[]>
  /** The far ends, each once, nearest first. */
  find(root: EntityId, query: RelationsQuery): Soon<readonly EntityId[]>
  relatedDevices(root: EntityId, query: RelatedDevicesQuery): Soon<readonly EntityId[]>
  /** Made or kept as it is; false where it was there. Both ends must be the tenant's. */
  create(relation: NodeRelation, cause?: RelationCause): Promise<boolean>
  /** False where there was none. */
  delete(relation: NodeRelation, cause?: RelationCause): Promise<boolean>
}
