/**
 * Notifications: requests by users and by rules wait in the table until they are due, are resolved to users by their targets, and delivered.
 * Source: `rest-api.md` 15.4.
 */
import { lruMap } from '../../model/lru-map.ts'
import type { Clock, Random, TimerHandle } from '../../model/clock.ts'
import type { EntityType } from '../../model/entity-id.ts'
import { errorText } from '../../model/errors.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../../model/json.ts'
import type { Principal } from '../../model/principal.ts'
import type { ChangeFeed } from '../../engine/subscriptions/change.ts'
import type { EntityStore } from '../../storage/entities/entity-store.ts'
import type { RowStore } from '../../storage/entities/tables/row-store.ts'
import { SYSTEM_TENANT } from '../changes/changes.ts'
import type { CommitDoubts } from '../changes/commit-doubts.ts'
import type { EntityRegistry } from '../entities/entity-registry.ts'
import type { EntityService } from '../entities/entity-service.ts'
import {
  checkMethods,
  notificationRequests,
  notificationTemplates,
  withMethodNames,
  type NotificationRequest,
} from '../entities/notification.ts'
import { rowsOf } from '../entities/rows.ts'
import type { Report } from '../changes/outbox.ts'
import type { UserSettings } from '../users/user-settings.ts'
import type { Vault } from '../vault/vault.ts'
import { checkChannel } from './channels.ts'
import { Delivery, type DeliveryParts } from './delivery.ts'
import { DueRequests } from './due-requests.ts'
import { NotificationErrors } from './errors.ts'
import { Inbox } from './inbox.ts'
import { Recipients } from './recipients.ts'
import { DELIVERY_METHODS, NotificationSettings, type DeliveryMethod } from './settings.ts'
import { filledJson, recipientParameters, titleOf } from './templates.ts'

export interface NotificationParts {
  readonly declared: EntityRegistry
  readonly entities: EntityStore
  readonly feed: ChangeFeed
  readonly doubts: CommitDoubts
  readonly vault: Vault
  readonly userSettings: UserSettings
  readonly mail: DeliveryParts['mail']
  readonly texts: DeliveryParts['texts']
  readonly clock: Clock
  readonly random: Random
  readonly report: Report
  /** Age at which notifications and the requests that made them go. */
  readonly ttlMs: number
}

export interface RequestDraft {
  readonly targets: readonly string[]
  readonly templateId?: string | undefined
  readonly template?: JsonObject | undefined
  readonly info?: JsonValue | undefined
  readonly additionalConfig?: JsonValue | undefined
}

/** Of a tenant, or of the system. */
export const MAX_WAITING = 1_000
const MAX_SENT = 10_000
/** Each holds a connection to a mail server at most. */
const SENDERS = 32
const MAX_DELAY_SECONDS = 604_800
const CLEANUP_INTERVAL_MS = 600_000
const ROWS_PER_REMOVAL = 1_000
const ASKED_AGAIN_MS = 86_400_000
const MAX_REMEMBERED = 100_000

export class Notifications {
  readonly inbox: Inbox
  readonly settings: NotificationSettings
  readonly recipients: Recipients
  private readonly parts: NotificationParts
  private readonly delivery: Delivery
  private readonly due: DueRequests
  private readonly requests: EntityService<typeof notificationRequests.columns>
  private readonly rows: RowStore
  /** Until when (Unix ms) a tenant that asks for more entities of a type has asked already. */
  private readonly asked = lruMap<number>(MAX_REMEMBERED)
  private timer: TimerHandle | undefined
  private isClosed = false

  constructor(parts: NotificationParts) {
    const { declared, entities, doubts, vault, clock, random, report } = parts
    this.parts = parts
    this.requests = declared.of(notificationRequests)
    this.rows = rowsOf(notificationRequests, entities)
    this.inbox = new Inbox(parts)
    this.settings = new NotificationSettings({ entities, users: parts.userSettings, vault, clock, random })
    this.recipients = new Recipients(declared)
    const { inbox, recipients, settings } = this
    const { mail, texts } = parts
    this.delivery = new Delivery({ declared, inbox, recipients, settings, mail, texts, clock, random })
    const { requests, delivery } = this
    this.due = new DueRequests({
      entities,
      requests,
      delivery,
      inbox,
      doubts,
      clock,
      report,
      maxSent: MAX_SENT,
      senders: SENDERS,
    })
  }

