import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import {
  AUTH,
  authenticated,
  DEVICE,
  failure,
  FOREIGN,
  point,
  sessionBench,
  settled,
  type SessionBench,
  type TestSocket,
} from './testkit.ts'
import type { EntityId } from '../../model/entity-id.ts'
import { LiveValues } from './entity-data/live-values.ts'
import type { Session } from './session.ts'

const NAME = { type: 'ENTITY_FIELD', key: 'name' }
const TEMPERATURE = { type: 'TIME_SERIES', key: 't' }
const ROOM = { type: 'ATTRIBUTE', key: 'room' }

function query(change: object = {}) {
  const pageLink = { page: 0, pageSize: 10, sortOrder: { key: NAME, direction: 'ASC' } }
  return {
    entityFilter: { type: 'entityType', entityType: 'DEVICE' },
    pageLink,
    latestValues: [TEMPERATURE],
    ...change,
  }
}

function entityData(cmdId: number, members: object) {
  return { cmds: [{ type: 'ENTITY_DATA', cmdId, ...members }] }
}

const FRAME = { errorCode: 0, errorMsg: null, cmdUpdateType: 'ENTITY_DATA', allowedEntities: 10_000 }
const shown = (latest: unknown, timeseries: unknown = {}, aggLatest: unknown = {}) => ({
  entityId: DEVICE,
  latest,
  timeseries,
  aggLatest,
})
const data = (cmdId: number, ...entities: unknown[]) => ({
  cmdId,
  ...FRAME,
  data: { data: entities, totalPages: 1, totalElements: entities.length, hasNext: false },
  update: null,
})
const changes = (cmdId: number, ...entities: unknown[]) => ({ cmdId, ...FRAME, data: null, update: entities })
const value = (ts: number, text: string) => ({ ts, value: text })

async function open(
  bench: SessionBench,
): Promise<{ session: Session; socket: TestSocket; readonly say: (frame: unknown) => Promise<unknown[]> }> {
  const { session, socket } = await authenticated(bench)
  const settle = async (): Promise<unknown[]> => {
    for (let turn = 0; turn < 4; turn++) {
      await settled()
      bench.clock.endTurn()
    }
    return socket.frames()
  }
  return {
    session,
    socket,
    say: async (frame) => {
      if (frame !== undefined) await bench.say(session, frame)
      return settle()
    },
  }
}

