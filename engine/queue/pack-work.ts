/**
 * A message in process, with its counter of open branches. It has one outcome: the end of its last branch, or the timeout
 * of its pack, whichever comes first; what a timed-out message does later is ignored.
 */
import assert from 'node:assert/strict'
import type { Message } from '../../model/message.ts'
import type { Delivery } from '../link/link.ts'
import type { Lane } from './lane.ts'
import type { Work } from './work.ts'

/** Hears that a work has its outcome, once. */
export interface WorkOwner {
  ended(work: PackWork): void
}

/** Works that were handed out together and share one deadline. */
export interface Pack {
  readonly deadlineMs: number
  /** Emptied when all have ended: a pack may wait long behind one that has not. */
  works: readonly PackWork[]
  open: number
  /** No work is concluded before the last has ended. */
  readonly isJudgedAsOne: boolean
}

export class PackWork implements Work {
  readonly delivery: Delivery
  readonly attempt: number
  readonly lane: Lane
  pack: Pack | undefined
  error: Error | undefined
  isCancelled = false
  isTimedOut = false
  executions = 0
  private readonly owner: WorkOwner
  private open = 1
  private state: 'open' | 'ended' | 'cut off' = 'open'

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
    if (this.state === 'cut off') return
    assert(this.state === 'open' && count >= 0, 'a settled message cannot branch')
    this.open += count
  }

  end(error?: Error): void {
    if (this.state === 'cut off') return
    assert(this.open > 0, 'more branches ended than were opened')
    this.error ??= error
    if (--this.open > 0) return
    this.state = 'ended'
    this.owner.ended(this)
  }

  /** The deadline passed. Where it does not run on, it enters no further node. */
  timeOut(error: Error, runsOn: boolean): void {
    if (this.state !== 'open') return
    this.isTimedOut = true
    this.cutOff(error, runsOn)
  }

  /** Whoever processes it has let go of it. */
  fail(error: Error): void {
    if (this.state === 'open') this.cutOff(error, false)
  }

  private cutOff(error: Error, runsOn: boolean): void {
    this.state = 'cut off'
    this.isCancelled = !runsOn
    this.error = error
    this.owner.ended(this)
  }
}
