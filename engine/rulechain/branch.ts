/** One branch of a work on its way through the chains of its tenant: which message, where it is, how it came there. */
import type { Message, NodeAddress } from '../../model/message.ts'
import type { Work } from '../queue/work.ts'
import { visitId } from './child-id.ts'
import type { NodeVisit, Visited } from './node-instance.ts'
import type { Fork, OnTheWay, ReturnAddress } from './way.ts'

/**
 * Waits in mailboxes and in front of nodes, and is moved on from node to node; a fork makes others. So a message whose way does not fork
 * costs one object beside its work.
 */
export class Branch implements Visited, OnTheWay {
  /** Another one behind an "acknowledge" node. */
  work: Work
  /** As the last node left it. */
  message: Message
  readonly returns: ReturnAddress | undefined
  /** Where it comes to a chain: at this node, or out of it by the relation; without it at the chain's first node. */
  readonly nodeId: string | undefined
  readonly relation: string | undefined
  fork: Fork | undefined

  constructor(work: Work, message: Message, returns?: ReturnAddress, nodeId?: string, relation?: string, fork?: Fork) {
    this.work = work
    this.message = message
    this.returns = returns
    this.nodeId = nodeId
    this.relation = relation
    this.fork = fork
  }

  /** Goes on by the first of several ways out of a node. */
  takeFirst(nodeId: string): void {
    this.fork = { nodeId, index: 0, before: this.fork }
  }

  /** At the node where it is. */
  visit(): NodeVisit {
    const { originator, sequence } = this.work.message
    return { id: visitId(this), originatorId: originator.id, sequence }
  }

  /** Another branch, on the way out of the node that has the number `index`. */
  split(nodeId: string, index: number, message: Message): Branch {
    const fork = { nodeId, index, before: this.fork }
    return new Branch(this.work, message, this.returns, undefined, undefined, fork)
  }
}

/** As a message carries them from one delivery to the next. */
export function callersOf(returns: ReturnAddress | undefined): readonly NodeAddress[] {
  const callers: NodeAddress[] = []
  for (let address = returns; address !== undefined; address = address.next) {
    callers.push({ ruleChainId: address.ruleChainId, ruleNodeId: address.ruleNodeId })
  }
  return callers
}

export function returnsTo(callers: readonly NodeAddress[]): ReturnAddress | undefined {
  return callers.reduceRight<ReturnAddress | undefined>((next, caller) => ({ ...caller, next }), undefined)
}

export function cameThrough(returns: ReturnAddress | undefined, ruleChainId: string, ruleNodeId: string): boolean {
  for (let address = returns; address !== undefined; address = address.next) {
    if (address.ruleNodeId === ruleNodeId && address.ruleChainId === ruleChainId) return true
  }
  return false
}

/** Its message timed out: it enters no further node. */
export function isCancelled(branch: Branch): boolean {
  return branch.work.isCancelled
}
