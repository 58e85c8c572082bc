import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ManualClock } from '../../engine/actor/testkit.ts'
import { Sweeps } from './sweeps.ts'

function open(sweep: () => Promise<boolean>) {
  const clock = new ManualClock()
  const told: string[] = []
  const report = (text: string): void => void told.push(text)
  const sweeps = new Sweeps({ clock, report, failure: 'not swept', intervalMs: 1000, pauseMs: 10, sweep })
  return { clock, told, sweeps }
}

test('sweeps come after the interval, and after the pause while there is more', async () => {
  const answers = [true, true, false, false]
  let count = 0
  const { clock, sweeps } = open(() => Promise.resolve(answers[count++] ?? false))
  sweeps.start()
  await clock.advance(999)
  assert.equal(count, 0)
  await clock.advance(1 + 30)
  assert.equal(count, 3)
  await clock.advance(1000)
  assert.equal(count, 4)
  await sweeps.close()
  await clock.advance(10_000)
  assert.equal(count, 4)
})

test('a sweep that fails is told, and tried again', async () => {
  let count = 0
  const { clock, told, sweeps } = open(() => {
    count++
    throw new Error('away')
  })
  sweeps.start()
  await clock.advance(2500)
  assert.deepEqual([count, told], [2, ['not swept', 'not swept']])
  await sweeps.close()
})

test('one at a time: what is asked for during a sweep comes right behind it, and a close waits', async () => {
  const ends: (() => void)[] = []
  const { clock, sweeps } = open(() => new Promise((resolve) => ends.push(() => resolve(false))))
  sweeps.soon()
  await clock.advance(1)
  for (let count = 0; count < 3; count++) sweeps.soon()
  await clock.advance(5000)
  assert.equal(ends.length, 1)
  ends[0]?.()
  await clock.advance(1)
  assert.equal(ends.length, 2)
  let isClosed = false
  const closing = sweeps.close().then(() => (isClosed = true))
  await clock.advance(1)
  assert.equal(isClosed, false)
  ends[1]?.()
  await closing
})
