/**
 * Queues of the rule engine (`rest-api.md` 13.3, `rule-engine.md` 5.1): the system's, which all tenants may use, and those of one
 * tenant, which nobody else sees. No queue of a tenant has the name of a system's one, so a name means one queue.
 */
import type { Clock, Random } from '../../model/clock.ts'
import type { Page, PageQuery, Queue } from '../../model/entities.ts'
import type { ActionType } from '../../model/audit.ts'
import { entityId, NULL_UUID } from '../../model/entity-id.ts'
import { stringifyJson, type JsonObject, type JsonValue } from '../../model/json.ts'
import type { Principal } from '../../model/principal.ts'
import { linkQueueName } from '../../model/queue-name.ts'
import { MAIN_QUEUE } from '../../engine/link/link.ts'
import type { ChangeFeed } from '../../engine/subscriptions/change.ts'
import type { Statement } from '../../storage/entities/database.ts'
import type { EntityStore } from '../../storage/entities/entity-store.ts'
import type { CommitDoubts } from '../changes/commit-doubts.ts'
import type { Deployments } from '../deployments.ts'
import { attemptedOn, attemptedSave } from '../audit/audit-log.ts'
import { SYSTEM_TENANT, type Changes } from '../changes/changes.ts'
import { itemNotFound, QueueErrors, ServiceErrors } from '../errors.ts'
import { checkQueue } from './queue-rules.ts'

/** Each queue is consumed on its own: what one tenant may ask for has an end. */
export const MAX_QUEUES = 50

export type QueueDraft = Pick<
  Queue,
  'name' | 'pollInterval' | 'partitions' | 'packProcessingTimeout' | 'submitStrategy' | 'processingStrategy'
> & {
  /** Present for an update. */
  readonly id?: string | undefined
  /** Absent: made of the name. */
  readonly topic?: string | undefined
  readonly consumerPerPartition?: boolean | undefined
  readonly additionalInfo?: JsonValue | undefined
  readonly version?: number | undefined
}

export interface QueueServiceParts {
  readonly entities: EntityStore
  readonly feed: ChangeFeed
  readonly doubts: CommitDoubts
  readonly deployments: Deployments
  readonly changes: Pick<Changes, 'attempt' | 'auditedAction'>
  readonly clock: Clock
  readonly random: Random
  /** Names of some profiles whose messages go to the queue of that name; `tenantId` undefined: of every tenant. */
  profilesWith(kind: 'device' | 'asset', queueName: string, tenantId: string | undefined): Promise<readonly string[]>
}

/**
 * A user's queues: of the system for a system administrator, of the tenant for others, who also read the system's. They are no declared entity:
 * a name means one queue over tenants and system, what the link calls it follows from whose it is, and no rule chain hears of a change. A change
 * resolves when it is durable, and in force where this process has queues; the feed hears `queue-changed`.
 */
export class StoredQueues {
  private readonly parts: QueueServiceParts
  private readonly entities: EntityStore

  constructor(parts: QueueServiceParts) {
    this.parts = parts
    this.entities = parts.entities
  }

  async find(principal: Principal, id: string): Promise<Queue | undefined> {
    const queue = await this.entities.queues.findAnywhere(id)
    return queue !== undefined && mayUse(tenantOf(principal), queue) ? queue : undefined
  }

  findByName(principal: Principal, name: string): Promise<Queue | undefined> {
    return this.entities.queues.findByName(tenantOf(principal), name)
  }

  page(principal: Principal, page: PageQuery): Promise<Page<Queue>> {
    return this.entities.queues.page(tenantOf(principal), page)
  }

  /** Every queue there is: what the engine consumes. */
  all(): Promise<readonly Queue[]> {
    return this.entities.queues.all()
  }

  /** What the link calls the queue that the tenant means by the name; undefined where there is none. */
  async linkName(tenantId: string, name: string): Promise<string | undefined> {
    const queue = await this.entities.queues.findByName(tenantId, name)
    return queue && linkQueueName(queue)
  }

  saveByUser(principal: Principal, draft: QueueDraft): Promise<Queue> {
    const tried = () => attemptedSave('QUEUE', draft.id, draft.name, { name: draft.name })
    return this.parts.changes.attempt(principal, tried, () => this.save(principal, draft))
  }

  private async save(principal: Principal, draft: QueueDraft): Promise<Queue> {
    const before = draft.id === undefined ? undefined : await this.own(principal, draft.id)
    if (draft.version !== undefined && before !== undefined && draft.version !== before.version)
      throw ServiceErrors.VERSION_CONFLICT({ entity: 'Queue' })
    const queue = this.queueOf(principal, draft, before)
    checkQueue(queue)
    if (before === undefined) await this.checkNew(queue)
    else if (queue.name !== before.name) throw QueueErrors.FIXED({ property: 'name' })
    else if (queue.topic !== before.topic) throw QueueErrors.FIXED({ property: 'topic' })
    const { queues } = this.entities
    const actionType = before === undefined ? 'ADDED' : 'UPDATED'
    const audited = await this.audited(principal, queue, actionType, { entity: entityJson(queue) })
    await this.commit(queue, [...(before === undefined ? queues.insert(queue) : queues.update(queue)), audited])
    return queue
  }

