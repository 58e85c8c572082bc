import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { ReadTurns } from './read-turns.ts'
import {
  authenticated,
  DEVICE,
  point,
  series,
  sessionBench,
  settled,
  target,
  update,
  type SessionBench,
} from './testkit.ts'

const COUNT_QUERY = { entityFilter: { type: 'entityType', entityType: 'DEVICE' } }

describe('limits of a session', () => {
  test('pings every tick, and closes with 4500 after thirty seconds without a pong', async () => {
    const bench = sessionBench()
    const { session, socket } = await authenticated(bench)
    for (let tick = 0; tick < 3; tick++) {
      bench.clock.advance(10_000)
      session.tick()
    }
    assert.equal(socket.pings, 3)
    session.pong()
    bench.clock.advance(30_000)
    session.tick()
    assert.equal(socket.closing, undefined)
    bench.clock.advance(1)
    session.tick()
    assert.deepEqual(socket.closing, { code: 4500, reason: 'Failed to send message within the configured send limit' })
  })

  test('keeps frames for a slow client, sends them in order when it reads, and closes with 1008 over the bound', async () => {
    const bench = sessionBench({ pendingFrames: 3 })
    const { session, socket } = await authenticated(bench)
    await bench.say(session, series(1, { keys: 't' }))
    socket.frames()
    socket.pendingBytes = 1e9
    for (let ts = 1; ts <= 3; ts++) {
      bench.store.save(point('t', ts, ts))
      bench.clock.endTurn()
    }
    assert.deepEqual(socket.frames(), [])
    socket.pendingBytes = 0
    session.drained()
    assert.deepEqual(
      socket.frames(),
      [1, 2, 3].map((ts) => update(1, { t: [[ts, String(ts)]] })),
    )
    socket.pendingBytes = 1e9
    for (let ts = 4; ts <= 7; ts++) {
      bench.store.save(point('t', ts, ts))
      bench.clock.endTurn()
    }
    assert.deepEqual(socket.closing, { code: 1008, reason: 'Max pending updates limit reached!' })
    assert.equal(bench.store.feed.hasListeners(DEVICE, 'telemetry'), false)
  })

  test('a socket that drops a frame is closed', async () => {
    const bench = sessionBench()
    const { session, socket } = await authenticated(bench)
    socket.refuses = true
    await bench.say(session, series(1, { keys: 't' }))
    assert.equal(socket.closing?.code, 1008)
  })

  test('sessions and subscriptions of a tenant are bounded, and closing gives them back', async () => {
    const bench = sessionBench({ sessionsPerTenant: 2, subscriptionsPerTenant: 2 })
    const first = await authenticated(bench)
    const second = await authenticated(bench)
    const third = await authenticated(bench)
    assert.deepEqual(third.socket.closing, { code: 1008, reason: 'Max tenant sessions limit reached!' })
    await bench.say(first.session, series(1, { keys: 't' }))
    await bench.say(second.session, series(1, { keys: 't' }))
    await bench.say(second.session, series(2, { keys: 't' }))
    assert.deepEqual(second.socket.closing, { code: 1008, reason: 'Max tenant subscriptions limit reached!' })
    second.session.letGo()
    await bench.say(first.session, series(2, { keys: 't' }))
    const fourth = await authenticated(bench)
    assert.equal(first.socket.closing, undefined)
    assert.equal(fourth.socket.closing, undefined)
  })

  test('has a bounded number of subscriptions; one that takes the place of another counts once', async () => {
    const bench = sessionBench({ subscriptions: 2 })
    const { session, socket } = await authenticated(bench)
    for (const cmdId of [1, 2, 2, 1]) await bench.say(session, series(cmdId, { keys: 't' }))
    assert.equal(socket.closing, undefined)
    await bench.say(session, series(3, { keys: 't' }))
    assert.deepEqual(socket.closing, { code: 1008, reason: 'Max subscriptions of a session reached!' })
    assert.equal(bench.store.feed.hasListeners(DEVICE, 'telemetry'), false)
  })

  test('too many commands under way close the session', async () => {
    const bench = sessionBench({ pendingCommands: 2 })
    const { session, socket } = await authenticated(bench)
    bench.store.hold()
    await bench.say(session, { cmds: [1, 2, 3].flatMap((cmdId) => series(cmdId, { keys: 't' }).cmds) })
    assert.deepEqual(socket.closing, { code: 1008, reason: 'Max pending commands limit reached!' })
  })

  test('a binary frame closes with 1003', () => {
    const { session, socket } = sessionBench().open()
    session.message(undefined)
    assert.equal(socket.closing?.code, 1003)
  })
})

