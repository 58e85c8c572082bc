/**
 * The whole engine in simulated time: link, queue, rule chain and store, with crashes and faults by seed.
 * `SEEDS=10000 node --test test/simulation/engine.sim.test.ts` runs more; `SEED=n SEEDS=1` repeats one.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { REPETITIONS } from './twice-link.ts'
import { PLANTED_BUGS } from './watched-link.ts'
import { liveThrough, type HistoryResult } from './world.ts'

const seeds = Number(process.env['SEEDS'] ?? 200)
/** Of each way to deliver twice. */
const seedsTwice = Math.ceil(seeds / 4)
const firstSeed = Number(process.env['SEED'] ?? 1)

test('nothing acknowledged is lost, doubled or out of order in any history', async (context) => {
  const total = { sent: 0, acknowledged: 0, refused: 0, starts: 0, crashes: 0, deadLetters: 0 }
  for (let seed = firstSeed; seed < firstSeed + seeds; seed++) {
    let result: HistoryResult
    try {
      result = await liveThrough(seed)
    } catch (error) {
      const command = `SEED=${seed} SEEDS=1 node --test test/simulation/engine.sim.test.ts`
      throw new Error(`seed ${seed}: ${String(error)}; repeat: ${command}`, { cause: error })
    }
    for (const name of Object.keys(total) as (keyof HistoryResult)[]) total[name] += result[name]
  }
  context.diagnostic(`seeds ${firstSeed} to ${firstSeed + seeds - 1}: ${JSON.stringify(total)}`)
  assert.ok(total.acknowledged > total.sent / 2, 'the faults leave most messages acknowledged')
  if (seeds >= 50) assert.ok(total.crashes > seeds && total.refused > 0 && total.deadLetters > 0, 'the faults happen')
})

for (const repetition of REPETITIONS) {
  test(`O5: nothing is different where each ${repetition} is delivered twice, whatever else happens`, async (context) => {
    const total = { sent: 0, acknowledged: 0, starts: 0, crashes: 0, deadLetters: 0 }
    for (let seed = firstSeed; seed < firstSeed + seedsTwice; seed++) {
      const result = await liveThrough(seed, undefined, repetition).catch((error: unknown) => {
        throw new Error(`seed ${seed}, ${repetition} twice: ${String(error)}`, { cause: error })
      })
      for (const name of Object.keys(total) as (keyof typeof total)[]) total[name] += result[name]
    }
    context.diagnostic(
      `seeds ${firstSeed} to ${firstSeed + seedsTwice - 1}, lost 0, duplicated 0: ${JSON.stringify(total)}`,
    )
    assert.ok(total.starts >= 2 * total.acknowledged, 'each began twice at least')
  })

  test(`O5: effects that a redelivery doubles are found, each ${repetition} delivered twice`, async (context) => {
    await assert.rejects(liveThrough(1, 'a redelivery has effects of its own', repetition), (error: unknown) => {
      context.diagnostic(String(error).split('\n')[0] ?? '')
      return true
    })
  })
}

for (const bug of PLANTED_BUGS) {
  test(`the planted bug "${bug}" is found within 100 seeds`, async (context) => {
    for (let seed = 1; seed <= 100; seed++) {
      try {
        await liveThrough(seed, bug)
      } catch (error) {
        context.diagnostic(`seed ${seed}: ${String(error).split('\n')[0]}`)
        return
      }
    }
    assert.fail('100 histories found nothing wrong')
  })
}
