/** Delivers one request: whom it means, in which ways, with which words; what came of it is counted. */
import { z } from 'zod'
import type { Clock, Random } from '../../model/clock.ts'
import { ENTITY_TYPES } from '../../model/entity-id.ts'
import { errorText, isMillraceError } from '../../model/errors.ts'
import { isJsonObject, stringifyJson, type JsonObject, type JsonValue } from '../../model/json.ts'
import { within } from '../../model/within.ts'
import type { Statement } from '../../storage/entities/database.ts'
import type { EntityRegistry } from '../entities/entity-registry.ts'
import { methodsOf, notificationTemplates, type NotificationRequest } from '../entities/notification.ts'
import type { MailSettings } from '../mail/mail-settings.ts'
import type { Mail } from '../mail/smtp.ts'
import type { SendText } from '../sms/tenant-sms.ts'
import { NOT_SERVED } from './channels.ts'
import { NotificationErrors } from './errors.ts'
import type { Inbox } from './inbox.ts'
import { MAX_RECIPIENTS, type Concerned, type Recipients, type User } from './recipients.ts'
import { DELIVERY_METHODS, type DeliveryMethod, type NotificationSettings } from './settings.ts'
import { escaped, filled, filledJson, recipientParameters, titleOf, type Parameters } from './templates.ts'

export interface DeliveryParts {
  readonly declared: EntityRegistry
  readonly inbox: Inbox
  readonly recipients: Recipients
  readonly settings: NotificationSettings
  readonly mail: {
    /** Undefined where nobody said how mails go out. */
    readonly settings: () => Promise<MailSettings | undefined>
    readonly send: (settings: MailSettings, mail: Mail) => Promise<void>
  }
  readonly texts: { readonly isSetUp: () => Promise<boolean>; readonly send: SendText }
  readonly clock: Clock
  readonly random: Random
}

/** What a request may say beside the recipient's name, and whom its event concerns. */
export interface RequestContext {
  readonly parameters: Parameters
  readonly concerned: Concerned
}

export interface DeliveryOutcome {
  readonly stats: JsonObject
  /** Put what is told into the inboxes. */
  readonly statements: readonly Statement[]
  readonly told: readonly string[]
}

export interface ResolvedTemplate {
  readonly name: string
  readonly type: string
  readonly methods: JsonObject
}

const contextSchema = z.object({
  parameters: z.record(z.string(), z.string()),
  originator: z.object({ entityType: z.enum(ENTITY_TYPES), id: z.string() }).optional(),
  userId: z.string().optional(),
  tenantId: z.string().optional(),
})

/** More errors of one way are counted, not kept. */
const MAX_ERRORS = 100

/** Well below how long a request is held for: nobody else sends the mail or text meanwhile. */
const SEND_MS = 45_000

const walkSchema = z.object({
  /** The last user who was tried: they come in the order of their ids. */
  after: z.string(),
  count: z.number(),
  failed: z.number(),
  /** The first of them. */
  errors: z.array(z.tuple([z.string(), z.string()])),
})
type Walk = z.infer<typeof walkSchema>
const NOBODY_YET: Walk = { after: '', count: 0, failed: 0, errors: [] }

const progressSchema = z.object({ mails: walkSchema.optional(), texts: walkSchema.optional() })

/** How far the mails and texts of a request are. */
export type Progress = z.infer<typeof progressSchema>
const WALKS = { EMAIL: 'mails', SMS: 'texts' } as const

/** Called between slow steps, with how far they are: whoever delivers says that it still does, or throws to end it. */
export type Hold = (progress: Progress) => Promise<void>

type Sent = Omit<Walk, 'after'>

export class Delivery {
  private readonly parts: DeliveryParts

  constructor(parts: DeliveryParts) {
    this.parts = parts
  }

  /** Throws `TEMPLATE_MISSING`, `TEMPLATE_UNKNOWN`. */
  async templateOf(
    tenantId: string,
    { templateId, template }: { readonly templateId: string | null; readonly template: JsonValue },
  ): Promise<ResolvedTemplate> {
    if (isJsonObject(template)) {
      const { notificationType: type } = template
      const methods = methodsOf(template['configuration'] ?? null)
      return { name: '', type: typeof type === 'string' ? type : 'GENERAL', methods }
    }
    if (templateId === null) throw NotificationErrors.TEMPLATE_MISSING()
    const stored = await this.parts.declared.of(notificationTemplates).find(tenantId, templateId)
    if (stored === undefined) throw NotificationErrors.TEMPLATE_UNKNOWN()
    return { name: stored.name, type: stored.notificationType, methods: methodsOf(stored.configuration) }
  }

