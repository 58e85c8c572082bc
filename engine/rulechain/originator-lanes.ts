/**
 * What waits in front of a node that answers with a promise: one message of an originator at a time, so that none overtakes
 * another, while those of different originators run side by side. Bounded by what is in flight in the queue: a call ends at its
 * deadline, whether its promise settles or not.
 */
import { isCancelled, type Branch } from './branch.ts'
import type { NodeOutput } from './node.ts'

export interface LaneListener {
  /** An outcome came in: `drain` has something to do. */
  wake(): void
  output(branch: Branch, output: NodeOutput): void
  failed(branch: Branch, error: unknown): void
  /** The call's time is over. */
  timedOut(branch: Branch): void
  /** An outcome came after its call's time was over. */
  late(): void
  /** How often the program has ticked. */
  ticks(): number
  monotonic(): number
  /** How long a call took, to its end or to its deadline. */
  took(elapsedMs: number): void
  /** The next of the lane may enter the node; returns its promise where it is still under way. */
  enter(branch: Branch): Promise<NodeOutput> | undefined
}

type Outcome =
  | { readonly kind: 'output'; readonly output: NodeOutput }
  | { readonly kind: 'failed'; readonly error: unknown }
  | { readonly kind: 'timed out' }

/** One call of the node. Its promise holds it, for ever where it never settles: so it lets its message go when it is over. */
class Call {
  /** Undefined once it is over. */
  branch: Branch | undefined
  /** The count of ticks at which it began. */
  readonly since: number
  readonly startedAt: number

  constructor(branch: Branch, since: number, startedAt: number) {
    this.branch = branch
    this.since = since
    this.startedAt = startedAt
  }
}

interface Lane {
  call: Call
  waiting: Branch[] | undefined
}

interface Ended {
  readonly branch: Branch
  readonly outcome: Outcome
}

export class OriginatorLanes {
  private readonly lanes = new Map<string, Lane>()
  private ended: Ended[] = []
  private readonly listener: LaneListener

  constructor(listener: LaneListener) {
    this.listener = listener
  }

  get isEmpty(): boolean {
    return this.lanes.size === 0
  }

  /** True where an earlier message of the originator is still in the node: the branch has joined its lane. */
  joinBehind(branch: Branch): boolean {
    const lane = this.lanes.get(branch.message.orderKey)
    if (lane === undefined) return false
    ;(lane.waiting ??= []).push(branch)
    return true
  }

  /** The node answered with a promise. */
  follow(branch: Branch, promise: Promise<NodeOutput>): void {
    const originator = branch.message.orderKey
    const call = new Call(branch, this.listener.ticks(), this.listener.monotonic())
    const lane = this.lanes.get(originator)
    if (lane === undefined) this.lanes.set(originator, { call, waiting: undefined })
    else lane.call = call
    promise.then(
      (output) => this.end(call, { kind: 'output', output }),
      (error: unknown) => this.end(call, { kind: 'failed', error }),
    )
  }

  /** Ends calls that began at `before` ticks or earlier, and those that nobody waits for any more. */
  expire(before: number): void {
    for (const lane of this.lanes.values()) {
      const { call, waiting } = lane
      if (call.branch === undefined) continue
      if (call.since <= before || isCancelled(call.branch)) this.end(call, { kind: 'timed out' })
      if (waiting?.some(isCancelled) !== true) continue
      lane.waiting = waiting.filter((branch) => !isCancelled(branch))
      for (const branch of waiting) if (isCancelled(branch)) this.listener.output(branch, undefined)
    }
  }

  drain(): void {
    for (let ended = this.ended.shift(); ended !== undefined; ended = this.ended.shift()) {
      // Read before it leaves: it may go on as a message of another originator.
      const originator = ended.branch.message.orderKey
      try {
        this.leave(ended)
      } finally {
        this.goOn(originator)
      }
    }
  }

  private end(call: Call, outcome: Outcome): void {
    const { branch } = call
    if (branch === undefined) return this.listener.late()
    call.branch = undefined
    this.listener.took(this.listener.monotonic() - call.startedAt)
    this.ended.push({ branch, outcome })
    this.listener.wake()
  }

  private leave({ branch, outcome }: Ended): void {
    if (outcome.kind === 'output') this.listener.output(branch, outcome.output)
    else if (outcome.kind === 'failed') this.listener.failed(branch, outcome.error)
    else this.listener.timedOut(branch)
  }

  /** The next of the lane enters the node. */
  private goOn(originator: string): void {
    const lane = this.lanes.get(originator)
    for (let next = lane?.waiting?.shift(); next !== undefined; next = lane?.waiting?.shift()) {
      if (isCancelled(next)) {
        this.listener.output(next, undefined)
        continue
      }
      const promise = this.listener.enter(next)
      if (promise !== undefined) return this.follow(next, promise)
    }
    this.lanes.delete(originator)
  }
}
