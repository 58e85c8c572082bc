import assert from 'node:assert/strict'
import { test } from 'node:test'
import { GatheredBytes } from './gathered-bytes.ts'

test('bytes that come one by one are moved a few times, and not once for each', () => {
  const gathered = new GatheredBytes(Buffer.from([0]), 100_000)
  const rooms = new Set<unknown>()
  for (let index = 1; index < 65_536; index++) {
    gathered.add(Buffer.from([index & 0xff]))
    rooms.add(gathered.bytes.buffer)
  }
  assert.ok(gathered.bytes.every((byte, index) => byte === (index & 0xff)))
  assert.equal(gathered.bytes.length, 65_536)
  assert.ok(rooms.size <= 17, `${rooms.size} rooms`)
})

test('the room is no larger than what may come, until more comes', () => {
  const gathered = new GatheredBytes(Buffer.alloc(10), 12)
  gathered.add(Buffer.from([1]))
  assert.equal(gathered.bytes.buffer.byteLength, 12)
  gathered.add(Buffer.alloc(10))
  assert.equal(gathered.bytes.buffer.byteLength, 21)
})

test('what was shown stays as it was, and the first piece is not written to', () => {
  const first = Buffer.from('ab')
  const gathered = new GatheredBytes(first, 100)
  gathered.add(Buffer.from('c'))
  const shown = gathered.bytes
  gathered.add(Buffer.from('d'))
  assert.deepEqual([shown.toString(), first.toString(), gathered.bytes.toString()], ['abc', 'ab', 'abcd'])
})
