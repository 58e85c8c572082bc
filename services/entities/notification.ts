/** Who is notified (targets), of what (templates), when (rules), and what was sent (requests). Source: `rest-api.md` 15.4. */
import { z } from 'zod'
import { isJsonObject, type JsonObject, type JsonValue } from '../../model/json.ts'
import type { EntityStore } from '../../storage/entities/entity-store.ts'
import { EntityStoreErrors } from '../../storage/entities/errors.ts'
import type { EntityTable } from '../../storage/entities/tables/entity-table.ts'
import type { RowStore } from '../../storage/entities/tables/row-store.ts'
import type { EntityId } from '../../model/entity-id.ts'
import { SYSTEM_TENANT } from '../changes/changes.ts'
import { itemNotFound, ServiceErrors } from '../errors.ts'
import { NotificationErrors } from '../notifications/errors.ts'
import { NOTIFICATION_TYPES } from '../notifications/types.ts'
import { recipientsOf, TENANT_TRIGGERS, TRIGGER_FORMS, TRIGGER_TYPES } from '../notifications/rule-configs.ts'
import {
  choice,
  flag,
  id,
  json,
  madeName,
  name,
  optionalId,
  optionalInteger,
  optionalText,
  type Column,
} from './column.ts'
import { customers } from './customer.ts'
import { defineEntity, type ColumnSet, type EntityAccess, type EntityDefinition, type RecordOf } from './define.ts'
import { users } from './user.ts'

/** Filters of users that only an event can fill. */
const FOR_RULES = ['ORIGINATOR_ENTITY_OWNER_USERS', 'AFFECTED_USER', 'AFFECTED_TENANT_ADMINISTRATORS'] as const
/** Of rows that are older than the column: the configuration is JSON text. */
const FOR_RULES_SQL = `case when ${FOR_RULES.map((type) => `configuration like '%"${type}"%'`).join(' or ')} then 1 else 0 end`

const NOTIFICATION_PERMISSIONS = { SYS_ADMIN: 'all', TENANT_ADMIN: 'all' } as const

const REFERENCED = 'referenced by'

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
  table: { name: 'notification_target', version: 2 },
  columns: {
    name: name(),
    configuration: json(),
    /** Whom it means follows from an event: no request by hand can use it. */
    isForRules: { ...flag(false, { since: 2, filledBy: FOR_RULES_SQL, sort: false }), isInternal: true },
  },
  unique: [{ members: ['name'], otherwise: () => NotificationErrors.TAKEN({ what: 'Recipients group' }) }],
  lacks: ['version'],
  mayBeSystems: true,
  permissions: NOTIFICATION_PERMISSIONS,
  // Who knows it may write to the channel.
  secrets: { configuration: { webhookUrl: 'text' } },
  example: () => ({
    name: 'Everybody',
    configuration: { type: 'PLATFORM_USERS', usersFilter: { type: 'ALL_USERS' } },
  }),
  async prepare(record, { services }) {
    const { configuration, tenantId } = record
    if (!isJsonObject(configuration)) throw NotificationErrors.CONFIGURATION({ member: 'configuration' })
    checkTarget(configuration)
    if (tenantId !== SYSTEM_TENANT) await requireOwnPeople(filterOf(configuration), tenantId, services)
    const isForRules = FOR_RULES.some((type) => type === filterOf(configuration)['type'])
    return { record: { ...record, configuration: { description: null, ...configuration }, isForRules } }
  },
  async beforeDelete({ id: targetId, tenantId }, services) {
    await refuseWhereUsed(services, tenantId, targetId)
    return undefined
  },
})

/** Whom of the platform's users a target means; none for other kinds of targets. */
export function filterOf(configuration: JsonValue): JsonObject {
  const filter = isJsonObject(configuration) ? configuration['usersFilter'] : undefined
  return isJsonObject(filter) ? filter : {}
}

/** What clients need of each kind to show it. */
function checkTarget(configuration: JsonObject): void {
  switch (configuration['type']) {
    case 'PLATFORM_USERS':
      return checkFilter(configuration['usersFilter'])
    case 'SLACK':
      return requireTexts(configuration['conversation'], 'configuration.conversation', ['type', 'id', 'name'])
    case 'MICROSOFT_TEAMS':
      return requireTexts(configuration, 'configuration', ['webhookUrl', 'channelName'])
    default:
      throw NotificationErrors.INVALID({
        member: 'configuration.type',
        reason: 'one of PLATFORM_USERS, SLACK, MICROSOFT_TEAMS is expected',
      })
  }
}

