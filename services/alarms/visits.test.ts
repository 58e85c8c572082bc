/**
 * A process that dies at a durable step of what a rule node does with an alarm: the log delivers the message again, and what comes of it is what
 * would have come without the kill, also where the alarm was changed meanwhile.
 */
import assert from 'node:assert/strict'
import { after, before, mock, test } from 'node:test'
import { NodeStates } from '../../engine/state/node-states.ts'
import { StatesInMemory } from '../../engine/state/memory-store.ts'
import type { NodeInstance, NodeOutput } from '../../engine/rulechain/node-instance.ts'
import type { NodeContext } from '../../engine/rulechain/node.ts'
import type { CapabilityName } from '../../engine/rulechain/capabilities.ts'
import { causedId } from '../../engine/rulechain/child-id.ts'
import type { NodeAlarms, NodeAlarmSeverity } from '../../engine/rulechain/capabilities/alarms.ts'
import { entityId, type EntityId } from '../../model/entity-id.ts'
import { isJsonObject, type JsonObject } from '../../model/json.ts'
import { Message } from '../../model/message.ts'
import { clearAlarm } from '../../nodes/action/clear-alarm.ts'
import { createAlarm } from '../../nodes/action/create-alarm.ts'
import { deviceProfile } from '../../nodes/profile/device-profile.ts'
import { testContext } from '../../nodes/testkit.ts'
import type { EntityStore } from '../../storage/entities/entity-store.ts'
import { onBothDatabases } from '../both-databases.testkit.ts'
import { storingNode } from '../calculated-fields/runtime/storing.ts'
import { RESULT_TYPE } from '../calculated-fields/runtime/payload.ts'
import { atEveryStep } from '../kills/kill-steps.ts'
import { nodeAlarms } from '../node-capabilities/alarms.ts'
import { StoredNodeStates } from '../node-states.ts'
import { openTestPlatform, testSecrets, type TestPlatform } from '../testkit.ts'
import { nextVisit, testVisits } from './visits.testkit.ts'

const secrets = testSecrets()
const PROFILE = entityId('DEVICE_PROFILE', '88888888-8888-4888-8888-888888888888')
/** Behind all others. */
const SEQUENCE = 1_000_000

type Context = NodeContext<CapabilityName>
type Made = NodeInstance | Promise<NodeInstance>

interface Case {
  readonly what: string
  /** How the alarm stands before; absent: there is none. */
  readonly active?: NodeAlarmSeverity
  readonly data: JsonObject
  readonly type?: string
  readonly node: (context: Context) => Made
  /** Relations by which alarms go on, and types of messages to the originator's chain. */
  readonly told: readonly string[]
  /** What the details count: how often the alarm was told how it stands. */
  readonly count: number
}

/** Counts in the details how often it ran: the same visit may not count twice. */
const DETAILS = {
  ...{ alarmType: 'Hot', scriptLang: 'TBEL' },
  alarmDetailsBuildTbel: 'return {count: (JSON.parse(metadata.prevAlarmDetails || "{}").count || 0) + 1}',
}
const create = (severity: string) => (context: Context) => createAlarm.create({ ...DETAILS, severity }, context)
const profile = (context: Context): Made => deviceProfile.create(deviceProfile.defaultConfiguration, context)
const RAISE = {
  ...{ kind: 'raise', alarmType: 'Hot', severity: 'MAJOR', startTs: 5, details: null, dashboardId: null, metadata: {} },
  ...{ propagate: false, propagateToOwner: false, propagateToTenant: false, propagateRelationTypes: [] },
}
const CLEAR = { kind: 'clear', alarmType: 'Hot', details: null, metadata: {} }
const field = { type: RESULT_TYPE, node: storingNode }