describe('ENTITY_DATA', () => {
  test('answers the page; its values are not live by themselves', async () => {
    const bench = sessionBench()
    const { say } = await open(bench)
    bench.store.save(point('t', 5, 21))
    assert.deepEqual(await say(entityData(1, { query: query() })), [
      data(1, shown({ TIME_SERIES: { t: value(5, '21') } })),
    ])
    bench.store.save(point('t', 6, 22))
    assert.deepEqual(await say(undefined), [])
  })

  test('what latestCmd names goes live: newer values once, older and repeated ones not', async () => {
    const bench = sessionBench()
    const { say } = await open(bench)
    bench.store.save(point('t', 5, 21))
    const [first] = await say(entityData(1, { query: query(), latestCmd: { keys: [TEMPERATURE, ROOM] } }))
    const latest = { TIME_SERIES: { t: value(5, '21') }, ATTRIBUTE: { room: value(0, '') } }
    assert.deepEqual(first, data(1, shown(latest)))
    bench.store.save(point('t', 4, 1), point('other', 9, 9))
    bench.store.save(point('t', 5, 21))
    assert.deepEqual(await say(undefined), [])
    bench.store.save(point('t', 6, 22))
    bench.store.save(point('t', 7, 23))
    bench.store.saveAttributes('SERVER_SCOPE', { key: 'room', type: 'STRING', value: 'R1', lastUpdateTs: 8 })
    const update = { TIME_SERIES: { t: value(7, '23') }, ATTRIBUTE: { room: value(8, 'R1') } }
    assert.deepEqual(await say(undefined), [changes(1, shown(update, null, null))])
    bench.store.feed.publish({ kind: 'telemetry-deleted', entity: DEVICE, sequence: 99, keys: ['t'] })
    assert.deepEqual(await say(undefined), [changes(1, shown({ TIME_SERIES: { t: value(0, '') } }, null, null))])
  })

  test('tsCmd sends the window, then every new point, late ones too', async () => {
    const bench = sessionBench()
    const { say } = await open(bench)
    bench.store.save(point('t', 5, 21))
    const tsCmd = { keys: ['t', 'none'], startTs: 0, timeWindow: 1000 }
    assert.deepEqual(await say(entityData(1, { query: query({ latestValues: [] }), tsCmd })), [
      data(1, shown({}, { t: [value(5, '21')], none: [] })),
    ])
    bench.store.save(point('t', 5, 21))
    bench.store.save(point('t', 9, 22))
    bench.store.save(point('t', 3, 1))
    assert.deepEqual(await say(undefined), [changes(1, shown(null, { t: [value(9, '22'), value(3, '1')] }, null))])
  })

  test('a point stored while the window is read is shown once', async () => {
    const bench = sessionBench()
    const { say, session } = await open(bench)
    const release = bench.store.holdHistory()
    await bench.say(
      session,
      entityData(1, { query: query({ latestValues: [] }), tsCmd: { keys: ['t'], startTs: 0, timeWindow: 100 } }),
    )
    bench.store.save(point('t', 5, 21))
    await settled()
    release()
    bench.store.save(point('t', 200, 22))
    assert.deepEqual(await say(undefined), [
      data(1, shown({}, { t: [value(5, '21')] })),
      changes(1, shown(null, { t: [value(200, '22')] }, null)),
    ])
  })

  test('a later command of the same id goes on with the entities, and ends what was followed', async () => {
    const bench = sessionBench()
    const { say } = await open(bench)
    await say(entityData(1, { query: query(), latestCmd: { keys: [TEMPERATURE] } }))
    const historyCmd = { keys: ['t'], startTs: 0, endTs: 10 }
    assert.deepEqual(await say(entityData(1, { historyCmd })), [
      changes(1, shown({ TIME_SERIES: { t: value(0, '') } }, { t: [] })),
    ])
    bench.store.save(point('t', 5, 21))
    assert.deepEqual(await say(undefined), [])
    assert.deepEqual(await say(entityData(2, { historyCmd })), [failure(2, 2, 'Query is empty!')])
  })

  test('unsubscribing ends it, and another query under its id takes its place', async () => {
    const bench = sessionBench()
    const { say, session } = await open(bench)
    await say(entityData(1, { query: query(), latestCmd: { keys: [TEMPERATURE] } }))
    await say(entityData(1, { query: query(), latestCmd: { keys: [TEMPERATURE] } }))
    assert.equal(session.subscriptionCount, 1)
    bench.store.save(point('t', 5, 21))
    assert.equal((await say(undefined)).length, 1)
    await say({ cmds: [{ type: 'ENTITY_DATA_UNSUBSCRIBE', cmdId: 1 }] })
    bench.store.save(point('t', 6, 22))
    assert.deepEqual(await say(undefined), [])
    assert.equal(bench.store.feed.hasListeners(DEVICE, 'telemetry'), false)
  })

  test('refuses what is no query, each as the reference does', async () => {
    const bench = sessionBench()
    const { say } = await open(bench)
    assert.deepEqual(await say(entityData(3, {})), [failure(3, 2, 'Query is empty!')])
    assert.deepEqual(await say(entityData(3, { query: {} })), [failure(3, 1, 'Query entity filter must be specified.')])
    const unknown = query({ entityFilter: { type: 'nothing' } })
    assert.deepEqual(await say(entityData(3, { query: unknown })), [failure(1, 2, 'Failed to parse the payload')])
  })

  test('a device that changes hands is shown no more', async () => {
    const bench = sessionBench()
    const { say } = await open(bench)
    await say(entityData(1, { query: query(), latestCmd: { keys: [TEMPERATURE] } }))
    bench.store.accessible = false
    bench.store.feed.publish({ kind: 'device-changed', entity: DEVICE, credentialsChanged: false })
    bench.store.save(point('t', 5, 21))
    assert.deepEqual(await say(undefined), [])
    bench.store.save(point('t', 6, 22))
    assert.deepEqual(await say(undefined), [])
  })

  test('of a device that may have changed hands nothing is shown while nobody knows, and what it missed is shown after', async () => {
    const bench = sessionBench()
    const { say } = await open(bench)
    await say(entityData(1, { query: query(), latestCmd: { keys: [TEMPERATURE] } }))
    bench.store.failure = new Error('no answer')
    bench.store.feed.publish({ kind: 'device-changed', entity: DEVICE, credentialsChanged: false })
    assert.deepEqual(await say(undefined), [])
    bench.store.save(point('t', 5, 21))
    assert.deepEqual(await say(undefined), [])
    bench.store.failure = undefined
    bench.clock.advance(1000)
    assert.deepEqual(await say(undefined), [changes(1, shown({ TIME_SERIES: { t: value(5, '21') } }, null, null))])
    bench.store.failure = new Error('no answer')
    bench.store.feed.publish({ kind: 'device-changed', entity: DEVICE, credentialsChanged: false })
    await say(undefined)
    bench.store.failure = undefined
    bench.store.accessible = false
    bench.store.save(point('t', 6, 22))
    bench.clock.advance(1000)
    assert.deepEqual(await say(undefined), [])
    assert.equal(bench.store.feed.hasListeners(DEVICE, 'telemetry'), false)
  })

  test('a device that changes once more while it is looked at is looked at once more', async () => {
    const bench = sessionBench()
    const { say } = await open(bench)
    await say(entityData(1, { query: query(), latestCmd: { keys: [TEMPERATURE] } }))
    let checks = 0
    const { access } = bench.store.services
    const check = access.check.bind(access)
    Object.assign(access, {
      check: async (...asked: Parameters<typeof check>) => {
        // The answer of a read that began before the device moved.
        if (++checks > 1) return check(...asked)
        await settled()
      },
    })
    bench.store.feed.publish({ kind: 'device-changed', entity: DEVICE, credentialsChanged: true })
    bench.store.accessible = false
    bench.store.feed.publish({ kind: 'device-changed', entity: DEVICE, credentialsChanged: false })
    bench.store.save(point('t', 5, 21))
    assert.deepEqual(await say(undefined), [])
    bench.store.save(point('t', 6, 22))
    assert.deepEqual(await say(undefined), [])
  })

  test('one that is ended while it is begun follows nothing', async () => {
    const bench = sessionBench()
    const { say, session } = await open(bench)
    const begin = entityData(1, { query: query(), latestCmd: { keys: [TEMPERATURE] } })
    bench.store.hold()
    await say(begin)
    await say({ cmds: [{ type: 'ENTITY_DATA_UNSUBSCRIBE', cmdId: 1 }] })
    bench.store.release()
    await say(undefined)
    assert.equal(bench.store.feed.hasListeners(DEVICE, 'telemetry'), false)
    bench.store.hold()
    await say(begin)
    session.letGo()
    bench.store.release()
    await say(undefined)
    assert.equal(bench.store.feed.hasListeners(DEVICE, 'telemetry'), false)
  })

  test('what was missed is read again', async () => {
    const bench = sessionBench()
    const { say } = await open(bench)
    await say(entityData(1, { query: query(), latestCmd: { keys: [TEMPERATURE] } }))
    bench.store.commit(point('t', 5, 21))
    bench.store.feed.gap()
    assert.deepEqual(await say(undefined), [changes(1, shown({ TIME_SERIES: { t: value(5, '21') } }, null, null))])
  })

  test('a client that reads slowly gets the newest value of each key when it reads again', async () => {
    const bench = sessionBench({ pendingFrames: 2 })
    const { say, session, socket } = await open(bench)
    await say(entityData(1, { query: query(), latestCmd: { keys: [TEMPERATURE] } }))
    socket.pendingBytes = 1e9
    for (let ts = 1; ts <= 50; ts++) {
      bench.store.save(point('t', ts, ts))
      await say(undefined)
    }
    socket.pendingBytes = 0
    session.drained()
    assert.deepEqual(await say(undefined), [changes(1, shown({ TIME_SERIES: { t: value(50, '50') } }, null, null))])
    assert.equal(socket.closing, undefined)
  })

  test('a dynamic page is sent whole when it has other entities', async () => {
    const bench = sessionBench()
    const { say } = await open(bench)
    bench.store.found = []
    const pageLink = { page: 0, pageSize: 10, dynamic: true }
    assert.deepEqual(await say(entityData(1, { query: query({ pageLink }), latestCmd: { keys: [TEMPERATURE] } })), [
      data(1),
    ])
    bench.clock.advance(60_000)
    assert.deepEqual(await say(undefined), [])
    bench.store.found = [DEVICE]
    bench.clock.advance(60_000)
    assert.deepEqual(await say(undefined), [data(1, shown({ TIME_SERIES: { t: value(0, '') } }))])
    bench.store.save(point('t', 5, 21))
    assert.equal((await say(undefined)).length, 1)
  })

  test('a dynamic page is sent whole when it has lost an entity that is not there, or not seen, any more', async () => {
    const bench = sessionBench()
    const { say } = await open(bench)
    const pageLink = { page: 0, pageSize: 10, dynamic: true }
    await say(entityData(1, { query: query({ pageLink }), latestCmd: { keys: [TEMPERATURE] } }))
    bench.store.accessible = false
    bench.store.found = []
    bench.store.feed.publish({ kind: 'device-changed', entity: DEVICE, credentialsChanged: false })
    assert.deepEqual(await say(undefined), [])
    bench.clock.advance(60_000)
    assert.deepEqual(await say(undefined), [data(1)])
    bench.clock.advance(60_000)
    assert.deepEqual(await say(undefined), [], 'told once')
  })

  test('a dynamic page that was read before one of it was lost is not shown', async (context) => {
    const bench = sessionBench()
    const { say } = await open(bench)
    const pageLink = { page: 0, pageSize: 10, dynamic: true }
    const cmds = { query: query({ pageLink }), latestCmd: { keys: [TEMPERATURE] } }
    await say(entityData(1, cmds))
    const { entityQueries } = bench.store.services
    const find = entityQueries.find.bind(entityQueries)
    const read = Promise.withResolvers<undefined>()
    const late = async (...asked: Parameters<typeof find>) => {
      const page = await find(...asked)
      await read.promise
      return page
    }
    context.mock.method(entityQueries, 'find', late, { times: 1 })
    bench.clock.advance(60_000)
    assert.deepEqual(await say(undefined), [])
    bench.store.accessible = false
    bench.store.found = []
    bench.store.feed.publish({ kind: 'device-changed', entity: DEVICE, credentialsChanged: false })
    assert.deepEqual(await say(undefined), [])
    read.resolve(undefined)
    assert.deepEqual(await say(undefined), [data(1)])
    bench.store.save(point('t', 6, 22))
    assert.deepEqual(await say(undefined), [], 'nothing of it is followed')
  })

  test('an entity that changes hands between its being found and followed is not shown', async (context) => {
    const bench = sessionBench()
    const { say } = await open(bench)
    bench.store.save(point('t', 5, 21))
    bench.store.found = []
    const pageLink = { page: 0, pageSize: 10, dynamic: true }
    await say(entityData(1, { query: query({ pageLink }), latestCmd: { keys: [TEMPERATURE] } }))
    bench.store.found = [DEVICE]
    const { entityQueries } = bench.store.services
    const find = entityQueries.find.bind(entityQueries)
    const leaves = async (...asked: Parameters<typeof find>) => {
      const page = await find(...asked)
      bench.store.accessible = false
      bench.store.found = []
      bench.store.feed.publish({ kind: 'device-changed', entity: DEVICE, credentialsChanged: false })
      return page
    }
    context.mock.method(entityQueries, 'find', leaves, { times: 1 })
    bench.clock.advance(60_000)
    const totals = { totalPages: 1, totalElements: 1 }
    assert.deepEqual(await say(undefined), [{ ...data(1), data: { ...data(1).data, ...totals } }])
    bench.store.save(point('t', 6, 22))
    assert.deepEqual(await say(undefined), [], 'nothing of it is followed')
    bench.clock.advance(60_000)
    assert.deepEqual(await say(undefined), [data(1)])
  })

  test('a dynamic page whose values could not be read is sent with the next turn', async (context) => {
    const bench = sessionBench()
    const { say } = await open(bench)
    bench.store.found = []
    const pageLink = { page: 0, pageSize: 10, dynamic: true }
    await say(entityData(1, { query: query({ pageLink }), latestCmd: { keys: [TEMPERATURE] } }))
    bench.store.found = [DEVICE]
    bench.store.save(point('t', 5, 21))
    const away = () => Promise.reject(new Error('away'))
    context.mock.method(bench.store.services.entityQueries, 'values', away, { times: 1 })
    bench.clock.advance(60_000)
    assert.deepEqual(await say(undefined), [])
    bench.clock.advance(60_000)
    assert.deepEqual(await say(undefined), [data(1, shown({ TIME_SERIES: { t: value(5, '21') } }))])
  })

  test('fifty commands over one device listen to it once', async () => {
    const bench = sessionBench()
    const { say, session } = await open(bench)
    let heard = 0
    const listen = bench.store.feed.listen.bind(bench.store.feed)
    bench.store.feed.listen = (entity, listener) => listen(entity, (change) => (heard++, listener(change)))
    for (let cmdId = 1; cmdId <= 50; cmdId++)
      await say(entityData(cmdId, { query: query(), latestCmd: { keys: [TEMPERATURE] } }))
    assert.equal(session.subscriptionCount, 50)
    bench.store.save(point('t', 5, 21))
    assert.equal(heard, 1)
    assert.equal((await say(undefined)).length, 50)
  })
})

