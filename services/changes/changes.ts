/**
 * Commits a user's change together with the rule-engine message it causes, and hands the message to the outbox. Builds
 * these messages (`rule-engine.md` 2.3) with the user block (2.5).
 */
import type { Clock, Random } from '../../model/clock.ts'
import { NULL_UUID, type EntityId, type EntityType } from '../../model/entity-id.ts'
import type { KnownMessageType } from '../../model/message-type.ts'
import { Message, type Metadata } from '../../model/message.ts'
import type { Principal } from '../../model/principal.ts'
import type { PublishBound } from '../../engine/link/link.ts'
import type { Statement, Written } from '../../storage/entities/database.ts'
import type { EntityStore } from '../../storage/entities/entity-store.ts'
import type { AuditedAction, AuditLog } from '../audit/audit-log.ts'
import { actionDataOf, actionOf } from '../audit/actions.ts'
import type { OutboxPublisher } from './outbox.ts'

/** The tenant of what belongs to the system: a system administrator's own record, for example. */
export const SYSTEM_TENANT = NULL_UUID

export interface EntityEvent {
  readonly type: KnownMessageType
  readonly principal: Principal
  readonly tenantId: string
  readonly customerId: string | null
  readonly originator: EntityId
  readonly metadata: Metadata
  readonly data: string
  /** The chain of the device's profile; null means the root chain. */
  readonly ruleChainId?: string | null
  /** The queue of the device's profile as the link calls it; null means `Main`. */
  readonly queueName?: string | null
  /** What the audit row says, where that does not follow from the message. */
  readonly audit?: Partial<AuditedAction>
}

export class Changes {
  private readonly audit: AuditLog
  private readonly entities: EntityStore
  private readonly publisher: OutboxPublisher
  private readonly bound: PublishBound
  private readonly clock: Clock
  private readonly random: Random

  constructor(
    entities: EntityStore,
    publisher: OutboxPublisher,
    bound: PublishBound,
    clock: Clock,
    random: Random,
    audit: AuditLog,
  ) {
    this.audit = audit
    this.entities = entities
    this.publisher = publisher
    this.bound = bound
    this.clock = clock
    this.random = random
  }

  /**
   * Resolves when the change, its audit row and the message are durable; `results` are those of the given steps. What belongs to the
   * system and no tenant has no rule chain: no message is published. Rejects with `link.MESSAGE_TOO_LARGE` before anything is written.
   */
  async commit(statements: readonly Statement[], event: EntityEvent): Promise<Written> {
    const message = this.announce(event)
    return this.commitWith([...statements, ...(await this.audited(event))], message)
  }

  /** The same for a change that several entities hear of. `news`: messages that are no events of an entity. */
  async commitAll(
    statements: readonly Statement[],
    events: readonly EntityEvent[],
    news: readonly Message[] = [],
  ): Promise<Written> {
    for (const message of news) this.bound.checkFits(message)
    const announced = events.map((event) => this.announce(event)).filter((message) => message !== undefined)
    const messages = [...announced, ...news]
    const rows = (await Promise.all(events.map((event) => this.audited(event)))).flat()
    const steps = [...statements, ...rows]
    const written = await this.entities.write([...steps, ...messages.map((each) => this.entities.outbox.add(each))])
    for (const [index, message] of messages.entries())
      this.publisher.committed({ id: this.entities.outbox.addedId(written, steps.length + index), message })
    return written
  }

  /** The audit row of a change that is written elsewhere first, or that no message tells of. */
  async audited(event: Omit<EntityEvent, 'tenantId'>): Promise<readonly Statement[]> {
    if (event.principal.ruleNodeId !== undefined) return []
    const actionType = event.audit?.actionType ?? actionOf(event.type)
    if (actionType === undefined) return []
    const { entityName } = event.metadata
    const action: AuditedAction = {
      actionType,
      entity: event.originator,
      entityName: event.originator.entityType === event.metadata['entityType'] ? entityName : undefined,
      customerId: event.customerId,
      ...event.audit,
      actionData: event.audit?.actionData ?? actionDataOf(actionType, event),
    }
    return [await this.audit.succeeded(event.principal, action)]
  }

  /** Of a change that no message tells of. */
  async auditedAction(principal: Principal, action: AuditedAction): Promise<Statement> {
    return this.audit.succeeded(principal, action)
  }

  /** What came to nothing after it was committed. */
  failed(principal: Principal, action: AuditedAction, reason: string): Promise<void> {
    return this.audit.failed(principal, action, reason)
  }

  /** Does what a user asked for; where that fails, the audit log has it with the reason. */
  async attempt<Value>(principal: Principal, action: () => AuditedAction, work: () => Promise<Value>): Promise<Value> {
    try {
      return await work()
    } catch (error) {
      if (principal.ruleNodeId === undefined) await this.audit.failed(principal, action(), error)
      throw error
    }
  }

  /**
   * The message of an event, for a change that is written elsewhere first; undefined for what belongs to the system. Throws
   * `link.MESSAGE_TOO_LARGE`: nothing may be written then, as nobody would hear of it.
   */
  announce(event: EntityEvent): Message | undefined {
    if (event.tenantId === SYSTEM_TENANT || isUntold(event)) return undefined
    const message = this.messageOf(event)
    this.bound.checkFits(message)
    return message
  }

  newId(): string {
    return this.random.uuid()
  }

  async commitWith(statements: readonly Statement[], message: Message | undefined): Promise<Written> {
    if (message === undefined) return this.entities.write(statements)
    const written = await this.entities.write([...statements, this.entities.outbox.add(message)])
    this.publisher.committed({ id: this.entities.outbox.addedId(written, statements.length), message })
    return written
  }

  private messageOf(event: EntityEvent): Message {
    return new Message({
      id: this.random.uuid(),
      ts: this.clock.now(),
      type: event.type,
      tenantId: event.tenantId,
      originator: event.originator,
      customerId: event.customerId ?? undefined,
      metadata: metadataOf(event),
      data: event.data,
      ruleChainId: event.ruleChainId ?? undefined,
      queueName: event.queueName ?? undefined,
    })
  }
}

/** What rule nodes make others hear of; the rest they say themselves, where they do. */
function isUntold({ principal, type, originator }: EntityEvent): boolean {
  return principal.ruleNodeId !== undefined && (type !== 'ENTITY_CREATED' || !MADE_BY_NODES.has(originator.entityType))
}

const MADE_BY_NODES: ReadonlySet<EntityType> = new Set(['ASSET', 'CUSTOMER', 'DEVICE'])

function metadataOf({ type, metadata, principal, customerId }: EntityEvent): Metadata {
  const { ruleNodeId, gatewayId, isDevice } = principal
  if (ruleNodeId !== undefined) return { ruleNodeId }
  // Of what devices made there is no more than who made it.
  if (type === 'ENTITY_CREATED' && (gatewayId !== undefined || isDevice === true))
    return { ...userBlock(principal), ...customerBlock(customerId) }
  return { ...metadata, ...userBlock(principal), ...customerBlock(customerId) }
}

function userBlock(principal: Principal): Metadata {
  if (principal.gatewayId !== undefined) return { gatewayId: principal.gatewayId }
  if (principal.isDevice === true) return { tenantId: principal.tenantId ?? '' }
  return {
    userId: principal.userId,
    userName: principal.email,
    userEmail: principal.email,
    ...(principal.firstName === null ? {} : { userFirstName: principal.firstName }),
    ...(principal.lastName === null ? {} : { userLastName: principal.lastName }),
  }
}

function customerBlock(customerId: string | null): Metadata {
  return customerId === null ? {} : { customerId }
}