const CASES: readonly Case[] = [
  { what: 'create', data: {}, node: create('MAJOR'), told: ['Created', 'ENTITY_CREATED'], count: 1 },
  { what: 'update', active: 'MAJOR', data: {}, node: create('MAJOR'), told: ['Updated', 'ENTITY_UPDATED'], count: 2 },
  { what: 'raise', active: 'MINOR', data: {}, node: create('MAJOR'), told: ['Updated', 'ENTITY_UPDATED'], count: 2 },
  {
    ...{ what: 'clear', active: 'MAJOR', data: {}, node: (context) => clearAlarm.create(DETAILS, context) },
    ...{ told: ['Cleared', 'ALARM_CLEAR'], count: 2 },
  },
  { what: 'rule creates', data: { temp: 60 }, node: profile, told: ['Alarm Created', 'Success'], count: 0 },
  {
    ...{ what: 'rule raises', active: 'MINOR', data: { temp: 60 }, node: profile },
    ...{ told: ['Alarm Severity Updated', 'Success'], count: 1 },
  },
  {
    ...{ what: 'rule clears', active: 'MAJOR', data: { temp: 10 }, node: profile },
    ...{ told: ['Alarm Cleared', 'Success'], count: 1 },
  },
  { what: 'field creates', data: RAISE, ...field, told: ['Success', 'ALARM_CREATED'], count: 0 },
  { what: 'field updates', active: 'MAJOR', data: RAISE, ...field, told: ['Success', 'ALARM_UPDATED'], count: 1 },
  {
    what: 'field raises',
    active: 'MINOR',
    data: RAISE,
    ...field,
    told: ['Success', 'ALARM_SEVERITY_UPDATED'],
    count: 1,
  },
  { what: 'field clears', active: 'MAJOR', data: CLEAR, ...field, told: ['Success', 'ALARM_CLEAR'], count: 1 },
]

