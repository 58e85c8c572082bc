import assert from 'node:assert/strict'
import { test } from 'node:test'
import { z } from 'zod'
import type { Clock } from '../../model/clock.ts'
import { entityId, type EntityId } from '../../model/entity-id.ts'
import { defineErrors } from '../../model/errors.ts'
import type { JsonObject } from '../../model/json.ts'
import { SeededRandom } from '../../model/manual-clock.ts'
import { entriesOf } from '../../model/entry-json.ts'
import type { NodeDefinition } from '../../engine/rulechain/node.ts'
import { createNode, runNode, testContext, testMessage, TENANT_ID, type TestContext } from '../testkit.ts'
import { aggregateLatest } from './aggregate-latest.ts'
import { alarmCounts } from './alarm-counts.ts'
import { groupStatistics } from './group-statistics.ts'
import { topEntities } from './top-entities.ts'

const START = 1_700_000_000_000
const BUILDING = entityId('ASSET', '00000000-0000-4000-8000-0000000000aa')
const CUSTOMER = entityId('CUSTOMER', '00000000-0000-4000-8000-0000000000bb')
const PROFILE = entityId('DEVICE_PROFILE', '00000000-0000-4000-8000-0000000000cc')
const FAILED = defineErrors('test', {
  AWAY: { kind: 'retryable', isOutage: true, status: 503, text: 'the store is away' },
  TOO_MUCH: { kind: 'invalid', status: 400, text: 'too much is asked' },
})

const LISTED = z.object({
  list: z.array(z.strictObject({ id: z.string(), entityType: z.string(), name: z.string(), value: z.number() })),
})

function deviceId(index: number): EntityId {
  return entityId('DEVICE', `00000000-0000-4000-8000-${String(index).padStart(12, '0')}`)
}

function opened() {
  let now = START
  const clock: Clock = {
    now: () => now,
    monotonic: () => now,
    after: () => ({ cancel: () => undefined }),
    soon: (run) => queueMicrotask(run),
  }
  const context = testContext({ clock })
  const { fakes } = context
  fakes.entities.add({ id: BUILDING, name: 'Building', customerId: CUSTOMER.id }, { id: CUSTOMER, name: 'Owner' })
  fakes.entities.add({ id: PROFILE, name: 'meter' })
  return {
    context,
    fakes,
    addDevice: (
      index: number,
      values: JsonObject,
      given: { type?: string; customerId?: string; profileId?: string } = {},
    ) => {
      const id = deviceId(index)
      fakes.entities.add({ id, name: `Device ${index}`, ...given })
      fakes.history.add(
        id,
        ...entriesOf(values, { castStrings: false, nulls: 'refuse' }).map((e) => ({ ...e, ts: now })),
      )
      fakes.relations.held.push({ from: BUILDING, to: id, type: 'Contains' })
      return id
    },
    pass: async (ms: number) => {
      now += ms
      await fakes.state.wake()
    },
    told: () =>
      fakes.state.sent.map(({ message, relation }) => [
        relation,
        message.originator.id,
        message.metadata['ts'],
        message.data,
      ]),
  }
}

const ofBuilding = {
  ...{ parent: 'ENTITY', parentType: 'ASSET', parentId: BUILDING.id, members: 'RELATED' },
  relations: { direction: 'FROM', relationTypes: ['Contains'], maxLevel: 1, fetchLastLevelOnly: false },
}

function configured(definition: NodeDefinition, change: JsonObject): JsonObject {
  return { ...definition.defaultConfiguration, ...change }
}

function metric(key: string, of: string, outputKey: string, missing: number | null = null): JsonObject {
  return { source: 'LATEST_TELEMETRY', key, function: of, missing, outputKey }
}