  /** Refused where profiles or rule nodes use it. */
  deleteByUser(principal: Principal, id: string): Promise<void> {
    const tried = () => attemptedOn('DELETED', { entityType: 'QUEUE', id })
    return this.parts.changes.attempt(principal, tried, () => this.remove(principal, id))
  }

  private async remove(principal: Principal, id: string): Promise<void> {
    const queue = await this.own(principal, id)
    if (queue.tenantId === SYSTEM_TENANT && queue.name === MAIN_QUEUE) throw QueueErrors.MAIN_DELETE()
    // Another tenant's queue of this name is another queue; the system's may be anybody's.
    const users = queue.tenantId === SYSTEM_TENANT ? undefined : queue.tenantId
    for (const kind of ['device', 'asset'] as const) {
      const profiles = await this.parts.profilesWith(kind, queue.name, users)
      if (profiles.length > 0) throw QueueErrors.USED_BY_PROFILES({ kind, names: shown(principal, profiles) })
    }
    const nodes = await this.entities.ruleChains.nodesUsingQueue(queue.name, users)
    if (nodes.length > 0) throw QueueErrors.USED_BY_NODES({ names: shown(principal, nodes) })
    const audited = await this.audited(principal, queue, 'DELETED', { entityId: id })
    await this.commit(queue, [...this.entities.queues.delete(queue), audited])
  }

  private audited(
    principal: Principal,
    { id, name }: Queue,
    actionType: ActionType,
    data: JsonObject,
  ): Promise<Statement> {
    const action = { actionType, entity: entityId('QUEUE', id), entityName: name, actionData: stringifyJson(data) }
    return this.parts.changes.auditedAction(principal, action)
  }

  private async commit(queue: Queue, statements: readonly Statement[]): Promise<void> {
    await this.parts.doubts.watch(this.entities.write(statements), () => this.publishChanged(queue))
    this.publishChanged(queue)
    await this.parts.deployments.of({ entityType: 'QUEUE', id: queue.id })
  }

  private queueOf(principal: Principal, draft: QueueDraft, before: Queue | undefined): Queue {
    const { name, pollInterval, partitions, packProcessingTimeout, submitStrategy, processingStrategy } = draft
    return {
      id: before?.id ?? this.parts.random.uuid(),
      createdTime: before?.createdTime ?? this.parts.clock.now(),
      version: (before?.version ?? 0) + 1,
      tenantId: before?.tenantId ?? tenantOf(principal),
      name,
      topic: draft.topic ?? before?.topic ?? `tb_rule_engine.${name}`,
      pollInterval,
      partitions,
      consumerPerPartition: draft.consumerPerPartition ?? true,
      packProcessingTimeout,
      submitStrategy,
      processingStrategy,
      additionalInfo: draft.additionalInfo ?? null,
    }
  }

  private async checkNew(queue: Queue): Promise<void> {
    const isSystem = queue.tenantId === SYSTEM_TENANT
    for (const property of ['name', 'topic'] as const) {
      const owners = await this.entities.queues.owners(property, queue[property])
      // What the system offers and what a tenant has must be told apart by name alone.
      const isTaken = owners.some((owner) => isSystem || owner === SYSTEM_TENANT || owner === queue.tenantId)
      if (isTaken) throw QueueErrors.TAKEN({ property, value: queue[property] })
    }
    if ((await this.entities.queues.count(queue.tenantId)) >= MAX_QUEUES)
      throw QueueErrors.TOO_MANY({ limit: MAX_QUEUES })
  }

  private async own(principal: Principal, id: string): Promise<Queue> {
    const queue = await this.entities.queues.findAnywhere(id)
    if (queue === undefined) throw itemNotFound({ entityType: 'QUEUE', id })
    if (queue.tenantId !== tenantOf(principal)) throw ServiceErrors.PERMISSION_DENIED()
    return queue
  }

  private publishChanged({ id, tenantId }: Queue): void {
    this.parts.feed.publish({ kind: 'queue-changed', entity: { entityType: 'QUEUE', id }, tenantId })
  }
}

function entityJson({ id, tenantId, submitStrategy, processingStrategy, ...members }: Queue): JsonObject {
  return {
    ...members,
    id: { entityType: 'QUEUE', id },
    tenantId: { entityType: 'TENANT', id: tenantId },
    submitStrategy: { ...submitStrategy },
    processingStrategy: { ...processingStrategy },
  }
}

/** Whose queues a user makes: a system administrator's are the system's. */
function tenantOf(principal: Principal): string {
  return principal.tenantId ?? NULL_UUID
}

function mayUse(tenantId: string, queue: Queue): boolean {
  return queue.tenantId === tenantId || queue.tenantId === SYSTEM_TENANT
}

/** Names of what a tenant has are for the tenant alone. */
function shown(principal: Principal, names: readonly string[]): string {
  return principal.tenantId === null ? 'those of tenants' : names.join(', ')
}
