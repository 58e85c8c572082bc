import assert from 'node:assert/strict'
import { test } from 'node:test'
import { FileRoom } from './file-room.ts'
import { bytesRead, PIECE_BYTES } from './stored-bytes.ts'

const BUSY = { code: 'content.FILES_BUSY', status: 503, message: 'Too many files are sent at once, try again later' }
const read = () => Promise.resolve(Buffer.from('a'))

test('files hold room until they are released, once each', async () => {
  const room = new FileRoom(100)
  const { release } = await room.hold(60, 'known', read)
  await assert.rejects(room.hold(41, 'known', read), BUSY)
  await room.hold(40, 'known', read)
  release()
  release()
  assert.equal(room.bytes, 40)
})

test('what could not be read holds nothing', async () => {
  const room = new FileRoom(100)
  await assert.rejects(
    room.hold(60, 'known', () => Promise.reject(new Error('no disk'))),
    /no disk/,
  )
  assert.equal(room.bytes, 0)
})

test('unknown callers have an eighth of it, and one of them a larger file alone', async () => {
  const room = new FileRoom(80)
  const { release } = await room.hold(10, 'unknown', read)
  await assert.rejects(room.hold(1, 'unknown', read), BUSY)
  await room.hold(40, 'known', read)
  release()
  await room.hold(30, 'unknown', read)
  await assert.rejects(room.hold(1, 'unknown', read), BUSY)
})

test('a part counts as the pieces that are read for it', () => {
  const whole = 2 * PIECE_BYTES + 5
  assert.equal(bytesRead(0, 1, whole), PIECE_BYTES)
  assert.equal(bytesRead(PIECE_BYTES - 1, 2, whole), 2 * PIECE_BYTES)
  assert.equal(bytesRead(2 * PIECE_BYTES + 1, 1, whole), 5)
  assert.equal(bytesRead(0, whole, whole), whole)
})
