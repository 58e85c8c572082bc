/**
 * Runs one task to its end: asks again for what a stopped batch left, asks one by one after a batch broke its isolate or
 * its process, and blames the message that breaks it alone.
 */
import { errorText } from '../../../model/errors.ts'
import type { Message } from '../../../model/message.ts'
import type { ThreadPool } from '../../workers/thread-pool.ts'
import { ScriptErrors } from '../errors.ts'
import { batchText } from './batch-text.ts'
import { isStrike, parseOutcomes } from './outcome.ts'
import type { GuestError, SandboxAnswer, SandboxRequest } from './protocol.ts'
import type { LaneTask, ScriptLane } from './script-lane.ts'
import { STRIKE_LIMIT } from './strikes.ts'

export type SandboxPool = ThreadPool<SandboxRequest, SandboxAnswer>

export interface TaskFigures {
  /** Sandbox processes that died under a task. */
  deaths: number
  /** Errors of time, memory and size. */
  strikes: number
}

/** Fills `task.outcomes` with one outcome a message. Never rejects. */
export async function runTask(
  lane: ScriptLane,
  task: LaneTask,
  pool: SandboxPool,
  figures: TaskFigures,
): Promise<void> {
  const sent: Message[] = []
  const positions: number[] = []
  task.messages.forEach((message, position) => {
    const refused = lane.tooLarge(message)
    if (refused === undefined) {
      sent.push(message)
      positions.push(position)
    } else {
      task.outcomes[position] = refused
      lane.strikes.add()
      figures.strikes++
    }
  })
  const outcomes = await outcomesOf(lane, sent, pool, figures)
  outcomes.forEach((outcome, index) => {
    task.outcomes[positions[index] ?? index] = outcome
  })
}

async function outcomesOf(
  lane: ScriptLane,
  messages: readonly Message[],
  pool: SandboxPool,
  figures: TaskFigures,
): Promise<readonly unknown[]> {
  const outcomes: unknown[] = []
  let alone = false
  while (outcomes.length < messages.length) {
    if (lane.strikes.blocked)
      return fill(outcomes, messages.length, ScriptErrors.SCRIPT_BLOCKED({ limit: STRIKE_LIMIT }))
    const start = outcomes.length
    const end = alone ? start + 1 : messages.length
    let answered: readonly unknown[]
    try {
      const batch = batchText(messages, start, end)
      const answer = await pool.run({ type: 'run', ...lane.identity, batch, count: end - start })
      answered = answeredOutcomes(lane, answer, alone, figures)
    } catch (error) {
      return fill(outcomes, messages.length, ScriptErrors.POOL_UNAVAILABLE({ reason: errorText(error) }, error))
    }
    alone = answered.length === 0
    for (const outcome of answered) {
      outcomes.push(outcome)
      if (!isStrike(outcome)) continue
      lane.strikes.add()
      figures.strikes++
    }
  }
  return outcomes
}

/** No outcome at all means: ask again, one by one. */
function answeredOutcomes(
  lane: ScriptLane,
  answer: SandboxAnswer,
  alone: boolean,
  figures: TaskFigures,
): readonly unknown[] {
  switch (answer.type) {
    case 'ran':
      return brokenAlone(parseOutcomes(answer.outcomes), alone)
    case 'died':
      figures.deaths++
      if (!alone) return []
      lane.strikes.add(STRIKE_LIMIT)
      return [ScriptErrors.SCRIPT_DIED({ reason: answer.reason })]
    case 'refused':
      return [ScriptErrors.SCRIPT_SYNTAX({ ...answer.fault })]
    case 'compiled':
      throw new TypeError('sandbox answered a run with a compilation')
  }
}

/** A message that leaves nothing behind even alone broke its isolate by itself. */
function brokenAlone(outcomes: readonly unknown[], alone: boolean): readonly unknown[] {
  return alone && outcomes.length === 0 ? [{ error: 'memory' } satisfies GuestError] : outcomes
}

function fill(outcomes: unknown[], count: number, error: Error): readonly unknown[] {
  while (outcomes.length < count) outcomes.push(error)
  return outcomes
}