describe('limits of the profile of a tenant', () => {
  const NONE = { tenant: 0, customer: 0, regularUser: 0, publicUser: 0 }
  const login = async (bench: SessionBench, token: string) => {
    const opened = bench.open()
    await bench.say(opened.session, { authCmd: { cmdId: 0, token } })
    return opened
  }

  for (const [share, token, reason] of [
    ['tenant', 'good', 'Max tenant sessions limit reached!'],
    ['customer', 'customer', 'Max customer sessions limit reached'],
    ['regularUser', 'customer', 'Max regular user sessions limit reached'],
    ['publicUser', 'public', 'Max public user sessions limit reached'],
  ] as const) {
    test(`sessions: ${reason}`, async () => {
      const bench = sessionBench({ profile: { sessions: { ...NONE, [share]: 1 } } })
      const first = await login(bench, token)
      const second = await login(bench, token)
      assert.deepEqual(second.socket.closing, { code: 1008, reason })
      first.session.letGo()
      assert.equal((await login(bench, token)).socket.closing, undefined)
    })
  }

  test("a public visitor does not use up a customer's users, nor they the visitor's share", async () => {
    const bench = sessionBench({ profile: { sessions: { ...NONE, regularUser: 1, publicUser: 1 } } })
    for (const token of ['customer', 'public', 'good', 'good'])
      assert.equal((await login(bench, token)).socket.closing, undefined, token)
  })

  for (const [share, token, reason] of [
    ['tenant', 'good', 'Max tenant subscriptions limit reached!'],
    ['customer', 'customer', 'Max customer subscriptions limit reached'],
    ['regularUser', 'customer', 'Max regular user subscriptions limit reached'],
    ['publicUser', 'public', 'Max public user subscriptions limit reached'],
  ] as const) {
    test(`subscriptions: ${reason}`, async () => {
      const bench = sessionBench({ profile: { subscriptions: { ...NONE, [share]: 1 } } })
      const { session, socket } = await login(bench, token)
      await bench.say(session, series(1, { keys: 't' }))
      await bench.say(session, series(1, { keys: 't', unsubscribe: true }))
      await bench.say(session, series(2, { keys: 't' }))
      await bench.say(session, { cmds: [{ type: 'ENTITY_COUNT', cmdId: 3, query: COUNT_QUERY }] })
      assert.equal(socket.closing, undefined)
      await bench.say(session, series(4, { keys: 't' }))
      assert.deepEqual(socket.closing, { code: 1008, reason })
    })
  }

  test('frames that wait for a slow client: the smaller of the two bounds', async () => {
    const bench = sessionBench({ pendingFrames: 3, profile: { pendingFrames: 1 } })
    const { session, socket } = await login(bench, 'good')
    await bench.say(session, series(1, { keys: 't' }))
    socket.pendingBytes = 1e9
    for (const ts of [1, 2]) {
      assert.equal(socket.closing, undefined)
      bench.store.save(point('t', ts, ts))
      bench.clock.endTurn()
    }
    assert.deepEqual(socket.closing, { code: 1008, reason: 'Max pending updates limit reached!' })
  })

  test('updates over their rate are dropped, with one error until there is room again', async () => {
    const bench = sessionBench({ profile: { updates: '3:1,100:60' } })
    const { session, socket } = await login(bench, 'good')
    await bench.say(session, series(7, { keys: 't' }))
    for (let ts = 1; ts <= 6; ts++) {
      bench.store.save(point('t', ts, ts))
      bench.clock.endTurn()
    }
    const [, ...frames] = socket.frames()
    const tooMany = { subscriptionId: 7, errorCode: 34, errorMsg: 'Too many updates!' }
    assert.deepEqual(frames, [update(7, { t: [[1, '1']] }), update(7, { t: [[2, '2']] }), tooMany])
    bench.clock.advance(400)
    bench.store.save(point('t', 7, 7))
    bench.clock.endTurn()
    bench.store.save(point('t', 8, 8))
    bench.clock.endTurn()
    assert.deepEqual(socket.frames(), [update(7, { t: [[7, '7']] }), tooMany])
  })
})

