/**
 * A coarse floor under the rate: a change that makes ingest several times slower fails here. Ratios to a bare server in the same minute, since
 * rates depend on the machine; far below what is measured (`benchmarks/results`), since other work on the machine makes them swing.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { CASES, measure, measureLimit } from '../../benchmarks/ingest/measure.ts'

const SECONDS = 3
const TRIES = 3
const FLOORS: Readonly<Record<string, number>> = {
  'HTTP, 1 in flight a device': 0.06,
  'MQTT QoS 1, 1 in flight a device': 0.04,
  'MQTT QoS 1, 10 in flight a device': 0.08,
}

for (const testCase of CASES) {
  const floor = FLOORS[testCase.name] ?? 1
  test(
    `${testCase.name}: stored points/s are at least ${floor} of a bare server`,
    { timeout: 240_000 },
    async (context) => {
      let best = 0
      for (let left = TRIES; left > 0 && best < floor; left--) {
        const { pointsPerSecond } = await measure(testCase, { shape: 'embedded', seconds: SECONDS, environment: {} })
        const limit = await measureLimit(testCase, SECONDS)
        context.diagnostic(`${pointsPerSecond} points/s stored and readable, bare server ${limit}`)
        best = Math.max(best, pointsPerSecond / limit)
      }
      assert.ok(best >= floor, `only ${best.toFixed(3)} of a bare server in ${TRIES} tries`)
    },
  )
}