describe('what ENTITY_DATA keeps', () => {
  test('a key that is not followed any more is not shown as it once was', async () => {
    const bench = sessionBench()
    const { say } = await open(bench)
    bench.store.save(point('t', 5, 21))
    const q = query({ latestValues: [] })
    await say(entityData(1, { query: q, latestCmd: { keys: [TEMPERATURE] } }))
    await say(entityData(1, { latestCmd: { keys: [ROOM] } }))
    bench.store.save(point('t', 6, 22))
    const historyCmd = { keys: ['t'], startTs: 0, endTs: 10 }
    const frames = await say(entityData(1, { latestCmd: { keys: [ROOM] }, historyCmd }))
    const latest = { ATTRIBUTE: { room: value(0, '') } }
    assert.deepEqual(frames, [changes(1, shown(latest, { t: [value(5, '21'), value(6, '22')] }))])
  })

  test('nothing of an entity that left the page', () => {
    const values = new LiveValues(() => assert.fail('nothing is live'))
    const onPage = (entity: EntityId) => ({ entity, latest: { TIME_SERIES: { t: value(5, '21') } } })
    values.take([onPage(DEVICE)])
    values.take([onPage(FOREIGN)])
    assert.deepEqual(Object.keys(values.known.shown(DEVICE)), [])
    assert.deepEqual({ ...values.known.shown(FOREIGN)['TIME_SERIES'] }, { t: value(5, '21') })
  })

  test('a page that can not be found anew is told to who is on call, once', async () => {
    const bench = sessionBench()
    const { say } = await open(bench)
    const pageLink = { page: 0, pageSize: 10, dynamic: true }
    await say(entityData(1, { query: query({ pageLink }) }))
    await say(entityData(2, { query: query({ pageLink }) }))
    bench.store.failure = new Error('no answer')
    for (let minute = 0; minute < 3; minute++) {
      bench.clock.advance(60_000)
      await say(undefined)
    }
    assert.equal(bench.log.warnings.length, 1)
    bench.store.failure = undefined
  })
})

