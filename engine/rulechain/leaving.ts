/** Messages that leave a chain for a queue or for later, and come back to one of its nodes with another delivery. */
import type { Message, Resumption } from '../../model/message.ts'
import type { PublishReceipt } from '../link/link.ts'
import { callersOf, type Branch } from './branch.ts'
import type { NodeIdentity } from './capabilities.ts'
import { checkpointId, deferredId } from './child-id.ts'
import type { CompiledNode } from './compiled-node.ts'
import type { DeferredMessage } from './deferral.ts'
import { isFailure } from './emissions.ts'
import type { FlowStep } from './node.ts'
import { QueueHop } from './queue-hop.ts'

export interface LeavingRoads {
  /** Hands a new message to the link. */
  enqueue(message: Message, receipt: PublishReceipt): void
  /** Keeps a message for later. */
  defer(deferred: DeferredMessage, receipt: PublishReceipt): void
}

type Enqueue = Extract<FlowStep, { flow: 'enqueue' }>
type Later = Extract<FlowStep, { flow: 'later' }>

/** Of one chain. Each returns what tells when the messages are durable. */
export class Leaving {
  private readonly chain: Pick<NodeIdentity, 'tenantId' | 'ruleChainId' | 'ruleChainName'>
  private readonly roads: LeavingRoads

  constructor(chain: Pick<NodeIdentity, 'tenantId' | 'ruleChainId' | 'ruleChainName'>, roads: LeavingRoads) {
    this.chain = chain
    this.roads = roads
  }

  /** A message for each node behind the relation. */
  enqueue(node: CompiledNode, branch: Branch, { relation, queueName = branch.message.queueName }: Enqueue): QueueHop {
    const targets = node.targets(relation)
    const hop = new QueueHop(targets.length)
    for (const { record } of targets) {
      const id = checkpointId(branch, node.record.id, relation, record.id)
      this.roads.enqueue(branch.message.with({ id, queueName, resumption: this.resumptionOf(branch, record.id) }), hop)
    }
    return hop
  }

  /** One, which goes on behind the relation then. */
  later({ record }: CompiledNode, branch: Branch, { relation, at }: Later): QueueHop {
    const resumption = { ...this.resumptionOf(branch, record.id), relation }
    const message = branch.message.with({ id: deferredId(branch, record.id, 'later', relation), resumption })
    const node = { ...this.chain, ruleNodeId: record.id, ruleNodeName: record.name }
    const hop = new QueueHop(1)
    this.roads.defer({ message, at, node, originatorId: branch.work.message.originator.id }, hop)
    return hop
  }

  /** It comes to this node again, at the process that has its originator. */
  move({ record }: CompiledNode, branch: Branch): QueueHop {
    const id = deferredId(branch, record.id, 'move', '')
    const hop = new QueueHop(1)
    this.roads.enqueue(branch.message.with({ id, resumption: this.resumptionOf(branch, record.id) }), hop)
    return hop
  }

  private resumptionOf({ work, message, returns }: Branch, ruleNodeId: string): Resumption {
    const firstQueueName = message.resumption === undefined ? message.queueName : message.resumption.firstQueueName
    const { ruleChainId } = this.chain
    return { ruleChainId, ruleNodeId, executions: work.executions, firstQueueName, callers: callersOf(returns) }
  }
}

/** What a node said of itself when its time had come, not of a message that somebody waits for. */
export function isOwnFailure({ message, relation, returns, work }: Branch): boolean {
  const isOwn = returns === undefined && message === work.message && message.resumption?.relation === relation
  return isOwn && relation !== undefined && isFailure(relation)
}
