import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ManualClock } from '../../../model/manual-clock.ts'
import { sourceParts } from '../source.testkit.ts'
import { listenAlways } from './listener.ts'

test('what tells two errors is begun again once', async () => {
  const clock = new ManualClock()
  const { parts, states } = sourceParts({ address: '127.0.0.1', port: 5000 }, clock)
  let [begun, open] = [0, 0]
  const source = listenAlways(parts, (listens, failed) => {
    begun++
    open++
    if (begun === 1) for (const reason of ['taken', 'taken again']) clock.soon(() => failed(new Error(reason)))
    else clock.soon(listens)
    return {
      close: () => {
        open--
        return Promise.resolve()
      },
    }
  })
  await clock.settle()
  await clock.advance(1000)
  await clock.settle()
  assert.deepEqual([begun, open, states.length, states.at(-1)], [2, 1, 2, 'connected'])
  await source.close()
  assert.equal(open, 0)
})
