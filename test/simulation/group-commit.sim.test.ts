/**
 * Group commit over a slow and failing disk, in simulated time.
 * `SEEDS=10000 node --test test/simulation/group-commit.sim.test.ts` runs more; `SEED=n SEEDS=1` repeats one.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { simulationBugs } from '../support/planted/index.ts'
import { live } from './group-commit-world.ts'
import { findPlantedBug, liveThroughAll } from './histories.ts'

const SEEDS = 100

test('every item of a group commit has one answer, and that one is true', async (context) => {
  const total = await liveThroughAll('test/simulation/group-commit.sim.test.ts', SEEDS, live)
  context.diagnostic(JSON.stringify(total))
  const { seeds = 0, stored = 0, failed = 0, refused = 0 } = total
  if (seeds >= 50) assert.ok(Math.min(stored, failed, refused) > seeds, 'each answer is given')
})

for (const bug of simulationBugs('group-commit')) {
  test(`"${bug.name}", planted in ${bug.file}, is found within 100 histories`, async (context) => {
    context.diagnostic(await findPlantedBug(bug.name, 'group-commit-world.ts', 100))
  })
}
