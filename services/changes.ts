/**
 * Commits a user's change together with the rule-engine message it causes, and hands the message to the outbox. Builds
 * these messages (`rule-engine.md` 2.3) with the user block (2.5).
 */
import type { Clock, Random } from '../model/clock.ts'
import { NULL_UUID, type EntityId } from '../model/entity-id.ts'
import type { KnownMessageType } from '../model/message-type.ts'
import { Message, type Metadata } from '../model/message.ts'
import type { Principal } from '../model/principal.ts'
import type { PublishBound } from '../engine/link/link.ts'
import type { Statement, Written } from '../storage/entities/database.ts'
import type { EntityStore } from '../storage/entities/entity-store.ts'
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
}

export class Changes {
  private readonly entities: EntityStore
  private readonly publisher: OutboxPublisher
  private readonly bound: PublishBound
  private readonly clock: Clock
  private readonly random: Random

  constructor(entities: EntityStore, publisher: OutboxPublisher, bound: PublishBound, clock: Clock, random: Random) {
    this.entities = entities
    this.publisher = publisher
    this.bound = bound
    this.clock = clock
    this.random = random
  }

  /**
   * Resolves when the change and the message are durable; `results` are those of the given steps. What belongs to the system
   * and no tenant has no rule chain: no message is published. Rejects with `link.MESSAGE_TOO_LARGE` before anything is written.
   */
  async commit(statements: readonly Statement[], event: EntityEvent): Promise<Written> {
    return this.commitWith(statements, this.announce(event))
  }

  /**
   * The message of an event, for a change that is written elsewhere first; undefined for what belongs to the system. Throws
   * `link.MESSAGE_TOO_LARGE`: nothing may be written then, as nobody would hear of it.
   */
  announce(event: EntityEvent): Message | undefined {
    if (event.tenantId === SYSTEM_TENANT) return undefined
    const message = this.messageOf(event)
    this.bound.checkFits(message)
    return message
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
      metadata: { ...event.metadata, ...userBlock(event.principal), ...customerBlock(event.customerId) },
      data: event.data,
      ruleChainId: event.ruleChainId ?? undefined,
      queueName: event.queueName ?? undefined,
    })
  }
}

function userBlock(principal: Principal): Metadata {
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
