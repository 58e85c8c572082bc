/**
 * Devices in a cluster, in simulated time: sessions, take-over, activity and stamps, with faults by seed.
 * `SEEDS=5000 node --test test/simulation/devices.sim.test.ts` runs more; `SEED=n SEEDS=1` repeats one.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { simulationBugs } from '../support/planted/index.ts'
import { live } from './device-world.ts'
import { findPlantedBug, liveThroughAll } from './histories.ts'

const SEEDS = 4
/** In which a planted bug must be found; the rare ones are searched for in more, with `SEEDS` set. */
const QUICK = 8

test('a device has one session, one event a change and its own stamps in any history of a cluster', async (context) => {
  const total = await liveThroughAll('test/simulation/devices.sim.test.ts', SEEDS, live)
  context.diagnostic(JSON.stringify(total))
  const { seeds = 0, crashes = 0, pauses = 0, cuts = 0, takenOver = 0, redelivered = 0, inactivities = 0 } = total
  assert.ok(crashes + pauses + cuts > seeds, 'the faults happen')
  if (seeds >= 50)
    assert.ok(Math.min(crashes, pauses, cuts, takenOver, redelivered, inactivities) > seeds / 2, 'each of them')
})

for (const bug of simulationBugs('devices')) {
  const seeds = process.env['SEEDS'] === undefined ? QUICK : 600
  test(`"${bug.name}", planted in ${bug.file}, is found within ${seeds} histories`, async (context) => {
    context.diagnostic(await findPlantedBug(bug.name, 'device-world.ts', seeds))
  })
}
