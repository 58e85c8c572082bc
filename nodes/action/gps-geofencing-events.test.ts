import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Clock } from '../../model/clock.ts'
import type { JsonObject } from '../../model/json.ts'
import { createNode, runNode, testContext, testMessage } from '../testkit.ts'
import { gpsGeofencingEvents } from './gps-geofencing-events.ts'

async function opened(change: JsonObject) {
  let now = 100_000
  const clock: Clock = {
    now: () => now,
    monotonic: () => now,
    after: () => ({ cancel: () => undefined }),
    soon: (run) => queueMicrotask(run),
  }
  const context = testContext({ clock })
  const configuration = {
    ...gpsGeofencingEvents.defaultConfiguration,
    fetchPerimeterInfoFromMessageMetadata: false,
    polygonsDefinition: '[[10,10],[10,20],[20,20],[20,10]]',
    ...change,
  }
  const node = await createNode(gpsGeofencingEvents, configuration, context)
  const at = async (latitude: number, afterMs = 0): Promise<string> => {
    now += afterMs
    const [result] = await runNode(node, testMessage({ data: `{"latitude":${latitude},"longitude":15}` }))
    return result?.emissions[0]?.relations.join() ?? ''
  }
  return { context, at }
}

test('a change of side, and the side on each message', async () => {
  const { at, context } = await opened({})
  const told = [await at(25), await at(15), await at(16), await at(25), await at(26), await at(15)]
  assert.deepEqual(told, ['Left', 'Entered', 'Inside', 'Left', 'Outside', 'Entered'])
  assert.deepEqual(
    context.attributeSaves
      .map(({ scope, entries }) => [scope, entries[0]?.type, entries[0]?.key, entries[0]?.value])
      .at(-1),
    ['SERVER_SCOPE', 'STRING', 'here', '{"inside":true,"stateSwitchTime":100000,"stayed":false}'],
  )
  assert.equal(context.attributeSaves.length, 4)
})

test('an old configuration keeps what it says of each message', () => {
  const said = (configuration: JsonObject) =>
    gpsGeofencingEvents.upgrade?.(configuration, 0)['reportPresenceStatusOnEachMessage']
  assert.deepEqual([said({}), said({ reportPresenceStatusOnEachMessage: true })], [false, true])
})

test('the side once after a stay', async () => {
  const { at } = await opened({ reportPresenceStatusOnEachMessage: false, minOutsideDuration: 2 })
  const told = [await at(15), await at(15, 60_000), await at(15, 1), await at(15), await at(25), await at(25, 60_001)]
  assert.deepEqual(told, ['Entered', 'Success', 'Inside', 'Success', 'Left', 'Success'])
  assert.equal(await at(25, 60_000), 'Outside')
})

test('a side whose commit is refused is not told, and Entered comes with the next try', async () => {
  const { at, context } = await opened({})
  const { state } = context.fakes
  state.refuses = new Error('the store does not answer')
  assert.equal(await at(15), 'Failure')
  assert.deepEqual(context.attributeSaves, [])
  state.refuses = undefined
  assert.equal(await at(15), 'Entered')
  assert.equal(context.attributeSaves.length, 1)
})
