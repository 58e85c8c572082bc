/** What the rule engine tells of chains and nodes, for those who look for a fault: handed in, and never waited for. */
import type { Clock } from '../../model/clock.ts'
import type { RuleNode } from '../../model/entities.ts'
import { entityId, type EntityId } from '../../model/entity-id.ts'
import { errorText } from '../../model/errors.ts'
import { isJsonObject } from '../../model/json.ts'
import type { Message } from '../../model/message.ts'

/** A message as it came into a node, or as it left it by a relation. */
export interface DebugEvent {
  readonly tenantId: string
  readonly ruleNodeId: string
  readonly direction: 'IN' | 'OUT'
  readonly message: Message
  readonly relation: string | undefined
  readonly error: string | undefined
}

/** Both must be quick, and must not throw. */
export interface ChainEvents {
  debug(event: DebugEvent): void
  /** A chain or a node did what it never should. */
  failed(tenantId: string, entity: EntityId, method: string, error: string): void
}

export const NO_EVENTS: ChainEvents = { debug: () => undefined, failed: () => undefined }

/** Of a node that is watched; a node that is not has none, so that it costs one comparison a visit. */
export class NodeDebug {
  private readonly tenantId: string
  private readonly ruleNodeId: string
  private readonly until: number
  private readonly watchesFailures: boolean
  private readonly clock: Clock
  private readonly events: ChainEvents

  constructor(
    node: { readonly tenantId: string; readonly ruleNodeId: string },
    watched: { readonly until: number; readonly watchesFailures: boolean },
    clock: Clock,
    events: ChainEvents,
  ) {
    this.tenantId = node.tenantId
    this.ruleNodeId = node.ruleNodeId
    this.until = watched.until
    this.watchesFailures = watched.watchesFailures
    this.clock = clock
    this.events = events
  }

  /** `relation` is empty at a chain's first node, and behind a fork. */
  entered(message: Message, relation: string): void {
    if (this.clock.now() < this.until) this.tell('IN', message, relation, undefined)
  }

  left(message: Message, relation: string, error?: unknown): void {
    const isFailure = relation.toLowerCase() === 'failure'
    if (!(isFailure && this.watchesFailures) && this.clock.now() >= this.until) return
    this.tell('OUT', message, relation, error === undefined ? undefined : errorText(error))
  }

  private tell(direction: 'IN' | 'OUT', message: Message, relation: string | undefined, error: string | undefined) {
    const { tenantId, ruleNodeId } = this
    this.events.debug({ tenantId, ruleNodeId, direction, message, relation, error })
  }
}

/** Undefined where nothing of the node is watched, or only was. */
export function nodeDebugOf(
  tenantId: string,
  { id, debugSettings }: RuleNode,
  clock: Clock,
  events: ChainEvents,
): NodeDebug | undefined {
  if (!isJsonObject(debugSettings)) return undefined
  const until = Number(debugSettings['allEnabledUntil'] ?? 0)
  const watchesFailures = debugSettings['failuresEnabled'] === true
  if (!watchesFailures && !(until > clock.now())) return undefined
  return new NodeDebug({ tenantId, ruleNodeId: id }, { until, watchesFailures }, clock, events)
}

export function nodeEntity(id: string): EntityId {
  return entityId('RULE_NODE', id)
}
