/** What the telemetry and attribute calls find wrong, in the words their clients know (`rest-api.md` 2.6, 4.4 to 4.8). */
import { defineErrors, isMillraceError, type MillraceError } from '../../model/errors.ts'
import type { EntityType } from '../../model/entity-id.ts'
import type { Principal } from '../../model/principal.ts'

export const TelemetryRouteErrors = defineErrors('telemetry-route', {
  SERIES_NOT_JSON: { kind: 'invalid', status: 400, text: 'Unable to parse time series payload: Invalid JSON body!' },
  SERIES_INVALID: {
    kind: 'invalid',
    status: 400,
    text: 'Unable to parse time series payload. Invalid JSON body: {reason}',
  },
  SERIES_EMPTY: { kind: 'invalid', status: 400, text: 'No time series data found in request body!' },
  ATTRIBUTES_NOT_JSON: { kind: 'invalid', status: 400, text: 'Invalid JSON' },
  ATTRIBUTES_NO_OBJECT: { kind: 'invalid', status: 400, text: 'Request is not a JSON object' },
  ATTRIBUTES_EMPTY: { kind: 'invalid', status: 400, text: 'No attributes data found in request body!' },
  ATTRIBUTE_INVALID: { kind: 'invalid', status: 400, text: '{reason}' },
  RANGE_MISSING: {
    kind: 'invalid',
    status: 400,
    text: "When deleteAllDataForKeys is false, start and end timestamp values shouldn't be empty",
  },
  ORDER_INVALID: {
    kind: 'invalid',
    status: 400,
    text: "Invalid value '{value}' for orders given; Has to be either 'desc' or 'asc' (case insensitive)",
  },
  ENTITY_NOT_FOUND: { kind: 'invalid', status: 404, text: "{type} with requested id wasn't found!" },
  SYSTEM_DENIED: {
    kind: 'denied',
    status: 403,
    text: 'System administrator is not allowed to perform this operation!',
  },
  CUSTOMER_DENIED: { kind: 'denied', status: 403, text: 'Customer user is not allowed to perform this operation!' },
})

/** Kinds of entities that customer users never see, whoever owns them. */
const NOT_FOR_CUSTOMERS: ReadonlySet<EntityType> = new Set<EntityType>(['RULE_CHAIN', 'RULE_NODE', 'TENANT', 'EDGE'])

/** The refusal of access control in this controller's words; anything else stays what it is. */
export function accessError(error: unknown, principal: Principal, entityType: EntityType): MillraceError | undefined {
  if (!isMillraceError(error)) return undefined
  if (error.status === 404) return TelemetryRouteErrors.ENTITY_NOT_FOUND({ type: typeName(entityType) }, error)
  if (error.status !== 403) return undefined
  if (principal.authority === 'SYS_ADMIN') return TelemetryRouteErrors.SYSTEM_DENIED({}, error)
  if (principal.authority === 'CUSTOMER_USER' && NOT_FOR_CUSTOMERS.has(entityType))
    return TelemetryRouteErrors.CUSTOMER_DENIED({}, error)
  return undefined
}

/** `ENTITY_VIEW` is `Entity-view` here. */
function typeName(entityType: EntityType): string {
  const name = entityType.toLowerCase().replaceAll('_', '-')
  return name.charAt(0).toUpperCase() + name.slice(1)
}
