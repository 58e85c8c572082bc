/**
 * The device profile node dies at each durable step of what its rules count and its timers decide: whoever comes after it raises the alarm once,
 * when it would have been, and tells of it once.
 */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { ManualClock } from '../../engine/actor/testkit.ts'
import { causedId } from '../../engine/rulechain/child-id.ts'
import type { NodeInstance, NodeOutput } from '../../engine/rulechain/node-instance.ts'
import { NodeStates } from '../../engine/state/node-states.ts'
import { entityId, type EntityId } from '../../model/entity-id.ts'
import type { JsonObject } from '../../model/json.ts'
import { Message } from '../../model/message.ts'
import { deviceProfile } from '../../nodes/profile/device-profile.ts'
import { testContext } from '../../nodes/testkit.ts'
import type { EntityStore } from '../../storage/entities/entity-store.ts'
import { onBothDatabases } from '../both-databases.testkit.ts'
import { atEveryStep, type KilledStore } from '../kills/kill-steps.ts'
import { nodeAlarms } from '../node-capabilities/alarms.ts'
import { StoredNodeStates } from '../node-states.ts'
import { openTestPlatform, testSecrets, type TestPlatform } from '../testkit.ts'
import { testVisits } from './visits.testkit.ts'

const secrets = testSecrets()
const PROFILE = entityId('DEVICE_PROFILE', '88888888-8888-4888-8888-888888888888')
const MINUTES = 5
/** More than any run needs. */
const MAX_TURNS = 400

interface Case {
  readonly what: string
  readonly spec: JsonObject
  readonly messages: number
  readonly told: RegExp
}

const CASES: readonly Case[] = [
  {
    ...{ what: 'a duration', messages: 1, told: /^isNewAlarm alarmConditionDuration=3\d{5}$/ },
    spec: { type: 'DURATION', unit: 'MINUTES', predicate: { defaultValue: MINUTES } },
  },
  {
    ...{ what: 'repetitions', messages: 3, told: /^isNewAlarm alarmConditionRepeats=3$/ },
    spec: { type: 'REPEATING', predicate: { defaultValue: 3 } },
  },
]

/** The time of a test does not go by while the disk is asked, however slow that is. */
class WritesUnderWay {
  private readonly writes = new Set<Promise<unknown>>()

  until<T>(write: Promise<T>): Promise<T> {
    const end = (): void => void this.writes.delete(write)
    this.writes.add(write)
    write.then(end, end)
    return write
  }

  async over(): Promise<void> {
    while (this.writes.size > 0) {
      await Promise.allSettled(this.writes)
      // Whoever waited for it may write again.
      await setImmediate()
    }
  }
}

await onBothDatabases('alarm rules of profiles that are killed: ', (open) => {
  let live: TestPlatform
  let dying: TestPlatform
  let next: TestPlatform
  let store: EntityStore
  const underWay = new WritesUnderWay()
  before(async () => {
    live = await open({ secrets })
    store = live.entities
    const over = (write: EntityStore['write']): Promise<TestPlatform> => {
      const entities: EntityStore = {
        ...live.entities,
        write: (steps) => underWay.until(write(steps)),
        close: async () => undefined,
      }
      return openTestPlatform({ start: false, secrets, openEntities: async () => entities })
    }
    dying = await over((steps) => store.write(steps))
    next = await over((steps) => live.entities.write(steps))
  })
  after(async () => {
    await dying.close()
    await next.close()
    await live.close()
  })

  for (const each of CASES)
    test(each.what, async () => {
      let kills = 0
      const steps = await atEveryStep(live.entities, async (killed, { step, when }) => {
        const point = `${step} ${when}`
        const { id } = await live.services.devices.saveByUser(live.tenant, { name: `${each.what} ${point}` })
        const clock = new ManualClock()
        const world: World = {
          ...{ each, device: entityId('DEVICE', id), clock, start: clock.now(), log: `${each.what} ${point}` },
          ...{ told: new Map(), underWay },
        }
        store = killed.store
        await run(world, dying, killed).catch(() => undefined)
        store = live.entities
        if (killed.isDead) {
          kills++
          await run(world, next)
        }
        const told = [...world.told.values()]
        assert.equal(told.length, 1, `${point}: ${told.join()}`)
        assert.match(told[0] ?? '', each.told, point)
        const page = { page: 0, pageSize: 10 }
        const found = await live.services.alarms.page({ tenantId: live.tenantId, entityId: id }, page)
        assert.equal(found.totalElements, 1, point)
      })
      // Writes that meet are one step: a run may have one more than the run after it.
      const isEachKilled = kills === 2 * steps || kills === 2 * steps + 1
      assert.ok(steps >= 3 && isEachKilled, `${steps} steps, ${kills} kills`)
    })
})

