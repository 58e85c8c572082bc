/** Who may do what. */
import type { EntityId, EntityType } from '../../model/entity-id.ts'
import type { Principal } from '../../model/principal.ts'
import type { Operation } from './permissions.ts'

/** The one place that decides who may do what (`rest-api.md` 3.5). */
export interface AccessControl {
  /** Throws PERMISSION_DENIED (403) by authority alone: may this kind of user do this to this kind of entity at all? */
  checkAuthority(principal: Principal, operation: Operation, entityType: EntityType): void
  /** Checks authority and ownership; throws PERMISSION_DENIED (403) or ITEM_NOT_FOUND (404), as the reference tells them apart. */
  check(principal: Principal, operation: Operation, entity: EntityId): Promise<void>
  /** Of entities that were read already those that the user may touch so: reads nothing. */
  allowed<Entity extends OwnedEntity>(
    principal: Principal,
    operation: Operation,
    entityType: EntityType,
    entities: readonly Entity[],
  ): readonly Entity[]
}

export interface OwnedEntity {
  readonly id: string
  readonly tenantId: string
  readonly customerId: string | null
  /** As {@link Owner} has them. */
  readonly customerIds?: readonly string[]
  readonly isSharedInTenant?: boolean
}
