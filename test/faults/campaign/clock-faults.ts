/** Clocks that differ: one process starts again with a wall clock that is ahead or behind, and later with the right one. */
import type { SeededRandom } from '../../support/seeded-random.ts'
import { requireOne, type Fault } from './fault.ts'
import type { Member } from './member.ts'
import type { World } from './world.ts'

const FARTHEST_MS = 900

function clockOff(name: string, choose: (world: World, random: SeededRandom) => Member): Fault {
  return {
    name: `the clock of ${name} ahead or behind by up to ${FARTHEST_MS} ms`,
    row: 'O3',
    shape: 'production',
    holdMs: [3_000, 5_000],
    inject: async (world, random) => {
      const member = choose(world, random)
      const offset = random.between(-FARTHEST_MS, FARTHEST_MS)
      await member.stop()
      await member.restart({ TEST_CLOCK_OFFSET_MS: String(offset) })
      return async () => {
        await member.stop()
        await member.restart()
      }
    },
  }
}

export const CLOCK_FAULTS: readonly Fault[] = [
  clockOff('a transport', ({ transports }, random) => requireOne(transports, random)),
  clockOff('an engine', ({ engines }, random) => requireOne(engines, random)),
]
