import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ManualClock } from '../../actor/testkit.ts'
import { FrameRemoval } from './frame-removal.ts'

function open() {
  const clock = new ManualClock()
  const purged: number[] = []
  const alone: string[] = []
  const faults = { purge: false }
  const removal = new FrameRemoval({
    clock,
    purge: (position) => {
      if (faults.purge) return Promise.reject(new Error('no answer'))
      purged.push(position)
      return Promise.resolve()
    },
    acknowledge: (reply) => Promise.resolve(void alone.push(reply)),
  })
  const left: number[] = []
  const lost: number[] = []
  const settle = (position: number): void => {
    removal.settle(position, `reply ${position}`).then(
      () => left.push(position),
      () => lost.push(position),
    )
  }
  for (const position of [5, 6, 8, 9, 10]) removal.handOut(position)
  return { clock, removal, purged, alone, left, lost, settle, faults }
}

test('settled frames leave together, up to the first that is not settled', async () => {
  const { clock, purged, left, settle } = open()
  for (const position of [6, 9, 5]) settle(position)
  await clock.advance(150)
  assert.deepEqual([purged, left], [[6], [5, 6]])
  settle(8)
  await clock.advance(150)
  assert.deepEqual(
    [purged, left],
    [
      [6, 9],
      [5, 6, 8, 9],
    ],
  )
})

test('what is settled behind a frame that is not for a while leaves alone, and is not purged again', async () => {
  const { clock, purged, alone, left, settle } = open()
  settle(8)
  settle(9)
  await clock.advance(1300)
  assert.deepEqual([purged, alone, left], [[], ['reply 8', 'reply 9'], [8, 9]])
  settle(5)
  settle(6)
  await clock.advance(150)
  assert.deepEqual([purged.length, left], [1, [8, 9, 5, 6]])
  assert.equal(clock.pendingTimers, 0)
})

test('a purge without an answer is tried again', async () => {
  const { clock, purged, left, settle, faults } = open()
  faults.purge = true
  settle(5)
  await clock.advance(350)
  assert.deepEqual([purged, left], [[], []])
  faults.purge = false
  await clock.advance(150)
  assert.deepEqual([purged, left], [[5], [5]])
})

test('when the reader ends, what has not left is told, and nothing leaves any more', async () => {
  const { clock, removal, purged, left, lost, settle } = open()
  settle(5)
  removal.end()
  settle(6)
  await clock.advance(2000)
  assert.deepEqual([purged, left, lost], [[], [], [5, 6]])
})

test('no purge takes away what stands in a hole; once nothing stands there, it goes on', async () => {
  const { clock, removal, purged, alone, settle } = open()
  removal.guard(11)
  removal.handOut(12)
  for (const position of [5, 6, 8, 9, 10, 12]) settle(position)
  await clock.advance(1500)
  assert.deepEqual([purged, alone], [[10], ['reply 12']])
  removal.handOut(13)
  settle(13)
  removal.release(11)
  await clock.advance(150)
  assert.deepEqual(purged, [10, 13])
})
