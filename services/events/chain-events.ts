/** What the rule engine tells of chains and nodes, as events. */
import type { Clock } from '../../model/clock.ts'
import { entityId, type EntityId } from '../../model/entity-id.ts'
import type { ChainEvents, DebugEvent } from '../../engine/rulechain/chain-events.ts'
import type { ChainFigures } from '../../engine/rulechain/rule-engine.ts'
import type { EventWriter } from './event-writer.ts'

export type LifecycleStep = 'STARTED' | 'UPDATED' | 'STOPPED'

/** One failure of an entity is noted in this time, as in the reference. */
const FAILURE_INTERVAL_MS = 3_000
const FAILURES_WATCHED = 10_000

/** A chain or a node that came, changed or went. */
export interface ComponentStep {
  readonly tenantId: string
  readonly ruleChainId: string
  readonly ruleChainName: string
  /** The chain, or one of its nodes. */
  readonly component: EntityId
  readonly componentName: string
  readonly event: LifecycleStep
  /** Why it does not run. */
  readonly error: Error | undefined
}

interface Counted {
  readonly processed: number
  readonly failed: number
}

export class NotedChainEvents implements ChainEvents {
  private readonly writer: Pick<EventWriter, 'add'>
  private readonly clock: Clock
  private readonly stepped: (step: ComponentStep) => void
  private readonly failures = new Map<string, number>()
  /** As they were noted last. */
  private counted = new Map<string, Counted>()

  /** `stepped` hears of chains and nodes that come and go; it must be quick. */
  constructor(writer: Pick<EventWriter, 'add'>, clock: Clock, stepped: (step: ComponentStep) => void) {
    this.writer = writer
    this.clock = clock
    this.stepped = stepped
  }

  debug({ tenantId, ruleNodeId, direction, message, relation, error }: DebugEvent): void {
    this.writer.add({
      type: 'DEBUG_RULE_NODE',
      tenantId,
      entity: entityId('RULE_NODE', ruleNodeId),
      body: {
        type: direction,
        entityId: message.originator.id,
        entityType: message.originator.entityType,
        msgId: message.id,
        msgType: message.type,
        dataType: message.dataType,
        relationType: relation,
        data: message.data,
        metadata: JSON.stringify(message.metadata),
        error,
      },
    })
  }

  failed(tenantId: string, entity: EntityId, method: string, error: string): void {
    const now = this.clock.now()
    const last = this.failures.get(entity.id)
    if (last !== undefined && now - last < FAILURE_INTERVAL_MS) return
    if (this.failures.size >= FAILURES_WATCHED) this.failures.clear()
    this.failures.set(entity.id, now)
    this.writer.add({ type: 'ERROR', tenantId, entity, body: { method, error } })
  }

  lifecycle(step: ComponentStep): void {
    const { tenantId, component, event, error } = step
    const body = { event, success: error === undefined, error: error?.message }
    this.writer.add({ type: 'LC_EVENT', tenantId, entity: component, body })
    this.stepped(step)
  }

  /** How many messages went through chains and nodes since the last time; nothing of those that had none. */
  statistics(chains: readonly ChainFigures[]): void {
    const counted = new Map<string, Counted>()
    for (const { tenantId, ruleChainId, nodes } of chains) {
      const all = { processed: 0, failed: 0 }
      for (const { ruleNodeId, received, failed } of nodes) {
        all.processed += received
        all.failed += failed
        this.count(counted, tenantId, entityId('RULE_NODE', ruleNodeId), { processed: received, failed })
      }
      this.count(counted, tenantId, entityId('RULE_CHAIN', ruleChainId), all)
    }
    this.counted = counted
  }

  private count(counted: Map<string, Counted>, tenantId: string, entity: EntityId, now: Counted): void {
    counted.set(entity.id, now)
    const { processed, failed } = this.counted.get(entity.id) ?? { processed: 0, failed: 0 }
    // Counted anew, where the chain was made again.
    const messagesProcessed = now.processed < processed ? now.processed : now.processed - processed
    const errorsOccurred = now.failed < failed ? now.failed : now.failed - failed
    if (messagesProcessed === 0 && errorsOccurred === 0) return
    this.writer.add({ type: 'STATS', tenantId, entity, body: { messagesProcessed, errorsOccurred } })
  }
}
