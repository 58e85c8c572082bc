/**
 * Runs one task to its end: asks again for what a stopped batch left, asks one by one after a batch broke its isolate or
 * its process, and blames the message that breaks it alone.
 */
import { errorText } from '../../../model/errors.ts'
import type { Message } from '../../../model/message.ts'
import type { ThreadPool } from '../../workers/thread-pool.ts'
import { ScriptErrors } from '../errors.ts'
import { batchText } from './batch-text.ts'
import { STRIKE_LIMIT } from './breaker.ts'
import { failureOf, isStrike, parseOutcomes } from './outcome.ts'
import type { GuestError, SandboxAnswer, SandboxRequest, TimedAnswer } from './protocol.ts'
import type { LaneTask, ScriptLane } from './script-lane.ts'

export type SandboxPool = ThreadPool<SandboxRequest, TimedAnswer>

export interface TaskFigures {
  /** In the sandbox, and of that the processor time; ms. */
  runMs: number
  usedMs: number
  /** Messages that failed, and of them those that … */
  errors: number
  timeouts: number
  memoryErrors: number
  blocked: number
  /** Errors of time, memory and size. */
  strikes: number
  /** Sandbox processes that died. */
  deaths: number
}

/** A thread that ended under a task was ended from outside (what scripts do ends processes): it is asked once more. */
const LOST_TRIES = 2

/** Fills `task.outcomes` with one outcome a message. `poolNow` is asked before each try: pools may take over. Never rejects. */
export async function runTask(lane: ScriptLane, task: LaneTask, poolNow: () => SandboxPool): Promise<TaskFigures> {
  const figures: TaskFigures = {
    runMs: 0,
    usedMs: 0,
    errors: 0,
    timeouts: 0,
    memoryErrors: 0,
    blocked: 0,
    strikes: 0,
    deaths: 0,
  }
  const sent: Message[] = []
  const positions: number[] = []
  task.messages.forEach((message, position) => {
    const refused = lane.tooLarge(message)
    if (refused === undefined) {
      sent.push(message)
      positions.push(position)
    } else {
      task.outcomes[position] = refused
      figures.errors++
      figures.strikes++
      lane.breaker.strike()
    }
  })
  const outcomes = await new TaskRun(lane, sent, figures).outcomes(poolNow)
  outcomes.forEach((outcome, index) => {
    task.outcomes[positions[index] ?? index] = outcome
  })
  return figures
}

class TaskRun {
  private readonly lane: ScriptLane
  private readonly messages: readonly Message[]
  private readonly figures: TaskFigures
  private readonly done: unknown[] = []
  /** The next message is asked by itself, since a batch broke its isolate or process. */
  private alone = false
  private lost = 0

  constructor(lane: ScriptLane, messages: readonly Message[], figures: TaskFigures) {
    this.lane = lane
    this.messages = messages
    this.figures = figures
  }

  /** One outcome a message. */
  async outcomes(poolNow: () => SandboxPool): Promise<readonly unknown[]> {
    const { breaker } = this.lane
    while (this.done.length < this.messages.length) {
      const pass = breaker.pass()
      if (pass === 'refused') {
        this.figures.blocked += this.fail(ScriptErrors.SCRIPT_BLOCKED({ limit: STRIKE_LIMIT }))
        break
      }
      const trial = pass === 'trial'
      this.alone ||= trial
      const answered = await this.ask(poolNow())
      const strikes = answered === undefined ? 0 : this.take(answered)
      if (trial) breaker.endTrial(answered === undefined || answered.length === 0 ? undefined : strikes === 0)
    }
    return this.done
  }

  /** The outcomes of some of the next messages: none at all means to ask again. Undefined where nothing can be asked now. */
  private async ask(pool: SandboxPool): Promise<readonly unknown[] | undefined> {
    const start = this.done.length
    const end = this.alone ? start + 1 : this.messages.length
    try {
      const batch = batchText(this.messages, start, end)
      const { answer, runMs, usedMs } = await pool.run({
        type: 'run',
        ...this.lane.identity,
        batch,
        count: end - start,
      })
      this.figures.runMs += runMs
      this.figures.usedMs += usedMs
      const outcomes = this.outcomesIn(answer)
      this.alone = outcomes.length === 0
      return outcomes
    } catch (error) {
      if (++this.lost < LOST_TRIES) return []
      this.fail(ScriptErrors.POOL_UNAVAILABLE({ reason: errorText(error) }, error))
      return undefined
    }
  }

  private outcomesIn(answer: SandboxAnswer): readonly unknown[] {
    switch (answer.type) {
      case 'ran': {
        const outcomes = parseOutcomes(answer.outcomes)
        // A message that leaves nothing behind even alone broke its isolate by itself.
        return this.alone && outcomes.length === 0 ? [{ error: 'memory' } satisfies GuestError] : outcomes
      }
      case 'died':
        this.figures.deaths++
        return this.alone ? [ScriptErrors.SCRIPT_DIED({ reason: answer.reason })] : []
      case 'refused':
        return [ScriptErrors.SCRIPT_SYNTAX({ ...answer.fault })]
      case 'compiled':
        throw new TypeError('sandbox answered a run with a compilation')
    }
  }

  /** Takes over outcomes; how many of them count against the script. */
  private take(outcomes: readonly unknown[]): number {
    let strikes = 0
    for (const outcome of outcomes) {
      this.done.push(outcome)
      const weight = this.count(outcome)
      if (weight === 0) continue
      strikes++
      this.lane.breaker.strike(weight)
    }
    this.figures.strikes += strikes
    return strikes
  }

  /** Counts a failure; its weight against the script. */
  private count(outcome: unknown): number {
    const { figures } = this
    if (outcome instanceof Error) {
      figures.errors++
      return isDeath(outcome) ? STRIKE_LIMIT : 0
    }
    const failure = failureOf(outcome)
    if (failure === undefined) return 0
    figures.errors++
    if (failure === 'timeout') figures.timeouts++
    if (failure === 'memory') figures.memoryErrors++
    return isStrike(failure) ? 1 : 0
  }

  /** All that is left fails; how many. */
  private fail(error: Error): number {
    const left = this.messages.length - this.done.length
    while (this.done.length < this.messages.length) this.done.push(error)
    this.figures.errors += left
    return left
  }
}

function isDeath(error: Error): boolean {
  return 'code' in error && error.code === 'script.SCRIPT_DIED'
}