test('each period tells once of the devices of an asset, at the end of the period, also after a restart', async () => {
  const { context, fakes, addDevice, pass, told } = opened()
  addDevice(1, { t: 20.1 })
  addDevice(2, { t: 20.2, on: true })
  addDevice(3, { u: 7 })
  const configuration = configured(aggregateLatest, {
    ...{ ...ofBuilding, trigger: 'PERIOD', periodSec: 300 },
    metrics: [
      metric('t', 'SUM', 'sum'),
      metric('t', 'COUNT', 'count'),
      metric('t', 'MIN', 'least', 0),
      metric('x', 'AVG', 'none'),
    ],
  })
  const node = await createNode(aggregateLatest, configuration, context)
  fakes.state.start()
  await pass(1000)
  assert.deepEqual(told(), [])
  await pass(300_000)
  // As after a restart: what is due stays due.
  await createNode(aggregateLatest, configuration, context)
  fakes.state.start()
  await pass(0)
  const end = String(Math.floor((START + 301_000) / 300_000) * 300_000)
  assert.deepEqual(told(), [['Success', BUILDING.id, end, '{"sum":40.3,"count":2,"least":0.0}']])
  const [sent] = fakes.state.sent
  assert.deepEqual([sent?.message.type, sent?.message.customerId], ['POST_TELEMETRY_REQUEST', CUSTOMER.id])
  assert.deepEqual(sent?.message.metadata, { ts: end, entities: '3', ignoredValues: '0' })
  // Nobody was here for an hour: what the values were then is not known.
  await pass(3_600_000)
  assert.equal(told().length, 2)
  // A message ends here.
  assert.deepEqual(await runNode(node, testMessage({ data: '{}' })), [{ emissions: [] }])
})

test('what is away is waited for, what is wrong is told as Failure and the next period comes', async () => {
  const { context, fakes, addDevice, pass, told } = opened()
  addDevice(1, { t: 1 })
  await createNode(aggregateLatest, configured(aggregateLatest, { metrics: [metric('t', 'MAX', 'most')] }), context)
  fakes.state.start()
  fakes.aggregation.failure = FAILED.AWAY()
  await assert.rejects(pass(60_000), /is away/)
  assert.deepEqual(told(), [])
  fakes.aggregation.failure = FAILED.TOO_MUCH()
  await pass(0)
  fakes.aggregation.failure = undefined
  await pass(60_000)
  assert.deepEqual(
    told().map(([relation, id, , data]) => [relation, id, data]),
    [
      ['Failure', TENANT_ID, '{}'],
      ['Success', TENANT_ID, '{"most":1.0}'],
    ],
  )
})

test('a message tells of its originator, its customer or its profile, whoever it came from', async () => {
  const { context, addDevice } = opened()
  const first = addDevice(1, { t: 5 }, { customerId: CUSTOMER.id, profileId: PROFILE.id })
  addDevice(2, { t: 7 }, { customerId: CUSTOMER.id })
  addDevice(3, { t: 11 }, { profileId: PROFILE.id })
  const from = { data: '{"t":5}', metadata: { deviceName: 'Device 1' } }
  for (const [parent, originator, whose, sum] of [
    ['CUSTOMER', first, CUSTOMER, '12.0'],
    ['PROFILE', first, PROFILE, '16.0'],
    ['TENANT', first, entityId('TENANT', TENANT_ID), '23.0'],
    ['ORIGINATOR', CUSTOMER, CUSTOMER, '12.0'],
    ['ORIGINATOR', PROFILE, PROFILE, '16.0'],
  ] as const) {
    const change = { trigger: 'MESSAGE', parent, metrics: [metric('t', 'SUM', 'sum')] }
    const node = await createNode(aggregateLatest, configured(aggregateLatest, change), context)
    const { entityType: originatorType, id: originatorId } = originator
    const [result] = await runNode(node, testMessage({ ...from, originatorType, originatorId }))
    const [out] = result?.emissions ?? []
    assert.deepEqual(
      [out?.relations, out?.message.originator, out?.message.data, out?.message.metadata['deviceName']],
      [['Success'], whose, `{"sum":${sum}}`, 'Device 1'],
    )
  }
})

test('messages that wait for the same turn share its reads, a later one reads anew', async () => {
  const { context, fakes, addDevice } = opened()
  const id = addDevice(1, { t: 5 })
  const change = { trigger: 'MESSAGE', metrics: [metric('t', 'MAX', 'most')] }
  const node = await createNode(aggregateLatest, configured(aggregateLatest, change), context)
  const message = testMessage({ data: '{}', originatorId: id.id })
  const many = await Promise.all([runNode(node, message), runNode(node, message), runNode(node, message)])
  assert.equal(fakes.aggregation.turns, 1)
  assert.deepEqual(
    many.map(([result]) => result?.emissions[0]?.message.data),
    Array.from({ length: 3 }, () => '{"most":5.0}'),
  )
  fakes.history.add(id, { key: 't', type: 'LONG', value: 6, ts: START + 1 })
  const [later] = await runNode(node, message)
  assert.deepEqual([later?.emissions[0]?.message.data, fakes.aggregation.turns], ['{"most":6.0}', 2])
})

