/**
 * One try of a message: waiting in its lane, then in process, with its counter of open branches. A try in process has one outcome: the end of its
 * last branch, or the timeout of its pack, whichever comes first; what a timed-out try does later is ignored, so the next try is another object.
 */
import assert from 'node:assert/strict'
import type { Message } from '../../model/message.ts'
import type { Delivery } from '../link/link.ts'
import type { Lane } from './lane.ts'
import type { Work } from './work.ts'

/** Hears that a task has its outcome, once. */
export interface TaskOwner {
  ended(task: Task): void
}

/** Tasks that were handed out together, and whose time began together. */
export interface Pack {
  readonly startedMs: number
  readonly timeoutMs: number
  /** Of the first whose time is over: later than at its start where tasks waited for their turn. */
  deadlineMs: number
  /** Emptied when all have ended: a pack may wait long behind one that has not. */
  tasks: readonly Task[]
  open: number
  /** No task is concluded before the last has ended. */
  readonly isJudgedAsOne: boolean
}

type TaskState = 'open' | 'ended' | 'cut off'

/** Whether what is told of its branches counts. */
const IS_HEARD: Record<TaskState, boolean> = { open: true, ended: true, 'cut off': false }

export class Task implements Work {
  readonly delivery: Delivery
  readonly attempt: number
  /** Of the settings in force: other ones sort what waits into other lanes. */
  lane: Lane<Task>
  pack: Pack | undefined
  error: Error | undefined
  isCancelled = false
  isTimedOut = false
  executions = 0
  /** When it last waited for its turn; 0 where it did not. */
  private postponedMs = 0
  private readonly owner: TaskOwner
  private open = 1
  private state: TaskState = 'open'

  constructor(owner: TaskOwner, delivery: Delivery, attempt: number, lane: Lane<Task>) {
    this.owner = owner
    this.delivery = delivery
    this.attempt = attempt
    this.lane = lane
  }

  get message(): Message {
    return this.delivery.message
  }

  /** The same message, to be tried once more. */
  again(attempt: number): Task {
    return new Task(this.owner, this.delivery, attempt, this.lane)
  }

  branch(count: number): void {
    if (!IS_HEARD[this.state]) return
    assert(this.state === 'open' && count >= 0, 'a settled message cannot branch')
    this.open += count
  }

  postpone(nowMs: number): void {
    this.postponedMs = nowMs
  }

  /** When its time began; undefined once it has its outcome. */
  get sinceMs(): number | undefined {
    return this.state === 'open' ? Math.max(this.pack?.startedMs ?? 0, this.postponedMs) : undefined
  }

  end(error?: Error): void {
    if (!IS_HEARD[this.state]) return
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
