import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { openRow, promisesOf } from '../../benchmarks/rule-chain/row.ts'
import { openScriptHost } from '../../benchmarks/rule-chain/script-hosts.ts'
import { steps } from '../../benchmarks/rule-chain/steps.ts'
import { systemClock, systemRandom } from '../../model/system-clock.ts'

/** A pack makes some of its own, not one a message. */
const OF_A_PACK = 0.01

const host = openScriptHost('TBEL', systemClock, systemRandom, 1)
after(() => host.close())

for (const step of steps)
  test(`a message makes no promise where what "${step.node.name}" asks for is at hand`, async () => {
    const row = await openRow([step, step], host.scripts)
    const promises = await promisesOf(row.pack)
    await row.close()
    assert.ok(promises <= OF_A_PACK, `${promises} promises a message`)
  })

test('nor on its way through twenty nodes', async () => {
  const row = await openRow(steps, host.scripts)
  const promises = await promisesOf(row.pack)
  await row.close()
  assert.ok(promises <= OF_A_PACK, `${promises} promises a message`)
})
