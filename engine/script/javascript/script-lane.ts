/**
 * One script's messages: those that wait, and the tasks under way in the order in which their results are delivered. Tasks
 * may run side by side and end in any order (a script keeps nothing between calls); what comes out is in order, so a
 * device's messages are too.
 */
import { errorText } from '../../../model/errors.ts'
import type { Message } from '../../../model/message.ts'
import { ScriptErrors } from '../errors.ts'
import type { ScriptBatchResult, ScriptKind } from '../script.ts'
import { argumentsSize } from './batch-text.ts'
import { outcomeValue, type OutcomeLimits } from './outcome.ts'
import type { ScriptIdentity } from './protocol.ts'
import type { StrikeRecord } from './strikes.ts'

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
  done: boolean
}

export class ScriptLane {
  readonly identity: ScriptIdentity
  readonly strikes: StrikeRecord
  /** Messages that wait. */
  waiting = 0
  private readonly limits: LaneLimits
  private calls: Call[] = []
  private firstCall = 0
  private tasks: LaneTask[] = []

  constructor(identity: ScriptIdentity, strikes: StrikeRecord, limits: LaneLimits) {
    this.identity = identity
    this.strikes = strikes
    this.limits = limits
  }

  /** Resolves when every message of the call has been reported; rejects with what a listener threw. */
  add<Kind extends ScriptKind>(
    kind: Kind,
    messages: readonly Message[],
    result: ScriptBatchResult<Kind>,
  ): Promise<void> {
    const report = (index: number, outcome: unknown): void => {
      if (outcome instanceof Error) return result.error(index, outcome)
      let value
      try {
        value = outcomeValue(kind, outcome, this.limits)
      } catch (error) {
        return result.error(index, error instanceof Error ? error : new Error(errorText(error)))
      }
      result.value(index, value)
    }
    return new Promise((resolve, reject) => {
      this.calls.push({ messages, report, resolve, reject, taken: 0, reported: 0 })
      this.waiting += messages.length
    })
  }

  /** Takes the next task out of what waits. */
  take(): LaneTask {
    const messages: Message[] = []
    const places: Place[] = []
    let characters = 0
    while (messages.length < this.limits.batchMessages && characters < this.limits.batchCharacters) {
      const call = this.calls[this.firstCall]
      if (call === undefined) break
      const message = call.messages[call.taken]
      if (message === undefined) {
        this.dropFirstCall()
        continue
      }
      messages.push(message)
      places.push({ call, index: call.taken++ })
      characters += argumentsSize(message)
    }
    this.waiting -= messages.length
    const task: LaneTask = { messages, places, outcomes: [], done: false }
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
    const limit = this.limits.argumentsLimit
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