interface World {
  readonly each: Case
  readonly device: EntityId
  readonly clock: ManualClock
  /** Of the first message, Unix ms. */
  readonly start: number
  readonly log: string
  /** What became durable of what was told of alarms, by the message's id. */
  readonly told: Map<string, string>
  readonly underWay: WritesUnderWay
}

/** The life of a process: all messages come, as nothing was settled before, and its time goes by until the alarm was told of. */
async function run(world: World, platform: TestPlatform, killed?: KilledStore): Promise<void> {
  const { each, device, clock, log, told } = world
  const isDead = (): boolean => killed?.isDead === true
  const tell = (message: Message): void => {
    if (isDead() || message.type !== 'ALARM') return
    const { isNewAlarm, ...metadata } = message.metadata
    const marks = Object.entries(metadata).map(([key, value]) => `${key}=${value}`)
    told.set(message.id, [...(isNewAlarm === 'true' ? ['isNewAlarm'] : []), ...marks].join(' '))
  }
  const test = testContext({ clock })
  const condition = {
    condition: [
      {
        ...{ key: { type: 'TIME_SERIES', key: 'temp' }, valueType: 'NUMERIC' },
        predicate: { type: 'NUMERIC', operation: 'GREATER', value: { defaultValue: 50 } },
      },
    ],
    spec: each.spec,
  }
  const alarmRules = { id: 'a1', alarmType: 'Hot', createRules: { MAJOR: { condition, schedule: null } } }
  test.fakes.entities.add({ id: PROFILE, name: 'pumps', json: { profileData: { alarms: [alarmRules] } } })
  test.fakes.entities.add({ id: device, name: 'pump', type: 'pumps', profileId: PROFILE.id })
  const { tenantId, entities } = platform
  const { ruleChainId, ruleChainName, ruleNodeId, ruleNodeName } = test
  const identity = { tenantId, ruleChainId, ruleChainName, ruleNodeId, ruleNodeName }
  const stored = new StoredNodeStates({ entities, clock, report: () => undefined, log, self: 'a process' })
  const states = new NodeStates({
    ...{ store: stored, clock, serviceId: 'test', report: () => undefined },
    log: {
      streamOf: () => 0,
      settledBelow: () => 0,
      publish: (message, receipt) => {
        tell(message)
        receipt.stored()
      },
    },
  })
  const visits = testVisits(platform, { name: log, fence: (stream) => stored.fence(stream) })
  const services = {
    ...{ ...test.services, state: states.of(identity) },
    alarms: nodeAlarms(platform.services, visits)(identity),
  }
  await states.taken(0)
  killed?.arm()
  const node = await deviceProfile.create(deviceProfile.defaultConfiguration, { ...test, tenantId, services })
  try {
    for (let sequence = 1; sequence <= each.messages && !isDead(); sequence++) {
      const message = new Message({
        ...{
          id: `message ${sequence}`,
          ts: world.start + sequence,
          type: 'POST_TELEMETRY_REQUEST',
          tenantId,
          originator: device,
        },
        ...{ metadata: {}, data: '{"temp":60}' },
      })
      for (const output of await handled(node, message, { sequence, originatorId: device.id }))
        for (const { message: one } of emissionsOf(output)) tell(one.with({ id: causedId(one, ruleNodeId) }))
    }
    for (let turn = 0; turn < MAX_TURNS && !isDead() && told.size === 0; turn++) {
      await clock.advance(turn === 0 ? Math.max(0, world.start + MINUTES * 60_000 + 1 - clock.now()) : 250)
      // What is read reaches the database before.
      await entities.alarmVisits.find('none')
      await world.underWay.over()
    }
  } finally {
    await node.close?.()
    await states.close()
  }
}

function handled(
  node: NodeInstance,
  message: Message,
  at: { readonly sequence: number; readonly originatorId: string },
): Promise<readonly NodeOutput[]> {
  const outputs: NodeOutput[] = []
  return new Promise((resolve, reject) => {
    const ended = node.handleBatch?.([message], {
      visit: () => ({ id: message.id, ...at }),
      emit: (_index, output) => void outputs.push(output),
      fail: (_index, error) => reject(error),
    })
    void Promise.resolve(ended).then(() => resolve(outputs), reject)
  })
}

function emissionsOf(output: NodeOutput): readonly { readonly message: Message }[] {
  if (output === undefined || typeof output === 'string' || 'flow' in output) return []
  return 'message' in output ? [output] : output
}
