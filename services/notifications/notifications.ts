/**
 * Notifications: a request is resolved to users by its targets and put into their inboxes, in one transaction with the request. An inbox
 * keeps its newest. Source: `rest-api.md` 15.4.
 */
import type { Clock, Random } from '../../model/clock.ts'
import type { Page, PageQuery } from '../../model/entities.ts'
import { isJsonObject, parseJson, stringifyJson, type JsonObject, type JsonValue } from '../../model/json.ts'
import type { Principal } from '../../model/principal.ts'
import type { Statement } from '../../storage/entities/database.ts'
import { EntityStoreErrors } from '../../storage/entities/errors.ts'
import type { EntityStore } from '../../storage/entities/entity-store.ts'
import type { Row } from '../../storage/entities/tables/entity-table.ts'
import type { Condition, RowStore } from '../../storage/entities/tables/row-store.ts'
import { SYSTEM_TENANT } from '../changes.ts'
import type { RecordOf } from '../entities/define.ts'
import type { EntityRegistry } from '../entities/entity-registry.ts'
import {
  methodsOf,
  notificationRequests,
  NOTIFICATIONS,
  notificationTargets,
  notificationTemplates,
  type NotificationRequest,
} from '../entities/notification.ts'
import { users } from '../entities/user.ts'
import { NotificationErrors } from './errors.ts'

export interface NotificationParts {
  readonly declared: EntityRegistry
  readonly entities: EntityStore
  readonly clock: Clock
  readonly random: Random
}

export interface RequestDraft {
  readonly targets: readonly string[]
  readonly templateId?: string | undefined
  readonly template?: JsonObject | undefined
  readonly info?: JsonValue | undefined
  readonly additionalConfig?: JsonValue | undefined
}

type User = RecordOf<typeof users.columns>

const MAX_RECIPIENTS = 10_000
const MAX_INBOX = 1_000
const SORTS = { createdTime: 'created_time', subject: 'subject', type: 'type', status: 'status' } as const

export class Notifications {
  private readonly parts: NotificationParts
  private readonly rows: RowStore

  constructor(parts: NotificationParts) {
    this.parts = parts
    const overtaken = (): Error => EntityStoreErrors.VERSION_CONFLICT({ entity: 'Notification' })
    this.rows = parts.entities.rows(NOTIFICATIONS, { taken: {}, overtaken })
  }

  async page({ userId }: Principal, isUnreadOnly: boolean, query: PageQuery): Promise<Page<JsonObject>> {
    const where: Condition[] = [{ column: 'recipient_id', is: userId }]
    if (isUnreadOnly) where.push(UNREAD)
    const page = await this.rows.page({ where, query, sort: SORTS, search: ['subject', 'text'] })
    return { ...page, data: page.data.map(jsonOf) }
  }

  unreadCount({ userId }: Principal): Promise<number> {
    return this.rows.count([{ column: 'recipient_id', is: userId }, UNREAD])
  }

  /** Of another user it is not found. */
  async markRead(principal: Principal, id: string): Promise<void> {
    await this.own(principal, id)
    await this.parts.entities.write([this.rows.updateAll([{ column: 'id', is: id }], { status: 'READ' })])
  }

  async markAllRead({ userId }: Principal): Promise<void> {
    const where: Condition[] = [{ column: 'recipient_id', is: userId }, UNREAD]
    await this.parts.entities.write([this.rows.updateAll(where, { status: 'READ' })])
  }

  async delete(principal: Principal, id: string): Promise<void> {
    await this.own(principal, id)
    await this.parts.entities.write([this.rows.deleteAll([{ column: 'id', is: id }])])
  }

  /** Throws `TARGET_UNKNOWN`, `TEMPLATE_UNKNOWN`, `DELAYED`, `TOO_MANY`. */
  async send(principal: Principal, draft: RequestDraft): Promise<NotificationRequest> {
    const service = this.parts.declared.of(notificationRequests)
    const tenantId = service.tenantOf(principal)
    const { additionalConfig = null } = draft
    if (isJsonObject(additionalConfig) && Number(additionalConfig['sendingDelayInSec'] ?? 0) > 0)
      throw NotificationErrors.DELAYED()
    const { name, type, methods } = await this.templateOf(tenantId, draft)
    const recipients = await this.recipientsOf(tenantId, draft.targets)
    if (recipients.length > MAX_RECIPIENTS)
      throw NotificationErrors.TOO_MANY({ count: recipients.length, limit: MAX_RECIPIENTS })
    const web = enabled(methods['WEB'])
    const others = Object.keys(methods).filter((method) => method !== 'WEB' && enabled(methods[method]) !== undefined)
    const notServed = Object.fromEntries(others.map((method) => [method, { '': 'Delivery method is not configured' }]))
    return service.saveByUser(
      principal,
      {
        targets: [...draft.targets],
        templateName: name,
        templateId: draft.templateId ?? null,
        template: draft.template ?? null,
        info: draft.info ?? null,
        additionalConfig,
        originatorEntityId: { entityType: 'USER', id: principal.userId },
        status: 'SENT',
        stats: {
          sent: web === undefined ? {} : { WEB: recipients.length },
          errors: notServed,
          totalErrors: others.length,
          error: null,
        },
      },
      {
        following: (request) =>
          web === undefined ? [] : recipients.flatMap((user) => this.delivery(request, user, type, web)),
      },
    )
  }