await onBothDatabases('alarms and what is told of them, ', (open) => {
  let live: TestPlatform
  let dying: TestPlatform
  let store: EntityStore
  before(async () => {
    live = await open({ secrets })
    store = live.entities
    const switched: EntityStore = {
      ...live.entities,
      write: (steps) => store.write(steps),
      close: async () => undefined,
    }
    dying = await openTestPlatform({ start: false, secrets, openEntities: async () => switched })
  })
  after(async () => {
    await dying.close()
    await live.close()
  })

  for (const each of CASES)
    test(each.what, async () => {
      let kills = 0
      const steps = await atEveryStep(live.entities, async (killed, { step, when }) => {
        const device = await live.services.devices.saveByUser(live.tenant, {
          name: `${each.what} ${step} ${when}`,
        })
        const originator = entityId('DEVICE', device.id)
        const others = nodeAlarms(live.services, testVisits(live))(identity(live))
        const place = { originator, type: 'Hot' }
        const change = (severity: NodeAlarmSeverity) =>
          others.createOrUpdate(place, nextVisit(), () => ({ severity, details: { count: 1 } }))
        if (each.active !== undefined) await change(each.active)
        const states = new StatesInMemory()
        killed.arm()
        store = killed.store
        await run(each, dying, states, originator).catch(() => undefined)
        store = live.entities
        if (killed.isDead) kills++

        live.clock.time += 1000
        const told = await run(each, live, states, originator)
        const [first] = told
        assert.deepEqual(
          told.map(({ to }) => to),
          each.told,
          `${step} ${when}`,
        )
        assert.ok(first !== undefined)
        // All was done and told, but not settled; others changed the alarm meanwhile.
        await change('CRITICAL')
        live.clock.time += 1000
        assert.deepEqual(await run(each, live, states, originator), told, `${step} ${when}, again`)
        const alarm = told.find(({ body }) => body['id'] !== undefined)?.body
        const count = each.count === 0 ? {} : { count: each.count }
        assert.deepEqual([alarm?.['details'], alarm?.['type']], [count, 'Hot'], `${step} ${when}`)
        const page = { page: 0, pageSize: 10 }
        const found = await live.services.alarms.page({ tenantId: live.tenantId, entityId: originator.id }, page)
        const isCleared = each.told.some((text) => /clear/i.test(text))
        assert.equal(found.totalElements, isCleared ? 2 : 1)
      })
      assert.ok(steps >= 1 && kills >= 2, `${steps} steps, ${kills} kills`)
    })

  test('rows go once their messages are settled, and are looked for only where there may be one', async () => {
    const device = await live.services.devices.saveByUser(live.tenant, { name: 'settled' })
    const place = { originator: entityId('DEVICE', device.id), type: 'Hot' }
    let settled = 0
    const visits = testVisits(live, { settledBelow: () => settled })
    const alarms = nodeAlarms(live.services, visits)(identity(live))
    const at = (id: string, sequence: number | null) => ({ id, originatorId: device.id, sequence })
    const raise = (visit: ReturnType<typeof at>) =>
      alarms.createOrUpdate(place, visit, (active) => ({ severity: 'MAJOR', details: { count: active ? 2 : 1 } }))
    const rowOf = (visit: ReturnType<typeof at>) =>
      live.entities.alarmVisits.find(visits.of(identity(live), visit, 'raise', place).id)
    const [one, two, three, time] = [at('one', 10), at('two', 20), at('three', 15), at('time', null)]
    for (const visit of [one, two, three, time]) await raise(visit)
    assert.deepEqual((await raise(three))?.alarm.details, { count: 2 })
    settled = 20
    assert.equal(await visits.sweep(), false)
    const left = await Promise.all([one, two, three, time].map(rowOf))
    // What came again may be parked.
    assert.deepEqual(
      left.map((row) => row !== undefined),
      [false, true, true, true],
    )
    live.clock.time += 86_400_001
    await visits.sweep()
    assert.deepEqual(await Promise.all([two, three, time].map(rowOf)), [undefined, undefined, undefined])

    // As another process, which finds what this one left.
    const later = at('later', 30)
    await raise(later)
    const find = mock.method(live.entities.alarmVisits, 'find')
    const next = nodeAlarms(live.services, testVisits(live))(identity(live))
    const clear = (sequence: number) => next.clear(place, at(`clear ${sequence}`, sequence), () => undefined)
    await clear(31)
    assert.equal(find.mock.callCount(), 0)
    await clear(30)
    assert.equal(find.mock.callCount(), 1)
    find.mock.restore()
  })

  test('a message that is tried again while its first call goes on is told what that call did', async () => {
    const { place, at } = await newPlace(live, 'tried again')
    const alarms = nodeAlarms(live.services, testVisits(live))(identity(live))
    await alarms.createOrUpdate(place, at(1), () => ({ severity: 'MAJOR' }))
    const asked = Promise.withResolvers<undefined>()
    const answer = Promise.withResolvers<object>()
    const first = alarms.clear(place, at(2), () => {
      asked.resolve(undefined)
      return answer.promise
    })
    await asked.promise
    const again = alarms.clear(place, at(2), async () => {
      await first
      return {}
    })
    answer.resolve({})
    assert.equal((await first)?.status, 'CLEARED_UNACK')
    assert.deepEqual(await again, await first)
  })

  test('a process that has lost the partition changes no alarm: the next one is asked, and tells', async () => {
    const { place, at } = await newPlace(live, 'two owners')
    const process = async (epoch: number) => {
      const { entities, clock } = live
      const report = (text: string) => assert.fail(text)
      const states = new StoredNodeStates({ entities, clock, report, log: 'owners', self: `process ${epoch}` })
      await states.claim(0, epoch)
      const visits = testVisits(live, { fence: (stream) => states.fence(stream) })
      return nodeAlarms(live.services, visits)(identity(live))
    }
    const former = await process(1)
    await former.createOrUpdate(place, at(1), () => ({ severity: 'MAJOR' }))
    const asked = Promise.withResolvers<undefined>()
    const answer = Promise.withResolvers<object>()
    const late = former.clear(place, at(3), () => {
      asked.resolve(undefined)
      return answer.promise
    })
    await asked.promise
    const next = await process(2)
    assert.equal(await next.clear({ ...place, type: 'Other' }, at(2), () => ({})), undefined)
    answer.resolve({})
    await assert.rejects(late, { code: 'node-state.OWNER_STALE' })
    assert.equal((await next.clear(place, at(3), () => ({})))?.status, 'CLEARED_UNACK')
  })

  test('a clear that found nothing finds nothing again, also where a later message has raised the alarm since', async () => {
    const { place, at } = await newPlace(live, 'raised since')
    const process = () => nodeAlarms(live.services, testVisits(live))(identity(live))
    const run = async (alarms: NodeAlarms) => ({
      cleared: await alarms.clear(place, at(1), () => ({})),
      raised: await alarms.createOrUpdate(place, at(2), () => ({ severity: 'MAJOR' })),
      active: (await alarms.findActive(place.originator, 'Hot'))?.status,
    })
    const told = await run(process())
    assert.deepEqual([told.cleared, told.raised?.result, told.active], [undefined, 'created', 'ACTIVE_UNACK'])
    assert.deepEqual(await run(process()), told)
    // One that comes behind both clears it.
    assert.equal((await process().clear(place, at(3), () => ({})))?.status, 'CLEARED_UNACK')
  })
})

