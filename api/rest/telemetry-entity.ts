/** Which entity a telemetry call is about, and whether its caller may: the first step of each of these calls. */
import { ENTITY_TYPES, entityId, type EntityId } from '../../model/entity-id.ts'
import { ATTRIBUTE_SCOPES, type AttributeScope } from '../../model/value.ts'
import type { AccessControl, Operation } from '../../services/services.ts'
import { oneOf, uuidOf } from './query.ts'
import type { UserCall } from './route.ts'
import { accessError } from './telemetry-errors.ts'

/** The entity of `/{entityType}/{entityId}/…`, with the operation allowed. */
export async function entityOf(access: AccessControl, call: UserCall, operation: Operation): Promise<EntityId> {
  const entityType = oneOf('entityType', call.parameter(0), ENTITY_TYPES)
  return allowed(access, call, operation, entityId(entityType, uuidOf('entityId', call.parameter(1))))
}

/** The device of the short forms `/{deviceId}/{scope}`. */
export async function deviceOf(access: AccessControl, call: UserCall, operation: Operation): Promise<EntityId> {
  return allowed(access, call, operation, entityId('DEVICE', uuidOf('deviceId', call.parameter(0))))
}

export function scopeOf(text: string): AttributeScope {
  return oneOf('scope', text, ATTRIBUTE_SCOPES)
}

async function allowed(
  access: AccessControl,
  call: UserCall,
  operation: Operation,
  entity: EntityId,
): Promise<EntityId> {
  try {
    await access.check(call.principal, operation, entity)
    return entity
  } catch (error) {
    throw accessError(error, call.principal, entity.entityType) ?? error
  }
}
