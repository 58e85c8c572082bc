import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Entry } from '../../model/value.ts'
import { DeviceCluster } from './cluster-testkit.ts'
import { CountingReceipt } from './testkit.ts'

const entries: readonly Entry[] = [{ key: 'a', type: 'LONG', value: 1 }]
const SHORT = { inactivityTimeoutMs: 10_000, stateCheckIntervalMs: 1000, activityReportMs: 1000 }
/** The owner's grace after a partition moved. */
const GRACE_MS = 13_000

test('issue-8 C: a device that moved from one transport to another is not told inactive while it posts', async () => {
  const cluster = new DeviceCluster(SHORT)
  cluster.addEngine('engine')
  const a = cluster.addTransport('a')
  const b = cluster.addTransport('b')
  await cluster.clock.advance(GRACE_MS)
  const first = await a.open('d0')
  first.session.postTelemetry([{ ts: 1, entries }], new CountingReceipt())
  await cluster.clock.advance(2000)
  const second = await b.open('d0')
  await cluster.clock.settle()
  assert.deepEqual(first.listener.ends, ['TAKEN_OVER'], 'take-over goes through the owner, at once')
  for (let post = 0; post < 60; post++) {
    second.session.postTelemetry([{ ts: 2 + post, entries }], new CountingReceipt())
    await cluster.clock.advance(1000)
  }
  assert.deepEqual(second.listener.ends, [])
  assert.deepEqual(cluster.events('d0'), ['CONNECT_EVENT', 'ACTIVITY_EVENT', 'CONNECT_EVENT'])
  second.session.close()
  await cluster.clock.advance(30_000)
  assert.deepEqual(cluster.events('d0').slice(3), ['DISCONNECT_EVENT', 'INACTIVITY_EVENT'])
  assert.deepEqual(cluster.failures, [])
})

test('a connection waits for nothing that the owner says, and what the bus lost is told again', async () => {
  const cluster = new DeviceCluster({ ...SHORT, inactivityTimeoutMs: 60_000 })
  cluster.addEngine('engine')
  const a = cluster.addTransport('a')
  const b = cluster.addTransport('b')
  await cluster.clock.advance(GRACE_MS)
  cluster.hub.loses = () => true
  const first = await a.open('d1')
  await cluster.clock.advance(3000)
  const second = await b.open('d1')
  await cluster.clock.settle()
  assert.deepEqual(cluster.events('d1'), [])
  cluster.hub.loses = (_to, subject) => subject.endsWith('.a')
  await cluster.clock.advance(10_000)
  assert.deepEqual(first.listener.ends, [], 'the word to end it was lost')
  cluster.hub.loses = () => false
  await cluster.clock.advance(10_000)
  assert.deepEqual([first.listener.ends.length, second.listener.ends.length], [1, 0])
  const events = cluster.events('d1')
  assert.ok(!events.includes('DISCONNECT_EVENT'))
  second.session.touch()
  await cluster.clock.advance(3000)
  assert.equal(cluster.events('d1').filter((type) => type === 'ACTIVITY_EVENT').length, 1)
})

test('issue-8 C: an older session that the owner hears of late does not end the newer one', async () => {
  const cluster = new DeviceCluster({ ...SHORT, inactivityTimeoutMs: 60_000 })
  cluster.addEngine('engine')
  const a = cluster.addTransport('a', 500)
  const b = cluster.addTransport('b', -500)
  await cluster.clock.advance(GRACE_MS)
  cluster.hub.loses = () => true
  const older = await a.open('d1')
  await cluster.clock.advance(3000)
  cluster.hub.loses = () => false
  const newer = await b.open('d1')
  await cluster.clock.advance(20_000)
  assert.deepEqual(newer.listener.ends, [])
  assert.deepEqual(older.listener.ends, ['TAKEN_OVER'])
  assert.equal(cluster.events('d1').filter((type) => type === 'CONNECT_EVENT').length, 1)
})

test('after its owner died a connected device hears nothing of it, and a silent one is told inactive once', async () => {
  const cluster = new DeviceCluster(SHORT, 40)
  const engines = [cluster.addEngine('engine 1'), cluster.addEngine('engine 2')]
  const transport = cluster.addTransport('a')
  await cluster.clock.advance(GRACE_MS)
  const names = [...cluster.devices.keys()]
  const sessions = new Map<string, Awaited<ReturnType<typeof transport.open>>>()
  for (const name of names) sessions.set(name, await transport.open(name))
  const talking = names.filter((_, index) => index % 2 === 0)
  const post = (): void => {
    for (const name of talking) sessions.get(name)?.session.postTelemetry([{ ts: 1, entries }], new CountingReceipt())
  }
  post()
  await cluster.clock.advance(2000)
  for (const name of names) assert.deepEqual(cluster.events(name), ['CONNECT_EVENT', 'ACTIVITY_EVENT'])
  const [first] = engines
  if (first !== undefined) cluster.kill(first)
  for (let second = 0; second < 40; second++) {
    post()
    await cluster.clock.advance(1000)
  }
  for (const name of names) {
    const expected = ['CONNECT_EVENT', 'ACTIVITY_EVENT', ...(talking.includes(name) ? [] : ['INACTIVITY_EVENT'])]
    assert.deepEqual(cluster.events(name), expected, name)
    assert.deepEqual(sessions.get(name)?.listener.ends, [])
  }
  assert.deepEqual(cluster.failures, [])
})