function requireTexts(value: JsonValue | undefined, member: string, names: readonly string[]): void {
  if (!isJsonObject(value)) throw NotificationErrors.CONFIGURATION({ member })
  for (const name of names) {
    const text = value[name]
    if (typeof text !== 'string' || text.trim() === '')
      throw NotificationErrors.CONFIGURATION({ member: `${member}.${name}` })
  }
}

function checkFilter(filter: JsonValue | undefined): void {
  const member = 'configuration.usersFilter'
  if (!isJsonObject(filter)) throw NotificationErrors.CONFIGURATION({ member })
  if (!USERS_FILTERS.some((type) => type === filter['type']))
    throw NotificationErrors.INVALID({
      member: `${member}.type`,
      reason: `one of ${USERS_FILTERS.join(', ')} is expected`,
    })
  for (const [type, name, isNamed] of [
    ['USER_LIST', 'usersIds', textsIn(filter['usersIds']).length > 0],
    ['CUSTOMER_USERS', 'customerId', typeof filter['customerId'] === 'string'],
  ] as const)
    if (filter['type'] === type && !isNamed) throw NotificationErrors.CONFIGURATION({ member: `${member}.${name}` })
}

/** A tenant names its own people only. Throws `PERMISSION_DENIED`, `ITEM_NOT_FOUND`. */
async function requireOwnPeople(filter: JsonObject, tenantId: string, services: EntityAccess): Promise<void> {
  const { type, usersIds, customerId, tenantsIds, tenantProfilesIds } = filter
  const isAbove =
    type === 'TENANT_ADMINISTRATORS' && [tenantsIds, tenantProfilesIds].some((ids) => textsIn(ids).length > 0)
  if (isAbove || type === 'SYSTEM_ADMINISTRATORS') throw ServiceErrors.PERMISSION_DENIED()
  if (type === 'USER_LIST') await requireOwn(users, textsIn(usersIds), tenantId, services)
  if (type === 'CUSTOMER_USERS') await requireOwn(customers, textsIn([customerId ?? null]), tenantId, services)
}

/** Read together: a list may be as long as a body. */
async function requireOwn<Columns extends ColumnSet>(
  definition: EntityDefinition<Columns>,
  named: readonly string[],
  tenantId: string,
  services: EntityAccess,
): Promise<void> {
  const ids = [...new Set(named)]
  const found = await services.of(definition).findByIds(tenantId, ids)
  const own = new Set(found.map(({ id }) => id))
  const other = ids.find((id) => !own.has(id))
  if (other === undefined) return
  const entity: EntityId = { entityType: definition.type, id: other }
  if ((await services.whose(entity)) === undefined) throw itemNotFound(entity)
  throw ServiceErrors.PERMISSION_DENIED()
}

/** The texts of a list; nothing of what is none. */
export function textsIn(value: JsonValue | undefined): readonly string[] {
  return Array.isArray(value) ? value.filter((item) => typeof item === 'string') : []
}

