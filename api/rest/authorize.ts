/**
 * Asks access control, the one place that decides, in the words of the REST layer: what may not be, or is not, becomes the
 * error its caller can answer with.
 */
import { entityId, NULL_UUID, type EntityType } from '../../model/entity-id.ts'
import type { Principal } from '../../model/principal.ts'
import type { AccessControl } from '../../services/access/access-control.ts'
import type { Operation } from '../../services/access/permissions.ts'
import type { Authority } from '../../model/entities.ts'
import { ApiErrors } from '../errors.ts'

/** Throws PERMISSION_DENIED where the route is not for users of this kind. */
export function requireAuthority(principal: Principal, authorities: readonly Authority[]): void {
  if (!authorities.includes(principal.authority)) throw ApiErrors.PERMISSION_DENIED()
}

/** The tenant a call acts in. Throws PERMISSION_DENIED for system administrators, who act in none. */
export function tenantOf(principal: Principal): string {
  if (principal.tenantId === null) throw ApiErrors.PERMISSION_DENIED()
  return principal.tenantId
}

/** Throws PERMISSION_DENIED for who has no more than a public link. */
export function requireKnownUser({ userId }: Principal): void {
  if (userId === NULL_UUID) throw ApiErrors.PERMISSION_DENIED()
}

/** What the platform just found must be found still; gone since, it is not found. */
export function found<Entity>(entity: Entity | undefined, type: string, id: string): Entity {
  if (entity === undefined) throw ApiErrors.NOT_FOUND_BY_ID({ type, id })
  return entity
}

export async function allow(
  access: AccessControl,
  principal: Principal,
  operation: Operation,
  entityType: EntityType,
  id: string,
): Promise<void> {
  await access.check(principal, operation, entityId(entityType, id))
}
