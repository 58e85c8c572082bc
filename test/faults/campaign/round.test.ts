/** What a round leaves behind. */
import assert from 'node:assert/strict'
import { appendFileSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import { test } from 'node:test'
import { seededRandom } from '../../support/seeded-random.ts'
import { openEmbeddedWorld } from './embedded-world.ts'
import type { Fault } from './fault.ts'
import { Fleet } from './fleet.ts'
import { runRound } from './round.ts'

const BROKEN: Fault = {
  name: 'a fault that can not be made',
  row: 'none',
  shape: 'embedded',
  holdMs: [0, 0],
  inject: () => Promise.reject(new Error('it can not be made')),
}

test('a round that ends in an error leaves nobody reading the log of runs', { timeout: 600_000 }, async () => {
  const world = await openEmbeddedWorld()
  try {
    const { runLog } = world
    assert.ok(runLog !== undefined)
    const fleet = await Fleet.open(world)
    await assert.rejects(runRound(BROKEN, world, fleet, seededRandom(), { devices: 2 }), /it can not be made/)
    appendFileSync(runLog.file, 'id p.1 1 1 nobody 1\n')
    await delay(500)
    assert.ok(runLog.next().some(({ deviceId }) => deviceId === 'nobody'))
  } finally {
    await world.close()
  }
})
