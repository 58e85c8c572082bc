/** One message's way through the chains of its tenant, shared by all its branches. */
import type { Message, NodeAddress } from '../../model/message.ts'
import type { Work } from '../queue/work.ts'

export class Journey {
  readonly work: Work
  /** Node executions so far, over all branches: what bounds a graph that multiplies its messages. */
  executions = 0

  constructor(work: Work) {
    this.work = work
  }
}

/** The "rule chain" nodes that a message entered through, innermost first (`rule-engine.md` 4.8). */
export interface ReturnAddress extends NodeAddress {
  readonly next: ReturnAddress | undefined
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

/** A message that comes to a chain: at its first node, at a named node, or out of a named node by a relation. */
export class Arrival {
  readonly journey: Journey
  readonly message: Message
  readonly returns: ReturnAddress | undefined
  readonly nodeId: string | undefined
  readonly relation: string | undefined

  constructor(journey: Journey, message: Message, returns?: ReturnAddress, nodeId?: string, relation?: string) {
    this.journey = journey
    this.message = message
    this.returns = returns
    this.nodeId = nodeId
    this.relation = relation
  }
}

/** A message in front of a node that can not take it at once. */
export class Visit {
  readonly journey: Journey
  readonly message: Message
  readonly returns: ReturnAddress | undefined

  constructor(journey: Journey, message: Message, returns: ReturnAddress | undefined) {
    this.journey = journey
    this.message = message
    this.returns = returns
  }
}

/** Its message timed out: it enters no further node. */
export function isCancelled(visit: Visit): boolean {
  return visit.journey.work.isCancelled
}
