/** Where an entity stands: its tenant and customer, and the chain and the queue that its messages go to. */
import { itemNotFound } from '../errors.ts'
import { linkQueueName } from '../../model/queue-name.ts'
import type { EntityId } from '../../model/entity-id.ts'
import type { EntityStore } from '../../storage/entities/entity-store.ts'
import { SYSTEM_TENANT } from './changes.ts'
import type { OwnerLookup } from '../access/ownership.ts'

export interface Destination {
  /** The chain of the entity's profile; null means the tenant's root chain. */
  readonly ruleChainId: string | null
  /** The queue of the entity's profile as the link calls it; null means `Main`. */
  readonly queueName: string | null
}

export interface MessageRoute extends Destination {
  readonly tenantId: string
  readonly customerId: string | null
}

const TO_ROOT = { ruleChainId: null, queueName: null } as const

export type RouteLookup = (entity: EntityId) => Promise<MessageRoute | undefined>

/** `declared`: for entities whose declaration says where their messages go; undefined for all others. */
export function routeLookup(
  entities: EntityStore,
  ownerOf: OwnerLookup,
  declared: (entity: EntityId) => Promise<Destination | undefined>,
): RouteLookup {
  return async (entity) => {
    const owner = await ownerOf(entity)
    if (owner === undefined) return undefined
    const isDevice = entity.entityType === 'DEVICE'
    const destination = await (isDevice ? entities.devices.destinationOf(entity.id) : declared(entity))
    return { tenantId: owner.tenantId ?? SYSTEM_TENANT, customerId: owner.customerId, ...TO_ROOT, ...destination }
  }
}

/** What the link calls the queue that the tenant means by the name; null where there is none. */
export async function linkQueueOf(
  entities: EntityStore,
  tenantId: string,
  name: string | null,
): Promise<string | null> {
  if (name === null || name === '') return null
  const queue = await entities.queues.findByName(tenantId, name)
  return queue === undefined ? null : linkQueueName(queue)
}

/** Throws `ITEM_NOT_FOUND` where the entity went between the access check and now. */
export async function requireRoute(routeOf: RouteLookup, entity: EntityId): Promise<MessageRoute> {
  const route = await routeOf(entity)
  if (route === undefined) throw itemNotFound(entity)
  return route
}
