/**
 * One script's messages: those that wait, and the tasks under way in the order in which their results are delivered. Tasks
 * may run side by side and end in any order (a script keeps nothing between calls); what comes out is in order, so a
 * device's messages are too.
 */
import { errorText } from '../../../model/errors.ts'
import type { Clock } from '../../../model/clock.ts'
import type { Message } from '../../../model/message.ts'
import type { WorkFigures } from '../../workers/work-figures.ts'
import { ScriptErrors } from '../errors.ts'
import type { ScriptBatchResult, ScriptKind } from '../script.ts'
import { argumentsSize } from './batch-text.ts'
import type { Breaker } from './breaker.ts'
import type { Competitor } from '../../workers/fair-turns.ts'
import { outcomeValue, type OutcomeLimits } from './outcome.ts'
import type { ScriptIdentity } from './protocol.ts'

export interface LaneLimits extends OutcomeLimits {
  /** Characters of one message's arguments. */
  readonly argumentsLimit: number
  /** Messages of one task. */
  readonly batchMessages: number
  /** Characters of one task; one message more may go in. */
  readonly batchCharacters: number
}

/** One `runBatch` call. */
interface Call {
  readonly messages: readonly Message[]
  readonly report: (index: number, outcome: unknown) => void
  readonly resolve: () => void
  readonly reject: (error: Error) => void
  /** Monotonic ms. */
  readonly addedAt: number
  taken: number
  reported: number
}

/** A task's message: where it belongs. */
interface Place {
  readonly call: Call
  readonly index: number
}

/** Part of a lane that goes to a thread as one batch. `outcomes` holds errors of the engine, or the sandbox's outcomes. */
export interface LaneTask {
  readonly messages: readonly Message[]
  readonly places: readonly Place[]
  readonly outcomes: unknown[]
  /** When its oldest message arrived; monotonic ms. */
  readonly oldestAt: number
  done: boolean
}

/** Unproven: none of its tasks has ended yet. */
export type Pace = 'quick' | 'slow' | 'unproven'

/** A task should use about so much processor time (ms): long enough to be worth its way, short enough to let others have their turn. */
const TASK_TARGET_MS = 25
/** Part of the newest task in the mean time of a message. */
const NEWEST = 0.2

export class ScriptLane implements Competitor {
  readonly identity: ScriptIdentity
  readonly ruleChainId: string
  readonly breaker: Breaker
  /** Where its work is counted. */
  readonly work: readonly WorkFigures[]
  /** Messages that wait. */
  waiting = 0
  /** Waiting messages and tasks under way: what the turns go by. */
  active = 0
  virtualTime = 0
  /** How its last task was. */
  pace: Pace = 'unproven'
  /** As what the dispatcher counts it among the lanes with waiting messages. */
  readyAs: Pace | undefined
  private readonly limits: () => LaneLimits
  private readonly clock: Clock
  /** Mean processor time of a message, ms. */
  private messageMs = 0
  private calls: Call[] = []
  private firstCall = 0
  private tasks: LaneTask[] = []

  constructor(lane: {
    readonly identity: ScriptIdentity
    readonly ruleChainId: string
    readonly breaker: Breaker
    readonly work: readonly WorkFigures[]
    /** Read at each use: an operator may change them. */
    readonly limits: () => LaneLimits
    readonly clock: Clock
  }) {
    this.identity = lane.identity
    this.ruleChainId = lane.ruleChainId
    this.breaker = lane.breaker
    this.work = lane.work
    this.limits = lane.limits
    this.clock = lane.clock
  }

  /** Nothing waits and nothing is under way. */
  get idle(): boolean {
    return this.waiting === 0 && this.tasks.length === 0
  }

  /** Processor time that a task of so many messages is likely to use, ms. */
  expectedMs(messages: number): number {
    return this.messageMs * messages
  }

  /** A task has run. */
  ran(messages: number, usedMs: number): void {
    const newest = usedMs / messages
    this.messageMs = this.messageMs === 0 ? newest : this.messageMs * (1 - NEWEST) + newest * NEWEST
  }

  /** Resolves when every message of the call has been reported; rejects with what a listener threw. */
  add<Kind extends ScriptKind>(
    kind: Kind,
    messages: readonly Message[],
    result: ScriptBatchResult<Kind>,
  ): Promise<void> {
    const limits = this.limits()
    const report = (index: number, outcome: unknown): void => {
      if (outcome instanceof Error) return result.error(index, outcome)
      let value
      try {
        value = outcomeValue(kind, outcome, limits)
      } catch (error) {
        return result.error(index, error instanceof Error ? error : new Error(errorText(error)))
      }
      result.value(index, value)
    }
    return new Promise((resolve, reject) => {
      this.calls.push({ messages, report, resolve, reject, addedAt: this.clock.monotonic(), taken: 0, reported: 0 })
      this.waiting += messages.length
    })
  }

  /** Takes the next task out of what waits: fewer messages where they take long. */
  take(): LaneTask {
    const messages: Message[] = []
    const places: Place[] = []
    const { batchMessages, batchCharacters } = this.limits()
    const most = Math.max(1, Math.min(batchMessages, Math.floor(TASK_TARGET_MS / this.messageMs)))
    let oldestAt = this.clock.monotonic()
    let characters = 0
    while (messages.length < most && characters < batchCharacters) {
      const call = this.calls[this.firstCall]
      if (call === undefined) break
      const message = call.messages[call.taken]
      if (message === undefined) {
        this.dropFirstCall()
        continue
      }
      if (messages.length === 0) oldestAt = call.addedAt
      messages.push(message)
      places.push({ call, index: call.taken++ })
      characters += argumentsSize(message)
    }
    this.waiting -= messages.length
    const task: LaneTask = { messages, places, outcomes: [], oldestAt, done: false }
    this.tasks.push(task)
    return task
  }

  /** The task has an outcome for every message: delivers it once all before it are delivered. */
  finish(task: LaneTask): void {
    task.done = true
    while (this.tasks[0]?.done === true) {
      const first = this.tasks.shift()
      if (first !== undefined) deliver(first)
    }
  }

  /** The error of a message that is too large to be sent at all. */
  tooLarge(message: Message): Error | undefined {
    const size = argumentsSize(message)
    const limit = this.limits().argumentsLimit
    return size > limit ? ScriptErrors.SCRIPT_ARGUMENTS_TOO_LARGE({ size, limit }) : undefined
  }

  private dropFirstCall(): void {
    this.firstCall++
    if (this.firstCall < 64 && this.firstCall < this.calls.length) return
    this.calls = this.calls.slice(this.firstCall)
    this.firstCall = 0
  }
}

function deliver(task: LaneTask): void {
  for (let position = 0; position < task.places.length; position++) {
    const place = task.places[position]
    if (place === undefined) continue
    const { call, index } = place
    try {
      call.report(index, task.outcomes[position])
    } catch (error) {
      call.reject(error instanceof Error ? error : new Error(errorText(error)))
    }
    call.reported++
    if (call.reported === call.messages.length) call.resolve()
  }
}