  /** The users that targets name, each once, in the order of their ids. */
  async recipientsOf(tenantId: string, targetIds: readonly string[]): Promise<readonly User[]> {
    const targets = await this.parts.declared.of(notificationTargets).findByIds(tenantId, targetIds)
    const unknown = targetIds.find((id) => !targets.some((target) => target.id === id))
    if (unknown !== undefined) throw NotificationErrors.TARGET_UNKNOWN({ id: unknown })
    const found = new Map<string, User>()
    for (const { configuration } of targets)
      for (const user of await this.usersOf(tenantId, configuration)) found.set(user.id, user)
    return [...found.values()].toSorted((a, b) => (a.id < b.id ? -1 : 1))
  }

  private async usersOf(tenantId: string, configuration: JsonValue): Promise<readonly User[]> {
    const filter = isJsonObject(configuration) ? (configuration['usersFilter'] ?? null) : null
    const service = this.parts.declared.of(users)
    const found = queriesOf(tenantId, filter).map((where) => service.findWhere(where, MAX_RECIPIENTS + 1))
    return (await Promise.all(found)).flat()
  }

  private async templateOf(tenantId: string, { templateId, template }: RequestDraft) {
    const named = template?.['notificationType']
    if (template !== undefined)
      return {
        name: '',
        type: typeof named === 'string' ? named : 'GENERAL',
        methods: methodsOf(template['configuration'] ?? null),
      }
    const stored =
      templateId === undefined
        ? undefined
        : await this.parts.declared.of(notificationTemplates).find(tenantId, templateId)
    if (stored === undefined) throw NotificationErrors.TEMPLATE_UNKNOWN()
    return { name: stored.name, type: stored.notificationType, methods: methodsOf(stored.configuration) }
  }

  private delivery(request: NotificationRequest, user: User, type: string, web: JsonObject): readonly Statement[] {
    return [
      this.rows.insert({
        id: this.parts.random.uuid(),
        created_time: this.parts.clock.now(),
        version: 1,
        tenant_id: user.tenantId,
        recipient_id: user.id,
        request_id: request.id,
        type,
        subject: filled(web['subject'], user),
        text: filled(web['body'], user) ?? '',
        additional_config: stringifyJson(web['additionalConfig'] ?? null),
        info: stringifyJson(request.info),
        status: 'SENT',
      }),
      this.rows.keepNewest({ recipient_id: user.id }, MAX_INBOX),
    ]
  }

  private async own({ userId }: Principal, id: string): Promise<void> {
    const found = await this.rows.find([
      { column: 'id', is: id },
      { column: 'recipient_id', is: userId },
    ])
    if (found === undefined) throw NotificationErrors.NOT_FOUND()
  }
}

const UNREAD: Condition = { column: 'status', is: 'SENT' }

/** One query or several; none for who only an event could name. A tenant reaches its own users only. */
function queriesOf(tenantId: string, filter: JsonValue): readonly (readonly Condition[])[] {
  if (!isJsonObject(filter)) return []
  const isSystem = tenantId === SYSTEM_TENANT
  const own: readonly Condition[] = isSystem ? [] : [{ column: 'tenant_id', is: tenantId }]
  switch (filter['type']) {
    case 'ALL_USERS':
      return [own]
    case 'TENANT_ADMINISTRATORS':
      return (isSystem ? someTenants(filter) : [own]).map((where) => [...where, ADMINISTRATORS])
    case 'CUSTOMER_USERS':
      return [[...own, { column: 'customer_id', in: textsIn([filter['customerId'] ?? null]) }]]
    case 'USER_LIST':
      return [[...own, { column: 'id', in: textsIn(filter['usersIds']) }]]
    case 'SYSTEM_ADMINISTRATORS':
      return isSystem ? [[{ column: 'authority', is: 'SYS_ADMIN' }]] : []
    default:
      return []
  }
}

const ADMINISTRATORS: Condition = { column: 'authority', is: 'TENANT_ADMIN' }

/** These tenants, else those of these profiles, else all. */
function someTenants(filter: JsonObject): readonly (readonly Condition[])[] {
  const tenants = textsIn(filter['tenantsIds'])
  if (tenants.length > 0) return [[{ column: 'tenant_id', in: tenants }]]
  const profiles = textsIn(filter['tenantProfilesIds'])
  if (profiles.length === 0) return [[]]
  return profiles.map((id) => [
    { column: 'tenant_id', among: { table: 'tenant', column: 'id', where: { tenant_profile_id: id } } },
  ])
}

function textsIn(value: JsonValue | undefined): readonly string[] {
  return Array.isArray(value) ? value.filter((item) => typeof item === 'string') : []
}

function enabled(template: JsonValue | undefined): JsonObject | undefined {
  return isJsonObject(template) && template['enabled'] === true ? template : undefined
}

function filled(template: JsonValue | undefined, { email, firstName, lastName }: User): string | null {
  if (typeof template !== 'string') return null
  const values: Readonly<Record<string, string>> = {
    recipientTitle: [firstName, lastName].filter((part) => part !== null && part !== '').join(' ') || email,
    recipientEmail: email,
    recipientFirstName: firstName ?? '',
    recipientLastName: lastName ?? '',
  }
  return template.replace(/\$\{(\w+)\}/g, (whole, name: string) => values[name] ?? whole)
}

function jsonOf(row: Row): JsonObject {
  const text = (column: string): string => String(row[column] ?? '')
  return {
    id: { entityType: 'NOTIFICATION', id: text('id') },
    createdTime: Number(row['created_time']),
    requestId: { entityType: 'NOTIFICATION_REQUEST', id: text('request_id') },
    recipientId: { entityType: 'USER', id: text('recipient_id') },
    type: text('type'),
    deliveryMethod: 'WEB',
    subject: row['subject'] === null ? null : text('subject'),
    text: text('text'),
    additionalConfig: parseJson(text('additional_config')),
    info: parseJson(text('info')),
    status: text('status'),
  }
}