export const notificationTemplates = defineEntity({
  type: 'NOTIFICATION_TEMPLATE',
  label: 'Notification template',
  name: 'name',
  table: { name: 'notification_template', version: 1 },
  columns: {
    name: name(),
    notificationType: choice(NOTIFICATION_TYPES, 'GENERAL'),
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
  async prepare(record, { before, siblings }) {
    const { tenantId, notificationType } = record
    if (before !== undefined && before.notificationType !== notificationType) throw NotificationErrors.TYPE_FIXED()
    const isOnly = before === undefined && notificationType === 'ENTITIES_LIMIT_INCREASE_REQUEST'
    if (isOnly && (await siblings.count(tenantId, { notificationType })) > 0) throw NotificationErrors.ONE_OF_TYPE()
    checkMethods(record.configuration)
    return { record: { ...record, configuration: withMethodNames(record.configuration) } }
  },
  async beforeDelete({ id: templateId, tenantId }, services) {
    const waiting = { templateId, status: 'SCHEDULED' }
    if ((await services.countOf('NOTIFICATION_REQUEST', tenantId, waiting)) > 0)
      throw NotificationErrors.IN_USE({
        what: 'Notification template',
        used: REFERENCED,
        by: 'scheduled notification request',
      })
    return undefined
  },
})

/** The templates of a configuration by their delivery methods; each names its own, by which strict clients tell them apart. */
export function methodsOf(configuration: JsonValue): JsonObject {
  const methods = isJsonObject(configuration) ? configuration['deliveryMethodsTemplates'] : undefined
  if (!isJsonObject(methods)) return {}
  const named = Object.entries(methods).map(([method, template]): [string, JsonValue] => [
    method,
    isJsonObject(template) ? { ...template, method } : template,
  ])
  return Object.fromEntries(named)
}

/** Characters of the template. */
const LONGEST_TEXT = 320

/** Throws `CONFIGURATION` where there is no method, or one in use has no text, and `INVALID` where a text for phones is too long. */
export function checkMethods(configuration: JsonValue): void {
  const member = 'configuration.deliveryMethodsTemplates'
  const methods = Object.entries(methodsOf(configuration))
  if (methods.length === 0) throw NotificationErrors.CONFIGURATION({ member })
  for (const [method, template] of methods) {
    const { enabled, body } = isJsonObject(template) ? template : {}
    const isText = typeof body === 'string' && body.trim() !== ''
    if (enabled === true && !isText) throw NotificationErrors.CONFIGURATION({ member: `${member}.${method}.body` })
    if (method === 'SMS' && typeof body === 'string' && body.length > LONGEST_TEXT)
      throw NotificationErrors.INVALID({
        member: `${member}.SMS.body`,
        reason: `cannot be longer than ${LONGEST_TEXT} chars`,
      })
  }
}

/** The configuration, with the name of its method in each template. */
export function withMethodNames(configuration: JsonValue): JsonValue {
  if (!isJsonObject(configuration)) return configuration
  return { ...configuration, deliveryMethodsTemplates: methodsOf(configuration) }
}

/** All of a tenant are looked through at each event of their type. */
const MAX_RULES = 1_000

export const notificationRules = defineEntity({
  type: 'NOTIFICATION_RULE',
  label: 'Notification rule',
  name: 'name',
  table: { name: 'notification_rule', version: 1, indexes: [{ members: ['triggerType'] }] },
  columns: {
    name: name(),
    enabled: flag(true),
    templateId: id('NOTIFICATION_TEMPLATE', {
      whenDeleted: 'refuse',
      missing: () => NotificationErrors.TEMPLATE_UNKNOWN(),
      inUse: () =>
        NotificationErrors.IN_USE({ what: 'Notification template', used: REFERENCED, by: 'notification rule' }),
    }),
    triggerType: choice(TRIGGER_TYPES, 'ALARM'),
    triggerConfig: json(),
    recipientsConfig: json(),
    additionalConfig: json(),
  },
  unique: [{ members: ['name'], otherwise: () => NotificationErrors.TAKEN({ what: 'Notification rule' }) }],
  // Front ends sort by it.
  shows: { templateName: { by: 'templateId', table: 'notification_template', column: 'name' } },
  lacks: ['version'],
  mayBeSystems: true,
  tells: ({ id: ruleId }) => ({ kind: 'settings-changed', entity: { entityType: 'NOTIFICATION_RULE', id: ruleId } }),
  permissions: { SYS_ADMIN: 'all', TENANT_ADMIN: 'all' },
  example: (ids) => ({
    name: 'New devices',
    templateId: { entityType: 'NOTIFICATION_TEMPLATE', id: ids['notificationTemplateId'] ?? '' },
    triggerType: 'ENTITY_ACTION',
    triggerConfig: { triggerType: 'ENTITY_ACTION', entityTypes: ['DEVICE'], created: true },
    recipientsConfig: { triggerType: 'ENTITY_ACTION', targets: [ids['notificationTargetId'] ?? ''] },
  }),
  async prepare(record, { before, services, siblings }) {
    const { tenantId, triggerType } = record
    if (record.templateId === '') throw NotificationErrors.CONFIGURATION({ member: 'templateId' })
    if (TENANT_TRIGGERS.some((type) => type === triggerType) !== (tenantId !== SYSTEM_TENANT))
      throw NotificationErrors.TRIGGER_UNAVAILABLE({ type: triggerType })
    if (before !== undefined && before.triggerType !== triggerType) throw NotificationErrors.TRIGGER_FIXED()
    if (before === undefined && (await siblings.count(tenantId, {})) >= MAX_RULES)
      throw NotificationErrors.TOO_MANY_RULES({ limit: MAX_RULES })
    checked('triggerConfig', record.triggerConfig, () => TRIGGER_FORMS[triggerType].parse(record.triggerConfig))
    const recipients = checked('recipientsConfig', record.recipientsConfig, () =>
      recipientsOf(triggerType, record.recipientsConfig),
    )
    const targetIds = [...new Set([...recipients.values()].flat())]
    const targets = await services.of(notificationTargets).findByIds(tenantId, targetIds)
    const unknown = targetIds.find((targetId) => !targets.some((target) => target.id === targetId))
    if (unknown !== undefined) throw NotificationErrors.TARGET_UNKNOWN({ id: unknown })
    return {
      record: {
        ...record,
        triggerConfig: typed(record.triggerConfig, triggerType),
        recipientsConfig: typed(record.recipientsConfig, triggerType),
      },
    }
  },
})

export type NotificationRule = RecordOf<typeof notificationRules.columns>

/** The type is in both parts, as clients tell their forms by it. */
function typed(config: JsonValue, triggerType: string): JsonValue {
  return isJsonObject(config) ? { ...config, triggerType } : config
}

function checked<Result>(member: string, config: JsonValue, read: () => Result): Result {
  if (!isJsonObject(config)) throw NotificationErrors.CONFIGURATION({ member })
  try {
    return read()
  } catch (error) {
    if (!(error instanceof z.ZodError)) throw error
    const [issue] = error.issues
    const where = [member, ...(issue?.path ?? [])].join('.')
    throw NotificationErrors.INVALID({ member: where, reason: issue?.message ?? 'not valid' })
  }
}

const NAME: Column<string> = madeName()
const REQUEST_STATUSES = ['PROCESSING', 'SENT', 'SCHEDULED'] as const

export const notificationRequests = defineEntity({
  type: 'NOTIFICATION_REQUEST',
  label: 'Notification request',
  name: 'templateName',
  table: {
    name: 'notification_request',
    version: 2,
    indexes: [
      { members: ['dueTime'], since: 2, isSystemWide: true },
      { members: ['status', 'createdTime'], since: 2 },
      { members: ['ruleEntity'], since: 2 },
    ],
  },
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
    /** `{entityType, id}` of the rule that made it. */
    ruleId: json(),
    status: choice(REQUEST_STATUSES, 'SENT'),
    stats: json(),
    /** Unix ms from which it may be sent; null once it was. Who sends it moves it on, so that nobody else does meanwhile. */
    dueTime: { ...optionalInteger({ since: 2, sort: false }), isInternal: true },
    /** What its template may say beside the recipient's name, and whom the event concerns. */
    context: { ...json({ since: 2, filledBy: "'null'" }), isInternal: true },
    /** `rule/entity`: which requests the rule has for what set it off. */
    ruleEntity: { ...optionalText({ since: 2, sort: false }), isInternal: true },
  },
  lacks: ['version', 'externalId'],
  mayBeSystems: true,
  permissions: NOTIFICATION_PERMISSIONS,
  example: () => ({ targets: [], templateName: 'Hello' }),
  // What it delivered goes with it.
  async beforeDelete({ id: requestId }, { store }) {
    return [inboxRows(store).deleteAll([{ column: 'request_id', is: requestId }])]
  },
})

