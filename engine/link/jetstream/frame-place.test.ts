import assert from 'node:assert/strict'
import { test } from 'node:test'
import { FramePlaces } from './frame-place.ts'

const reply = (position: number, delivery: number): string =>
  `$JS.ACK.stream.consumer.1.${position}.${delivery}.1700000000123000000.7`

test('a frame’s place is read from its reply subject, with a domain and without', () => {
  const places = new FramePlaces()
  assert.deepEqual(places.next(reply(100, 1)), { position: 100, storedAt: 1_700_000_000_123 })
  const withDomain = '$JS.ACK.hub.ACCOUNT.stream.consumer.1.101.2.1700000000124000000.7.random'
  assert.deepEqual(places.next(withDomain), { position: 101, storedAt: 1_700_000_000_124 })
})

test('a frame that was lost on the way is missed at the one behind it; so is one that comes again', () => {
  for (const delivery of [3, 1]) {
    const places = new FramePlaces()
    places.next(reply(100, 1))
    assert.throws(() => places.next(reply(102, delivery)), /came in place of 2/)
  }
})

test('what is no frame of a stream is told', () => {
  assert.throws(() => new FramePlaces().next('_INBOX.abc'), /without a place/)
})
