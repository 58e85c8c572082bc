/**
 * The entity services of three processes, in simulated time: outbox, caches and change feed, with faults by seed.
 * `SEEDS=5000 node --test test/simulation/services.sim.test.ts` runs more; `SEED=n SEEDS=1` repeats one.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { simulationBugs } from '../support/planted/index.ts'
import { findPlantedBug, liveThroughAll } from './histories.ts'
import { live } from './service-world.ts'

const SEEDS = 6
/** In which a planted bug must be found; the rare ones are searched for in more, with `SEEDS` set. */
const QUICK = 8

test('a change and its message are one, and every cache has what is stored, in any history of a cluster', async (context) => {
  const total = await liveThroughAll('test/simulation/services.sim.test.ts', SEEDS, live)
  context.diagnostic(JSON.stringify(total))
  const { seeds = 0, crashes = 0, pauses = 0, cuts = 0, failed = 0, messages = 0 } = total
  assert.ok(crashes + pauses + cuts > seeds, 'the faults happen')
  if (seeds >= 50) assert.ok(Math.min(crashes, pauses, cuts, failed, messages) > seeds / 2, 'each of them')
})

for (const bug of simulationBugs('services')) {
  const seeds = process.env['SEEDS'] === undefined ? QUICK : 100
  test(`"${bug.name}", planted in ${bug.file}, is found within ${seeds} histories`, async (context) => {
    context.diagnostic(await findPlantedBug(bug.name, 'service-world.ts', seeds))
  })
}
