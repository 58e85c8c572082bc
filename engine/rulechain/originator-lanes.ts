/**
 * What waits in front of a node that answers with a promise: one message of an originator at a time, so that none overtakes
 * another, while those of different originators run side by side. Bounded by what is in flight in the queue: a call ends at its
 * deadline, whether its promise settles or not.
 */
import { isCancelled, type Visit } from './journey.ts'
import type { NodeOutput } from './node.ts'

export interface LaneListener {
  /** An outcome came in: `drain` has something to do. */
  wake(): void
  output(visit: Visit, output: NodeOutput): void
  failed(visit: Visit, error: unknown): void
  /** The call's time is over. */
  timedOut(visit: Visit): void
  /** An outcome came after its call's time was over. */
  late(): void
  /** How often the program has ticked. */
  ticks(): number
  /** The next of the lane may enter the node; returns its promise where it is still under way. */
  enter(visit: Visit): Promise<NodeOutput> | undefined
}

type Outcome =
  | { readonly kind: 'output'; readonly output: NodeOutput }
  | { readonly kind: 'failed'; readonly error: unknown }
  | { readonly kind: 'timed out' }

/** One call of the node. Its promise holds it, for ever where it never settles: so it lets its message go when it is over. */
class Call {
  /** Undefined once it is over. */
  visit: Visit | undefined
  /** The count of ticks at which it began. */
  readonly since: number

  constructor(visit: Visit, since: number) {
    this.visit = visit
    this.since = since
  }
}

interface Lane {
  call: Call
  waiting: Visit[] | undefined
}

interface Ended {
  readonly visit: Visit
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

  /** True where an earlier message of the originator is still in the node: the visit has joined its lane. */
  joinBehind(visit: Visit): boolean {
    const lane = this.lanes.get(visit.message.originator.id)
    if (lane === undefined) return false
    ;(lane.waiting ??= []).push(visit)
    return true
  }

  /** The node answered with a promise. */
  follow(visit: Visit, promise: Promise<NodeOutput>): void {
    const originator = visit.message.originator.id
    const call = new Call(visit, this.listener.ticks())
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
      if (call.visit === undefined) continue
      if (call.since <= before || isCancelled(call.visit)) this.end(call, { kind: 'timed out' })
      if (waiting?.some(isCancelled) !== true) continue
      lane.waiting = waiting.filter((visit) => !isCancelled(visit))
      for (const visit of waiting) if (isCancelled(visit)) this.listener.output(visit, undefined)
    }
  }

  drain(): void {
    for (let ended = this.ended.shift(); ended !== undefined; ended = this.ended.shift()) {
      try {
        this.leave(ended)
      } finally {
        this.goOn(ended.visit.message.originator.id)
      }
    }
  }

  private end(call: Call, outcome: Outcome): void {
    const { visit } = call
    if (visit === undefined) return this.listener.late()
    call.visit = undefined
    this.ended.push({ visit, outcome })
    this.listener.wake()
  }

  private leave({ visit, outcome }: Ended): void {
    if (outcome.kind === 'output') this.listener.output(visit, outcome.output)
    else if (outcome.kind === 'failed') this.listener.failed(visit, outcome.error)
    else this.listener.timedOut(visit)
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