  /** Mails and texts go on behind the progress that is in the request. */
  async deliver(request: NotificationRequest, hold: Hold): Promise<DeliveryOutcome> {
    const { tenantId } = request
    const { parameters, concerned } = contextOf(request.context)
    try {
      const template = await this.templateOf(tenantId, request)
      const { users } = await this.parts.recipients.find(tenantId, textIds(request.targets), concerned)
      if (users.length > MAX_RECIPIENTS)
        throw NotificationErrors.TOO_MANY({ count: users.length, limit: MAX_RECIPIENTS })
      return await this.deliverTo(users, template, parameters, request, hold)
    } catch (error) {
      // What can not be delivered as it is; a store that fails is tried again.
      if (!isMillraceError(error) || !error.code.startsWith('notifications.')) throw error
      const stats = { sent: {}, errors: {}, totalErrors: 0, error: errorText(error) }
      return { stats, statements: [], told: [] }
    }
  }

  private async deliverTo(
    users: readonly User[],
    template: ResolvedTemplate,
    parameters: Parameters,
    request: NotificationRequest,
    hold: Hold,
  ): Promise<DeliveryOutcome> {
    const sent: Record<string, number> = {}
    const errors: Record<string, JsonObject> = {}
    let totalErrors = 0
    let statements: readonly Statement[] = []
    let told: readonly string[] = []
    let progress = progressOf(request.context)
    for (const method of DELIVERY_METHODS) {
      const own = enabled(template.methods[method])
      if (own === undefined) continue
      const wanting = await this.wanting(users, template.type, method)
      if (method === 'WEB') {
        statements = wanting.flatMap((user) => this.toInbox(request, user, template.type, own, parameters))
        told = wanting.map(({ id }) => id)
        sent[method] = wanting.length
        continue
      }
      const send = await this.senderBy(method, request.tenantId, own, parameters)
      let outcome: Sent
      if (send === undefined || (method !== 'EMAIL' && method !== 'SMS')) outcome = failed(NOT_SERVED[method])
      else {
        const name = WALKS[method]
        const others = progress
        const walk = await toEach(wanting, send, others[name] ?? NOBODY_YET, (each) =>
          hold({ ...others, [name]: each }),
        )
        progress = { ...others, [name]: walk }
        outcome = walk
      }
      if (outcome.count > 0) sent[method] = outcome.count
      totalErrors += outcome.failed
      if (outcome.failed > 0) errors[method] = Object.fromEntries(outcome.errors)
    }
    return { stats: { sent, errors, totalErrors, error: null }, statements, told }
  }

  private async wanting(users: readonly User[], type: string, method: DeliveryMethod): Promise<readonly User[]> {
    const unwanted = await this.parts.settings.unwanted(
      users.map(({ id }) => id),
      type,
      method,
    )
    return users.filter(({ id }) => !unwanted.has(id))
  }

  private toInbox(
    request: NotificationRequest,
    user: User,
    type: string,
    template: JsonObject,
    parameters: Parameters,
  ): readonly Statement[] {
    const { inbox, random, clock } = this.parts
    const own = { ...parameters, ...recipientParameters(user) }
    const { subject, body, additionalConfig = null } = template
    return inbox.delivery({
      id: random.uuid(),
      createdTime: clock.now(),
      tenantId: user.tenantId,
      recipientId: user.id,
      requestId: request.id,
      type,
      subject: typeof subject === 'string' ? filled(subject, own) : null,
      text: typeof body === 'string' ? filled(body, own) : '',
      additionalConfig: stringifyJson(filledJson(additionalConfig, own)),
      info: stringifyJson(request.info),
    })
  }