for (const scriptLang of ['TBEL', 'JS']) {
  test(`a filter chooses the entities by their values, names and profiles (${scriptLang})`, async () => {
    const { context, fakes, addDevice } = opened()
    addDevice(1, { t: 10 }, { type: 'meter' })
    const second = addDevice(2, { t: 30 }, { type: 'meter' })
    addDevice(3, { t: 50 }, { type: 'pump' })
    fakes.attributes.add([{ key: 'floor', type: 'LONG', value: 2 }], second, 'SERVER_SCOPE')
    const body = "return msg.t > 20 && msg.ss_floor == 2 && metadata.entityProfile == 'meter';"
    const change = {
      ...{ trigger: 'MESSAGE', useFilter: true, scriptLang, jsScript: body, tbelScript: body },
      filterKeys: [
        { source: 'LATEST_TELEMETRY', key: 't' },
        { source: 'SERVER_SCOPE', key: 'floor' },
      ],
      metrics: [metric('t', 'SUM', 'sum'), metric('t', 'COUNT', 'count')],
    }
    const node = await createNode(aggregateLatest, configured(aggregateLatest, change), context)
    const [result] = await runNode(node, testMessage({ data: '{}' }))
    const out = result?.emissions[0]?.message
    assert.deepEqual([out?.data, out?.metadata['entities']], ['{"sum":30.0,"count":1}', '1'])
    await node.close?.()
    assert.equal(context.openScripts(), 0)
  })
}

test('a filter that fails is the message’s failure', async () => {
  const { context, addDevice } = opened()
  addDevice(1, { t: 10 })
  const change = { trigger: 'MESSAGE', useFilter: true, tbelScript: 'return msg.a.b.c;' }
  const node = await createNode(aggregateLatest, configured(aggregateLatest, change), context)
  const [result] = await runNode(node, testMessage({ data: '{}' }))
  assert.deepEqual(result?.emissions[0]?.relations, ['Failure'])
})

test('statistics of a key: mean, deviation, median and percentiles', async () => {
  const { context, addDevice } = opened()
  for (const [index, t] of [2, 4, 4, 4, 5, 5, 7, 9].entries()) addDevice(index + 1, { t })
  addDevice(20, { t: 'broken' })
  const change = {
    ...{ trigger: 'MESSAGE', percentiles: [25, 99.9] },
    statistics: ['COUNT', 'MIN', 'MAX', 'MEAN', 'DEVIATION', 'VARIANCE', 'MEDIAN'],
    keys: [{ source: 'LATEST_TELEMETRY', key: 't', outputKey: 't' }],
  }
  const node = await createNode(groupStatistics, configured(groupStatistics, change), context)
  const [result] = await runNode(node, testMessage({ data: '{}' }))
  const out = result?.emissions[0]?.message
  assert.equal(
    out?.data,
    '{"tCount":8,"tMin":2.0,"tMax":9.0,"tMean":5.0,"tDeviation":2.0,"tVariance":4.0,"tMedian":4.5,"tP25":4.0,"tP99_9":8.986}',
  )
  assert.equal(out?.metadata['ignoredValues'], '1')
})

test('the top entities are told with their names and values, of equal ones the older first', async () => {
  const { context, addDevice } = opened()
  for (const [index, t] of [3, 9, 9.5, 9, 1].entries()) addDevice(index + 1, { t })
  for (const [order, expected] of [
    ['HIGHEST', '[["Device 3",9.5],["Device 2",9],["Device 4",9]]'],
    ['LOWEST', '[["Device 5",1],["Device 1",3],["Device 2",9]]'],
  ] as const) {
    const change = { trigger: 'MESSAGE', key: 't', count: 3, order, outputKey: 'list' }
    const node = await createNode(topEntities, configured(topEntities, change), context)
    const [result] = await runNode(node, testMessage({ data: '{}' }))
    const { list } = LISTED.parse(JSON.parse(result?.emissions[0]?.message.data ?? ''))
    assert.equal(JSON.stringify(list.map(({ name, value }) => [name, value])), expected)
    assert.deepEqual(Object.keys(list[0] ?? {}), ['id', 'entityType', 'name', 'value'])
  }
})

