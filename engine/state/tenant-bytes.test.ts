import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ManualClock } from '../actor/testkit.ts'
import { TenantBytes } from './tenant-bytes.ts'

test('a store that does not answer is looked at once a minute, and what was counted stands', async () => {
  const clock = new ManualClock()
  let reads = 0
  let isAway = false
  const bytesOf = async (): Promise<number> => {
    reads++
    if (isAway) throw new Error('away')
    return 10
  }
  const bytes = new TenantBytes({ bytesOf }, clock)
  await bytes.know('t')
  bytes.grew('t', 5)
  isAway = true
  for (let minute = 1; minute <= 2; minute++) {
    await clock.advance(61_000)
    for (let message = 0; message < 100; message++) {
      assert.equal(bytes.know('t'), undefined)
      await clock.settle()
    }
    assert.deepEqual([reads, bytes.of('t')], [1 + minute, 15])
  }
})