  /** What sends to one user by that way; undefined where nothing does. */
  private async senderBy(
    method: DeliveryMethod,
    tenantId: string,
    template: JsonObject,
    parameters: Parameters,
  ): Promise<((user: User) => Promise<void>) | undefined> {
    const { mail, texts } = this.parts
    if (method === 'EMAIL') {
      const settings = await mail.settings()
      return settings && ((user) => this.inTime('mail server', mail.send(settings, mailTo(user, template, parameters))))
    }
    if (method !== 'SMS' || !(await texts.isSetUp())) return undefined
    const text = (user: User) => texts.send(tenantId, phoneOf(user), bodyFor(user, template, parameters))
    return (user) => this.inTime('SMS provider', text(user))
  }

  /** A service that answers a little now and then would take for ever. */
  private inTime(service: string, sending: Promise<void>): Promise<void> {
    const late = (): Error => NotificationErrors.TOO_SLOW({ service, seconds: SEND_MS / 1000 })
    return within(this.parts.clock, SEND_MS, sending, late)
  }
}

function mailTo(user: User, { subject, body }: JsonObject, parameters: Parameters): Mail {
  const own = { ...parameters, ...recipientParameters(user) }
  const text = filled(typeof body === 'string' ? body : '', own)
  const html = filled(typeof body === 'string' ? body : '', escaped(own))
  const line = filled(typeof subject === 'string' ? subject : '', own).replaceAll(/[\r\n]+/g, ' ')
  return { to: user.email, subject: line, text, html }
}

function bodyFor(user: User, { body }: JsonObject, parameters: Parameters): string {
  return filled(typeof body === 'string' ? body : '', { ...parameters, ...recipientParameters(user) })
}

/** Throws `NO_PHONE`. */
function phoneOf({ phone }: User): string {
  const number = phone?.trim() ?? ''
  if (number === '') throw NotificationErrors.NO_PHONE()
  return number
}

/** One user after another, since each may take long, behind those who were tried `before`. */
async function toEach(
  users: readonly User[],
  send: (user: User) => Promise<void>,
  before: Walk,
  note: (walk: Walk) => Promise<void>,
): Promise<Walk> {
  let walk = before
  for (const user of users) {
    if (user.id <= walk.after) continue
    await note(walk)
    try {
      await send(user)
      walk = { ...walk, after: user.id, count: walk.count + 1 }
    } catch (error) {
      const errors = [...walk.errors, [titleOf(user), errorText(error)] as [string, string]].slice(0, MAX_ERRORS)
      walk = { ...walk, after: user.id, failed: walk.failed + 1, errors }
    }
  }
  return walk
}

/** Nobody was reached: no recipient is named. */
function failed(reason: string): Sent {
  return { count: 0, failed: 1, errors: [['', reason]] }
}

function enabled(template: JsonValue | undefined): JsonObject | undefined {
  return isJsonObject(template) && template['enabled'] === true ? template : undefined
}

export function textIds(targets: JsonValue): readonly string[] {
  return Array.isArray(targets) ? targets.filter((id) => typeof id === 'string') : []
}

export function contextJson({ parameters, concerned }: RequestContext): JsonObject {
  const { originator, userId, tenantId } = concerned
  return {
    parameters: { ...parameters },
    ...(originator === undefined ? {} : { originator: { entityType: originator.entityType, id: originator.id } }),
    ...(userId === undefined ? {} : { userId }),
    ...(tenantId === undefined ? {} : { tenantId }),
  }
}

/** The context with how far mails and texts are; without where that matters no more. */
export function withProgress(context: JsonValue, progress: Progress = {}): JsonValue {
  const { mails: _mails, texts: _texts, ...rest } = isJsonObject(context) ? context : {}
  const { mails, texts } = progress
  return { ...rest, ...(mails === undefined ? {} : { mails }), ...(texts === undefined ? {} : { texts }) }
}

/** How many users were tried. */
export function triedBy({ mails, texts }: Progress): number {
  return [mails, texts].reduce((sum, walk) => sum + (walk === undefined ? 0 : walk.count + walk.failed), 0)
}

function progressOf(context: JsonValue): Progress {
  return progressSchema.safeParse(context).data ?? {}
}

function contextOf(value: JsonValue): RequestContext {
  const parsed = contextSchema.safeParse(value)
  if (!parsed.success) return { parameters: {}, concerned: {} }
  const { parameters, ...concerned } = parsed.data
  return { parameters, concerned }
}
