/** Whose an entity is: for access checks, and for the tenant and customer that messages about it carry. */
import type { EntityId } from '../../model/entity-id.ts'
import type { User } from '../../model/entities.ts'
import type { EntityStore } from '../../storage/entities/entity-store.ts'
import { SYSTEM_TENANT } from '../changes/changes.ts'

export interface Owner {
  /** Null for what belongs to the system. */
  readonly tenantId: string | null
  readonly customerId: string | null
  /** Where several customers may have it: all of them. */
  readonly customerIds?: readonly string[]
  /** Where it is not the same for all of its kind: whether every customer user of the tenant sees it. */
  readonly isSharedInTenant?: boolean
  /** Where it is one user's alone. */
  readonly userId?: string
  /** The user itself where the entity is one: who may see it depends on its authority. */
  readonly user?: User
}

export type OwnerLookup = (entity: EntityId) => Promise<Owner | undefined>

/** Undefined where there is no such entity. Kinds of entity that the platform does not keep yet do not exist. */
export function ownerLookup(entities: EntityStore): OwnerLookup {
  return async ({ entityType, id }) => {
    switch (entityType) {
      case 'USER': {
        const user = await entities.users.find(id)
        return user && { tenantId: user.tenantId, customerId: user.customerId, user }
      }
      case 'QUEUE': {
        const queue = await entities.queues.findAnywhere(id)
        return queue && { tenantId: queue.tenantId === SYSTEM_TENANT ? null : queue.tenantId, customerId: null }
      }
      case 'RULE_NODE': {
        const found = await entities.ruleChains.findNode(id)
        return found && { tenantId: found.tenantId, customerId: null }
      }
      case 'RPC': {
        const rpc = await entities.rpcs.find(id)
        const device = rpc && (await entities.deviceCredentials.findDeviceById(rpc.deviceId))
        return device && { tenantId: device.tenantId, customerId: device.customerId }
      }
      default:
        return undefined
    }
  }
}