  /** Sends what is due, and removes what is old, from now on. */
  start(): void {
    this.due.start()
    this.cleanUpLater()
  }

  async close(): Promise<void> {
    this.isClosed = true
    this.timer?.cancel()
    await this.due.close()
  }

  /** Tenants whose requests are being sent, and such as wait for a sender. */
  figures(): { readonly sending: number; readonly waiting: number } {
    return this.due.figures()
  }

  /** Resolves when nothing is being sent. */
  settled(): Promise<void> {
    return this.due.settled()
  }

  /** Looks for what is due, now or at that time (Unix ms). */
  wake(at?: number): void {
    if (at === undefined || at <= this.parts.clock.now()) this.due.run()
    else this.due.wakeAt(at)
  }

  /** Durable when it resolves; sent behind it. Throws `TARGET_UNKNOWN`, `TEMPLATE_…`, `NO_METHOD`, `NOT_CONFIGURED`, `NOBODY_BY`, `DELAY`, `TOO_MANY_WAITING`. */
  async send(principal: Principal, draft: RequestDraft): Promise<NotificationRequest> {
    const tenantId = this.requests.tenantOf(principal)
    const { templateId = null, info = null, additionalConfig = null } = draft
    const template = isJsonObject(draft.template)
      ? { ...draft.template, configuration: withMethodNames(draft.template['configuration'] ?? null) }
      : null
    const delay = delayOf(additionalConfig)
    const { name, methods } = await this.delivery.templateOf(tenantId, { templateId, template })
    if (isJsonObject(template)) checkMethods(template['configuration'] ?? null)
    // Refused at once, not when it is sent.
    const targets = await this.recipients.requireTargets(tenantId, draft.targets)
    const used = DELIVERY_METHODS.filter((method) => isEnabled(methods[method] ?? null))
    if (used.length === 0) throw NotificationErrors.NO_METHOD()
    const served = await this.deliveryMethods()
    const configurations = targets.map(({ configuration }) => configuration)
    for (const method of used) checkChannel(method, served, configurations)
    if (!(await this.hasRoom(tenantId))) throw NotificationErrors.TOO_MANY_WAITING({ limit: MAX_WAITING })
    const dueTime = this.parts.clock.now() + delay * 1000
    const request = await this.requests.saveByUser(principal, {
      targets: [...draft.targets],
      templateName: name,
      templateId,
      template,
      info,
      additionalConfig,
      originatorEntityId: { entityType: 'USER', id: principal.userId },
      status: delay > 0 ? 'SCHEDULED' : 'PROCESSING',
      dueTime,
    })
    this.wake(dueTime)
    return request
  }

  /** Cancels what is not sent yet; of what was sent the notifications go too. */
  async deleteRequest(principal: Principal, id: string): Promise<void> {
    const recipients = await this.inbox.recipientsOf(id)
    await this.requests.deleteByUser(principal, id)
    this.inbox.tell(recipients)
  }

  /** What a request would be: its words as the caller would read them, and whom it would reach. Throws as `send` does. */
  async preview(principal: Principal, draft: RequestDraft, size: number): Promise<JsonObject> {
    const tenantId = this.requests.tenantOf(principal)
    const { templateId = null, template = null } = draft
    const { methods } = await this.delivery.templateOf(tenantId, { templateId, template })
    const { users, countByTarget } = await this.recipients.find(tenantId, draft.targets)
    const parameters = recipientParameters(principal)
    const used = Object.entries(methods).filter(([, each]) => isEnabled(each))
    return {
      processedTemplates: Object.fromEntries(used.map(([method, each]) => [method, filledJson(each, parameters)])),
      totalRecipientsCount: users.length,
      recipientsCountByTarget: { ...countByTarget },
      recipientsPreview: users.slice(0, size).map(titleOf),
    }
  }

