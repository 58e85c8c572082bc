/**
 * A whole cluster in simulated time: three engines, the link of a broker, one store, with faults by seed.
 * `SEEDS=10000 node --test test/simulation/cluster.sim.test.ts` runs more; `SEED=n SEEDS=1` repeats one.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { CLUSTER_BUGS } from './clustered-link.ts'
import { liveThroughCluster, type ClusterHistory } from './cluster-world.ts'
import { REPETITIONS } from './twice-link.ts'

const seeds = Number(process.env['SEEDS'] ?? 200)
/** Of each way to deliver twice. */
const seedsTwice = Math.ceil(seeds / 4)
const firstSeed = Number(process.env['SEED'] ?? 1)

test('nothing acknowledged is lost, doubled or out of order in any history of a cluster', async (context) => {
  const total: Record<keyof ClusterHistory, number> = {
    sent: 0,
    acknowledged: 0,
    refused: 0,
    starts: 0,
    repeats: 0,
    takeOvers: 0,
    crashes: 0,
    pauses: 0,
    cuts: 0,
    deadLetters: 0,
  }
  for (let seed = firstSeed; seed < firstSeed + seeds; seed++) {
    let result: ClusterHistory
    try {
      result = await liveThroughCluster(seed)
    } catch (error) {
      const command = `SEED=${seed} SEEDS=1 node --test test/simulation/cluster.sim.test.ts`
      throw new Error(`seed ${seed}: ${String(error)}; repeat: ${command}`, { cause: error })
    }
    for (const name of Object.keys(total) as (keyof ClusterHistory)[]) total[name] += result[name]
  }
  context.diagnostic(`seeds ${firstSeed} to ${firstSeed + seeds - 1}: ${JSON.stringify(total)}`)
  assert.ok(total.acknowledged >= total.sent, 'every message of a device is acknowledged in the end')
  if (seeds >= 50) {
    const { crashes, pauses, cuts, repeats, refused, deadLetters } = total
    for (const count of [crashes, pauses, cuts, repeats, refused, deadLetters])
      assert.ok(count > seeds / 4, 'the faults happen')
    assert.ok(total.takeOvers > 10 * seeds, 'partitions change their owner')
  }
})

for (const repetition of REPETITIONS) {
  test(`O5: nothing is different in a cluster where each ${repetition} is delivered twice, whatever else happens`, async (context) => {
    const total = { sent: 0, acknowledged: 0, starts: 0, takeOvers: 0, deadLetters: 0 }
    for (let seed = firstSeed; seed < firstSeed + seedsTwice; seed++) {
      const result = await liveThroughCluster(seed, undefined, repetition).catch((error: unknown) => {
        throw new Error(`seed ${seed}, ${repetition} twice: ${String(error)}`, { cause: error })
      })
      for (const name of Object.keys(total) as (keyof typeof total)[]) total[name] += result[name]
    }
    context.diagnostic(
      `seeds ${firstSeed} to ${firstSeed + seedsTwice - 1}, lost 0, duplicated 0: ${JSON.stringify(total)}`,
    )
    assert.ok(total.starts >= 2 * total.sent, 'each began twice at least')
  })

  test(`O5: effects that a redelivery doubles are found in a cluster, each ${repetition} delivered twice`, async (context) => {
    await assert.rejects(liveThroughCluster(1, 'a redelivery has effects of its own', repetition), (error: unknown) => {
      context.diagnostic(String(error).split('\n')[0] ?? '')
      return true
    })
  })
}

for (const bug of CLUSTER_BUGS) {
  test(`the planted bug "${bug}" is found within 100 histories of a cluster`, async (context) => {
    for (let seed = 1; seed <= 100; seed++) {
      try {
        await liveThroughCluster(seed, bug)
      } catch (error) {
        context.diagnostic(`seed ${seed}: ${String(error).split('\n')[0]}`)
        return
      }
    }
    assert.fail('100 histories found nothing wrong')
  })
}
