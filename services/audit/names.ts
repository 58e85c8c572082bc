/** What an entity of any type is called. */
import type { EntityId } from '../../model/entity-id.ts'
import type { EntityStore } from '../../storage/entities/entity-store.ts'
import type { EntityRegistry } from '../entities/entity-registry.ts'

export function nameLookup(
  entities: EntityStore,
  declared: EntityRegistry,
): (entity: EntityId) => Promise<string | undefined> {
  return async (entity) => {
    const { entityType, id } = entity
    switch (entityType) {
      case 'USER':
        return (await entities.users.find(id))?.email
      case 'QUEUE':
        return (await entities.queues.findAnywhere(id))?.name
      default:
        return declared.nameOf(entity)
    }
  }
}
