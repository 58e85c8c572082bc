/** Two faults at once: what each alone is recovered from must not lean on what the other takes away. */
import { setTimeout as delay } from 'node:timers/promises'
import type { Fault } from './fault.ts'
import { LINE_FAULTS } from './line-faults.ts'
import { PROCESS_FAULTS } from './process-faults.ts'

/** The first is healed first: servers before members, which need them for their start. */
const PAIRS = [
  ['SIGSTOP of QuestDB', 'SIGKILL of an engine'],
  ['SIGKILL of QuestDB', 'one engine alone without NATS'],
  ['SIGKILL of PostgreSQL', 'SIGKILL of an engine'],
  ['SIGKILL of NATS', 'SIGSTOP of an engine until others have its partitions'],
  ['SIGKILL of NATS', 'SIGKILL of a transport'],
  ['half-open connections to NATS', 'SIGKILL of an engine'],
  ['a slow network to NATS', 'an engine removed (SIGTERM) and added again'],
] as const

export const PAIR_FAULTS: readonly Fault[] = PAIRS.map(([first, second]) => both(named(first), named(second)))

function named(name: string): Fault {
  const fault = [...PROCESS_FAULTS, ...LINE_FAULTS].find((one) => one.shape === 'production' && one.name === name)
  if (fault === undefined) throw new Error(`no fault "${name}" to pair`)
  return fault
}

function both(first: Fault, second: Fault): Fault {
  const longer = first.holdMs[1] > second.holdMs[1] ? first : second
  return {
    name: `${first.name} and ${second.name} at once`,
    row: 'D2',
    shape: 'production',
    holdMs: longer.holdMs,
    inject: async (world, random) => {
      const healSecond = await second.inject(world, random)
      await delay(random.between(0, 500))
      const healFirst = await first.inject(world, random)
      return async () => {
        await healFirst()
        await healSecond()
      }
    },
  }
}
