import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { authenticated, DEVICE, failure, FOREIGN, point, sessionBench, settled, type SessionBench } from './testkit.ts'

const WINDOW = { timeWindow: 86_400_000 }

function query(pageLink: object = WINDOW, more: object = {}) {
  return {
    entityFilter: { type: 'entityType', entityType: 'DEVICE' },
    pageLink: { pageSize: 10, ...pageLink },
    ...more,
  }
}
const alarmData = (members: object, cmdId = 1) => ({ cmds: [{ type: 'ALARM_DATA', cmdId, ...members }] })
const alarmCount = (members: object) => ({ cmds: [{ type: 'ALARM_COUNT', cmdId: 2, ...members }] })

const FRAME = { cmdId: 1, errorCode: 0, errorMsg: null, cmdUpdateType: 'ALARM_DATA' }
const ALLOWED = { allowedEntities: 10_000, totalEntities: 1 }
const shown = (info: object, latest: object = {}) => ({ ...info, entityId: DEVICE, latest })
const data = (...alarms: object[]) => ({
  ...FRAME,
  data: { data: alarms, totalPages: 1, totalElements: alarms.length, hasNext: false },
  update: null,
  ...ALLOWED,
})
const update = (...alarms: object[]) => ({ ...FRAME, data: null, update: alarms, ...ALLOWED })
const count = (value: number) => ({ ...FRAME, cmdId: 2, cmdUpdateType: 'ALARM_COUNT_DATA', count: value })

async function open(bench: SessionBench) {
  const { session, socket } = await authenticated(bench)
  const later = async (ms = 0): Promise<unknown[]> => {
    bench.clock.advance(ms)
    for (let turn = 0; turn < 4; turn++) {
      await settled()
      bench.clock.endTurn()
    }
    return socket.frames()
  }
  const say = async (frame: unknown): Promise<unknown[]> => {
    await bench.say(session, frame)
    return later()
  }
  return { session, socket, say, later }
}