/** A device of its own, and its messages. */
async function newPlace(platform: TestPlatform, name: string) {
  const { id } = await platform.services.devices.saveByUser(platform.tenant, { name })
  const base = (places += 1000)
  const at = (sequence: number) => ({ id: `${name} ${sequence}`, originatorId: id, sequence: base + sequence })
  return { place: { originator: entityId('DEVICE', id), type: 'Hot' }, at }
}

let places = 0

function identity({ tenantId }: TestPlatform) {
  const { ruleChainId, ruleChainName, ruleNodeId, ruleNodeName } = testContext()
  return { tenantId, ruleChainId, ruleChainName, ruleNodeId, ruleNodeName }
}

interface Told {
  readonly to: string
  readonly id: string
  readonly body: JsonObject
  readonly metadata: Readonly<Record<string, string>>
}

/** One delivery of the message at a node of a process that has just begun. */
async function run(each: Case, platform: TestPlatform, store: StatesInMemory, originator: EntityId): Promise<Told[]> {
  const { clock, tenantId } = platform
  const message = new Message({
    ...{
      id: '44444444-4444-4444-8444-444444444444',
      ts: 1_700_000_000_000,
      type: each.type ?? 'POST_TELEMETRY_REQUEST',
    },
    ...{ tenantId, originator, metadata: {}, data: JSON.stringify(each.data) },
  })
  const test = testContext({ clock })
  test.fakes.entities.add({ id: PROFILE, name: 'pumps', json: { profileData: { alarms: [RULES] } } })
  test.fakes.entities.add({ id: originator, name: 'pump', type: 'pumps', profileId: PROFILE.id })
  const states = new NodeStates({
    ...{ store, clock, serviceId: 'test', report: (_level, text) => assert.fail(text) },
    log: { streamOf: () => 0, settledBelow: () => 0, publish: (_message, receipt) => receipt.stored() },
  })
  await states.taken(0)
  const alarms = nodeAlarms(platform.services, testVisits(platform))(identity(platform))
  const context: Context = {
    ...{ ...test, tenantId },
    services: { ...test.services, alarms, state: states.of(identity(platform)) },
  }
  const node = await each.node(context)
  const visit = () => ({ id: message.id, originatorId: originator.id, sequence: SEQUENCE })
  const outputs: NodeOutput[] = []
  try {
    if (node.handle !== undefined) outputs.push(await node.handle(message, { visit }))
    else
      await new Promise<void>((resolve, reject) => {
        const ended = node.handleBatch?.([message], {
          visit,
          emit: (_index, output) => void outputs.push(output),
          fail: (_index, error) => reject(error),
        })
        void Promise.resolve(ended).then(resolve, reject)
      })
  } finally {
    await node.close?.()
    await states.close()
  }
  const emissions = outputs.flatMap((output): readonly { message: Message; to: string }[] => {
    if (typeof output === 'string') return [{ message, to: output }]
    if (output === undefined || 'flow' in output) return []
    return ('message' in output ? [output] : output).map(({ message: sent, relations }) => ({
      message: sent,
      to: relations.join(),
    }))
  })
  const sent = test.enqueued.map((one) => ({ message: one.with({ id: causedId(one, test.ruleNodeId) }), to: one.type }))
  return [...emissions, ...sent].map(({ message: one, to }) => {
    const body = one.json()
    assert.ok(isJsonObject(body))
    return { to, id: one.id, metadata: one.metadata, body }
  })
}

const RULES = {
  ...{ id: 'a1', alarmType: 'Hot' },
  createRules: {
    MAJOR: { condition: condition('GREATER', 50), schedule: null, alarmDetails: null, dashboardId: null },
  },
  clearRule: { condition: condition('LESS', 20), schedule: null, alarmDetails: null, dashboardId: null },
}

function condition(operation: string, limit: number): JsonObject {
  const value = { defaultValue: limit, userValue: null, dynamicValue: null }
  const predicate = { type: 'NUMERIC', operation, value }
  return {
    condition: [{ key: { type: 'TIME_SERIES', key: 'temp' }, valueType: 'NUMERIC', predicate }],
    spec: { type: 'SIMPLE' },
  }
}
