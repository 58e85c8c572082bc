/** What services refuse; the texts are the reference's (`rest-api.md` 2.4, 3.5, 4.4 to 4.8), where clients may match them. */
import type { EntityId, EntityType } from '../model/entity-id.ts'
import { defineErrors, type MillraceError } from '../model/errors.ts'

const BAD_REQUEST = { kind: 'invalid', status: 400, restCode: 31 } as const

export const ServiceErrors = defineErrors('services', {
  PERMISSION_DENIED: {
    kind: 'denied',
    status: 403,
    text: "You don't have permission to perform this operation!",
    restCode: 20,
  },
  ITEM_NOT_FOUND: { kind: 'invalid', status: 404, text: '{typeName} with id [{id}] is not found', restCode: 32 },
  PARKED_LANE_GONE: { kind: 'invalid', status: 404, text: "Requested item wasn't found!", restCode: 32 },
  DEAD_LETTER_GONE: { kind: 'invalid', status: 404, text: "Requested item wasn't found!", restCode: 32 },
  VERSION_CONFLICT: {
    kind: 'invalid',
    status: 409,
    text: '{entity} was already changed by someone else',
    restCode: 35,
  },
  NAME_MISSING: { ...BAD_REQUEST, text: '{entity} {property} should be specified!' },
  NAME_MALFORMED: { ...BAD_REQUEST, text: 'Validation error: {property} is malformed' },
  NAME_TOO_LONG: { ...BAD_REQUEST, text: 'Validation error: {property} length must be equal or less than {limit}' },
  CUSTOMER_TITLE_RESERVED: { ...BAD_REQUEST, text: "'{title}' title for customer is system reserved!" },
  CUSTOMER_UNKNOWN: { ...BAD_REQUEST, text: "Can't assign {entity} to non-existent customer!" },
  CUSTOMER_FOREIGN: { ...BAD_REQUEST, text: "Can't assign {entity} to customer from different tenant!" },
  NOT_ASSIGNED_ENTITY: { ...BAD_REQUEST, text: "{entity} isn't assigned to any customer!" },
  EMAIL_INVALID: { ...BAD_REQUEST, text: "Invalid email address format '{email}'!" },
  PASSWORD_WRONG: { ...BAD_REQUEST, text: "Current password doesn't match!" },
  PASSWORD_SAME: { ...BAD_REQUEST, text: 'New password should be different from existing!' },
  PASSWORD_SHORT: { ...BAD_REQUEST, text: 'Password must be {limit} or more characters in length.' },
  PASSWORD_LONG: { ...BAD_REQUEST, text: 'Password must be no more than {limit} characters in length.' },
  ASSET_PROFILE_CHAIN_IN_USE: {
    ...BAD_REQUEST,
    text: 'The rule chain referenced by the asset profiles cannot be deleted!',
  },
  ASSET_PROFILE_DASHBOARD_IN_USE: {
    ...BAD_REQUEST,
    text: 'The dashboard is referenced by an asset profile',
  },
  ASSET_PROFILE_UNKNOWN: { ...BAD_REQUEST, text: 'Asset is referencing non existing asset profile!' },
  ASSET_PROFILE_FOREIGN: { ...BAD_REQUEST, text: 'Asset can`t be referencing to asset profile from different tenant!' },
  ASSET_PROFILE_REFERENCED: { ...BAD_REQUEST, text: 'The asset profile referenced by the assets cannot be deleted!' },
  ASSET_PROFILE_QUEUE_UNKNOWN: { ...BAD_REQUEST, text: 'Asset profile is referencing to non-existent queue!' },
  DEFAULT_ASSET_PROFILE_EXISTS: {
    ...BAD_REQUEST,
    text: 'Another default asset profile is present in scope of current tenant!',
  },
  DEFAULT_ASSET_PROFILE_DELETE: { ...BAD_REQUEST, text: 'Deletion of Default Asset Profile is prohibited!' },
  PROFILE_DASHBOARD_UNKNOWN: { ...BAD_REQUEST, text: "Can't assign non-existent dashboard!" },
  PROFILE_DASHBOARD_FOREIGN: { ...BAD_REQUEST, text: "Can't assign dashboard from different tenant!" },
  PROFILE_CHAIN_UNKNOWN: { ...BAD_REQUEST, text: "Can't assign non-existent rule chain!" },
  PROFILE_CHAIN_FOREIGN: { ...BAD_REQUEST, text: "Can't assign rule chain from different tenant!" },
})

