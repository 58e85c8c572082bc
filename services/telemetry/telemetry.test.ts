import assert from 'node:assert/strict'
import { after, before, beforeEach, mock, test } from 'node:test'
import type { EntityId } from '../../model/entity-id.ts'
import type { TelemetrySave } from '../../engine/rulechain/capabilities/telemetry.ts'
import { TimeSeriesErrors } from '../../storage/timeseries/errors.ts'
import { openTestPlatform, type TestPlatform } from '../testkit.ts'
import { ALL_TIME } from './telemetry.ts'

let platform: TestPlatform
let entity: EntityId

before(async () => {
  platform = await openTestPlatform()
  const device = await platform.services.devices.saveByUser(platform.tenant, { name: 'telemetry' })
  entity = { entityType: 'DEVICE', id: device.id }
})
after(() => platform.close())
beforeEach(() => {
  platform.link.messages.length = 0
  platform.changes.length = 0
  platform.timeSeries.writes.length = 0
  platform.timeSeries.failure = undefined
})

function save(change: Partial<TelemetrySave> = {}): Promise<void> {
  const points = [{ key: 't', type: 'LONG', value: 20, ts: 1 }] as const
  const request = {
    tenantId: platform.tenantId,
    entity,
    points,
    ttlSeconds: 0,
    sequence: 7,
    history: true,
    latest: true,
    notify: true,
  }
  return new Promise((resolve, reject) => {
    platform.services.telemetry.save({ ...request, ...change }, (error) =>
      error === undefined ? resolve() : reject(error),
    )
  })
}

test('saves of one turn are one write, each heard after it', async () => {
  await Promise.all([save(), save({ sequence: 8 }), save({ sequence: 9, notify: false })])
  assert.equal(platform.timeSeries.writes.length, 1)
  assert.deepEqual(
    platform.timeSeries.writes[0]?.map((write) => write.sequence),
    [7, 8, 9],
  )
  assert.equal(platform.changes.length, 2)
})

test('entries of one time are handed on as they are, under the time to live that the caller found', async () => {
  const entries = [{ key: 't', type: 'LONG', value: 20 }] as const
  const points = [{ ...entries[0], ts: 4 }]
  let asked = 0
  const request = {
    ...{ tenantId: platform.tenantId, entity, entries, ts: 4, ttlSeconds: 0, sequence: 7 },
    ...{ history: true, latest: true, notify: false },
    get points() {
      asked++
      return points
    },
  }
  await new Promise((resolve) => platform.services.telemetry.save(request, resolve, 60))
  assert.equal(asked, 0)
  const [write] = platform.timeSeries.writes[0] ?? []
  assert.deepEqual([write?.entries, write?.ts, write?.ttlSeconds, write?.points], [entries, 4, 60, points])
})

test('a save whose write is answered late is told before the next one of its device', async (context) => {
  const { timeSeries } = platform
  const stored = timeSeries.write.bind(timeSeries)
  let answerFirst: () => void = () => undefined
  const late = new Promise<void>((resolve) => (answerFirst = resolve))
  context.mock.method(timeSeries, 'write', async (...asked: Parameters<typeof stored>) => {
    const isFirst = asked[0][0]?.sequence === 1
    const commit = await stored(...asked)
    if (isFirst) await late
    return commit
  })
  const told: number[] = []
  const first = save({ sequence: 1 }).then(() => told.push(1))
  await new Promise(setImmediate)
  const second = save({ sequence: 2 }).then(() => told.push(2))
  await new Promise((wait) => setTimeout(wait, 20))
  assert.deepEqual(told, [])
  answerFirst()
  await Promise.all([first, second])
  assert.deepEqual(told, [1, 2])
})

