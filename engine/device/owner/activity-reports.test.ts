import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { EntityId } from '../../../model/entity-id.ts'
import type { DeviceSession } from '../gateway.ts'
import { identityOf, openGatewayBench, type GatewayBench } from '../testkit.ts'

interface FleetDevice {
  readonly entity: EntityId
  readonly session: DeviceSession
}

/** HTTP devices: their sessions bring no events of their own. */
async function openFleet(bench: GatewayBench, count: number): Promise<readonly FleetDevice[]> {
  const names = Array.from({ length: count }, (_, index) => `fleet ${index}`)
  return Promise.all(
    names.map(async (name) => {
      const identity = identityOf(name)
      bench.directory.devices.set(name, identity)
      const { session } = await bench.open(name, 'brief')
      return { entity: { entityType: 'DEVICE', id: identity.deviceId }, session }
    }),
  )
}

function eventsOf({ link }: GatewayBench): readonly string[] {
  return link.messages.map(({ type }) => type)
}

test('activity is written down in turn where more devices are active than may be written, and activity is told at once', async () => {
  const bench = openGatewayBench({ activityReportMs: 1000, activityReportsPerSecond: 2 })
  const sessions = await openFleet(bench, 10)
  const heard = sessions.map(({ session }) => session)
  for (const session of heard) session.touch()
  await bench.clock.advance(1000)
  assert.equal(eventsOf(bench).length, 10)
  const times = (): unknown[] => sessions.map(({ entity }) => bench.attributes.value(entity, 'lastActivityTime'))
  const first = times()
  for (let second = 0; second < 5; second++) {
    for (const session of heard) session.touch()
    const before = times()
    await bench.clock.advance(1000)
    const written = times().flatMap((time, index) => (time === before[index] ? [] : [index]))
    assert.deepEqual(written, [2 * second, 2 * second + 1])
  }
  assert.ok(times().every((time, index) => time !== first[index]))
  assert.equal(bench.owner.figures().activityWaiting, 8)
  for (const session of heard) session.touch()
  const closed = bench.gateway.close()
  await bench.clock.settle()
  await closed
  bench.owner.close()
  await bench.clock.settle()
  assert.deepEqual(new Set(times()), new Set([bench.clock.now()]), 'a close writes all of them')
})

test('no device is taken for silent whose activity only waits to be written down', async () => {
  const bench = openGatewayBench({
    activityReportMs: 1000,
    activityReportsPerSecond: 1,
    inactivityTimeoutMs: 5000,
    stateCheckIntervalMs: 1000,
  })
  const sessions = await openFleet(bench, 20)
  for (let second = 0; second < 15; second++) {
    for (const { session } of sessions) session.touch()
    await bench.clock.advance(1000)
  }
  assert.deepEqual(new Set(eventsOf(bench)), new Set(['ACTIVITY_EVENT']))
  const lastHeard = bench.clock.now() - 1000
  await bench.clock.advance(30_000)
  const events = bench.link.ofType('INACTIVITY_EVENT').map((message) => message.json() as Record<string, unknown>)
  assert.equal(events.length, 20)
  assert.ok(events.every(({ lastActivityTime }) => lastActivityTime === lastHeard))
})

test('devices that are heard one after another are written down one after another, each within a period', async () => {
  const bench = openGatewayBench({ activityReportMs: 3000 })
  const fleet = await openFleet(bench, 30)
  const writes: number[] = []
  for (let step = 0; step < 60; step++) {
    fleet[step]?.session.touch()
    const before = eventsOf(bench).length
    await bench.clock.advance(100)
    writes.push(eventsOf(bench).length - before)
  }
  assert.ok(Math.max(...writes) <= 2, writes.join())
  assert.equal(eventsOf(bench).length, 30)
})

test('a device that falls silent while its activity waits for room becomes active as soon as it is heard', async () => {
  const bench = openGatewayBench({ activityReportMs: 1000, activityReportsPerSecond: 1 })
  const fleet = await openFleet(bench, 20)
  for (let period = 0; period < 2; period++) {
    for (const { session } of fleet) session.touch()
    await bench.clock.advance(1000)
  }
  const last = fleet[19]
  assert.ok(last !== undefined)
  bench.owner.report(last.entity.id, 'inactivity', bench.clock.now())
  await bench.clock.advance(1000)
  last.session.touch()
  await bench.clock.advance(1000)
  assert.deepEqual(eventsOf(bench).slice(20), ['INACTIVITY_EVENT', 'ACTIVITY_EVENT'])
  assert.equal(bench.attributes.value(last.entity, 'lastActivityTime'), bench.clock.now() - 1000)
})

test('devices that are gone take no room from those that wait behind them', async () => {
  const bench = openGatewayBench({ activityReportMs: 1000, activityReportsPerSecond: 1 })
  const fleet = await openFleet(bench, 20)
  for (let period = 0; period < 2; period++) {
    for (const { session } of fleet) session.touch()
    await bench.clock.advance(1000)
  }
  const last = fleet[19]
  assert.ok(last !== undefined)
  const heardAt = bench.clock.now() - 1000
  const { tenantId } = identityOf('fleet 19')
  const written = () => bench.attributes.value(last.entity, 'lastActivityTime')
  assert.notEqual(written(), heardAt)
  for (const { entity } of fleet.slice(0, 19)) bench.feed.publish({ kind: 'entity-deleted', entity, tenantId })
  await bench.clock.advance(1000)
  assert.deepEqual([written(), bench.owner.figures().activityWaiting], [heardAt, 0])
})
