/** Where messages of a test's entities begin: the root chain and `Main` where nothing else is said. */
import type { EntityId } from '../../model/entity-id.ts'
import type { NodeRoute, NodeRoutes } from '../../engine/rulechain/capabilities/routes.ts'

export class FakeRoutes implements NodeRoutes {
  /** By the entity's id. */
  readonly held = new Map<string, NodeRoute>()

  of({ id }: EntityId): Promise<NodeRoute | undefined> {
    return Promise.resolve(this.held.get(id))
  }
}