describe('ENTITY_COUNT', () => {
  test('tells the count at once, and then when it changed; a second one under its id is ignored', async () => {
    const bench = sessionBench()
    const { say } = await open(bench)
    const command = {
      cmds: [{ type: 'ENTITY_COUNT', cmdId: 2, query: { entityFilter: { type: 'entityType', entityType: 'DEVICE' } } }],
    }
    const frame = (count: number) => ({ cmdId: 2, errorCode: 0, errorMsg: null, cmdUpdateType: 'COUNT_DATA', count })
    assert.deepEqual(await say(command), [frame(1)])
    assert.deepEqual(await say(command), [])
    bench.clock.advance(60_000)
    assert.deepEqual(await say(undefined), [])
    bench.store.found = []
    bench.clock.advance(60_000)
    assert.deepEqual(await say(undefined), [frame(0)])
    assert.deepEqual(await say({ cmds: [{ type: 'ENTITY_COUNT', cmdId: 3 }] }), [failure(3, 2, 'Query is empty!')])
    await say({ cmds: [{ type: 'ENTITY_COUNT_UNSUBSCRIBE', cmdId: 2 }] })
    bench.store.found = [DEVICE]
    bench.clock.advance(60_000)
    assert.deepEqual(await say(undefined), [])
  })
})

