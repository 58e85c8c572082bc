/** What entities of any type are called. */
import type { EntityId } from '../model/entity-id.ts'
import type { EntityStore } from '../storage/entities/entity-store.ts'
import type { EntityRegistry } from './entities/entity-registry.ts'

/** Null for what has no name, or is not there. */
export function entityNames(
  entities: EntityStore,
  declared: Pick<EntityRegistry, 'nameOf'>,
): (entity: EntityId) => Promise<string | null> {
  return async (entity) => {
    const { entityType, id } = entity
    switch (entityType) {
      case 'RULE_CHAIN':
        return (await entities.ruleChains.findAnywhere(id))?.name ?? null
      case 'USER':
        return (await entities.users.find(id))?.email ?? null
      default:
        return (await declared.nameOf(entity)) ?? null
    }
  }
}