describe('ALARM_DATA', () => {
  test('answers the page, then what changes of it, a new page where other alarms are on it', async () => {
    const bench = sessionBench()
    const { say, later } = await open(bench)
    bench.store.setAlarm('a', { type: 'Hot' })
    assert.deepEqual(await say(alarmData({ query: query() })), [data(shown({ type: 'Hot' }))])
    bench.store.setAlarm('a', { type: 'Hot', acknowledged: true })
    assert.deepEqual(await later(), [update(shown({ type: 'Hot', acknowledged: true }))])
    bench.store.setAlarm('b', { type: 'Wet' })
    assert.deepEqual(await later(1000), [data(shown({ type: 'Wet' }), shown({ type: 'Hot', acknowledged: true }))])
    bench.store.setAlarm('a', undefined)
    assert.deepEqual(await later(1000), [data(shown({ type: 'Wet' }))])
    await say({ cmds: [{ type: 'ALARM_DATA_UNSUBSCRIBE', cmdId: 1 }] })
    bench.store.setAlarm('b', { type: 'Wet', cleared: true })
    assert.deepEqual(await later(120_000), [])
  })

  test('takes a time window with a fraction, as clients compute it', async () => {
    const bench = sessionBench()
    const { say } = await open(bench)
    bench.store.setAlarm('a', { type: 'Hot' })
    const asked = query({ timeWindow: 86_400_000.5, startTs: null, endTs: 5.5 })
    assert.deepEqual(await say(alarmData({ query: asked })), [data(shown({ type: 'Hot' }))])
  })

  test('reads once for many changes, and not more than every half second', async () => {
    const bench = sessionBench()
    const { say, later } = await open(bench)
    await say(alarmData({ query: query() }))
    for (let n = 0; n < 100; n++) bench.store.setAlarm(`a${n}`, { n })
    assert.equal((await later()).length, 1)
    for (let n = 0; n < 100; n++) bench.store.setAlarm(`a${n}`, { n: -n })
    assert.equal((await later()).length, 0)
    assert.equal((await later(500)).length, 1)
  })

  test('pushes no new alarm to a page of a fixed time, or to a later page', async () => {
    for (const pageLink of [
      { startTs: 1, endTs: 2 },
      { ...WINDOW, page: 1 },
    ]) {
      const bench = sessionBench()
      const { say, later } = await open(bench)
      bench.store.setAlarm('a', { type: 'Hot' })
      await say(alarmData({ query: query(pageLink) }))
      bench.store.setAlarm('b', { type: 'Wet' })
      assert.deepEqual(await later(1000), [])
      bench.store.setAlarm('a', undefined)
      assert.deepEqual(await later(1000), [data(shown({ type: 'Wet' }))])
    }
  })

  test('sends an alarm anew when a value of its entity changes', async () => {
    const bench = sessionBench()
    const { say, later } = await open(bench)
    bench.store.save(point('t', 5, 20))
    bench.store.setAlarm('a', { type: 'Hot' })
    const latestValues = [{ type: 'TIME_SERIES', key: 't' }]
    const at = (ts: number, value: string) => shown({ type: 'Hot' }, { TIME_SERIES: { t: { ts, value } } })
    assert.deepEqual(await say(alarmData({ query: query(WINDOW, { latestValues }) })), [data(at(5, '20'))])
    bench.store.save(point('t', 6, 21))
    bench.store.save(point('t', 4, 19))
    assert.deepEqual(await later(), [update(at(6, '21'))])
    bench.store.setAlarm('a', { type: 'Hot' })
    assert.deepEqual(await later(1000), [])
  })

  test('shows no alarm of an entity that changes hands between its being found and followed', async (context) => {
    const bench = sessionBench()
    const { say, later } = await open(bench)
    bench.store.setAlarm('a', { type: 'Hot' })
    const { alarmQueries } = bench.store.services
    const entitiesOf = alarmQueries.entitiesOf.bind(alarmQueries)
    const leaves = async (...asked: Parameters<typeof entitiesOf>) => {
      const found = await entitiesOf(...asked)
      bench.store.found = []
      bench.store.feed.publish({ kind: 'device-changed', entity: DEVICE, credentialsChanged: false })
      return found
    }
    context.mock.method(alarmQueries, 'entitiesOf', leaves, { times: 1 })
    const nothing = { ...data(), allowedEntities: 0, totalEntities: 0 }
    assert.deepEqual(await say(alarmData({ query: query() })), [nothing])
    bench.store.setAlarm('a', { type: 'Hot', acknowledged: true })
    assert.deepEqual(await later(1000), [])
  })

  test('a value that changes while alarms are read is told after them', async () => {
    const bench = sessionBench()
    const { say, later } = await open(bench)
    bench.store.save(point('t', 5, 20))
    bench.store.setAlarm('a', { type: 'Hot' })
    const latestValues = [{ type: 'TIME_SERIES', key: 't' }]
    await say(alarmData({ query: query(WINDOW, { latestValues }) }))
    bench.store.hold()
    bench.store.setAlarm('a', { type: 'Hot', acknowledged: true })
    await later()
    bench.store.feed.publish({ kind: 'telemetry', entity: DEVICE, sequence: 9, points: [point('t', 9, 22)] })
    bench.store.release()
    const frames = await later()
    const last = { ts: 9, value: '22' }
    assert.deepEqual(frames.at(-1), update(shown({ type: 'Hot', acknowledged: true }, { TIME_SERIES: { t: last } })))
  })

  test('is empty, and follows nothing, where no entity matches', async () => {
    const bench = sessionBench()
    const { say, later } = await open(bench)
    bench.store.found = []
    const empty = { ...data(), allowedEntities: 0, totalEntities: 0 }
    assert.deepEqual(await say(alarmData({ query: query() })), [empty])
    bench.store.setAlarm('a', { type: 'Hot' })
    assert.deepEqual(await later(1000), [])
  })

  test('an entity that is not the caller’s any more goes with its alarms', async () => {
    const bench = sessionBench()
    const { say, later } = await open(bench)
    bench.store.setAlarm('a', { type: 'Hot' })
    await say(alarmData({ query: query() }))
    bench.store.found = [FOREIGN]
    bench.store.feed.publish({ kind: 'device-changed', entity: DEVICE, credentialsChanged: false })
    assert.deepEqual(await later(1000), [data()])
    bench.store.setAlarm('a', { type: 'Hot', acknowledged: true })
    assert.deepEqual(await later(1000), [])
    bench.store.setAlarm('f', { type: 'Wet' }, FOREIGN)
    assert.equal((await later(1000)).length, 1)
  })

  test('tells no value of an entity that may not be the caller’s any more, until it is found anew', async () => {
    const bench = sessionBench()
    const { say, later } = await open(bench)
    bench.store.save(point('t', 5, 20))
    bench.store.setAlarm('a', { type: 'Hot' })
    const latestValues = [{ type: 'TIME_SERIES', key: 't' }]
    await say(alarmData({ query: query(WINDOW, { latestValues }) }))
    bench.store.failure = new Error('no answer')
    bench.store.feed.publish({ kind: 'device-changed', entity: DEVICE, credentialsChanged: false })
    await later()
    bench.store.save(point('t', 6, 21))
    assert.deepEqual(await later(), [])
    bench.store.failure = undefined
    const value = { ts: 6, value: '21' }
    assert.deepEqual(await later(1000), [update(shown({ type: 'Hot' }, { TIME_SERIES: { t: value } }))])
    bench.store.save(point('t', 7, 22))
    assert.equal((await later()).length, 1)
  })

  test('reads again where changes may have been missed, and every minute while its time moves', async () => {
    const bench = sessionBench()
    const { say, later } = await open(bench)
    await say(alarmData({ query: query() }))
    bench.store.alarms = [{ id: 'a', info: { type: 'Hot' }, entity: DEVICE, latest: {} }]
    bench.store.feed.gap()
    assert.deepEqual(await later(), [data(shown({ type: 'Hot' }))])
    bench.store.alarms = []
    assert.deepEqual(await later(60_000), [data()])
  })

  test('tells a slow client when it has read what waits for it', async () => {
    const bench = sessionBench()
    const { session, socket, say, later } = await open(bench)
    await say(alarmData({ query: query() }))
    await later(1000)
    socket.pendingBytes = 900_000
    bench.store.setAlarm('a', { type: 'Hot' })
    assert.deepEqual(await later(1000), [])
    socket.pendingBytes = 0
    session.drained()
    assert.deepEqual(await later(1000), [data(shown({ type: 'Hot' }))])
  })

  test('is refused without a query; the same id again takes its place', async () => {
    const bench = sessionBench()
    const { say, later } = await open(bench)
    assert.deepEqual(await say(alarmData({})), [failure(1, 2, 'Query is empty!')])
    await say(alarmData({ query: query() }))
    assert.deepEqual(await say(alarmData({ query: query() })), [data()])
    bench.store.setAlarm('a', { type: 'Hot' })
    assert.equal((await later(1000)).length, 1)
    assert.equal(bench.counts.subscriptions, 1)
  })
})

