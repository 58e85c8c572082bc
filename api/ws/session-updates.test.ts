import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { DEVICE, point, sessionBench, target, series, update, authenticated } from './testkit.ts'

describe('time series', () => {
  test('latest values come first, sorted by key, then new points of these keys', async () => {
    const bench = sessionBench()
    bench.store.save(point('t', 5, 20), point('h', 6, 40), point('x', 6, 1))
    const { session, socket } = await authenticated(bench)
    await bench.say(session, series(1, { keys: 't,h', scope: 'LATEST_TELEMETRY' }))
    assert.deepEqual(Object.keys((socket.frames()[0] as { data: object }).data), ['h', 't'])
    bench.store.save(point('t', 7, 21), point('x', 7, 2))
    bench.clock.endTurn()
    assert.deepEqual(socket.frames(), [update(1, { t: [[7, '21']] })])
  })

  test('late points come only without the scope LATEST_TELEMETRY', async () => {
    const bench = sessionBench()
    bench.store.save(point('t', 5, 20))
    const { session, socket } = await authenticated(bench)
    await bench.say(session, series(1, { keys: 't', scope: 'LATEST_TELEMETRY' }))
    await bench.say(session, series(2, { keys: 't' }))
    socket.frames()
    bench.store.save(point('t', 4, 19))
    bench.clock.endTurn()
    assert.deepEqual(socket.frames(), [update(2, { t: [[4, '19']] })])
  })

  test('without keys every key is shown, also a new one', async () => {
    const bench = sessionBench()
    bench.store.save(point('t', 5, 20))
    const { session, socket } = await authenticated(bench)
    await bench.say(session, series(1, { timeWindow: 1000 }))
    bench.store.save(point('new', 6, 1))
    bench.clock.endTurn()
    assert.deepEqual(socket.frames(), [update(1, { t: [[5, '20']] }), update(1, { new: [[6, '1']] })])
  })

  test('a window begins at startTs; without startTs it ends now', async () => {
    const bench = sessionBench()
    const { session } = await authenticated(bench)
    await bench.say(
      session,
      series(1, { keys: 't', startTs: 1000, timeWindow: 500, agg: 'AVG', interval: '250', endTs: 9 }),
    )
    await bench.say(session, series(2, { keys: 't', timeWindow: 500, limit: 7 }))
    const now = bench.clock.now()
    assert.deepEqual(bench.store.requests, [
      { keys: ['t'], startTs: 1000, endTs: 1500, agg: 'AVG', interval: 250, limit: 100 },
      { keys: ['t'], startTs: now - 500, endTs: now + 1, agg: 'NONE', interval: 0, limit: 7 },
    ])
  })

  test('a point older than the middle of the last bucket is not late', async () => {
    const bench = sessionBench()
    bench.store.save(point('t', 1400, 1))
    const { session, socket } = await authenticated(bench)
    await bench.say(
      session,
      series(1, { keys: 't', scope: 'LATEST_TELEMETRY', startTs: 1000, timeWindow: 500, agg: 'AVG', interval: 500 }),
    )
    socket.frames()
    bench.store.save(point('t', 1300, 2))
    bench.clock.endTurn()
    assert.deepEqual(socket.frames(), [update(1, { t: [[1300, '2']] })])
  })

  test('a history is one frame and no subscription', async () => {
    const bench = sessionBench()
    bench.store.save(point('t', 5, 20), point('t', 6, 21), point('t', 10, 22))
    const { session, socket } = await authenticated(bench)
    await bench.say(session, {
      cmds: [{ type: 'TIMESERIES_HISTORY', cmdId: 4, ...target, keys: 't,u', startTs: 5, endTs: 10 }],
    })
    bench.store.save(point('t', 7, 0))
    bench.clock.endTurn()
    assert.deepEqual(socket.frames(), [
      update(4, {
        t: [
          [5, '20'],
          [6, '21'],
        ],
      }),
    ])
    assert.equal(bench.counts.subscriptions, 0)
  })

  test('unsubscribing is silent and ends the updates; the same id again replaces', async () => {
    const bench = sessionBench()
    const { session, socket } = await authenticated(bench)
    await bench.say(session, series(1, { keys: 't' }))
    await bench.say(session, series(1, { keys: 'u' }))
    socket.frames()
    bench.store.save(point('t', 1, 1), point('u', 1, 1))
    bench.clock.endTurn()
    assert.deepEqual(socket.frames(), [update(1, { u: [[1, '1']] })])
    await bench.say(session, series(1, { unsubscribe: true }))
    bench.store.save(point('u', 2, 2))
    bench.clock.endTurn()
    assert.deepEqual(socket.frames(), [])
    assert.equal(bench.counts.subscriptions, 0)
  })
})

describe('attributes', () => {
  test('present ones come first, then changes of the scope and keys asked for', async () => {
    const bench = sessionBench()
    bench.store.saveAttributes('SHARED_SCOPE', { key: 'target', type: 'DOUBLE', value: 21.5, lastUpdateTs: 3 })
    const { session, socket } = await authenticated(bench)
    await bench.say(session, {
      cmds: [{ type: 'ATTRIBUTES', cmdId: 5, ...target, scope: 'SHARED_SCOPE', keys: 'target,mode' }],
    })
    bench.store.saveAttributes('SERVER_SCOPE', { key: 'target', type: 'LONG', value: 1, lastUpdateTs: 4 })
    bench.store.saveAttributes('SHARED_SCOPE', { key: 'mode', type: 'STRING', value: 'eco', lastUpdateTs: 5 })
    bench.store.feed.publish({
      kind: 'attributes-deleted',
      entity: DEVICE,
      sequence: 9,
      scope: 'SHARED_SCOPE',
      keys: ['mode', 'else'],
    })
    bench.clock.endTurn()
    assert.deepEqual(socket.frames(), [
      update(5, { target: [[3, '21.5']] }),
      update(5, { mode: [[5, 'eco']] }),
      update(5, { mode: [[0, '']] }),
    ])
  })

  test('what is only for the device is not shown', async () => {
    const bench = sessionBench()
    const { session, socket } = await authenticated(bench)
    await bench.say(session, { cmds: [{ type: 'ATTRIBUTES', cmdId: 5, ...target }] })
    const attributes = [{ key: 'a', type: 'LONG', value: 1, lastUpdateTs: 1 }] as const
    bench.store.feed.publish({
      kind: 'attributes',
      entity: DEVICE,
      sequence: 9,
      scope: 'SHARED_SCOPE',
      attributes,
      audience: 'device',
    })
    bench.clock.endTurn()
    assert.deepEqual(socket.frames(), [update(5, {})])
  })
})