export type NotificationRequest = RecordOf<typeof notificationRequests.columns>

async function refuseWhereUsed(services: EntityAccess, tenantId: string, targetId: string): Promise<void> {
  const what = 'Recipients group'
  const rules = await services.of(notificationRules).findAllBy(tenantId, {})
  const tells = ({ triggerType, recipientsConfig }: NotificationRule): boolean =>
    [...recipientsOf(triggerType, recipientsConfig).values()].some((ids) => ids.includes(targetId))
  if (rules.some(tells)) throw NotificationErrors.IN_USE({ what, used: 'being used in', by: 'notification rule' })
  const waiting = await services.of(notificationRequests).findAllBy(tenantId, { status: 'SCHEDULED' })
  if (waiting.some(({ targets }) => Array.isArray(targets) && targets.includes(targetId)))
    throw NotificationErrors.IN_USE({ what, used: REFERENCED, by: 'scheduled notification request' })
}

/** The inboxes: what a user was told; a row goes with its user. */
export const NOTIFICATIONS: EntityTable = {
  name: 'notification',
  version: 2,
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
  indexes: [
    { columns: ['recipient_id', 'status'] },
    { columns: ['recipient_id', 'created_time'] },
    { columns: ['request_id'], since: 2 },
    { columns: ['created_time'], since: 2 },
  ],
}

export function inboxRows(entities: EntityStore): RowStore {
  const overtaken = (): Error => EntityStoreErrors.VERSION_CONFLICT({ entity: 'Notification' })
  return entities.rows(NOTIFICATIONS, { taken: {}, overtaken })
}