async function raise(
  context: TestContext,
  originator: EntityId,
  type: string,
  severity: 'CRITICAL' | 'MINOR',
  startTs: number,
) {
  const visit = { id: `${originator.id} ${type}`, originatorId: originator.id, sequence: 1 }
  await context.fakes.alarms.createOrUpdate({ originator, type }, visit, () => ({ severity, startTs, endTs: startTs }))
}

test('alarms are counted by severity, status, type and time, with those of the parent where that is wanted', async () => {
  const { context, fakes, addDevice } = opened()
  const [first, second] = [addDevice(1, {}), addDevice(2, {})]
  const stranger = deviceId(99)
  await raise(context, first, 'Fire', 'CRITICAL', START - 10_000)
  await raise(context, first, 'Smoke', 'MINOR', START - 200_000)
  await raise(context, second, 'Fire', 'CRITICAL', START - 300_000)
  await raise(context, BUILDING, 'Fire', 'MINOR', START)
  await raise(context, stranger, 'Fire', 'CRITICAL', START)
  const visit = { id: 'clear', originatorId: second.id, sequence: 2 }
  await fakes.alarms.clear({ originator: second, type: 'Fire' }, visit, () => ({}))
  const wanted = { severities: [], statuses: [], types: [], withinSec: 0 }
  const counts = [
    { ...wanted, outputKey: 'all' },
    { ...wanted, statuses: ['ACTIVE_UNACK'], outputKey: 'active' },
    { ...wanted, severities: ['CRITICAL'], types: ['Fire'], outputKey: 'fires' },
    { ...wanted, withinSec: 60, outputKey: 'new' },
  ]
  for (const [includeParent, expected] of [
    [true, '{"all":4,"active":3,"fires":2,"new":2}'],
    [false, '{"all":3,"active":2,"fires":2,"new":1}'],
  ] as const) {
    const change = { ...ofBuilding, trigger: 'MESSAGE', counts, includeParent }
    const node = await createNode(alarmCounts, configured(alarmCounts, change), context)
    const [result] = await runNode(node, testMessage({ type: 'ALARM', data: '{}' }))
    assert.equal(result?.emissions[0]?.message.data, expected)
  }
})

test('a period without a parent of its own, a parent that is missing or another tenant’s does not start', async () => {
  const { context } = opened()
  for (const [change, reason] of [
    [{ parent: 'ORIGINATOR' }, /parent: a period has no message/],
    [{ parent: 'ENTITY' }, /parentType: is missing/],
    [{ parent: 'ENTITY', parentType: 'ASSET', parentId: deviceId(77).id }, /There is no ASSET/],
  ] as const)
    await assert.rejects(createNode(aggregateLatest, configured(aggregateLatest, change), context), reason)
})

test('random groups are told as a plain model tells them', async () => {
  const seed = 5
  const random = new SeededRandom(seed)
  for (let round = 0; round < 60; round++) {
    const { context, addDevice } = opened()
    const values: number[] = []
    let missing = 0
    const size = 1 + Math.floor(random.next() * 40)
    for (let index = 0; index < size; index++) {
      const value = Math.round((random.next() - 0.5) * 10_000) / 100
      if (random.next() < 0.2) missing++
      else values.push(value)
      addDevice(index, values.length + missing === index + 1 && values.at(-1) === value ? { t: value } : { u: 1 })
    }
    const change = {
      trigger: 'MESSAGE',
      metrics: ['MIN', 'MAX', 'SUM', 'AVG', 'COUNT', 'COUNT_UNIQUE'].map((of) => metric('t', of, of)),
    }
    const node = await createNode(aggregateLatest, configured(aggregateLatest, change), context)
    const [result] = await runNode(node, testMessage({ data: '{}' }))
    const told = z.record(z.string(), z.number()).parse(JSON.parse(result?.emissions[0]?.message.data ?? ''))
    const cents = values.reduce((sum, value) => sum + Math.round(value * 100), 0)
    const expected =
      values.length === 0
        ? { COUNT: 0, COUNT_UNIQUE: 0 }
        : {
            ...{
              MIN: Math.min(...values),
              MAX: Math.max(...values),
              SUM: cents / 100,
              AVG: cents / 100 / values.length,
            },
            ...{ COUNT: values.length, COUNT_UNIQUE: new Set(values).size },
          }
    assert.deepEqual(told, expected, `seed ${seed}, round ${round}`)
  }
})