  /**
   * Asks the system administrators for room for more entities of that type. They hear it of a tenant once a day: nobody fills their inboxes
   * by asking again.
   */
  async askForMore(principal: Principal, entityType: EntityType): Promise<void> {
    const now = this.parts.clock.now()
    const key = `${this.requests.tenantOf(principal)}/${entityType}`
    if ((this.asked.get(key) ?? 0) > now) return
    this.asked.set(key, now + ASKED_AGAIN_MS)
    try {
      await this.tellOfLimit(principal, entityType)
    } catch (error) {
      this.asked.delete(key)
      throw error
    }
  }

  private async tellOfLimit(principal: Principal, entityType: EntityType): Promise<void> {
    const { declared, doubts, entities, random, clock } = this.parts
    const type = 'ENTITIES_LIMIT_INCREASE_REQUEST'
    const what = entityType.toLowerCase().replaceAll('_', ' ')
    const info = { type, entityType, userEmail: principal.email }
    const [own] = await declared.of(notificationTemplates).findAllBy(SYSTEM_TENANT, { notificationType: type })
    const methods =
      own === undefined
        ? {}
        : (await this.delivery.templateOf(SYSTEM_TENANT, { templateId: own.id, template: null })).methods
    const parameters = { entityType: what, userEmail: principal.email, ...recipientParameters(principal) }
    const web = filledJson(methods['WEB'] ?? null, parameters)
    const { subject, body } = isJsonObject(web) ? web : {}
    const users = await this.recipients.systemAdministrators()
    const statements = users.flatMap((user) =>
      this.inbox.delivery({
        id: random.uuid(),
        createdTime: clock.now(),
        tenantId: user.tenantId,
        recipientId: user.id,
        requestId: null,
        type,
        subject: typeof subject === 'string' ? subject : `${titleCase(what)}s limit increase request`,
        text:
          typeof body === 'string'
            ? body
            : `${principal.email} has reached the maximum number of ${what}s allowed and is requesting an increase to the ${what} limit.`,
        additionalConfig: 'null',
        info: JSON.stringify(info),
      }),
    )
    const tell = (): void => this.inbox.tell(users.map(({ id }) => id))
    await doubts.watch(entities.write(statements), tell)
    tell()
  }

  /** Those by which somebody can be reached now. */
  async deliveryMethods(): Promise<readonly DeliveryMethod[]> {
    const { mail, texts } = this.parts
    const [settings, hasTexts] = await Promise.all([mail.settings(), texts.isSetUp()])
    return ['WEB', ...(settings === undefined ? [] : (['EMAIL'] as const)), ...(hasTexts ? (['SMS'] as const) : [])]
  }

  /** Whether one more may wait. */
  async hasRoom(tenantId: string): Promise<boolean> {
    const waiting = [
      { column: 'tenant_id', is: tenantId },
      { column: 'status', in: ['PROCESSING', 'SCHEDULED'] },
    ]
    return (await this.rows.count(waiting)) < MAX_WAITING
  }

  /** Removes a bounded number of notifications and requests that are older than they may be. */
  async cleanUp(): Promise<void> {
    const before = this.parts.clock.now() - this.parts.ttlMs
    const old = [
      { column: 'created_time', from: 0, to: before },
      { column: 'status', is: 'SENT' },
    ]
    await this.parts.entities.write([
      this.inbox.removal(before, ROWS_PER_REMOVAL),
      this.rows.deleteOldest(old, ROWS_PER_REMOVAL),
    ])
  }

  private cleanUpLater(): void {
    if (this.isClosed || this.parts.ttlMs <= 0) return
    this.timer = this.parts.clock.after(CLEANUP_INTERVAL_MS, () => {
      void this.cleanUp()
        .catch((error: unknown) =>
          this.parts.report('Old notifications are not removed; trying again', { error: errorText(error) }),
        )
        .finally(() => this.cleanUpLater())
    })
  }
}

function isEnabled(template: JsonValue): boolean {
  return isJsonObject(template) && template['enabled'] === true
}

/** Seconds. Throws `DELAY`. */
function delayOf(additionalConfig: JsonValue): number {
  const said = isJsonObject(additionalConfig) ? (additionalConfig['sendingDelayInSec'] ?? 0) : 0
  const delay = Number(said)
  if (!Number.isInteger(delay) || delay < 0 || delay > MAX_DELAY_SECONDS)
    throw NotificationErrors.DELAY({ limit: MAX_DELAY_SECONDS })
  return delay
}

function titleCase(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1)
}
