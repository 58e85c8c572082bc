import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ManualClock } from '../../engine/actor/testkit.ts'
import { entityId, type EntityId } from '../../model/entity-id.ts'
import { stringifyJson, type JsonObject, type JsonValue } from '../../model/json.ts'
import type { Message } from '../../model/message.ts'
import type { TypedValue } from '../../model/value.ts'
import {
  createNode,
  runNode,
  TENANT_ID,
  testContext,
  testMessage,
  type NodeResult,
  type TestContext,
} from '../testkit.ts'
import { deviceProfile } from './device-profile.ts'

const DEVICE = entityId('DEVICE', '55555555-5555-4555-8555-555555555555')
const PROFILE = entityId('DEVICE_PROFILE', '88888888-8888-4888-8888-888888888888')
const CUSTOMER = entityId('CUSTOMER', '99999999-0000-4000-8000-000000000001')
const SIMPLE = { type: 'SIMPLE' }

interface RuleMembers {
  readonly type?: string
  readonly key?: string
  readonly spec?: JsonValue
  readonly dynamicValue?: JsonValue
  readonly alarmDetails?: string
  readonly dashboardId?: JsonValue
}

function rule(operation: string, limit: number, members: RuleMembers = {}): JsonObject {
  const { type = 'TIME_SERIES', key = 'temp', spec = SIMPLE, dynamicValue = null, alarmDetails, dashboardId } = members
  const value = { defaultValue: limit, userValue: null, dynamicValue }
  return {
    condition: {
      condition: [{ key: { type, key }, valueType: 'NUMERIC', predicate: { type: 'NUMERIC', operation, value } }],
      spec,
    },
    ...{ schedule: null, alarmDetails: alarmDetails ?? null, dashboardId: dashboardId ?? null },
  }
}

function hot(createRules: JsonObject, clearRule: JsonValue = null, more: JsonObject = {}): JsonObject {
  return { id: 'a1', alarmType: 'Hot', createRules, clearRule, ...more }
}

interface World {
  readonly context: TestContext
  readonly clock: ManualClock
  /** What came out: relation, and of alarms their severity and marks. */
  readonly send: (
    data: JsonObject,
    draft?: { readonly type?: string; readonly ts?: number; readonly metadata?: Readonly<Record<string, string>> },
  ) => Promise<readonly string[]>
  readonly run: (message: Message) => Promise<NodeResult | undefined>
  readonly profile: (...alarms: JsonObject[]) => void
}

async function worldOf(...alarms: readonly JsonObject[]): Promise<World> {
  const clock = new ManualClock()
  const context = testContext({ clock })
  const { entities } = context.fakes
  const profile = (...rules: readonly JsonObject[]): void =>
    entities.add({ id: PROFILE, name: 'pumps', json: { profileData: { alarms: [...rules] } } })
  entities.add({ id: DEVICE, name: 'pump 1', type: 'pumps', profileId: PROFILE.id, customerId: CUSTOMER.id })
  profile(...alarms)
  const node = await createNode(deviceProfile, deviceProfile.defaultConfiguration, context)
  const run = async (message: Message) => (await runNode(node, message))[0]
  return {
    context,
    clock,
    run,
    profile,
    send: async (data, { type = 'POST_TELEMETRY_REQUEST', ts = clock.now(), metadata = {} } = {}) => {
      const result = await run(testMessage({ type, ts, metadata, data: stringifyJson(data) }))
      return (result?.emissions ?? []).map(shown)
    },
  }
}

function shown({ message, relations }: { readonly message: Message; readonly relations: readonly string[] }): string {
  const marks = Object.entries(message.metadata).map(([key, value]) => `${key}=${value}`)
  return [...relations, ...marks].join(' ')
}

async function severityOf({ context }: World): Promise<string | undefined> {
  return (await context.fakes.alarms.findActive(DEVICE, 'Hot'))?.severity
}

test('alarms are created, updated, made more severe and cleared; the original goes on behind them', async () => {
  const world = await worldOf(hot({ MINOR: rule('GREATER', 30), CRITICAL: rule('GREATER', 50) }, rule('LESS', 20)))
  assert.deepEqual(await world.send({ temp: 25 }), ['Success'])
  assert.deepEqual(await world.send({ temp: 35 }), ['Alarm Created isNewAlarm=true', 'Success'])
  assert.deepEqual(await world.send({ temp: 36 }), ['Alarm Updated isExistingAlarm=true', 'Success'])
  assert.deepEqual(await world.send({ temp: 60 }), [
    'Alarm Severity Updated isExistingAlarm=true isSeverityUpdated=true',
    'Success',
  ])
  assert.deepEqual(await world.send({ temp: 35 }), ['Success'])
  assert.equal(await severityOf(world), 'CRITICAL')
  assert.deepEqual(await world.send({ temp: 10 }), ['Alarm Cleared isClearedAlarm=true', 'Success'])
  assert.equal(await severityOf(world), undefined)
})

