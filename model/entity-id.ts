/** Addresses of entities. Source: requirements section 2.1; `rest-api.md` 3.1. */

export const ENTITY_TYPES = [
  'TENANT',
  'CUSTOMER',
  'USER',
  'DASHBOARD',
  'ASSET',
  'DEVICE',
  'ALARM',
  'RULE_CHAIN',
  'RULE_NODE',
  'ENTITY_VIEW',
  'DEVICE_PROFILE',
  'ASSET_PROFILE',
  'TENANT_PROFILE',
  'EDGE',
  'API_USAGE_STATE',
  'TB_RESOURCE',
  'OTA_PACKAGE',
  'RPC',
  'QUEUE',
  'QUEUE_STATS',
  'WIDGETS_BUNDLE',
  'WIDGET_TYPE',
  'NOTIFICATION',
  'NOTIFICATION_TARGET',
  'NOTIFICATION_TEMPLATE',
  'NOTIFICATION_REQUEST',
  'NOTIFICATION_RULE',
  'CALCULATED_FIELD',
  'DOMAIN',
  'MOBILE_APP',
  'MOBILE_APP_BUNDLE',
  'OAUTH2_CLIENT',
  'JOB',
  'ADMIN_SETTINGS',
  'AI_MODEL',
  'API_KEY',
  'INTEGRATION',
] as const

export type EntityType = (typeof ENTITY_TYPES)[number]

export interface EntityId {
  readonly entityType: EntityType
  /** Lower-case UUID text. */
  readonly id: string
}

/** The id that existing clients send and expect where "no entity" is meant (for example an unassigned customer). */
export const NULL_UUID = '13814000-1dd2-11b2-8080-808080808080'

const UUID_TEXT = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i

export function isUuid(text: string): boolean {
  return UUID_TEXT.test(text)
}

const ENTITY_TYPE_NAMES: ReadonlySet<string> = new Set(ENTITY_TYPES)

export function isEntityType(text: string): text is EntityType {
  return ENTITY_TYPE_NAMES.has(text)
}

export function entityId(entityType: EntityType, id: string): EntityId {
  return { entityType, id }
}
