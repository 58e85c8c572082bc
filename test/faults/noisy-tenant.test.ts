/** One tenant's endless scripts beside another that wants part of what the pool can do. The two are compared in one run. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createJavaScriptWorkers } from '../../engine/script/javascript/javascript-workers.ts'
import { systemClock } from '../../model/system-clock.ts'
import { FILTER, compileFor, fullLoad, packOf, pacedLoad, startHostileLoad } from '../support/tenant-load.ts'

const TIMEOUT_MS = 300
const CHAINS = 4
const WINDOW_MS = 3000

test('B5: noisy tenant with endless scripts: its neighbour at 40 % load keeps 90 % of its rate once the breaker has opened', async (context) => {
  const workers = createJavaScriptWorkers({
    clock: systemClock,
    threads: 2,
    memoryLimitMb: 32,
    timeoutMs: TIMEOUT_MS,
    queueBound: 50_000,
  })
  try {
    const neighbour = await compileFor(workers, 'neighbour', 'chain', FILTER)
    const pack = packOf(200)
    await fullLoad(neighbour, pack, 500)
    const most = await fullLoad(neighbour, pack, 1000)
    const wanted = most.rate * 0.4
    const alone = await pacedLoad(neighbour, pack, wanted, WINDOW_MS)

    const stopHostile = await startHostileLoad(workers, { chains: CHAINS, packsUnderWay: 3 })
    const before = await pacedLoad(neighbour, pack, wanted, WINDOW_MS)
    // Each script needs three calls that are stopped; they take turns with the neighbour.
    const until = performance.now() + 180_000
    while (workers.figures().breakersOpen < CHAINS) {
      assert.ok(performance.now() < until, `only ${workers.figures().breakersOpen} breakers opened`)
      await pacedLoad(neighbour, pack, wanted, 200)
    }
    const timeoutsBefore = workers.figures().timeouts
    const after = await pacedLoad(neighbour, pack, wanted, WINDOW_MS)
    const hostile = await stopHostile()

    context.diagnostic(
      `wanted ${Math.round(wanted)}/s; alone ${alone.rate}, before the breakers opened ${before.rate}, after ${after.rate}; ` +
        `p99 ${alone.p99Ms.toFixed(0)}, ${before.p99Ms.toFixed(0)}, ${after.p99Ms.toFixed(0)} ms; hostile messages ${hostile}`,
    )
    assert.equal(alone.failed + before.failed + after.failed, 0)
    assert.ok(after.rate >= alone.rate * 0.9, `${after.rate} messages/s beside the hostile tenant, ${alone.rate} alone`)
    assert.equal(workers.figures().timeouts, timeoutsBefore, 'an endless script ran though its breaker was open')
    // Before: the hostile tenant holds one thread, the other one serves.
    assert.ok(
      before.rate >= alone.rate * 0.5,
      `${before.rate} messages/s before the breakers opened, ${alone.rate} alone`,
    )
    const report = workers.report(20)
    assert.equal(report.breakersOpen, CHAINS)
    assert.ok(hostile > 3 * CHAINS * 100)
  } finally {
    await workers.close()
  }
})