test('what the store has no room for waits: no save is refused because of others', async (context) => {
  const { timeSeries } = platform
  const stored = timeSeries.write.bind(timeSeries)
  const answers: (() => void)[] = []
  context.mock.method(timeSeries, 'write', async (...asked: Parameters<typeof stored>) => {
    const commit = await stored(...asked)
    await new Promise<void>((resolve) => answers.push(resolve))
    return commit
  })
  const points = Array.from({ length: 40_000 }, (_, ts) => ({ key: 't', type: 'LONG', value: 1, ts }) as const)
  const saves = [1, 2, 3, 4, 5].map((sequence) => save({ sequence, points, notify: false }))
  const sizes = (): readonly number[] => timeSeries.writes.map(({ length }) => length)
  await new Promise(setImmediate)
  const later = save({ sequence: 6, notify: false })
  await new Promise((wait) => setTimeout(wait, 20))
  assert.deepEqual(sizes(), [3], 'the third began below 100,000 points')
  assert.equal(platform.services.telemetryWrites.figures().waiting, 3)
  answers[0]?.()
  await new Promise((wait) => setTimeout(wait, 20))
  assert.deepEqual(sizes(), [3, 3])
  answers[1]?.()
  await Promise.all([...saves, later])
  assert.equal(platform.services.telemetryWrites.figures().waiting, 0)
})

test('points that nobody listens to are not even told', async () => {
  const own = await openTestPlatform()
  own.stopRecording()
  const stop = own.feed.listenToAll(['attributes', 'entity-deleted'], () => undefined)
  const publish = mock.method(own.feed, 'publish')
  const points = [{ key: 't', type: 'LONG', value: 20, ts: 1 }] as const
  const request = { tenantId: own.tenantId, entity, points, ttlSeconds: 0, sequence: 1 }
  const saved = () =>
    new Promise<void>((resolve, reject) => {
      const done = (error: Error | undefined) => (error === undefined ? resolve() : reject(error))
      own.services.telemetry.save({ ...request, history: true, latest: true, notify: true }, done)
    })
  await saved()
  assert.equal(publish.mock.callCount(), 0)
  own.feed.listen(entity, () => undefined)
  await saved()
  assert.equal(publish.mock.callCount(), 1)
  stop()
  await own.close()
})

test('a failed write fails every save of the turn and tells nobody', async () => {
  platform.timeSeries.failure = new Error('the disk is full')
  const results = await Promise.allSettled([save(), save()])
  assert.deepEqual(
    results.map((result) => result.status),
    ['rejected', 'rejected'],
  )
  assert.deepEqual(platform.changes, [])
})

test('what can never be stored costs its own message, not those of other devices that it went with', async (context) => {
  const write = platform.timeSeries.write.bind(platform.timeSeries)
  const refusing: typeof write = (writes) =>
    writes.some(({ points }) => points.some(({ ts }) => ts > 8.64e15))
      ? Promise.reject(TimeSeriesErrors.TS_INVALID({ ts: Number.MAX_SAFE_INTEGER }))
      : write(writes)
  context.mock.method(platform.timeSeries, 'write', refusing)
  const beyondAllDates = [{ key: 't', type: 'LONG', value: 20, ts: Number.MAX_SAFE_INTEGER }] as const
  const saves = [save({ sequence: 1 }), save({ points: beyondAllDates, sequence: 2 }), save({ sequence: 3 })]
  const settled = await Promise.allSettled(saves)
  assert.deepEqual(
    settled.map(({ status }) => status),
    ['fulfilled', 'rejected', 'fulfilled'],
  )
  assert.deepEqual(
    platform.timeSeries.writes.flat().map(({ sequence }) => sequence),
    [1, 3],
  )
  assert.equal(platform.changes.length, 2)
})

test('what is only shown is not stored, and is in no commit', async () => {
  await save()
  await save({ history: false, latest: false })
  assert.equal(platform.timeSeries.writes.length, 1)
  const places = platform.changes.map((change) => ('sequence' in change ? typeof change.sequence : ''))
  assert.deepEqual(places, ['number', 'undefined'])
})