test('ALARM_STATUS tells whether there is an active alarm, at once and when that changes', async () => {
  const bench = sessionBench()
  const { say } = await open(bench)
  const status = (cmdId: number, members: object) => ({ cmds: [{ type: 'ALARM_STATUS', cmdId, ...members }] })
  const frame = (active: boolean) => ({ cmdId: 1, errorCode: 0, errorMsg: null, cmdUpdateType: 'ALARM_STATUS', active })
  const told = () =>
    bench.store.feed.publish({ kind: 'alarm', entity: DEVICE, tenantId: 't', alarmId: 'a', isDeleted: false })
  assert.deepEqual(await say(status(1, { originatorId: DEVICE })), [frame(false)])
  assert.deepEqual(await say(status(1, { originatorId: DEVICE })), [])
  told()
  assert.deepEqual(await say(undefined), [])
  bench.store.hasAlarm = true
  told()
  assert.deepEqual(await say(undefined), [frame(true)])
  assert.deepEqual(await say(status(2, { originatorId: DEVICE, typeList: [], severityList: [] })), [
    { ...frame(true), cmdId: 2 },
  ])
  assert.deepEqual(await say(status(3, {})), [failure(3, 1, 'Alarm originator id is not specified!')])
  assert.deepEqual(await say(status(4, { originatorId: FOREIGN })), [failure(4, 1, 'Failed to fetch data!')])
  bench.store.accessible = false
  bench.store.hasAlarm = false
  told()
  assert.deepEqual(await say(undefined), [])
})

test('the older envelopes carry the same commands', async () => {
  const bench = sessionBench()
  const { session, socket } = bench.open('new')
  await bench.say(session, AUTH)
  const entityCountCmds = [{ cmdId: 1, query: { entityFilter: { type: 'entityType', entityType: 'DEVICE' } } }]
  await bench.say(session, { entityCountCmds })
  assert.deepEqual(socket.frames(), [failure(1, 2, 'Failed to parse the payload')])
  const legacy = bench.open('legacy')
  legacy.session.openedWithToken('good')
  await settled()
  await bench.say(legacy.session, { entityCountCmds, tsSubCmds: null })
  await settled()
  assert.equal(legacy.socket.frames().length, 1)
  const notifications = bench.open('notifications')
  notifications.session.openedWithToken('good')
  await settled()
  await bench.say(notifications.session, { unreadCountSubCmd: { cmdId: 1 }, unsubCmd: null })
  assert.equal(notifications.socket.frames().length, 1)
})
