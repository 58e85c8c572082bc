import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { ReadTurns } from './read-turns.ts'
import type { Session } from './session.ts'
import { DEVICE, FOREIGN, point, sessionBench, settled, type SessionBench, type TestSocket } from './testkit.ts'

const AUTH = { authCmd: { cmdId: 0, token: 'good' } }
const target = { entityType: 'DEVICE', entityId: DEVICE.id }

function series(cmdId: number, fields: object = {}) {
  return { cmds: [{ type: 'TIMESERIES', cmdId, ...target, ...fields }] }
}

function update(subscriptionId: number, data: Record<string, (readonly [number, string | null])[]>) {
  const latestValues = Object.fromEntries(Object.entries(data).map(([key, list]) => [key, list.at(-1)?.[0]]))
  return { subscriptionId, errorCode: 0, errorMsg: null, data, latestValues }
}

function failure(subscriptionId: number, errorCode: number, errorMsg: string) {
  return { subscriptionId, errorCode, errorMsg, data: null, latestValues: {} }
}

async function authenticated(bench: SessionBench): Promise<{ session: Session; socket: TestSocket }> {
  const opened = bench.open()
  await bench.say(opened.session, AUTH)
  return opened
}

describe('authentication', () => {
  test('a good authCmd is silent and the commands of its frame are carried out', async () => {
    const bench = sessionBench()
    const { session, socket } = bench.open()
    await bench.say(session, { ...AUTH, ...series(1, { keys: 'a' }) })
    assert.deepEqual(socket.frames(), [update(1, { a: [[bench.clock.now(), null]] })])
  })

  test('frames that come while a token is checked are carried out after it', async () => {
    const bench = sessionBench()
    const { session, socket } = bench.open('legacy')
    session.openedWithToken('good')
    session.message(JSON.stringify({ tsSubCmds: [{ ...target, cmdId: 3, keys: 'a' }] }))
    await settled()
    assert.deepEqual(socket.frames(), [update(3, { a: [[bench.clock.now(), null]] })])
  })

  for (const [name, frame, code, reason] of [
    ['a first frame without authCmd', series(1), 1008, /^Auth cmd is missing$/],
    ['a first frame that is no JSON', '{', 1007, /^The given string value cannot be transformed to Json object: \{$/],
    ['an unknown member of authCmd', { authCmd: { cmdId: 0, token: 'good', more: 1 } }, 1007, /^The given string/],
    ['a bad token', { authCmd: { cmdId: 0, token: 'bad' } }, 1007, /^Invalid JWT token: $/],
    ['an expired token', { authCmd: { cmdId: 0, token: 'old' } }, 1007, /^JWT Token expired$/],
    ['no token', { authCmd: { cmdId: 0 } }, 1007, /^Token is invalid$/],
    ['an API key', { authCmd: { cmdId: 0, apiKey: 'key' } }, 1007, /^User not found for the provided API key$/],
  ] as const) {
    test(`${name} closes with ${code}`, async () => {
      const bench = sessionBench()
      const { session, socket } = bench.open()
      await bench.say(session, frame)
      assert.equal(socket.closing?.code, code)
      assert.match(socket.closing.reason, reason)
      assert.deepEqual(socket.frames(), [])
    })
  }

  for (const [isWithdrawn, closing] of [
    [true, { code: 1008, reason: 'The login was withdrawn' }],
    [false, undefined],
  ] as const) {
    const outcome = isWithdrawn ? 'ends the session' : 'may prove false'
    test(`issue-8 2.4: a login that may have been withdrawn while it was checked ${outcome}`, async () => {
      const bench = sessionBench()
      const { session, socket } = bench.open('legacy')
      bench.store.hold()
      session.openedWithToken('slow')
      assert.equal(session.isLoggingIn, true)
      bench.store.accessible = !isWithdrawn
      await session.checkLogin()
      bench.store.release()
      await settled()
      assert.deepEqual(socket.closing, closing)
      assert.equal(session.userId === undefined, isWithdrawn)
      assert.equal(session.isLoggingIn, false)
    })
  }

  test('a bad token in the URL closes with 1011', async () => {
    const { session, socket } = sessionBench().open('legacy')
    session.openedWithToken('bad')
    await settled()
    assert.deepEqual(socket.closing, { code: 1011, reason: 'Invalid JWT token: ' })
  })

  test('ten seconds without authCmd close with 1008, and with it they do not', async () => {
    const bench = sessionBench()
    const silent = bench.open()
    const known = await authenticated(bench)
    bench.clock.advance(9_999)
    assert.equal(silent.socket.closing, undefined)
    bench.clock.advance(1)
    assert.deepEqual(silent.socket.closing, { code: 1008, reason: 'Auth cmd is missing' })
    assert.equal(known.socket.closing, undefined)
  })

  test('a later authCmd is ignored, even a bad one', async () => {
    const bench = sessionBench()
    const { session, socket } = await authenticated(bench)
    await bench.say(session, { authCmd: { cmdId: 0, token: 'bad' } })
    await bench.say(session, series(1, { keys: 'a' }))
    assert.equal(socket.frames().length, 1)
    assert.equal(socket.closing, undefined)
  })
})

describe('bad commands', () => {
  for (const [name, frame, expected] of [
    ['text that is no JSON', '{', failure(1, 2, 'Failed to parse the payload')],
    ['an unknown type', { cmds: [{ type: 'NOPE', cmdId: 8 }] }, failure(1, 2, 'Failed to parse the payload')],
    ['an unknown member', series(2, { more: 1 }), failure(1, 2, 'Failed to parse the payload')],
    ['a wrong type of value', series(2, { limit: 'many' }), failure(1, 2, 'Failed to parse the payload')],
    ['a negative id', series(-5), failure(-5, 2, 'Cmd id is negative value!')],
    ['a missing entity id', series(7, { entityId: undefined }), failure(7, 2, 'Device id is empty!')],
    ['an empty entity id', series(7, { entityId: '' }), failure(7, 2, 'Device id is empty!')],
    ['an id that is no UUID', series(7, { entityId: 'x' }), failure(7, 1, 'Invalid UUID string: x')],
    ['an unknown entity type', series(7, { entityType: 'THING' }), failure(7, 1, 'Unknown entity type: THING')],
    [
      'an unknown aggregation',
      series(7, { keys: 'a', timeWindow: 5, agg: 'MEDIAN' }),
      failure(7, 1, 'Unknown aggregation: MEDIAN'),
    ],
    ['a foreign entity', series(6, { entityId: FOREIGN.id }), failure(6, 1, 'Failed to fetch data!')],
    [
      'attributes of a foreign entity',
      { cmds: [{ type: 'ATTRIBUTES', cmdId: 6, ...target, entityId: FOREIGN.id }] },
      failure(6, 1, 'Failed to fetch attributes!'),
    ],
    [
      'an unknown scope',
      { cmds: [{ type: 'ATTRIBUTES', cmdId: 6, ...target, scope: 'MY' }] },
      failure(6, 2, 'Invalid scope: MY'),
    ],
    [
      'a history without keys',
      { cmds: [{ type: 'TIMESERIES_HISTORY', cmdId: 6, ...target }] },
      failure(6, 2, 'Keys are empty!'),
    ],
  ] as const) {
    test(`${name} is answered, and the next command is carried out`, async () => {
      const bench = sessionBench()
      const { session, socket } = await authenticated(bench)
      await bench.say(session, frame)
      assert.deepEqual(socket.frames(), [expected])
      await bench.say(session, series(1, { keys: 'a' }))
      assert.equal(socket.frames().length, 1)
      assert.equal(bench.counts.subscriptions, 1)
    })
  }

  test('one bad command of a frame does not stop the others', async () => {
    const bench = sessionBench()
    const { session, socket } = await authenticated(bench)
    const [bad] = series(1, { entityId: 'x' }).cmds
    const [good] = series(2, { keys: 'a' }).cmds
    await bench.say(session, { cmds: [bad, good] })
    assert.deepEqual(socket.frames(), [
      failure(1, 1, 'Invalid UUID string: x'),
      update(2, { a: [[bench.clock.now(), null]] }),
    ])
  })

  test('a failing store is an internal error without its text, and is logged', async () => {
    const bench = sessionBench()
    const { session, socket } = await authenticated(bench)
    bench.store.failure = new Error('disk is on fire')
    await bench.say(session, series(1, { keys: 'a' }))
    assert.deepEqual(socket.frames(), [failure(1, 1, 'Internal Server error!')])
    assert.deepEqual(bench.log.errors, ['WebSocket command failed'])
    assert.equal(bench.counts.subscriptions, 0)
  })

  test('empty frames are answered by nothing', async () => {
    const bench = sessionBench()
    const { session, socket } = await authenticated(bench)
    await bench.say(session, {})
    await bench.say(session, { cmds: [] })
    assert.deepEqual(socket.frames(), [])
  })

  test('a command that is not served yet is refused in its own shape; notifications are none', async () => {
    const bench = sessionBench()
    const { session, socket } = await authenticated(bench)
    await bench.say(session, {
      cmds: [
        { type: 'ENTITY_DATA', cmdId: 4, query: { any: 1 } },
        { type: 'ENTITY_DATA_UNSUBSCRIBE', cmdId: 4 },
      ],
    })
    await bench.say(session, { cmds: [{ type: 'NOTIFICATIONS_COUNT', cmdId: 5 }] })
    const none = {
      errorCode: 0,
      errorMsg: null,
      cmdUpdateType: 'NOTIFICATIONS_COUNT',
      totalUnreadCount: 0,
      sequenceNumber: 1,
    }
    assert.deepEqual(socket.frames(), [
      {
        cmdId: 4,
        errorCode: 2,
        errorMsg: 'ENTITY_DATA is not supported by this server yet',
        cmdUpdateType: 'ENTITY_DATA',
        allowedEntities: 0,
        data: null,
        update: null,
      },
      { cmdId: 5, ...none },
    ])
  })
})

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
    // Access is asked for first, and is not held.
    await bench.say(one.session, { cmds })
    await bench.say(two.session, { cmds })
    assert.equal(one.socket.frames().length + two.socket.frames().length, 1000)
    assert.ok(bench.store.mostReads <= 3, `${bench.store.mostReads} at once`)
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
