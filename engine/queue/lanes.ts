/**
 * Which messages share a lane: those whose order counts under the queue's submit strategy (`rule-engine.md` 5.3). A failed message
 * holds its own lane and no other.
 */
import type { SubmitStrategyType } from '../../model/entities.ts'
import type { Message } from '../../model/message.ts'
import { Lane } from './lane.ts'
import type { Task } from './task.ts'

type LaneKind = 'originator' | 'tenant' | 'queue'

const KINDS: Record<SubmitStrategyType, LaneKind> = {
  BURST: 'originator',
  BATCH: 'originator',
  SEQUENTIAL_BY_ORIGINATOR: 'originator',
  SEQUENTIAL_BY_TENANT: 'tenant',
  SEQUENTIAL: 'queue',
}

/** Whether the lanes of one strategy are those of the other. */
export function haveSameLanes(one: SubmitStrategyType, other: SubmitStrategyType): boolean {
  return KINDS[one] === KINDS[other]
}

export function isSequential(submit: SubmitStrategyType): boolean {
  return submit !== 'BURST' && submit !== 'BATCH'
}

export function inLogOrder(one: Task, other: Task): number {
  return one.delivery.message.sequence - other.delivery.message.sequence
}

export class Lanes {
  readonly kind: LaneKind
  private readonly lanes = new Map<string, Lane<Task>>()

  constructor(submit: SubmitStrategyType) {
    this.kind = KINDS[submit]
  }

  of(message: Message): Lane<Task> {
    const key = this.kind === 'originator' ? message.orderKey : this.kind === 'tenant' ? message.tenantId : ''
    let lane = this.lanes.get(key)
    if (lane === undefined) this.lanes.set(key, (lane = new Lane<Task>(key)))
    return lane
  }

  /** Puts what waits into its lanes, in the order of the log. */
  sortIn(waiting: readonly Task[]): void {
    for (const task of waiting.toSorted(inLogOrder)) {
      task.lane = this.of(task.message)
      task.lane.wait(task)
    }
  }

  forget(lane: Lane<Task>): void {
    this.lanes.delete(lane.key)
  }

  all(): readonly Lane<Task>[] {
    return [...this.lanes.values()]
  }

  /** Takes out what no lane has in process, in the order of the log. */
  takeWaiting(): Task[] {
    const tasks = this.all().flatMap((lane) => lane.takeWaiting())
    this.lanes.clear()
    return tasks.sort(inLogOrder)
  }
}
