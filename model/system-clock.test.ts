import assert from 'node:assert/strict'
import { test } from 'node:test'
import { systemClock, systemRandom } from './system-clock.ts'

const turn = (): Promise<void> => new Promise((resolve) => systemClock.soon(resolve))

test('turns run in the order in which they were asked for, after the present one', async () => {
  const order: number[] = []
  systemClock.soon(() => order.push(1))
  systemClock.soon(() => order.push(2))
  assert.deepEqual(order, [])
  await turn()
  assert.deepEqual(order, [1, 2])
})

test('a turn that asks for the next one gets one, once', async () => {
  const seen: number[] = []
  let immediates = 0
  const step = (): void => {
    seen.push(immediates)
    if (seen.length < 5) systemClock.soon(step)
  }
  systemClock.soon(step)
  while (seen.length < 5) await new Promise<void>((resolve) => setImmediate(() => resolve(void immediates++)))
  assert.deepEqual(
    seen.map((at) => at - (seen[0] ?? 0)),
    [0, 1, 2, 3, 4],
  )
})

test('a timer fires no earlier than asked, and not at all when cancelled', async () => {
  const startedAt = systemClock.monotonic()
  let cancelledFired = false
  systemClock.after(5, () => (cancelledFired = true)).cancel()
  await new Promise<void>((resolve) => void systemClock.after(20, resolve))
  assert.ok(systemClock.monotonic() - startedAt >= 19)
  assert.equal(cancelledFired, false)
})

test('random numbers lie in [0, 1) and identifiers are version 4', () => {
  for (let draw = 0; draw < 100; draw++) {
    const number = systemRandom.next()
    assert.ok(number >= 0 && number < 1)
  }
  assert.match(systemRandom.uuid(), /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
})
