/**
 * A version of a chain, compiled: messages run from node to node by direct calls on the actor's turn. Synchronous nodes cost
 * one call; batch-aware nodes collect what reaches them during the turn and run once at its end; nodes that answer with a
 * promise are followed originator by originator. Every branch of every work ends exactly once.
 */
import type { RuleTracer } from './tracer.ts'
import type { Clock } from '../../model/clock.ts'
import { errorText } from '../../model/errors.ts'
import type { Work } from '../queue/work.ts'
import { nodeEntity, type ChainEvents, type NodeDebug } from './chain-events.ts'
import type { CompiledNode } from './compiled-node.ts'
import { isEmissions, isFailure, waysOf } from './emissions.ts'
import { RuleChainErrors, unhandledFailure } from './errors.ts'
import { isCancelled, type Branch } from './branch.ts'
import { isOwnFailure } from './leaving.ts'
import type { Emission, NodeOutput } from './node.ts'
import { WaitingRoom } from './waiting-room.ts'
import type { WaitingLimits, WaitingRoomOwner } from './waiting-room.ts'
import { watchOutput } from './watching.ts'
import { FlowSteps, type FlowSurroundings } from './flow-steps.ts'

export interface ProgramSettings extends WaitingLimits {
  /** Node executions of one message, all branches together, before it fails. */
  readonly maxNodeExecutions: number
}

/** What lies beyond the chain. */
export interface ProgramSurroundings extends FlowSurroundings {
  readonly clock: Clock
  log(level: 'warn' | 'error', text: string, fields: Readonly<Record<string, unknown>>): void
  readonly events: ChainEvents
}

/** Synchronous calls are timed once in so many: reading the clock twice costs more than a simple node. */
export const SAMPLED_ONE_IN = 64

const FAILURE = 'Failure'

export class ChainProgram {
  readonly chainId: string
  readonly chainName: string
  private readonly tenantId: string
  readonly nodes: readonly CompiledNode[]
  private readonly first: CompiledNode | undefined
  private readonly byId = new Map<string, CompiledNode>()
  private readonly settings: ProgramSettings
  private readonly surroundings: ProgramSurroundings
  private readonly waiting: WaitingRoom
  private readonly steps: FlowSteps
  private readonly retirementListeners: (() => void)[] = []
  private hasRetired = false
  private droppedCount = 0

  constructor(
    chain: { readonly id: string; readonly name: string; readonly tenantId: string },
    nodes: readonly CompiledNode[],
    first: CompiledNode | undefined,
    settings: ProgramSettings,
    surroundings: ProgramSurroundings,
  ) {
    this.chainId = chain.id
    this.chainName = chain.name
    this.tenantId = chain.tenantId
    this.nodes = nodes
    this.first = first
    this.settings = settings
    this.surroundings = surroundings
    this.waiting = new WaitingRoom(settings, this.owner())
    this.steps = new FlowSteps(chain, surroundings, {
      forward: (node, branch, relation) => this.forward(node, branch, relation),
      fail: (node, branch, error) => this.fail(node, branch, error),
      endAt: (node, branch, relation, error) => this.endAt(node, branch, relation, error),
      until: (hop, then) => this.waiting.until(hop, then),
      brokenInvariant: (error) => this.brokenInvariant(error),
    })
    for (const node of nodes) {
      this.byId.set(node.record.id, node)
      this.attach(node)
    }
  }

  /** Resolves when no message waits in or for a node of this version. */
  whenIdle(): Promise<void> {
    return this.waiting.whenEmpty()
  }

  /** Messages that wait in or for a node. */
  get inFlight(): number {
    return this.waiting.size
  }

  /** Messages that ended because the node they were addressed to is gone. */
  get dropped(): number {
    return this.droppedCount
  }

  /** Undefined where nobody watches the node. */
  watcherOf(ruleNodeId: string): NodeDebug | undefined {
    return this.byId.get(ruleNodeId)?.debug
  }

  figures() {
    const { chainId: ruleChainId, tenantId, chainName: name, inFlight, dropped } = this
    return { ruleChainId, tenantId, name, inFlight, dropped }
  }

  get isRetired(): boolean {
    return this.hasRetired
  }

  /** Runs `listener` when the version's nodes are about to be closed. */
  whenRetired(listener: () => void): void {
    this.retirementListeners.push(listener)
  }

  /** Another version has taken over, or the chain closes. */
  retire(): void {
    this.hasRetired = true
    for (const tell of this.retirementListeners.splice(0)) tell()
  }

  /** Gives a node its queue once its instance is there. */
  attach(node: CompiledNode): void {
    this.waiting.attach(node)
  }

  /** Takes a batch of the actor's mailbox and runs it as far as it goes without waiting. */
  turn(branches: readonly Branch[]): void {
    this.waiting.turn(() => {
      for (const branch of branches) {
        try {
          this.arrive(branch)
        } catch (error) {
          this.brokenInvariant(error)
        }
      }
    })
  }

