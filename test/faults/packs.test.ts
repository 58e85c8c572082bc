/**
 * What devices send in packs, many values in one message, is judged by the fault campaign as what they send one by one: over a kill
 * nothing is lost, doubled or out of order, and the judges find what is planted.
 */
import assert from 'node:assert/strict'
import { setTimeout as delay } from 'node:timers/promises'
import { test } from 'node:test'
import { PACK_BUGS, type PlantedBug } from '../support/planted/index.ts'
import { seededRandom } from '../support/seeded-random.ts'
import { ALL_FAULTS } from './campaign/campaign.ts'
import { openEmbeddedWorld } from './campaign/embedded-world.ts'
import { Fleet } from './campaign/fleet.ts'
import { startPacedLoad, type Pace } from './campaign/paced-load.ts'
import { readBack } from './campaign/reading.ts'
import { runRound } from './campaign/round.ts'
import { judgeRuns, takeRuns } from './campaign/runs.ts'
import { judge } from './campaign/verdict.ts'

/** Values a second of a device, by those in a message. */
const PACE: Pace = new Map([
  [1, 20],
  [5, 50],
  [50, 200],
  [100, 400],
  [200, 400],
  [300, 600],
  [500, 1_000],
])
const DEVICES = 8
/** Values beyond one a message: a second of the pace. */
const FEWEST_BY_PACKS = 1_000
const LOAD_MS = 2_000
/** A planted loss never comes. */
const LIMIT_MS = 3_000

test('D1: packs and single values are there once and in order after SIGKILL', { timeout: 600_000 }, async (context) => {
  const fault = ALL_FAULTS.find(({ name }) => name === 'SIGKILL of the one process')
  assert.ok(fault !== undefined)
  const random = seededRandom()
  const world = await openEmbeddedWorld()
  try {
    const settings = { pace: PACE, isNewWorld: true }
    const { result } = await runRound(fault, world, await Fleet.open(world), random, settings)
    const { acknowledged, acknowledgedMessages, unknown, loadMs, judgedMs } = result
    context.diagnostic(
      `seed ${random.seed}: ${acknowledged} values in ${acknowledgedMessages} messages acknowledged, ${unknown} values unknown; ` +
        `${loadMs} ms of load judged in ${judgedMs} ms`,
    )
    assert.deepEqual(result.findings, [], `repeat with SEED=${random.seed}`)
    // Of the devices that send one by one a fast machine acknowledges as many as it likes.
    assert.ok(acknowledged - acknowledgedMessages > FEWEST_BY_PACKS, 'void: hardly any packs')
  } finally {
    await world.close()
  }
})

for (const bug of PACK_BUGS) {
  test(`planted: ${bug.name}, and caught`, { timeout: 600_000 }, async (context) => {
    const findings = await findingsWith(bug)
    assert.notEqual(findings.length, 0, 'the judges do not see it')
    context.diagnostic(findings[0] ?? '')
  })
}

async function findingsWith(bug: PlantedBug): Promise<readonly string[]> {
  const world = await openEmbeddedWorld({ bug })
  try {
    const fleet = await Fleet.open(world)
    const journals = await fleet.pacedDevices(DEVICES)
    const load = startPacedLoad(journals, world.addresses, PACE)
    await delay(LOAD_MS)
    await load.end()
    const { acknowledged, findings } = judge(await readBack(fleet, journals, LIMIT_MS))
    assert.ok(acknowledged > 0, 'void: nothing was acknowledged')
    const runs = await takeRuns(world.runLog, journals)
    return [...findings, ...(await judgeRuns(runs, journals, { partitionsMove: false, isNewWorld: true }))]
  } finally {
    await world.close()
  }
}
