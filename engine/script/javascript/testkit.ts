/** What tests of scripts share: a clock that is moved by hand, messages, and a batch's outcomes as a list. */
import type { Clock } from '../../../model/clock.ts'
import { Message } from '../../../model/message.ts'
import { errorText } from '../../../model/errors.ts'
import type { CompiledScript, ScriptKind, ScriptResults } from '../script.ts'

export interface HandClock extends Clock {
  advance(ms: number): void
}

export function handClock(): HandClock {
  let time = 0
  return {
    now: () => time,
    monotonic: () => time,
    after() {
      throw new Error('scripts set no timers')
    },
    soon() {
      throw new Error('scripts set no timers')
    },
    advance(ms) {
      time += ms
    },
  }
}

export function scriptMessage(
  data: string,
  metadata: Readonly<Record<string, string>> = {},
  type = 'POST_TELEMETRY_REQUEST',
): Message {
  return new Message({
    id: '0b1c2d3e-0000-4000-8000-000000000001',
    ts: 1_719_915_201_000,
    type,
    tenantId: 'tenant',
    originator: { entityType: 'DEVICE', id: '0b1c2d3e-0000-4000-8000-000000000002' },
    metadata,
    data,
  })
}

/** One outcome a message, in the order in which they were reported: its value, or the text of its error. */
export async function outcomesOf<Kind extends ScriptKind>(
  script: CompiledScript<Kind>,
  messages: readonly Message[],
): Promise<(ScriptResults[Kind] | string)[]> {
  const outcomes: (ScriptResults[Kind] | string)[] = []
  const report = (index: number, outcome: ScriptResults[Kind] | string): void => {
    if (index !== outcomes.length) throw new Error(`message ${index} was reported in place ${outcomes.length}`)
    outcomes.push(outcome)
  }
  await script.runBatch(messages, { value: report, error: (index, error) => report(index, errorText(error)) })
  return outcomes
}