describe('ALARM_COUNT', () => {
  test('answers at once, then on change; a second one under its id is ignored', async () => {
    const bench = sessionBench()
    const { say, later } = await open(bench)
    assert.deepEqual(await say(alarmCount({ query: { entityFilter: query().entityFilter } })), [count(0)])
    assert.deepEqual(await say(alarmCount({ query: {} })), [])
    bench.store.setAlarm('a', {})
    assert.deepEqual(await later(1000), [count(1)])
    bench.store.setAlarm('a', { acknowledged: true })
    assert.deepEqual(await later(1000), [])
    await say({ cmds: [{ type: 'ALARM_COUNT_UNSUBSCRIBE', cmdId: 2 }] })
    bench.store.setAlarm('b', {})
    assert.deepEqual(await later(120_000), [])
  })

  test('without a filter it counts all of the tenant', async () => {
    const bench = sessionBench()
    const { say, later } = await open(bench)
    assert.deepEqual(await say(alarmCount({ query: {} })), [count(0)])
    bench.store.setAlarm('f', {}, FOREIGN)
    assert.deepEqual(await later(1000), [count(1)])
    bench.store.alarms = []
    bench.store.feed.publish({ kind: 'alarm', entity: FOREIGN, tenantId: 'other', alarmId: 'x', isDeleted: true })
    assert.deepEqual(await later(1000), [])
    assert.deepEqual(await later(60_000), [count(0)])
  })
})