test('a device that leaves before its new owner has heard of its session is told disconnected, once', async () => {
  const cluster = new DeviceCluster(SHORT, 12)
  const engines = [cluster.addEngine('engine 1'), cluster.addEngine('engine 2')]
  const transport = cluster.addTransport('a')
  await cluster.clock.advance(GRACE_MS)
  const names = [...cluster.devices.keys()]
  const sessions = await Promise.all(names.map((name) => transport.open(name)))
  await cluster.clock.advance(3000)
  const [first] = engines
  if (first !== undefined) cluster.kill(first)
  await cluster.clock.advance(100)
  for (const { session } of sessions) session.close()
  await cluster.clock.advance(40_000)
  for (const name of names) {
    const events = cluster.events(name)
    assert.deepEqual(events.filter((type) => type === 'DISCONNECT_EVENT').length, 1, `${name}: ${events.join()}`)
    assert.equal(events.filter((type) => type === 'INACTIVITY_EVENT').length, 1)
  }
})

test('issue-8 C: a device that was active when everything crashed and never returns is told inactive', async () => {
  const cluster = new DeviceCluster(SHORT)
  const engine = cluster.addEngine('engine')
  const transport = cluster.addTransport('a')
  await cluster.clock.advance(GRACE_MS)
  const { session } = await transport.open('d2')
  session.postTelemetry([{ ts: 1, entries }], new CountingReceipt())
  await cluster.clock.advance(2000)
  cluster.kill(transport)
  cluster.kill(engine)
  await cluster.clock.advance(5000)
  cluster.addEngine('next engine')
  const back = cluster.addTransport('b')
  const other = await back.open('d3')
  await cluster.clock.advance(GRACE_MS - 1000)
  assert.deepEqual(cluster.events('d2'), ['CONNECT_EVENT', 'ACTIVITY_EVENT'], 'it may be back in a moment')
  await cluster.clock.advance(5000)
  assert.deepEqual(cluster.events('d2').slice(2), ['DISCONNECT_EVENT', 'INACTIVITY_EVENT'])
  assert.deepEqual(cluster.events('d3').slice(0, 2), ['CONNECT_EVENT', 'ACTIVITY_EVENT'])
  assert.deepEqual(other.listener.ends, [])
})

test('issue-8 C: a device that everything crashed with is told disconnected, though owners come and go meanwhile', async () => {
  const cluster = new DeviceCluster(SHORT, 12)
  const engine = cluster.addEngine('engine')
  const transport = cluster.addTransport('a')
  await cluster.clock.advance(GRACE_MS)
  const names = [...cluster.devices.keys()]
  for (const name of names) {
    const { session } = await transport.open(name)
    session.postTelemetry([{ ts: 1, entries }], new CountingReceipt())
  }
  await cluster.clock.advance(4000)
  const unsettled = cluster.link.ofType('POST_TELEMETRY_REQUEST').map((message) => ({ message, attempt: 1 }))
  cluster.kill(transport)
  cluster.kill(engine)
  cluster.addEngine('next engine').owner.delivered(unsettled)
  for (let round = 0; round < 6; round++) {
    const other = cluster.addEngine(`engine of round ${round}`)
    await cluster.clock.advance(2000)
    cluster.kill(other)
    await cluster.clock.advance(4000)
  }
  await cluster.clock.advance(2 * GRACE_MS)
  for (const name of names) {
    assert.deepEqual(cluster.events(name).slice(2), ['DISCONNECT_EVENT', 'INACTIVITY_EVENT'], name)
  }
})

test('with its transport a device’s sessions end, once', async () => {
  const cluster = new DeviceCluster(SHORT)
  cluster.addEngine('engine')
  const a = cluster.addTransport('a')
  cluster.addTransport('b')
  await cluster.clock.advance(GRACE_MS)
  await a.open('d0')
  await cluster.clock.advance(3000)
  cluster.kill(a)
  await cluster.clock.advance(30_000)
  assert.deepEqual(cluster.events('d0'), ['CONNECT_EVENT', 'ACTIVITY_EVENT', 'DISCONNECT_EVENT', 'INACTIVITY_EVENT'])
})

test('an owner that is cut off says nothing, and goes on where it was when it is back', async () => {
  const cluster = new DeviceCluster(SHORT)
  const engine = cluster.addEngine('engine')
  const a = cluster.addTransport('a')
  await cluster.clock.advance(GRACE_MS)
  const { session } = await a.open('d0')
  await cluster.clock.advance(3000)
  engine.bus.cut()
  await cluster.clock.advance(30_000)
  assert.deepEqual(cluster.events('d0'), ['CONNECT_EVENT', 'ACTIVITY_EVENT'])
  session.touch()
  engine.bus.mend()
  await cluster.clock.advance(GRACE_MS - 5000)
  session.touch()
  await cluster.clock.advance(8000)
  assert.deepEqual(cluster.events('d0'), ['CONNECT_EVENT', 'ACTIVITY_EVENT'])
})

test('clocks that differ make no event', async () => {
  const cluster = new DeviceCluster(SHORT)
  cluster.addEngine('engine')
  const a = cluster.addTransport('a', 500)
  const b = cluster.addTransport('b', -500)
  await cluster.clock.advance(GRACE_MS)
  for (let round = 0; round < 10; round++) {
    for (const transport of [a, b]) {
      const { session } = await transport.open('d0')
      session.postTelemetry([{ ts: 1, entries }], new CountingReceipt())
      await cluster.clock.advance(100)
    }
  }
  await cluster.clock.advance(2000)
  const events = cluster.events('d0')
  assert.equal(events.filter((type) => type === 'ACTIVITY_EVENT').length, 1)
  assert.equal(events.filter((type) => type === 'CONNECT_EVENT').length, 20)
  assert.equal(events.length, 21)
})
