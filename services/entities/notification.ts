/** Who is notified (targets), of what (templates), and what was sent (requests). Source: `rest-api.md` 15.4. */
import { isJsonObject, type JsonObject, type JsonValue } from '../../model/json.ts'
import type { EntityTable } from '../../storage/entities/tables/entity-table.ts'
import { NotificationErrors } from '../notifications/errors.ts'
import { choice, fixed, json, madeName, name, optionalId, type Column } from './column.ts'
import { defineEntity, type RecordOf } from './define.ts'

const NOTIFICATION_PERMISSIONS = { SYS_ADMIN: 'all', TENANT_ADMIN: 'all' } as const

export const USERS_FILTERS = [
  'ALL_USERS',
  'TENANT_ADMINISTRATORS',
  'CUSTOMER_USERS',
  'USER_LIST',
  'SYSTEM_ADMINISTRATORS',
  'ORIGINATOR_ENTITY_OWNER_USERS',
  'AFFECTED_USER',
  'AFFECTED_TENANT_ADMINISTRATORS',
] as const

export const notificationTargets = defineEntity({
  type: 'NOTIFICATION_TARGET',
  label: 'Notification target',
  name: 'name',
  table: { name: 'notification_target', version: 1 },
  columns: { name: name(), configuration: json() },
  unique: [{ members: ['name'], otherwise: () => NotificationErrors.TAKEN({ what: 'Notification target' }) }],
  lacks: ['version'],
  mayBeSystems: true,
  permissions: NOTIFICATION_PERMISSIONS,
  example: () => ({
    name: 'Everybody',
    configuration: { type: 'PLATFORM_USERS', usersFilter: { type: 'ALL_USERS' } },
  }),
  async prepare(record) {
    const { configuration } = record
    if (!isJsonObject(configuration)) throw NotificationErrors.CONFIGURATION({ member: 'configuration' })
    if (configuration['type'] === 'PLATFORM_USERS') checkFilter(configuration['usersFilter'])
    return { record: { ...record, configuration: { description: null, ...configuration } } }
  },
})

function checkFilter(filter: JsonValue | undefined): void {
  if (!isJsonObject(filter) || !USERS_FILTERS.some((type) => type === filter['type']))
    throw NotificationErrors.CONFIGURATION({ member: 'configuration.usersFilter' })
}

export const NOTIFICATION_TYPES = [
  'GENERAL',
  'ALARM',
  'DEVICE_ACTIVITY',
  'ENTITY_ACTION',
  'ALARM_COMMENT',
  'RULE_ENGINE_COMPONENT_LIFECYCLE_EVENT',
  'ALARM_ASSIGNMENT',
  'NEW_PLATFORM_VERSION',
  'ENTITIES_LIMIT',
  'ENTITIES_LIMIT_INCREASE_REQUEST',
  'API_USAGE_LIMIT',
  'RULE_NODE',
  'RATE_LIMITS',
  'EDGE_CONNECTION',
  'EDGE_COMMUNICATION_FAILURE',
  'TASK_PROCESSING_FAILURE',
  'RESOURCES_SHORTAGE',
] as const

export const notificationTemplates = defineEntity({
  type: 'NOTIFICATION_TEMPLATE',
  label: 'Notification template',
  name: 'name',
  table: { name: 'notification_template', version: 1 },
  columns: {
    name: name(),
    notificationType: choice(NOTIFICATION_TYPES, 'GENERAL', { sort: true }),
    configuration: json(),
  },
  unique: [{ members: ['name'], otherwise: () => NotificationErrors.TAKEN({ what: 'Notification template' }) }],
  lacks: ['version'],
  mayBeSystems: true,
  permissions: NOTIFICATION_PERMISSIONS,
  example: () => ({
    name: 'Hello',
    notificationType: 'GENERAL',
    configuration: { deliveryMethodsTemplates: { WEB: { method: 'WEB', enabled: true, subject: 'Hi', body: 'Text' } } },
  }),
  async prepare(record) {
    if (Object.keys(methodsOf(record.configuration)).length === 0)
      throw NotificationErrors.CONFIGURATION({ member: 'configuration.deliveryMethodsTemplates' })
    return { record }
  },
})

/** The templates of a configuration by their delivery methods. */
export function methodsOf(configuration: JsonValue): JsonObject {
  const methods = isJsonObject(configuration) ? configuration['deliveryMethodsTemplates'] : undefined
  return isJsonObject(methods) ? methods : {}
}

const NAME: Column<string> = madeName()

export const notificationRequests = defineEntity({
  type: 'NOTIFICATION_REQUEST',
  label: 'Notification request',
  name: 'templateName',
  table: { name: 'notification_request', version: 1 },
  columns: {
    targets: json(),
    /** Lists show and search it. */
    templateName: { ...NAME, isInternal: true },
    templateId: optionalId('NOTIFICATION_TEMPLATE', {
      whenDeleted: 'forget',
      missing: () => NotificationErrors.TEMPLATE_UNKNOWN(),
    }),
    template: json(),
    info: json(),
    additionalConfig: json(),
    originatorEntityId: json(),
    ruleId: fixed(json()),
    status: choice(['PROCESSING', 'SENT'], 'SENT', { sort: true }),
    stats: json(),
  },
  lacks: ['version', 'externalId'],
  mayBeSystems: true,
  permissions: NOTIFICATION_PERMISSIONS,
  example: () => ({ targets: [], templateName: 'Hello' }),
})

export type NotificationRequest = RecordOf<typeof notificationRequests.columns>

/** The inboxes: what a user was told; a row goes with its user. */
export const NOTIFICATIONS: EntityTable = {
  name: 'notification',
  version: 1,
  columns: [
    { name: 'recipient_id', type: 'text', isNullable: false, references: { table: 'app_user', whenDeleted: 'delete' } },
    { name: 'request_id', type: 'text', isNullable: true },
    { name: 'type', type: 'text', isNullable: false },
    { name: 'subject', type: 'text', isNullable: true },
    { name: 'text', type: 'text', isNullable: false },
    { name: 'additional_config', type: 'text', isNullable: false },
    { name: 'info', type: 'text', isNullable: false },
    { name: 'status', type: 'text', isNullable: false },
  ],
  unique: [],
  indexes: [{ columns: ['recipient_id', 'status'] }, { columns: ['recipient_id', 'created_time'] }],
}