  private arrive(branch: Branch): void {
    const nodeId = branch.nodeId ?? branch.message.ruleNodeId
    if (nodeId === undefined) {
      if (this.first === undefined) return branch.work.end()
      return this.run(this.first, branch)
    }
    const node = this.byId.get(nodeId)
    // A node that is gone has nothing to say to its messages: they end well (`rule-engine.md` 4.6).
    if (node === undefined) {
      this.droppedCount++
      return branch.work.end()
    }
    const { relation } = branch
    if (relation === undefined) return this.run(node, branch)
    // The node's own message: nobody hears of its failure where nothing is connected, and trying again would mend nothing.
    if (isOwnFailure(branch) && node.targets(relation).length === 0) return branch.work.end()
    this.dispatch(node, branch, relation)
  }

  /** The hot path: follows a message through synchronous nodes until it ends, forks or waits. */
  private run(start: CompiledNode, branch: Branch, cameBy = ''): void {
    const { work, message } = branch
    // Nobody waits for it any more: it may be on its next try already (`rule-engine.md` 5.4).
    if (work.isCancelled) return work.end()
    const { tracer } = this.surroundings
    let node = start
    let relation = cameBy
    for (;;) {
      if (++work.executions > this.settings.maxNodeExecutions) return this.refuse(node, work)
      node.received++
      const instance = node.instance
      if (instance === undefined) return this.notStarted(node, branch)
      if (tracer !== undefined) tracer.run(node.record, message)
      if (node.debug !== undefined) node.debug.entered(message, relation)
      if (instance.handle === undefined) return this.park(node, branch)
      const { lanes } = node
      if (lanes?.isEmpty === false && this.waiting.joinBehind(lanes, branch)) return
      let output: NodeOutput | Promise<NodeOutput>
      try {
        output = node.received % SAMPLED_ONE_IN === 0 ? this.timed(node, branch) : instance.handle(message, branch)
      } catch (error) {
        return this.fail(node, branch, error)
      }
      if (typeof output !== 'string') {
        if (!(output instanceof Promise)) return this.dispatch(node, branch, output)
        return this.waiting.follow(node, branch, output)
      }
      if (node.debug !== undefined) node.debug.left(message, output)
      const route = node.route(output)
      const next = route.targets[0]
      if (next === undefined || route.targets.length > 1) return this.forward(node, branch, output)
      if (tracer !== undefined) tracer.dispatch(node.record, message, output)
      route.taken++
      node = next
      relation = output
    }
  }

  private timed(node: CompiledNode, branch: Branch): NodeOutput | Promise<NodeOutput> {
    const startedAt = this.surroundings.clock.monotonic()
    try {
      return node.instance?.handle?.(branch.message, branch)
    } finally {
      const elapsedMs = this.surroundings.clock.monotonic() - startedAt
      node.busyMs += elapsedMs * SAMPLED_ONE_IN
      // What goes on as a promise is measured to its end.
      if (node.lanes === undefined) node.latency.add(elapsedMs)
    }
  }

  private refuse(node: CompiledNode, work: Work): void {
    const limit = this.settings.maxNodeExecutions
    work.end(RuleChainErrors.TOO_MANY_EXECUTIONS({ limit, node: node.record.name, chain: this.chainName }))
  }

  private dispatch(node: CompiledNode, branch: Branch, output: NodeOutput): void {
    if (node.debug !== undefined) watchOutput(node.debug, branch.message, output)
    if (output === undefined) return branch.work.end()
    if (typeof output === 'string') return this.forward(node, branch, output)
    if (isEmissions(output)) return this.emit(node, branch, output)
    if ('flow' in output) return this.steps.take(node, branch, output)
    const [relation] = output.relations
    if (relation === undefined || output.relations.length > 1) return this.emit(node, branch, [output])
    branch.message = output.message
    if (output.error !== undefined && isFailure(relation) && node.targets(relation).length === 0)
      return this.endAt(node, branch, relation, output.error)
    this.forward(node, branch, relation)
  }

  private forward(node: CompiledNode, branch: Branch, relation: string): void {
    const route = node.route(relation)
    const { targets } = route
    const [first] = targets
    route.taken++
    this.surroundings.tracer?.dispatch(node.record, branch.message, relation)
    if (first === undefined) return this.endAt(node, branch, relation)
    if (targets.length === 1) return this.run(first, branch, relation)
    const { work, message } = branch
    work.branch(targets.length - 1)
    // Before the first goes on, with whatever its nodes make of its message.
    const others = targets.slice(1).map((_, index) => branch.split(node.record.id, index + 1, message))
    branch.takeFirst(node.record.id)
    this.run(first, branch)
    for (const [index, other] of others.entries()) this.run(targets[index + 1] ?? first, other)
  }

