/** Where messages of an entity begin. */
import type { EntityId } from '../../../model/entity-id.ts'

export interface NodeRoute {
  /** The default chain of the entity's profile; undefined means the root chain. */
  readonly ruleChainId: string | undefined
  /** The queue of the entity's profile as the link calls it; undefined means `Main`. */
  readonly queueName: string | undefined
}

export interface NodeRoutes {
  /** Undefined where the tenant has no such entity. */
  of(entity: EntityId): Promise<NodeRoute | undefined>
}
