import assert from 'node:assert/strict'
import { test } from 'node:test'
import { framesIn, StreamHoles, takeInventory, type StreamInventory } from './stream-holes.ts'

const inventory = (removed: readonly number[] | undefined, first = 10, last = 20): StreamInventory => ({
  first,
  last,
  removed,
  dropped: undefined,
})

function holesOf(stream: StreamInventory, positions: readonly number[]): string[] {
  const holes = new StreamHoles(stream)
  return positions.flatMap((position) => {
    const hole = holes.before(position)
    return hole === undefined ? [] : [`${hole.from}-${hole.to}`]
  })
}

test('frames in a row have no hole, and what was removed before is none', () => {
  assert.deepEqual(holesOf(inventory([]), [10, 11, 12]), [])
  assert.deepEqual(holesOf(inventory([11, 12, 14]), [10, 13, 15, 16]), [])
  assert.deepEqual(holesOf(inventory([], 21, 20), [21, 22]), [], 'an empty stream')
})

test('what is stepped over is a hole: at the front, in the middle, behind what was there at the opening', () => {
  assert.deepEqual(holesOf(inventory([]), [11, 12, 15, 16]), ['10-10', '13-14'])
  assert.deepEqual(holesOf(inventory([11]), [10, 13]), ['12-12'])
  assert.deepEqual(holesOf(inventory([], 10, 11), [10, 11, 12, 14]), ['13-13'])
})

test('where too much was removed to be told, only what is stored from then on is counted', () => {
  assert.deepEqual(holesOf(inventory(undefined), [10, 15, 20, 21, 23]), ['22-22'])
})

test('of a hole counts what the stream still has: not what was removed or purged since', () => {
  assert.equal(framesIn({ from: 12, to: 15 }, inventory([])), 4)
  assert.equal(framesIn({ from: 12, to: 15 }, inventory([13, 16])), 3)
  assert.equal(framesIn({ from: 12, to: 15 }, inventory([], 15)), 1)
  assert.equal(framesIn({ from: 12, to: 15 }, inventory([], 18)), 0)
})

test('a stream is asked in full for what was dropped and removed, unless that would be too long an answer', async () => {
  const brief = { first_seq: 5, last_seq: 9, messages: 3 }
  const full = { ...brief, num_deleted: 2, deleted: [8, 7], lost: { msgs: null, bytes: 100 } }
  assert.deepEqual(await takeInventory((inFull) => Promise.resolve(inFull ? full : { ...brief, num_deleted: 2 })), {
    first: 5,
    last: 9,
    removed: [7, 8],
    dropped: { bytes: 100, frames: undefined },
  })
  const long = await takeInventory((inFull) => {
    assert.equal(inFull, false)
    return Promise.resolve({ ...brief, num_deleted: 1_000_000 })
  })
  assert.equal(long.removed, undefined)
})
