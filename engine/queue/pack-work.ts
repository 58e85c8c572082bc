/**
 * A message in process, with its counter of open branches. It has one outcome: the end of its last branch, or the timeout
 * of its pack, whichever comes first; what a timed-out message does later is ignored.
 */
import assert from 'node:assert/strict'
import type { Message } from '../../model/message.ts'
import type { Delivery } from '../link/link.ts'
import type { Lane } from './lane.ts'
import type { Work } from './work.ts'

/** Hears the outcome of each work, once. */
export interface WorkOwner {
  ended(work: PackWork, error: Error | undefined): void
}

/** Works that started together and share one deadline. */
export interface Pack {
  readonly deadlineMs: number
  /** Emptied when all have ended: a pack may wait long behind one that has not. */
  works: readonly PackWork[]
  open: number
}

export class PackWork implements Work {
  readonly delivery: Delivery
  readonly attempt: number
  readonly lane: Lane
  pack: Pack | undefined
  private readonly owner: WorkOwner
  private open = 1
  private error: Error | undefined
  private state: 'open' | 'ended' | 'timed-out' = 'open'

  constructor(owner: WorkOwner, delivery: Delivery, attempt: number, lane: Lane) {
    this.owner = owner
    this.delivery = delivery
    this.attempt = attempt
    this.lane = lane
  }

  get message(): Message {
    return this.delivery.message
  }

  branch(count: number): void {
    if (this.state === 'timed-out') return
    assert(this.state === 'open' && count >= 0, 'a settled message cannot branch')
    this.open += count
  }

  end(error?: Error): void {
    if (this.state === 'timed-out') return
    assert(this.open > 0, 'more branches ended than were opened')
    this.error ??= error
    if (--this.open > 0) return
    this.state = 'ended'
    this.owner.ended(this, this.error)
  }

  /** The deadline passed. */
  timeOut(error: Error): void {
    if (this.state !== 'open') return
    this.state = 'timed-out'
    this.owner.ended(this, error)
  }
}
