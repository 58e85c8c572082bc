/**
 * What waits in or for the nodes of one version of a chain, and the turns on which it goes on. Batch-aware nodes run once at
 * the end of a turn on all that reached them during it; outcomes that come in between book a turn of the clock.
 */
import type { Clock } from '../../model/clock.ts'
import { BatchLine } from './batch-line.ts'
import type { BatchLimits } from './batch-line.ts'
import type { CompiledNode } from './compiled-node.ts'
import type { Visit } from './journey.ts'
import type { NodeOutput } from './node.ts'
import { OriginatorLanes } from './originator-lanes.ts'
import type { QueueHop } from './queue-hop.ts'

export interface WaitingRoomOwner {
  readonly clock: Clock
  /** A visit leaves its node. Must not throw. */
  output(node: CompiledNode, visit: Visit, output: NodeOutput): void
  /** The same with an error. Must not throw. */
  failed(node: CompiledNode, visit: Visit, error: unknown): void
  /** A node broke its contract, such as reporting an outcome twice. */
  misbehaved(node: CompiledNode, reason: string): void
}

export class WaitingRoom {
  private readonly limits: BatchLimits
  private readonly owner: WaitingRoomOwner
  /** Nodes with outcomes to let go or messages to start on. */
  private listed: CompiledNode[] = []
  private inTurn = false
  private isTurnBooked = false
  private visits = 0
  private idleListeners: (() => void)[] = []

  constructor(limits: BatchLimits, owner: WaitingRoomOwner) {
    this.limits = limits
    this.owner = owner
  }

  /** Visits that wait in or for a node. */
  get size(): number {
    return this.visits
  }

  /** Resolves when nothing waits. */
  whenEmpty(): Promise<void> {
    if (this.visits === 0) return Promise.resolve()
    return new Promise((resolve) => this.idleListeners.push(resolve))
  }

  /** Runs `work`, which must not throw, and then all that can go on. */
  turn(work: () => void): void {
    this.inTurn = true
    work()
    this.settleListed()
    this.inTurn = false
    if (this.visits > 0 || this.idleListeners.length === 0) return
    for (const tell of this.idleListeners.splice(0)) tell()
  }

  /** Gives a node that takes batches its line. */
  attach(node: CompiledNode): void {
    if (node.instance?.handleBatch === undefined) return
    node.line ??= new BatchLine(node.record.name, this.limits, {
      ...this.exits(node),
      finished: (_size, elapsedMs) => {
        node.busyMs += elapsedMs
      },
      misbehaved: (reason) => this.owner.misbehaved(node, reason),
      monotonic: () => this.owner.clock.monotonic(),
    })
  }

  /** The visit waits for the end of the turn. */
  join(node: CompiledNode, line: BatchLine, visit: Visit): void {
    this.visits++
    line.join(visit)
    this.list(node)
  }

  /** True where the visit has to wait until an earlier message of its originator has left the node. */
  joinBehind(lanes: OriginatorLanes, visit: Visit): boolean {
    if (!lanes.joinBehind(visit)) return false
    this.visits++
    return true
  }

  /** The node answered with a promise. */
  follow(node: CompiledNode, visit: Visit, promise: Promise<NodeOutput>): void {
    this.visits++
    node.lanes ??= new OriginatorLanes({ ...this.exits(node), enter: (next) => this.enter(node, next) })
    node.lanes.follow(visit, promise)
  }

  /** Something outside goes on for a message of this version; `then`, which must not throw, is called when it has ended. */
  until(hop: QueueHop, then: (refusal: Error | undefined) => void): void {
    this.visits++
    hop.whenDone((refusal) => {
      this.visits--
      then(refusal)
      if (this.visits === 0 && this.idleListeners.length > 0) this.bookTurn()
    })
  }

  private enter(node: CompiledNode, visit: Visit): Promise<NodeOutput> | undefined {
    let output: NodeOutput | Promise<NodeOutput>
    try {
      output = node.instance?.handle?.(visit.message)
    } catch (error) {
      this.visits--
      this.owner.failed(node, visit, error)
      return undefined
    }
    if (output instanceof Promise) return output
    this.visits--
    this.owner.output(node, visit, output)
    return undefined
  }

  /** The ways out of a node for what waited at it. */
  private exits(node: CompiledNode) {
    return {
      wake: () => this.list(node),
      output: (visit: Visit, output: NodeOutput) => {
        this.visits--
        this.owner.output(node, visit, output)
      },
      failed: (visit: Visit, error: unknown) => {
        this.visits--
        this.owner.failed(node, visit, error)
      },
    }
  }

  /** The node is looked at by this turn, or by one that is booked now. */
  private list(node: CompiledNode): void {
    if (!node.isListed) {
      node.isListed = true
      this.listed.push(node)
    }
    this.bookTurn()
  }

  private bookTurn(): void {
    if (this.inTurn || this.isTurnBooked) return
    this.isTurnBooked = true
    this.owner.clock.soon(() => {
      this.isTurnBooked = false
      this.turn(() => undefined)
    })
  }

  private settleListed(): void {
    while (this.listed.length > 0) {
      const listed = this.listed
      this.listed = []
      for (const node of listed) {
        node.isListed = false
        node.lanes?.drain()
        node.line?.drain()
        if (node.instance !== undefined) node.line?.start(node.instance)
      }
    }
  }
}
