/**
 * What a node may answer beside its relations (`rule-engine.md` 4): the branch settles early, goes on by the queue or later, or enters another
 * chain and returns from it.
 */
import type { Message } from '../../model/message.ts'
import type { Work } from '../queue/work.ts'
import { RuleChainErrors } from './errors.ts'
import { Branch, cameThrough } from './branch.ts'
import type { CompiledNode } from './compiled-node.ts'
import { Leaving, type LeavingRoads } from './leaving.ts'
import type { FlowStep, NodeOutcome } from './node.ts'
import type { QueueHop } from './queue-hop.ts'
import type { RuleTracer } from './tracer.ts'
import { ACKNOWLEDGED, tellTakenOver } from './watching.ts'

const SUCCESS = 'Success'

/** What lies beyond the chain. */
export interface FlowSurroundings extends LeavingRoads {
  /** Hands a branch to a chain of the same tenant; an error where it can not take it. */
  send(ruleChainId: string, branch: Branch): Error | undefined
  /** Ends the branch now; the work under which the message goes on, or undefined where early ends are at their bound. */
  acknowledge(work: Work): Work | undefined
  readonly tracer?: RuleTracer | undefined
}

/** Of the program that runs the node. */
export interface RunningProgram {
  /** The branch goes on from the node by the relation. */
  forward(node: CompiledNode, branch: Branch, relation: string): void
  fail(node: CompiledNode, branch: Branch, error: unknown): void
  /** The branch ends where nothing is connected. */
  endAt(node: CompiledNode, branch: Branch, relation: string, error?: unknown): void
  /** Counts as in flight until the hop is durable or refused. */
  until(hop: QueueHop, then: (refusal: Error | undefined) => void): void
  brokenInvariant(error: unknown): void
}

export class FlowSteps {
  private readonly chainId: string
  private readonly surroundings: FlowSurroundings
  private readonly leaving: Leaving
  private readonly program: RunningProgram

  constructor(
    { id, name, tenantId }: { readonly id: string; readonly name: string; readonly tenantId: string },
    surroundings: FlowSurroundings,
    program: RunningProgram,
  ) {
    this.chainId = id
    this.surroundings = surroundings
    this.leaving = new Leaving({ tenantId, ruleChainId: id, ruleChainName: name }, surroundings)
    this.program = program
  }

  take(node: CompiledNode, branch: Branch, step: FlowStep): void {
    const { work, message, returns, fork } = branch
    const { debug } = node
    switch (step.flow) {
      case 'acknowledge':
        return this.acknowledge(node, branch)
      case 'enqueue':
      case 'later':
        return this.leave(node, branch, step)
      case 'move':
        return this.endAfter(this.leaving.move(node, branch), node, branch)
      case 'afterwards':
        return this.awaitOutcome(node, branch, step.outcome)
      case 'return': {
        if (debug !== undefined) debug.left(message, returns === undefined ? ACKNOWLEDGED : step.relation)
        if (returns === undefined) return work.end()
        const onward = new Branch(work, message, returns.next, returns.ruleNodeId, step.relation, fork)
        const refused = this.surroundings.send(returns.ruleChainId, onward)
        return refused === undefined ? undefined : this.program.fail(node, branch, refused)
      }
      case 'enter': {
        const { ruleChainId } = step
        if (ruleChainId === this.chainId || cameThrough(returns, this.chainId, node.record.id)) {
          return this.program.fail(node, branch, RuleChainErrors.CHAIN_LOOP({ ruleChainId }))
        }
        const way = { ruleChainId: this.chainId, ruleNodeId: node.record.id, next: returns }
        // The address within this chain means nothing in the other.
        const inside = message.ruleNodeId === undefined ? message : message.with({ ruleNodeId: undefined })
        const onward = new Branch(work, inside, way, undefined, undefined, fork)
        const refused = this.surroundings.send(ruleChainId, onward)
        if (refused !== undefined) return this.program.fail(node, branch, refused)
        if (debug !== undefined) debug.left(message, ACKNOWLEDGED)
      }
    }
  }

  /** The branch settles here and its message goes on; where too many went on like that, it settles at its end as usual. */
  private acknowledge(node: CompiledNode, branch: Branch): void {
    branch.work = this.surroundings.acknowledge(branch.work) ?? branch.work
    if (node.debug !== undefined) {
      node.debug.left(branch.message, ACKNOWLEDGED)
      node.debug.left(branch.message, SUCCESS)
    }
    this.program.forward(node, branch, SUCCESS)
  }

  /** The branch settles here, and what comes of it is a message in the queue. Where too many are awaited, it settles only then. */
  private awaitOutcome(node: CompiledNode, branch: Branch, outcome: Promise<NodeOutcome>): void {
    const { message, returns, fork } = branch
    const work = this.surroundings.acknowledge(branch.work) ?? branch.work
    if (node.debug !== undefined) node.debug.left(message, ACKNOWLEDGED)
    const onward = (next: Message): Branch => new Branch(work, next, returns, undefined, undefined, fork)
    outcome
      .then(
        ({ message: next, relation, error }) => {
          if (node.debug !== undefined) node.debug.left(next, relation, error)
          this.leave(node, onward(next), { flow: 'enqueue', relation }, true, error)
        },
        (error: unknown) => this.program.fail(node, onward(message), error),
      )
      .catch((error: unknown) => this.program.brokenInvariant(error))
  }

  /**
   * The branch ends when its message is durable elsewhere; it fails where that is refused. Where nothing is connected nothing leaves for a queue; what
   * goes on later waits all the same: it counts among those that wait, and is told of when its time has come.
   */
  private leave(
    node: CompiledNode,
    branch: Branch,
    step: Extract<FlowStep, { flow: 'enqueue' | 'later' }>,
    isTold = false,
    error?: Error,
  ): void {
    const { message } = branch
    const route = node.route(step.relation)
    const tell = (): void => {
      if (node.debug === undefined || isTold) return
      // What goes on later says so when it does.
      if (step.flow === 'later') node.debug.left(message, ACKNOWLEDGED)
      else tellTakenOver(node.debug, message, step.relation)
    }
    // What goes on later is counted when it does.
    if (step.flow === 'enqueue') {
      route.taken++
      this.surroundings.tracer?.dispatch(node.record, message, step.relation)
      if (route.targets.length === 0) {
        tell()
        return this.program.endAt(node, branch, step.relation, error)
      }
    }
    const { leaving } = this
    this.endAfter(
      step.flow === 'enqueue' ? leaving.enqueue(node, branch, step) : leaving.later(node, branch, step),
      node,
      branch,
      tell,
    )
  }

  private endAfter(hop: QueueHop, node: CompiledNode, branch: Branch, tell?: () => void): void {
    this.program.until(hop, (refusal) => {
      if (refusal !== undefined) return this.program.fail(node, branch, refusal)
      tell?.()
      branch.work.end()
    })
  }
}