test('the alarm goes on as a message of its own with details, dashboard and propagation', async () => {
  const dashboardId = { entityType: 'DASHBOARD', id: CUSTOMER.id }
  const world = await worldOf(
    hot({ MAJOR: rule('GREATER', 50, { alarmDetails: 'It is ${temp}, ${temp}!', dashboardId }) }, null, {
      ...{ propagate: true, propagateToOwner: true, propagateRelationTypes: ['Contains'] },
    }),
  )
  const message = testMessage({ data: '{"temp":60.5}', ts: world.clock.now() })
  const result = await world.run(message)
  const [alarm, original] = result?.emissions ?? []
  assert.equal(alarm?.message.type, 'ALARM')
  assert.notEqual(alarm?.message.id, message.id)
  assert.equal(original?.message, message)
  const [draft] = world.context.fakes.alarms.drafts
  assert.deepEqual(draft?.details, { data: 'It is 60.5, 60.5!', dashboardId: CUSTOMER.id })
  assert.deepEqual([draft?.propagate, draft?.propagateToOwner, draft?.propagateToTenant], [true, true, false])
  assert.deepEqual(draft?.propagateRelationTypes, ['Contains'])
})

test('repetitions are counted in the stored state, and an interruption begins anew', async () => {
  const spec = { type: 'REPEATING', predicate: { defaultValue: 2 } }
  const world = await worldOf(hot({ MAJOR: rule('GREATER', 50, { spec }) }))
  const send = async (temp: number) => {
    await world.clock.advance(1)
    return world.send({ temp })
  }
  assert.deepEqual(await send(60), ['Success'])
  assert.notEqual(world.context.fakes.state.held.get(DEVICE.id)?.text, undefined)
  assert.deepEqual(await send(10), ['Success'])
  assert.equal(world.context.fakes.state.held.get(DEVICE.id)?.text, undefined)
  assert.deepEqual(await send(60), ['Success'])
  assert.deepEqual(await send(60), ['Alarm Created alarmConditionRepeats=2 isNewAlarm=true', 'Success'])
})

test('how often and how long come from attributes too: decimals are cut, and what is no whole number fails the message', async () => {
  const dynamicValue = { sourceType: 'CURRENT_TENANT', sourceAttribute: 'times', inherit: false }
  const spec = { type: 'REPEATING', predicate: { defaultValue: 9, dynamicValue } }
  const world = await worldOf(hot({ MAJOR: rule('GREATER', 50, { spec }) }))
  const times = (value: TypedValue): void =>
    world.context.fakes.attributes.add([{ key: 'times', ...value }], entityId('TENANT', TENANT_ID), 'SERVER_SCOPE')
  const send = async () => {
    await world.clock.advance(1)
    return world.send({ temp: 60 })
  }
  times({ type: 'STRING', value: '1.5' })
  assert.deepEqual(await send(), ['Failure'])
  times({ type: 'DOUBLE', value: 2.7 })
  // The message that failed did not count.
  assert.deepEqual(await send(), ['Success'])
  assert.deepEqual(await send(), ['Alarm Created alarmConditionRepeats=2 isNewAlarm=true', 'Success'])
  times({ type: 'STRING', value: '3' })
  assert.deepEqual(await send(), ['Alarm Updated alarmConditionRepeats=3 isExistingAlarm=true', 'Success'])
})

test('an attribute that is no whole number fails the message for its own alarm: others count, and are raised', async () => {
  const repeating = (defaultValue: number, dynamicValue: JsonValue = null) =>
    rule('GREATER', 50, { spec: { type: 'REPEATING', predicate: { defaultValue, dynamicValue } } })
  const ofTenant = { sourceType: 'CURRENT_TENANT', sourceAttribute: 'times', inherit: false }
  const often = { ...hot({ MAJOR: repeating(9, ofTenant) }), id: 'a0', alarmType: 'Often' }
  const world = await worldOf(often, hot({ MAJOR: repeating(2) }))
  const { attributes } = world.context.fakes
  attributes.add([{ key: 'times', type: 'STRING', value: 'often' }], entityId('TENANT', TENANT_ID), 'SERVER_SCOPE')
  const send = async () => {
    await world.clock.advance(1)
    return world.send({ temp: 60 })
  }
  assert.deepEqual(await send(), ['Failure'])
  assert.deepEqual(await send(), ['Alarm Created alarmConditionRepeats=2 isNewAlarm=true', 'Failure'])
  assert.equal(await severityOf(world), 'MAJOR')
})

