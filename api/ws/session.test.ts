import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import {
  AUTH,
  FOREIGN,
  authenticated,
  failure,
  point,
  series,
  sessionBench,
  settled,
  target,
  update,
} from './testkit.ts'

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
    [
      'an unknown severity',
      { cmds: [{ type: 'ALARM_STATUS', cmdId: 8, severityList: ['LOUD'] }] },
      failure(1, 2, 'Failed to parse the payload'),
    ],
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

  test('null, no aggregation and numbers with a fraction are read as clients mean them', async () => {
    const bench = sessionBench()
    const { session, socket } = await authenticated(bench)
    const nothing = { startTs: null, endTs: null, timeWindow: null, interval: null, limit: null, unsubscribe: null }
    await bench.say(session, series(1, { keys: 'a', ...nothing }))
    await bench.say(session, series(2, { keys: 'a', timeWindow: 60_000.5, interval: 85.7, agg: '' }))
    await bench.say(session, { cmds: [{ type: 'TIMESERIES', ...target, cmdId: null, keys: 'a' }] })
    const now = bench.clock.now()
    assert.deepEqual(socket.frames(), [update(1, { a: [[now, null]] }), update(2, {}), update(0, { a: [[now, null]] })])
    await bench.say(session, { cmds: [{ type: 'TIMESERIES', ...target, cmdId: null, unsubscribe: true }] })
    assert.equal(bench.counts.subscriptions, 2)
  })

  test('series, attributes, queries and the inbox have ids of their own', async () => {
    const bench = sessionBench()
    const { session, socket } = await authenticated(bench)
    const numbered = { ...target, cmdId: 1 }
    const query = {
      entityFilter: { type: 'singleEntity', singleEntity: { entityType: 'DEVICE', id: target.entityId } },
    }
    await bench.say(session, {
      cmds: [
        { ...numbered, type: 'TIMESERIES', keys: 'a' },
        { ...numbered, type: 'ATTRIBUTES', keys: 'b' },
        { cmdId: 1, type: 'ENTITY_COUNT', query },
      ],
    })
    socket.frames()
    bench.store.save(point('a', 5, 1))
    bench.store.saveAttributes('SERVER_SCOPE', { key: 'b', type: 'LONG', value: 2, lastUpdateTs: 6 })
    bench.clock.endTurn()
    assert.deepEqual(socket.frames(), [update(1, { a: [[5, '1']] }), update(1, { b: [[6, '2']] })])
    await bench.say(session, { cmds: [{ ...numbered, type: 'ATTRIBUTES', unsubscribe: true }] })
    bench.store.save(point('a', 7, 3))
    bench.store.saveAttributes('SERVER_SCOPE', { key: 'b', type: 'LONG', value: 4, lastUpdateTs: 8 })
    bench.clock.endTurn()
    assert.deepEqual(socket.frames(), [update(1, { a: [[7, '3']] })])
    await bench.say(session, { cmds: [{ ...numbered, type: 'ATTRIBUTES', unsubscribe: true }] })
    assert.equal(bench.counts.subscriptions, 1, 'by its id alone where nothing of the kind has it')
  })

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
})
