/**
 * What waits in or for the nodes of one version of a chain, and the turns on which it goes on. Batch-aware nodes run once at
 * the end of a turn on all that reached them during it; outcomes that come in between book a turn of the clock. What takes too long
 * is cut off by a timer that all calls share.
 */
import type { Clock, TimerHandle } from '../../model/clock.ts'
import { BatchLine } from './batch-line.ts'
import type { BatchLimits } from './batch-line.ts'
import type { CompiledNode } from './compiled-node.ts'
import type { Branch } from './branch.ts'
import type { NodeOutput } from './node.ts'
import { OriginatorLanes } from './originator-lanes.ts'
import type { QueueHop } from './queue-hop.ts'

export interface WaitingRoomOwner {
  readonly clock: Clock
  /** A branch leaves its node. Must not throw. */
  output(node: CompiledNode, branch: Branch, output: NodeOutput): void
  /** The same with an error. Must not throw. */
  failed(node: CompiledNode, branch: Branch, error: unknown): void
  /** Its node gave no outcome in time. Must not throw. */
  timedOut(node: CompiledNode, branch: Branch): void
  /** A node broke its contract, such as reporting an outcome twice. */
  misbehaved(node: CompiledNode, reason: string): void
}

export interface WaitingLimits extends BatchLimits {
  /** How long a node may take for a message or a batch. */
  readonly nodeTimeoutMs: number
}

/** A timer for all calls ticks so often within the time that each has: none is cut off by more than a part earlier. */
const TICKS_A_TIMEOUT = 8

export class WaitingRoom {
  private readonly limits: WaitingLimits
  private readonly owner: WaitingRoomOwner
  /** Nodes with outcomes to let go or messages to start on. */
  private listed: CompiledNode[] = []
  private inTurn = false
  private isTurnBooked = false
  private branches = 0
  private idleListeners: (() => void)[] = []
  /** Nodes with lanes or a line. */
  private readonly slow: CompiledNode[] = []
  private ticks = 0
  private tick: TimerHandle | undefined

  constructor(limits: WaitingLimits, owner: WaitingRoomOwner) {
    this.limits = limits
    this.owner = owner
  }

  /** Visits that wait in or for a node. */
  get size(): number {
    return this.branches
  }

  /** Resolves when nothing waits. */
  whenEmpty(): Promise<void> {
    if (this.branches === 0) return Promise.resolve()
    return new Promise((resolve) => this.idleListeners.push(resolve))
  }

  /** Runs `work`, which must not throw, and then all that can go on. */
  turn(work: () => void): void {
    this.inTurn = true
    try {
      work()
      this.settleListed()
    } finally {
      this.inTurn = false
      if (this.listed.length > 0) this.bookTurn()
    }
    if (this.branches > 0 || this.idleListeners.length === 0) return
    for (const tell of this.idleListeners.splice(0)) tell()
  }

  /** Gives a node that takes batches its line. */
  attach(node: CompiledNode): void {
    if (node.instance?.handleBatch === undefined || node.line !== undefined) return
    this.slow.push(node)
    node.line = new BatchLine(node.record.name, this.limits, {
      ...this.exits(node),
      finished: (size, elapsedMs) => {
        node.busyMs += elapsedMs
        node.latency.add(elapsedMs, size)
      },
      misbehaved: (reason) => this.owner.misbehaved(node, reason),
      monotonic: () => this.owner.clock.monotonic(),
    })
  }

  /** The branch waits for the end of the turn. */
  join(node: CompiledNode, line: BatchLine, branch: Branch): void {
    this.branches++
    if (this.tick === undefined) this.watch()
    line.join(branch)
    this.list(node)
  }

  /** True where the branch has to wait until an earlier message of its originator has left the node. */
  joinBehind(lanes: OriginatorLanes, branch: Branch): boolean {
    if (!lanes.joinBehind(branch)) return false
    this.branches++
    return true
  }

  /** The node answered with a promise. */
  follow(node: CompiledNode, branch: Branch, promise: Promise<NodeOutput>): void {
    this.branches++
    if (this.tick === undefined) this.watch()
    if (node.lanes === undefined) {
      this.slow.push(node)
      node.lanes = new OriginatorLanes({
        ...this.exits(node),
        enter: (next) => this.enter(node, next),
        monotonic: () => this.owner.clock.monotonic(),
        took: (elapsedMs) => node.latency.add(elapsedMs),
      })
    }
    node.lanes.follow(branch, promise)
  }

  /** Something outside goes on for a message of this version; `then`, which must not throw, is called when it has ended. */
  until(hop: QueueHop, then: (refusal: Error | undefined) => void): void {
    this.branches++
    hop.whenDone((refusal) => {
      this.branches--
      then(refusal)
      if (this.branches === 0 && this.idleListeners.length > 0) this.bookTurn()
    })
  }

  private enter(node: CompiledNode, branch: Branch): Promise<NodeOutput> | undefined {
    let output: NodeOutput | Promise<NodeOutput>
    try {
      output = node.instance?.handle?.(branch.message, branch)
    } catch (error) {
      this.branches--
      this.owner.failed(node, branch, error)
      return undefined
    }
    if (output instanceof Promise) return output
    this.branches--
    this.owner.output(node, branch, output)
    return undefined
  }

  /** The ways out of a node for what waited at it. */
  private exits(node: CompiledNode) {
    return {
      wake: () => this.list(node),
      output: (branch: Branch, output: NodeOutput) => {
        this.branches--
        this.owner.output(node, branch, output)
      },
      failed: (branch: Branch, error: unknown) => {
        this.branches--
        this.owner.failed(node, branch, error)
      },
      timedOut: (branch: Branch) => {
        this.branches--
        this.owner.timedOut(node, branch)
      },
      late: () => {
        node.late++
      },
      ticks: () => this.ticks,
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
    this.owner.clock.soon(this.bookedTurn)
  }

  /** Made once: an arrow in {@link bookTurn} would cost each of its calls an object, whether it books or not. */
  private readonly bookedTurn = (): void => {
    this.isTurnBooked = false
    this.turn(() => undefined)
  }

  private settleListed(): void {
    for (let node = this.listed.shift(); node !== undefined; node = this.listed.shift()) {
      node.isListed = false
      let isDone = false
      try {
        node.lanes?.drain()
        node.line?.drain()
        if (node.instance !== undefined) node.line?.start(node.instance)
        isDone = true
      } finally {
        if (!isDone) this.list(node)
      }
    }
  }

  /** Looks now and then, while something waits, whether it takes too long. */
  private watch(): void {
    this.tick = this.owner.clock.after(this.limits.nodeTimeoutMs / TICKS_A_TIMEOUT, () => {
      this.tick = undefined
      this.ticks++
      this.turn(() => this.expire(this.ticks - TICKS_A_TIMEOUT))
      if (this.branches > 0 && this.tick === undefined) this.watch()
    })
  }

  private expire(before: number): void {
    for (const node of this.slow) {
      node.lanes?.expire(before)
      node.line?.expire(before)
    }
  }
}
