import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { DEVICE, point, sessionBench, settled, series, update, failure, authenticated } from './testkit.ts'

describe('access to a subscription', () => {
  const changes = [
    { kind: 'device-changed', entity: DEVICE, credentialsChanged: false },
    { kind: 'entity-deleted', entity: DEVICE, tenantId: 'any' },
  ] as const

  for (const change of changes) {
    test(`issue-8 2.4: is looked at again at ${change.kind}: lost, it ends with an error and shows nothing more`, async () => {
      const bench = sessionBench()
      const { session, socket } = await authenticated(bench)
      await bench.say(session, series(1, { keys: 'a' }))
      socket.frames()
      bench.store.accessible = false
      bench.store.feed.publish(change)
      bench.store.save(point('a', 1, 1))
      await settled()
      bench.clock.endTurn()
      assert.deepEqual(socket.frames(), [failure(1, 1, 'Failed to fetch data!')])
      assert.equal(session.subscriptionCount, 0)
      bench.store.save(point('a', 2, 2))
      bench.clock.endTurn()
      assert.deepEqual(socket.frames(), [])
      assert.equal(socket.closing, undefined)
    })
  }

  test('that is kept shows what came while it was looked at', async () => {
    const bench = sessionBench()
    const { session, socket } = await authenticated(bench)
    await bench.say(session, series(1, { keys: 'a' }))
    socket.frames()
    bench.store.hold()
    bench.store.feed.publish(changes[0])
    bench.store.save(point('a', 1, 1))
    bench.clock.endTurn()
    assert.deepEqual(socket.frames(), [])
    bench.store.release()
    await settled()
    bench.clock.endTurn()
    assert.deepEqual(socket.frames(), [update(1, { a: [[1, '1']] })])
  })

  test('is asked for again until the store answers', async () => {
    const bench = sessionBench()
    const { session, socket } = await authenticated(bench)
    await bench.say(session, series(1, { keys: 'a' }))
    socket.frames()
    bench.store.failure = new Error('the store does not answer')
    bench.store.accessible = false
    bench.store.feed.publish(changes[0])
    await settled()
    bench.store.save(point('a', 1, 1))
    await settled()
    bench.clock.endTurn()
    assert.deepEqual(socket.frames(), [])
    bench.store.failure = undefined
    bench.clock.advance(1000)
    await settled()
    bench.clock.endTurn()
    assert.deepEqual(socket.frames(), [failure(1, 1, 'Failed to fetch data!')])
  })
})

describe('access after a gap', () => {
  test('issue-8 2.4: while the store does not say who may see the device, nothing of it is shown', async () => {
    const bench = sessionBench()
    const { session, socket } = await authenticated(bench)
    await bench.say(session, series(1, { keys: 'a' }))
    socket.frames()
    bench.store.hold()
    bench.store.failure = new Error('the store does not answer')
    bench.store.accessible = false
    bench.store.feed.gap()
    bench.store.save(point('a', 1, 1))
    bench.store.release()
    await settled()
    bench.clock.endTurn()
    assert.deepEqual(socket.frames(), [])
    bench.store.failure = undefined
    bench.clock.advance(1000)
    await settled()
    bench.clock.endTurn()
    assert.deepEqual(socket.frames(), [failure(1, 1, 'Failed to fetch data!')])
  })
})