test('a user’s telemetry is stored, shown, and told to the rule engine with every digit', async () => {
  const { services, tenant, timeSeries, link, changes } = platform
  const entries = [
    { key: 'big', type: 'LONG', value: 9223372036854775807n },
    { key: 'whole', type: 'DOUBLE', value: 5 },
  ] as const
  await services.telemetry.saveByUser(tenant, entity, [{ ts: 1000, entries }], 60)
  const [write] = timeSeries.writes[0] ?? []
  assert.equal(write?.sequence, 0)
  assert.equal(write?.ttlSeconds, 60)
  assert.deepEqual(
    write?.points.map((point) => [point.key, point.ts]),
    [
      ['big', 1000],
      ['whole', 1000],
    ],
  )
  assert.deepEqual(
    changes.map((change) => change.kind),
    ['telemetry'],
  )
  assert.equal(link.messages[0]?.type, 'TIMESERIES_UPDATED')
  assert.equal(link.messages[0]?.data, '{"timeseries":[{"ts":1000,"values":{"big":9223372036854775807,"whole":5.0}}]}')
  assert.equal(link.messages[0]?.metadata['userName'], 'tenant@millrace.local')
})

test('refuses empty and malformed keys before anything is stored', async () => {
  const { services, tenant, timeSeries } = platform
  const saveKey = (key: string) =>
    services.telemetry.saveByUser(tenant, entity, [{ ts: 1, entries: [{ key, type: 'LONG', value: 1 }] }], 0)
  await assert.rejects(saveKey(''), { message: "Key can't be null or empty" })
  await assert.rejects(saveKey('<b>'), { message: 'Validation error: key is malformed' })
  assert.equal(timeSeries.writes.length, 0)
})

test('refuses telemetry of an entity that is not there', async () => {
  const missing = { entityType: 'DEVICE', id: '11111111-2222-1333-8444-555555555555' } as const
  const entries = [{ key: 'a', type: 'LONG', value: 1 }] as const
  await assert.rejects(platform.services.telemetry.saveByUser(platform.tenant, missing, [{ ts: 1, entries }], 0), {
    message: 'Device with id [11111111-2222-1333-8444-555555555555] is not found',
    status: 404,
    restCode: 32,
  })
  assert.equal(platform.timeSeries.writes.length, 0)
})

test('a deletion tells of the removed keys first, then of the older points in their place', async () => {
  const { services, tenant, timeSeries, changes, link } = platform
  const replacement = { key: 'b', type: 'LONG', value: 1, ts: 5 } as const
  timeSeries.deletion = {
    latestRemoved: [
      { key: 'a', replacement: undefined },
      { key: 'b', replacement },
    ],
  }
  const range = { keys: ['a', 'b'], startTs: 10, endTs: 20, deleteLatest: true, rewriteLatest: true }
  await services.telemetry.deleteByUser(tenant, entity, range)
  assert.deepEqual(
    changes.map((change) => change.kind),
    ['telemetry-deleted', 'telemetry'],
  )
  assert.deepEqual(timeSeries.ranges.at(-1), { entityId: entity.id, ...range })
  assert.equal(link.messages[0]?.data, '{"timeseries":["a","b"],"startTs":10,"endTs":20}')
  await assert.rejects(services.telemetry.deleteByUser(tenant, entity, { ...range, keys: [] }), {
    message: 'Empty keys: []',
  })
})

test('a deletion of all points is told as one from 1970 until now', async () => {
  const { services, tenant, link, timeSeries, clock } = platform
  const range = { keys: ['a'], ...ALL_TIME, deleteLatest: true, rewriteLatest: false }
  await services.telemetry.deleteByUser(tenant, entity, range)
  assert.deepEqual(timeSeries.ranges.at(-1), { entityId: entity.id, ...range })
  assert.equal(link.messages.at(-1)?.data, `{"timeseries":["a"],"startTs":0,"endTs":${clock.now()}}`)
})
