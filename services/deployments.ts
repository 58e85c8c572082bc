/**
 * What takes stored changes up in this process: the engine runs the new version of a chain, the new queues. Who made a change awaits that, so that
 * the next message already meets it. Where nothing takes it up, in a process without the engine, nothing is awaited.
 */
import type { EntityId, EntityType } from '../model/entity-id.ts'

/** Resolves when all that is known of the entity's changes by now is in force, or was noted as failed. Never rejects. */
export type TakenUp = (id: string) => Promise<void>

export class Deployments {
  private readonly byType = new Map<EntityType, TakenUp>()

  /** One for each type. */
  follow(type: EntityType, takenUp: TakenUp): void {
    this.byType.set(type, takenUp)
  }

  async of({ entityType, id }: EntityId): Promise<void> {
    await this.byType.get(entityType)?.(id)
  }
}