describe('a login by an API key', () => {
  test('opens a session without a word', async () => {
    const bench = sessionBench()
    const { session, socket } = bench.open()
    await bench.say(session, { authCmd: { cmdId: 0, apiKey: 'tb_good' }, ...series(1, { keys: 't' }) })
    assert.equal(socket.frames().length, 1)
    assert.equal(session.hasApiKey, true)
  })

  test('is refused with 1007 and the reason', async () => {
    const bench = sessionBench()
    const { session, socket } = bench.open()
    await bench.say(session, { authCmd: { cmdId: 0, apiKey: 'tb_bad' } })
    assert.deepEqual(socket.closing, { code: 1007, reason: 'User not found for the provided API key' })
  })
})

describe('what one client may hold', () => {
  test('issue-8 2.2: frames that wait for a slow client are bounded in bytes', async () => {
    const bench = sessionBench({ pendingBytes: 100_000 })
    const { session, socket } = await authenticated(bench)
    await bench.say(session, series(1, { keys: 'a' }))
    socket.pendingBytes = 1 << 20
    for (let count = 0; count < 20 && socket.closing === undefined; count++) {
      bench.store.saveText('a', count, 'x'.repeat(10_000))
      bench.clock.endTurn()
    }
    assert.deepEqual(socket.closing, { code: 1008, reason: 'Max pending updates limit reached!' })
  })

  test('issue-8 2.2: frames that come before the login is known are bounded in bytes', async () => {
    const bench = sessionBench()
    const { session, socket } = bench.open()
    session.openedWithToken('good')
    for (let count = 0; count < 20; count++) session.message(' '.repeat(32_000))
    assert.equal(socket.closing?.code, 1008)
  })

  test('issue-8 2.2: of a thousand history commands a few read at a time, and all are answered in turn', async () => {
    const bench = sessionBench({ reads: { total: 4, perTenant: 3, perSession: 2 } })
    const [one, two] = [await authenticated(bench), await authenticated(bench)]
    const cmds = Array.from({ length: 500 }, (_, cmdId) => ({
      type: 'TIMESERIES_HISTORY',
      cmdId,
      ...target,
      keys: 'a',
      startTs: 0,
      endTs: 10,
    }))
    const release = bench.store.holdHistory()
    await bench.say(one.session, { cmds })
    assert.equal(bench.store.readsUnderWay, 2, 'the share of a session')
    await bench.say(two.session, { cmds })
    assert.equal(bench.store.readsUnderWay, 3, 'the share of a tenant')
    release()
    await settled()
    bench.clock.endTurn()
    assert.equal(one.socket.frames().length + two.socket.frames().length, 1000)
    assert.equal(bench.store.mostReads, 3)
  })

  test('what waits for its turn goes with its session', async () => {
    const reads = new ReadTurns({ total: 1, perTenant: 1, perSession: 1 })
    const [one, two] = [reads.forSession('a'), reads.forSession('b')]
    let finish: (() => void) | undefined
    const first = one.run(() => new Promise<void>((resolve) => (finish = resolve)))
    const dropped = assert.rejects(
      one.run(async () => undefined),
      { code: 'ws.SESSION_ENDED' },
    )
    const second = two.run(async () => 'read')
    one.end()
    await dropped
    finish?.()
    await first
    assert.equal(await second, 'read')
    assert.deepEqual(reads.figures, { readsUnderWay: 0, sessionsWaitingToRead: 0 })
  })
})