test('a duration that ends though nothing is heard raises the alarm by the timer', async () => {
  const spec = { type: 'DURATION', unit: 'MINUTES', predicate: { defaultValue: 5 } }
  const world = await worldOf(hot({ MAJOR: rule('GREATER', 50, { spec }) }))
  const { state } = world.context.fakes
  const start = world.clock.now()
  assert.deepEqual(await world.send({ temp: 60 }), ['Success'])
  assert.equal(state.held.get(DEVICE.id)?.wakesAt, start + 300_001)
  await world.clock.advance(300_001)
  for (let turn = 0; turn < 3; turn++) {
    await state.wake()
    await world.clock.settle()
    await world.clock.advance(250)
  }
  assert.equal(await severityOf(world), 'MAJOR')
  assert.deepEqual(
    state.sent.map(({ message, relation }) => shown({ message, relations: relation === undefined ? [] : [relation] })),
    ['Alarm Created alarmConditionDuration=300001 isNewAlarm=true'],
  )
  assert.equal(state.held.get(DEVICE.id)?.wakesAt, undefined, 'nothing more to wait for')
})

test('the timer finds what a process before it has left', async () => {
  const spec = { type: 'DURATION', unit: 'MINUTES', predicate: { defaultValue: 5 } }
  const world = await worldOf(hot({ MAJOR: rule('GREATER', 50, { spec }) }))
  const { state } = world.context.fakes
  await world.send({ temp: 60 })
  await createNode(deviceProfile, deviceProfile.defaultConfiguration, world.context)
  await world.clock.advance(300_001)
  for (let turn = 0; turn < 4; turn++) {
    await state.wake()
    await world.clock.settle()
    await world.clock.advance(250)
  }
  assert.equal(await severityOf(world), 'MAJOR')
})

test('limits come from attributes of the device, its customer and the tenant as they are then', async () => {
  const dynamicValue = { sourceType: 'CURRENT_DEVICE', sourceAttribute: 'limit', inherit: true }
  const world = await worldOf(hot({ MAJOR: rule('GREATER', 50, { dynamicValue }) }))
  const { attributes } = world.context.fakes
  const limit = (entity: EntityId, value: number): void =>
    attributes.add([{ key: 'limit', type: 'LONG', value }], entity, 'SERVER_SCOPE')
  limit(entityId('TENANT', TENANT_ID), 40)
  assert.deepEqual(await world.send({ temp: 45 }), ['Alarm Created isNewAlarm=true', 'Success'])
  limit(CUSTOMER, 46)
  await world.clock.advance(1)
  assert.deepEqual(await world.send({ temp: 45 }), ['Success'])
  assert.deepEqual(await world.send({ limit: 44 }, { type: 'POST_ATTRIBUTES_REQUEST' }), [
    'Alarm Updated isExistingAlarm=true',
    'Success',
  ])
  assert.deepEqual(await world.send({ attributes: ['limit'] }, { type: 'ATTRIBUTES_DELETED' }), ['Success'])
})

test('a change of the profile takes effect, and its values are known', async () => {
  const world = await worldOf(hot({ MAJOR: rule('GREATER', 50) }))
  assert.deepEqual(await world.send({ temp: 45, wind: 9 }), ['Success'])
  world.context.fakes.history.add(DEVICE, { key: 'wind', type: 'LONG', value: 9, ts: 1 })
  world.profile(hot({ MAJOR: rule('GREATER', 40) }), {
    ...hot({ MINOR: rule('GREATER', 5, { key: 'wind' }) }),
    id: 'a2',
  })
  await world.clock.advance(1)
  assert.deepEqual(await world.send({ temp: 45 }), ['Alarm Created isNewAlarm=true', 'Success'])
  world.profile()
  await world.clock.advance(1)
  assert.deepEqual(await world.send({ temp: 99 }), ['Success'])
})

