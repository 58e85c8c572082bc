/**
 * What waits in front of a node that answers with a promise: one message of an originator at a time, so that none overtakes
 * another, while those of different originators run side by side. Bounded by what is in flight in the queue.
 */
import { isCancelled, type Visit } from './journey.ts'
import type { NodeOutput } from './node.ts'

export interface LaneListener {
  /** An outcome came in: `drain` has something to do. */
  wake(): void
  output(visit: Visit, output: NodeOutput): void
  failed(visit: Visit, error: unknown): void
  /** The next of the lane may enter the node; returns its promise where it is still under way. */
  enter(visit: Visit): Promise<NodeOutput> | undefined
}

type Settled =
  | { readonly visit: Visit; readonly output: NodeOutput; readonly failed: false }
  | { readonly visit: Visit; readonly error: unknown; readonly failed: true }

export class OriginatorLanes {
  private readonly lanes = new Map<string, Visit[]>()
  private settled: Settled[] = []
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
    lane.push(visit)
    return true
  }

  /** The node answered with a promise. */
  follow(visit: Visit, promise: Promise<NodeOutput>): void {
    const originator = visit.message.originator.id
    if (!this.lanes.has(originator)) this.lanes.set(originator, [])
    promise.then(
      (output) => this.settle({ visit, output, failed: false }),
      (error: unknown) => this.settle({ visit, error, failed: true }),
    )
  }

  drain(): void {
    while (this.settled.length > 0) {
      const settled = this.settled
      this.settled = []
      for (const one of settled) this.leave(one)
    }
  }

  private settle(settled: Settled): void {
    this.settled.push(settled)
    this.listener.wake()
  }

  private leave(settled: Settled): void {
    const { visit } = settled
    if (settled.failed) this.listener.failed(visit, settled.error)
    else this.listener.output(visit, settled.output)
    const originator = visit.message.originator.id
    const lane = this.lanes.get(originator)
    for (let next = lane?.shift(); next !== undefined; next = lane?.shift()) {
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
