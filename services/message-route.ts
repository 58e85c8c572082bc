/** Where an entity stands: its tenant and customer, and the chain and the queue that its messages go to. */
import { itemNotFound } from './errors.ts'
import type { EntityId } from '../model/entity-id.ts'
import type { EntityStore } from '../storage/entities/entity-store.ts'
import { SYSTEM_TENANT } from './changes.ts'
import type { OwnerLookup } from './ownership.ts'

export interface MessageRoute {
  readonly tenantId: string
  readonly customerId: string | null
  /** The chain of a device's profile; null means the tenant's root chain. */
  readonly ruleChainId: string | null
  /** The queue of a device's profile as the link calls it; null means `Main`. */
  readonly queueName: string | null
}

const TO_ROOT = { ruleChainId: null, queueName: null } as const

export type RouteLookup = (entity: EntityId) => Promise<MessageRoute | undefined>

export function routeLookup(entities: EntityStore, ownerOf: OwnerLookup): RouteLookup {
  return async (entity) => {
    const owner = await ownerOf(entity)
    if (owner === undefined) return undefined
    const destination = entity.entityType === 'DEVICE' ? await entities.devices.destinationOf(entity.id) : TO_ROOT
    return { tenantId: owner.tenantId ?? SYSTEM_TENANT, customerId: owner.customerId, ...destination }
  }
}

/** Throws `ITEM_NOT_FOUND` where the entity went between the access check and now. */
export async function requireRoute(routeOf: RouteLookup, entity: EntityId): Promise<MessageRoute> {
  const route = await routeOf(entity)
  if (route === undefined) throw itemNotFound(entity)
  return route
}