test('who clears or deletes the alarm has its rules begin anew', async () => {
  const spec = { type: 'REPEATING', predicate: { defaultValue: 2 } }
  for (const type of ['ALARM_CLEAR', 'ALARM_DELETE']) {
    const world = await worldOf(hot({ MAJOR: rule('GREATER', 50, { spec }) }))
    const { alarms } = world.context.fakes
    for (const temp of [60, 61]) await world.send({ temp })
    const active = await alarms.findActive(DEVICE, 'Hot')
    await alarms.end(DEVICE, 'Hot')
    assert.deepEqual(await world.send({ ...active?.json }, { type }), ['Success'])
    assert.deepEqual(await world.send({ temp: 62 }), ['Success'], type)
    assert.deepEqual(await world.send({ temp: 63 }), [
      'Alarm Created alarmConditionRepeats=2 isNewAlarm=true',
      'Success',
    ])
  }
})

test('an alarm that is active when the device is first heard of is updated, and a more severe one stays', async () => {
  for (const [severity, expected] of [
    ['MINOR', ['Alarm Severity Updated isExistingAlarm=true isSeverityUpdated=true', 'Success']],
    ['CRITICAL', ['Success']],
  ] as const) {
    const world = await worldOf(hot({ MAJOR: rule('GREATER', 50) }))
    await world.context.fakes.alarms.raise({ originator: DEVICE, type: 'Hot', severity })
    assert.deepEqual(await world.send({ temp: 60 }), expected)
  }
})

test('an alarm that can not be written fails the message, and the next one has it written', async () => {
  const world = await worldOf(hot({ MAJOR: rule('GREATER', 50) }))
  const { alarms } = world.context.fakes
  const createOrUpdate = alarms.createOrUpdate
  alarms.createOrUpdate = () => Promise.reject(new Error('no room'))
  assert.deepEqual(await world.send({ temp: 60 }), ['Failure'])
  alarms.createOrUpdate = createOrUpdate
  assert.deepEqual(await world.send({ temp: 60 }), ['Alarm Created isNewAlarm=true', 'Success'])
})

test('rules that can not be read fail the message with the name of the member', async () => {
  const world = await worldOf({ id: 'a1', alarmType: 'Hot', createRules: { MAJOR: { condition: {} } } })
  const result = await world.run(testMessage({ data: '{"temp":60}' }))
  assert.match(result?.error?.message ?? '', /pumps.*createRules/)
})

test('all messages of one batch are evaluated in their order', async () => {
  const world = await worldOf(hot({ MAJOR: rule('GREATER', 50) }, rule('LESS', 20)))
  const node = await createNode(deviceProfile, deviceProfile.defaultConfiguration, world.context)
  const results = await runNode(
    node,
    ...[60, 10, 60].map((temp, index) => testMessage({ data: stringifyJson({ temp }), ts: 1_700_000_000_000 + index })),
  )
  assert.deepEqual(
    results.map(({ emissions }) => emissions.map(({ relations }) => relations[0])),
    [
      ['Alarm Created', 'Success'],
      ['Alarm Cleared', 'Success'],
      ['Alarm Created', 'Success'],
    ],
  )
})

test('telemetry without values changes nothing', async () => {
  const world = await worldOf(hot({ MAJOR: rule('GREATER', 50) }))
  assert.deepEqual(await world.send({}), ['Success'])
  const message = testMessage({ data: '{}', known: { entries: [] } })
  assert.deepEqual((await world.run(message))?.emissions.map(shown), ['Success'])
  for (const data of ['[]', '[{}]']) {
    assert.deepEqual((await world.run(testMessage({ data })))?.emissions.map(shown), ['Success'], data)
  }
})

test('backfill raises no alarm and changes nothing of what the rules know', async () => {
  const world = await worldOf(hot({ MAJOR: rule('GREATER', 30) }, rule('LESS', 20)))
  assert.deepEqual(await world.send({ temp: 90 }, { metadata: { backfill: 'true' } }), ['Success backfill=true'])
  assert.equal(await severityOf(world), undefined)
  await world.send({ temp: 90 })
  await world.send({ temp: 0 }, { metadata: { backfill: 'true' } })
  assert.equal(await severityOf(world), 'MAJOR')
})

test('what was known of a device whose partition was elsewhere meanwhile is read again', async () => {
  const world = await worldOf(hot({ MINOR: rule('GREATER', 30), MAJOR: rule('GREATER', 50) }))
  const { fakes } = world.context
  assert.deepEqual(await world.send({ temp: 60 }), ['Alarm Created isNewAlarm=true', 'Success'])
  // By the process that had the partition.
  await fakes.alarms.end(DEVICE, 'Hot')
  fakes.state.stay = 2
  assert.deepEqual(await world.send({ temp: 40 }), ['Alarm Created isNewAlarm=true', 'Success'])
  assert.equal(await severityOf(world), 'MINOR')
})
