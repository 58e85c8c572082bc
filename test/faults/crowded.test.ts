/**
 * A full queue parks what stays in process, and tries it again out of the store of parked lanes: nothing is lost, doubled or out of order, and
 * the judge of runs finds a lane that is tried from its end.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { FORMER_LOG, PARKING_BUG, type PlantedBug } from '../support/planted/index.ts'
import { seededRandom } from '../support/seeded-random.ts'
import { SLOWNESS } from '../support/slowness.ts'
import { CROWDING_FAULTS } from './campaign/crowding-faults.ts'
import { openEmbeddedWorld } from './campaign/embedded-world.ts'
import { Fleet } from './campaign/fleet.ts'
import { runRound, type RoundResult } from './campaign/round.ts'

/** Nothing is judged by its time. */
const LIMIT_MS = 300_000 * SLOWNESS
const TIMEOUT = { timeout: 3 * LIMIT_MS }

/** Of a round in which lanes are parked. */
async function resultOf(bug?: PlantedBug): Promise<RoundResult & { readonly seed: number }> {
  const fault = CROWDING_FAULTS.find(({ shape }) => shape === 'embedded')
  assert.ok(fault !== undefined)
  const random = seededRandom()
  const { crowdingTimeoutMs } = fault
  const world = await openEmbeddedWorld({ crowdingTimeoutMs, ...(bug === undefined ? {} : { bug }) })
  try {
    const { result } = await runRound(fault, world, await Fleet.open(world), random, {
      isNewWorld: true,
      limitMs: LIMIT_MS,
    })
    return { ...result, seed: random.seed }
  } finally {
    await world.close()
  }
}

test('Q5: what a full queue parks is there once and ran in order', TIMEOUT, async (context) => {
  const { findings, seed, acknowledged, parkedLanes } = await resultOf()
  context.diagnostic(`seed ${seed}: ${acknowledged} values acknowledged, ${parkedLanes} lanes parked`)
  assert.deepEqual(findings, [], `repeat with SEED=${seed}`)
})

test(`planted: ${PARKING_BUG.name}, and caught`, TIMEOUT, async (context) => {
  const { findings, seed } = await resultOf(PARKING_BUG)
  const found = findings.filter((text) => text.includes('is tried out of the store of parked lanes behind'))
  assert.notEqual(found.length, 0, `the judge does not see it; repeat with SEED=${seed}`)
  context.diagnostic(found[0] ?? '')
})

/**
 * Ten messages of a round of 2026-11-27 were "delivered twice to one process", which nothing but the link and the store of parked lanes can
 * do. Its log took the latter for the former: so does this one, of messages that are there once and came but once.
 */
test('what a full queue parks is called doubled by the log that knew of no parked lanes', TIMEOUT, async (context) => {
  const { findings, seed, duplicated, lost } = await resultOf(FORMER_LOG)
  assert.deepEqual([lost, duplicated], [0, 0], `repeat with SEED=${seed}`)
  const found = findings.filter((text) => text.includes('delivered twice to one process'))
  assert.notEqual(found.length, 0, `nothing that had run was parked; repeat with SEED=${seed}`)
  context.diagnostic(`${found.length}: ${found[0] ?? ''}`)
})