  /** Nothing is connected: the branch ends, badly where the relation was `Failure` (`rule-engine.md` 4.7). */
  private endAt(node: CompiledNode, { work }: Branch, relation: string, error?: unknown): void {
    if (!isFailure(relation)) return work.end()
    if (error === undefined) node.failed++
    work.end(this.unhandled(node, error ?? RuleChainErrors.NODE_EMITTED_FAILURE()))
  }

  private emit(node: CompiledNode, branch: Branch, emissions: readonly Emission[]): void {
    const { work } = branch
    const { ways, unhandled } = waysOf(node, emissions)
    if (this.surroundings.tracer !== undefined) traceAll(this.surroundings.tracer, node, emissions)
    const hasUnhandledFailure = unhandled !== undefined
    if (hasUnhandledFailure) {
      if (ways.length > 0) work.branch(ways.length)
      this.endAt(node, branch, FAILURE, unhandled.error)
    } else if (ways.length === 0) work.end()
    else if (ways.length > 1) work.branch(ways.length - 1)
    const [only] = ways
    if (only !== undefined && ways.length === 1 && !hasUnhandledFailure) {
      branch.message = only.message
      return this.run(only.target, branch)
    }
    const branches = ways.map(({ message }, index) => branch.split(node.record.id, index, message))
    for (const [index, { target }] of ways.entries()) this.run(target, branches[index] ?? branch)
  }

  /** A failed node: its `Failure` connections, or the end of the branch with the error. */
  private fail(node: CompiledNode, branch: Branch, error: unknown): void {
    node.failed++
    this.surroundings.tracer?.fail(node.record, branch.message, error)
    if (node.debug !== undefined) node.debug.left(branch.message, FAILURE, error)
    if (node.targets(FAILURE).length === 0) return this.endAt(node, branch, FAILURE, error)
    this.forward(node, branch, FAILURE)
  }

  private unhandled(node: CompiledNode, error: unknown): Error {
    return unhandledFailure(this.chainName, node.record.name, error)
  }

  /** The message fails in its queue: a node that was never made takes no message, and leaves no trace of one (`rule-engine.md` 4.3). */
  private notStarted(node: CompiledNode, { work }: Branch): void {
    node.failed++
    const error = node.failure ?? RuleChainErrors.NODE_STARTING({ node: node.record.name, reason: 'not made yet' })
    work.end(this.unhandled(node, error))
  }

  /** The message waits for the end of the turn. */
  private park(node: CompiledNode, branch: Branch): void {
    if (node.line !== undefined) return this.waiting.join(node, node.line, branch)
    this.fail(node, branch, RuleChainErrors.NODE_STARTING({ node: node.record.name, reason: 'not made yet' }))
  }

  /** What the waiting room tells: a branch goes on from its node as if it had just been handled. */
  private owner(): WaitingRoomOwner {
    const owner: WaitingRoomOwner = {
      clock: this.surroundings.clock,
      output: (node, branch, output) => {
        try {
          this.dispatch(node, branch, output)
        } catch (error) {
          this.brokenInvariant(error)
        }
      },
      failed: (node, branch, cause) => {
        try {
          this.fail(node, branch, cause)
        } catch (error) {
          this.brokenInvariant(error)
        }
      },
      timedOut: (node, branch) => {
        node.timedOut++
        const limit = this.settings.nodeTimeoutMs
        // Its queue has given it up before: it goes nowhere.
        if (isCancelled(branch)) branch.work.end()
        else owner.failed(node, branch, RuleChainErrors.NODE_TIMEOUT({ node: node.record.name, limit }))
      },
      misbehaved: (node, reason) => {
        const fields = { ruleChainId: this.chainId, ruleNodeId: node.record.id, ruleNode: node.record.name, reason }
        this.surroundings.log('error', 'a rule node broke its contract', fields)
        this.surroundings.events.failed(this.tenantId, nodeEntity(node.record.id), 'onRuleNodeMsg', reason)
      },
    }
    return owner
  }

  /** Nodes' errors never come here: only a work that was ended once too often. Its neighbours go on. */
  private brokenInvariant(error: unknown): void {
    const fields = { ruleChainId: this.chainId, reason: errorText(error) }
    this.surroundings.log('error', 'a message broke an invariant of the rule engine', fields)
    const chain = { entityType: 'RULE_CHAIN', id: this.chainId } as const
    this.surroundings.events.failed(this.tenantId, chain, 'onRuleChainMsg', fields.reason)
  }
}

function traceAll(tracer: RuleTracer, node: CompiledNode, emissions: readonly Emission[]): void {
  for (const { message, relations } of emissions)
    for (const relation of relations) tracer.dispatch(node.record, message, relation)
}
