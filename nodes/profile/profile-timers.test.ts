import assert from 'node:assert/strict'
import { test } from 'node:test'
import { z } from 'zod'
import { ManualClock } from '../../engine/actor/testkit.ts'
import { entityId } from '../../model/entity-id.ts'
import { stringifyJson, type JsonObject } from '../../model/json.ts'
import type { Emission } from '../../engine/rulechain/node.ts'
import { testContext, type TestContext } from '../testkit.ts'
import type { Decision } from './decision.ts'
import { DeviceMemories } from './device-memory.ts'
import type { DeviceState } from './device-turn.ts'
import { ProfileTimers } from './profile-timers.ts'

const DEVICE = entityId('DEVICE', '55555555-5555-4555-8555-555555555555')
const PROFILE = entityId('DEVICE_PROFILE', '88888888-8888-4888-8888-888888888888')

/** Remembers nothing, as one that has more devices than room. */
class NoRoom extends DeviceMemories {
  override peek(): undefined {
    return undefined
  }
}

interface World {
  readonly context: TestContext
  readonly clock: ManualClock
  readonly carriedOut: (readonly Decision[])[]
  /** The state with which its partition comes. */
  readonly comes: (state: JsonObject) => void
  readonly wake: () => Promise<void>
}

function worldOf(): World {
  const clock = new ManualClock()
  const context = testContext({ clock })
  const { entities, state } = context.fakes
  entities.add({ id: DEVICE, name: 'pump 1', type: 'pumps', profileId: PROFILE.id })
  const carriedOut: (readonly Decision[])[] = []
  const carryOut = async (decisions: readonly Decision[]): Promise<readonly Emission[]> => {
    carriedOut.push(decisions)
    return []
  }
  const timers = new ProfileTimers(context, new NoRoom(context), carryOut)
  state.keyed<DeviceState, undefined>({
    per: 'originator',
    parse: (stored) => z.custom<DeviceState>().parse(stored),
    handle: () => 'Success',
    wake: (turn) => timers.wake(turn),
  })
  return {
    ...{ context, clock, carriedOut },
    comes: (stored) =>
      void state.held.set(DEVICE.id, { entity: DEVICE, text: stringifyJson(stored), wakesAt: clock.now() }),
    wake: async () => {
      await state.wake()
      await clock.settle()
      await clock.advance(250)
    },
  }
}

test('what was begun for a state that another process has finished does not count for the next one', async () => {
  const world = worldOf()
  const pending = (details: string) => ({ counts: {}, pending: [{ id: 'a1', details }] })
  world.comes(pending('first'))
  await world.wake()
  assert.equal(world.carriedOut.length, 1)
  world.comes(pending('second'))
  for (let turn = 0; turn < 2; turn++) await world.wake()
  assert.deepEqual(
    world.carriedOut.map(([decision]) => decision),
    [
      { id: 'a1', details: 'first' },
      { id: 'a1', details: 'second' },
    ],
  )
  assert.equal(world.context.fakes.state.held.get(DEVICE.id)?.text, undefined, 'it is done')
})

test('a device whose memory is dropped before its time is looked at with what was loaded', async () => {
  const world = worldOf()
  const { entities, state } = world.context.fakes
  const value = { defaultValue: 50, userValue: null, dynamicValue: null }
  const condition = {
    condition: [
      {
        ...{ key: { type: 'TIME_SERIES', key: 'temp' }, valueType: 'NUMERIC' },
        predicate: { type: 'NUMERIC', operation: 'GREATER', value },
      },
    ],
    spec: { type: 'DURATION', unit: 'MINUTES', predicate: { defaultValue: 5 } },
  }
  const createRules = { MAJOR: { condition, schedule: null, alarmDetails: null, dashboardId: null } }
  const alarms = [{ id: 'a1', alarmType: 'Hot', createRules, clearRule: null }]
  entities.add({ id: PROFILE, name: 'pumps', json: { profileData: { alarms } } })
  world.context.fakes.history.add(DEVICE, { key: 'temp', type: 'LONG', value: 60, ts: 1 })
  const lastTs = world.clock.now() - 400_000
  world.comes({ counts: { a1: { MAJOR: { count: 0, lastTs, durationMs: 0 } } }, pending: [] })
  for (let turn = 0; turn < 3; turn++) await world.wake()
  assert.match(state.held.get(DEVICE.id)?.text ?? '', /"pending":\[\{/)
  assert.equal(world.carriedOut.length, 1)
})
