/** Access control whose refusals are in the words of the telemetry calls (`rest-api.md` 2.6). */
import type { EntityId } from '../../model/entity-id.ts'
import type { Principal } from '../../model/principal.ts'
import type { AccessControl } from '../../services/access/access-control.ts'
import type { Operation } from '../../services/access/permissions.ts'
import { RouteMaker } from './declared/declare.ts'
import { accessError } from './telemetry-errors.ts'

/** Makes routes whose targets' addresses are all that their handlers need. */
export function telemetryMaker(access: AccessControl): RouteMaker {
  return new RouteMaker(inTelemetryWords(access), () => Promise.resolve(true))
}

export function inTelemetryWords(access: AccessControl): AccessControl {
  return {
    checkAuthority: (principal, operation, entityType) => access.checkAuthority(principal, operation, entityType),
    allowed: (principal, operation, entityType, entities) => access.allowed(principal, operation, entityType, entities),
    check: async (principal: Principal, operation: Operation, entity: EntityId): Promise<void> => {
      try {
        await access.check(principal, operation, entity)
      } catch (error) {
        throw accessError(error, principal, entity.entityType) ?? error
      }
    },
  }
}