export const QueueErrors = defineErrors('queue', {
  MISSING: { ...BAD_REQUEST, text: 'Queue {property} should be specified!' },
  NULL: { ...BAD_REQUEST, text: "Queue {what} can't be null!" },
  OTHER_SERVICE: { ...BAD_REQUEST, text: 'Only the rule engine has queues: serviceType must be TB-RULE-ENGINE' },
  CHARACTERS: {
    ...BAD_REQUEST,
    text: "Queue {property} contains a character other than ASCII alphanumerics, '.', '_' and '-'!",
  },
  TOO_LONG: { ...BAD_REQUEST, text: 'Validation error: {property} length must be equal or less than {limit}' },
  NAME_RESERVED: { ...BAD_REQUEST, text: 'Queue name must not begin with an id and a dot!' },
  NOT_POSITIVE: { ...BAD_REQUEST, text: 'Queue {property} should be more then 0!' },
  NEGATIVE: { ...BAD_REQUEST, text: "Queue {property} can't be less then 0!" },
  TOO_MUCH: { ...BAD_REQUEST, text: "Queue {property} can't be more than {most}!" },
  FAILURE_PERCENTAGE: {
    ...BAD_REQUEST,
    text: 'Queue processing strategy failure percentage should be in a range from 0 to 100!',
  },
  PAUSES: {
    ...BAD_REQUEST,
    text: "Queue processing strategy MAX pause between retries can't be less then pause between retries!",
  },
  FIXED: { ...BAD_REQUEST, text: "Queue {property} can't be changed!" },
  TAKEN: { ...BAD_REQUEST, text: 'Queue with {property}: {value} already exists!' },
  TOO_MANY: { ...BAD_REQUEST, text: 'There are {limit} queues already: no more are allowed' },
  MAIN_DELETE: { ...BAD_REQUEST, text: 'The queue Main cannot be deleted!' },
  USED_BY_PROFILES: {
    ...BAD_REQUEST,
    text: 'The queue referenced by the {kind} profiles cannot be deleted: {names}',
  },
  USED_BY_NODES: { ...BAD_REQUEST, text: 'The queue referenced by the rule nodes cannot be deleted: {names}' },
})

export const TelemetryErrors = defineErrors('telemetry', {
  KEY_EMPTY: { kind: 'invalid', status: 400, text: "Key can't be null or empty" },
  KEY_BLANK: { kind: 'invalid', status: 400, text: 'Key cannot be blank' },
  KEY_MALFORMED: { kind: 'invalid', status: 400, text: 'Validation error: key is malformed' },
  KEY_TOO_LONG: {
    kind: 'invalid',
    status: 400,
    text: 'Validation error: key length must be equal or less than {limit}',
  },
  ATTRIBUTES_TOO_LONG: {
    kind: 'invalid',
    status: 400,
    text: 'The attributes of one entity may have at most {limit} characters of text together',
  },
  SCOPE_READ_ONLY: { kind: 'invalid', status: 400, text: 'Invalid scope: {scope}' },
  SCOPE_OF_DEVICES: { kind: 'invalid', status: 400, text: 'Invalid scope: {scope}. Only devices have it' },
  KEYS_MISSING: { kind: 'invalid', status: 400, text: 'Empty keys: []' },
  TOO_MANY_INTERVALS: {
    kind: 'invalid',
    status: 400,
    text: "Incorrect TsKvQuery. Number of intervals is to high - {count}. Please increase 'interval' parameter for your query or reduce the time range of the query.",
  },
  NEGATIVE_INTERVAL: {
    kind: 'invalid',
    status: 400,
    text: "Invalid TsKvQuery: 'interval' must be greater than 0, but got {interval}",
  },
  LIMIT_TOO_SMALL: { kind: 'invalid', status: 400, text: 'Page size must not be less than one' },
  LIMIT_TOO_BIG: { kind: 'invalid', status: 400, text: 'Page size must not be greater than {most}' },
  TIME_OUT_OF_CALENDAR: {
    kind: 'invalid',
    status: 400,
    text: 'Weeks, months and quarters have no date for the time {ts}: at most {most} ms from 1970 are allowed',
  },
})

const OTHER_WORDS: Readonly<Record<string, string>> = {
  AI_MODEL: 'AI model',
  ENTITY_VIEW: 'Entity View',
  TB_RESOURCE: 'Resource',
}

/** The type's name as people write it: `Device profile`. */
export function typeNameOf(entityType: EntityType): string {
  const words = entityType.toLowerCase().replaceAll('_', ' ')
  return OTHER_WORDS[entityType] ?? words.charAt(0).toUpperCase() + words.slice(1)
}

/** `Device with id […] is not found`; in the field `entityType` the type as it is. */
export function itemNotFound(entity: EntityId): MillraceError {
  const { entityType, id } = entity
  return ServiceErrors.ITEM_NOT_FOUND({ typeName: typeNameOf(entityType), id, entityType })
}
