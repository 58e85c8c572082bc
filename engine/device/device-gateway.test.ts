import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Entry } from '../../model/value.ts'
import { CountingReceipt, identityOf, openGatewayBench, type GatewayBench } from './testkit.ts'

const entries: readonly Entry[] = [{ key: 'a', type: 'LONG', value: 1 }]
const ONE = { entityType: 'DEVICE', id: identityOf('one').deviceId } as const
const STATE_TYPES = ['CONNECT_EVENT', 'DISCONNECT_EVENT', 'ACTIVITY_EVENT', 'INACTIVITY_EVENT']

function lifecycle({ link }: GatewayBench): readonly string[] {
  return link.messages.map(({ type }) => type).filter((type) => STATE_TYPES.includes(type))
}

function login(bench: GatewayBench, token: string) {
  return bench.gateway.authenticate({ type: 'ACCESS_TOKEN', token })
}

describe('device credentials', () => {
  it('are read once, and again after the device changed', async () => {
    const bench = openGatewayBench()
    const { gateway, directory, feed } = bench
    const credentials = { type: 'ACCESS_TOKEN', token: 'one' } as const
    assert.equal(gateway.lookUp(credentials), undefined)
    const [first, second] = await Promise.all([login(bench, 'one'), login(bench, 'one')])
    assert.equal(first, second)
    assert.equal(gateway.lookUp(credentials), first)
    assert.equal(directory.reads, 1)
    feed.publish({ kind: 'device-changed', entity: ONE, credentialsChanged: false })
    assert.equal(gateway.lookUp(credentials), undefined)
    await login(bench, 'one')
    feed.publish({ kind: 'entity-deleted', entity: ONE, tenantId: identityOf('one').tenantId })
    directory.devices.delete('one')
    assert.equal(await login(bench, 'one'), undefined)
    assert.equal(directory.reads, 3)
  })

  it('that are nobody’s are not asked for again for a moment, unless any device changes', async () => {
    const bench = openGatewayBench({ unknownCredentialsTtlMs: 1000 })
    const { directory, feed, clock } = bench
    for (let count = 0; count < 5; count++) assert.equal(await login(bench, 'nobody'), undefined)
    assert.equal(directory.reads, 1)
    await clock.advance(1000)
    await login(bench, 'nobody')
    assert.equal(directory.reads, 2)
    directory.devices.set('nobody', identityOf('new'))
    feed.publish({ kind: 'device-changed', entity: { entityType: 'DEVICE', id: 'x' }, credentialsChanged: true })
    assert.equal((await login(bench, 'nobody'))?.deviceName, 'new')
  })

  it('that change while they are read are read again', async () => {
    const bench = openGatewayBench()
    const { directory, feed } = bench
    let release = (): void => undefined
    directory.delay = new Promise((resolve) => (release = resolve))
    const found = login(bench, 'one')
    directory.devices.delete('one')
    feed.publish({ kind: 'device-changed', entity: ONE, credentialsChanged: true })
    release()
    assert.equal(await found, undefined)
    assert.equal(bench.gateway.lookUp({ type: 'ACCESS_TOKEN', token: 'one' }), undefined)
  })

  it('are kept within bounds, known and unknown', async () => {
    const bench = openGatewayBench({ maxCredentialBytes: 3000, maxUnknownCredentialBytes: 500, maxLogins: 2 })
    const { directory, gateway } = bench
    for (let count = 0; count < 10; count++) directory.devices.set(`t${count}`, identityOf(`t${count}`))
    for (let count = 0; count < 10; count++) await login(bench, `t${count}`)
    assert.equal(gateway.figures().cachedCredentials, 3)
    for (let count = 0; count < 10; count++) await login(bench, `unknown${count}`)
    const reads = directory.reads
    await login(bench, 'unknown0')
    assert.equal(directory.reads, reads + 1)
    assert.equal(await login(bench, 'x'.repeat(256)), undefined)
    assert.equal(directory.reads, reads + 1)
    const flood = [1, 2, 3].map((count) => login(bench, `flood${count}`))
    await assert.rejects(flood[2] ?? Promise.resolve(), { code: 'device.TOO_MANY_LOGINS', kind: 'retryable' })
    await Promise.all(flood.slice(0, 2))
  })

  it('reject where the store does not answer, and are asked for anew', async () => {
    const bench = openGatewayBench()
    bench.directory.fails = true
    await assert.rejects(login(bench, 'one'), /store/)
    bench.directory.fails = false
    assert.equal((await login(bench, 'one'))?.deviceName, 'one')
  })
})

describe('device sessions', () => {
  it('are one a device: a newer one takes over, and the device stays connected', async () => {
    const bench = openGatewayBench()
    const first = await bench.open('one')
    const second = await bench.open('one')
    const http = await bench.open('one', 'brief')
    await bench.clock.settle()
    assert.deepEqual([first.listener.ends, second.listener.ends, http.listener.ends], [['TAKEN_OVER'], [], []])
    const receipt = new CountingReceipt()
    first.session.postTelemetry([{ ts: 1, entries }], receipt)
    assert.deepEqual(receipt.answers, ['device.SESSION_ENDED'])
    first.session.close()
    await bench.clock.settle()
    assert.deepEqual(lifecycle(bench), ['CONNECT_EVENT'])
    second.session.close()
    await bench.clock.settle()
    assert.deepEqual(lifecycle(bench), ['CONNECT_EVENT', 'ACTIVITY_EVENT', 'DISCONNECT_EVENT'])
  })

  it('do not listen to telemetry, so that it is told to nobody where no user listens', async () => {
    const bench = openGatewayBench()
    const { session } = await bench.open('one')
    session.subscribeToSharedAttributes()
    await bench.clock.settle()
    assert.equal(bench.feed.hasListeners(ONE, 'telemetry'), false)
    assert.equal(bench.feed.hasListeners(ONE, 'attributes'), true)
  })

  it('hear of shared attributes what is meant for the device, while they are subscribed', async () => {
    const bench = openGatewayBench()
    const { session, listener } = await bench.open('one')
    const poll = await bench.open('one', 'brief')
    const shared = (audience: 'all' | 'subscribers' | 'device', value: number) =>
      bench.feed.publish({
        kind: 'attributes',
        entity: ONE,
        sequence: value,
        scope: 'SHARED_SCOPE',
        attributes: [{ key: 'a', type: 'LONG', value, lastUpdateTs: 1 }],
        audience,
      })
    shared('all', 0)
    await bench.clock.settle()
    session.subscribeToSharedAttributes()
    poll.session.subscribeToSharedAttributes()
    shared('all', 1)
    shared('subscribers', 2)
    shared('device', 3)
    bench.feed.publish({ kind: 'attributes-deleted', entity: ONE, sequence: 4, scope: 'SHARED_SCOPE', keys: ['a'] })
    bench.feed.publish({ kind: 'attributes-deleted', entity: ONE, sequence: 5, scope: 'CLIENT_SCOPE', keys: ['a'] })
    assert.equal(listener.updates.length, 0, 'never inside the call that changed them')
    await bench.clock.settle()
    const told = listener.updates.map((update) => {
      return update.kind === 'deleted' ? update.keys : update.entries.map(({ value }) => value)
    })
    assert.deepEqual(told, [[1], [3], ['a']])
    assert.deepEqual(poll.listener.updates, listener.updates)
    session.unsubscribeFromSharedAttributes()
    poll.session.close()
    shared('all', 6)
    await bench.clock.settle()
    assert.equal(listener.updates.length, 3)
    assert.equal(poll.listener.updates.length, 3)
  })

  it('end when the device is deleted or its credentials change', async () => {
    for (const [change, end] of [
      [{ kind: 'entity-deleted', entity: ONE, tenantId: identityOf('one').tenantId }, 'DEVICE_DELETED'],
      [{ kind: 'device-changed', entity: ONE, credentialsChanged: true }, 'CREDENTIALS_CHANGED'],
    ] as const) {
      const bench = openGatewayBench()
      const { listener } = await bench.open('one')
      const other = await bench.open('two')
      bench.feed.publish(change)
      await bench.clock.settle()
      assert.deepEqual([listener.ends, other.listener.ends], [[end], []])
    }
  })

  it('go on under the device’s new name and rule chain', async () => {
    const bench = openGatewayBench()
    const { session } = await bench.open('one')
    bench.directory.devices.set('one', identityOf('one', { deviceName: 'renamed', ruleChainId: 'chain' }))
    bench.feed.publish({ kind: 'device-changed', entity: ONE, credentialsChanged: false })
    await bench.clock.settle()
    assert.equal(session.device.deviceName, 'renamed')
    bench.directory.devices.set('one', identityOf('one', { ruleChainId: 'other' }))
    const profile = { entityType: 'DEVICE_PROFILE', id: identityOf('one').deviceProfileId } as const
    bench.feed.publish({ kind: 'device-changed', entity: profile, credentialsChanged: false })
    await bench.clock.settle()
    session.postTelemetry([{ ts: 1, entries }], new CountingReceipt())
    await bench.clock.settle()
    assert.equal(bench.link.ofType('POST_TELEMETRY_REQUEST')[0]?.ruleChainId, 'other')
  })

  it('are looked up again where changes may have been missed, and end where the credentials are no more', async () => {
    const bench = openGatewayBench()
    const { session, listener } = await bench.open('one')
    const { listener: other } = await bench.open('two')
    await bench.clock.settle()
    bench.directory.devices.set('one', identityOf('one', { deviceName: 'renamed' }))
    bench.directory.devices.delete('two')
    bench.feed.gap()
    await bench.clock.settle()
    assert.equal(session.device.deviceName, 'renamed')
    assert.deepEqual([listener.ends, other.ends], [[], ['CREDENTIALS_CHANGED']])
    assert.equal(await bench.gateway.authenticate({ type: 'ACCESS_TOKEN', token: 'two' }), undefined)
  })

  it('are told what may have been missed of shared attributes, when the store answers', async () => {
    const bench = openGatewayBench()
    const { session, listener } = await bench.open('one')
    const { listener: unsubscribed } = await bench.open('two')
    session.subscribeToSharedAttributes()
    await bench.clock.settle()
    const now = bench.clock.now()
    bench.attributes.put(ONE, 'SHARED_SCOPE', { key: 'old', type: 'LONG', value: 1 }, now - 60_000)
    bench.attributes.put(ONE, 'SHARED_SCOPE', { key: 'new', type: 'LONG', value: 2 }, now - 1000)
    bench.attributes.put(ONE, 'SERVER_SCOPE', { key: 'other', type: 'LONG', value: 3 }, now - 1000)
    bench.attributes.fails = true
    bench.feed.gap(now - 2000)
    await bench.clock.settle()
    assert.equal(listener.updates.length, 0)
    bench.attributes.fails = false
    await bench.clock.advance(60_000)
    assert.deepEqual(
      listener.updates.map((update) => (update.kind === 'updated' ? update.entries.map(({ key }) => key) : update)),
      [['new']],
    )
    assert.equal(unsubscribed.updates.length, 0)
    await bench.clock.advance(120_000)
    assert.equal(listener.updates.length, 1)
  })

  it('are told what changed of shared attributes since they had heard of them, by clocks that differ', async () => {
    const bench = openGatewayBench()
    const { session, listener } = await bench.open('one', 'brief')
    const since = bench.clock.now()
    await bench.clock.advance(20_000)
    for (const [key, time] of [
      ['old', since - 6000],
      ['doubtful', since - 4000],
      ['new', since + 1],
    ] as const)
      bench.attributes.put(ONE, 'SHARED_SCOPE', { key, type: 'LONG', value: 1 }, time)
    session.subscribeToSharedAttributes(since)
    await bench.clock.settle()
    assert.deepEqual(
      listener.updates.map((update) => (update.kind === 'updated' ? update.entries.map(({ key }) => key) : update)),
      [['doubtful', 'new']],
    )
  })

  it('are told of the shutdown, and the device of its disconnect', async () => {
    const bench = openGatewayBench()
    const { listener } = await bench.open('one')
    await bench.clock.settle()
    const closed = bench.gateway.close()
    await bench.clock.settle()
    await closed
    await bench.gateway.close()
    bench.owner.close()
    await bench.clock.settle()
    assert.deepEqual(listener.ends, ['SHUTDOWN'])
    assert.deepEqual(lifecycle(bench), ['CONNECT_EVENT', 'ACTIVITY_EVENT', 'DISCONNECT_EVENT'])
    await assert.rejects(login(bench, 'one'), { kind: 'retryable' })
  })
})

describe('device state', () => {
  it('is written down once a period, however much the device sends', async () => {
    const bench = openGatewayBench({ activityReportMs: 3000 })
    const { session } = await bench.open('one', 'brief')
    for (let count = 0; count < 300; count++) {
      session.postTelemetry([{ ts: count, entries }], new CountingReceipt())
      await bench.clock.advance(10)
    }
    await bench.clock.advance(3000)
    assert.deepEqual(lifecycle(bench), ['ACTIVITY_EVENT'])
    assert.ok(bench.attributes.saves.length <= 2, `${bench.attributes.saves.length} saves`)
    assert.equal(bench.attributes.value(ONE, 'active'), true)
    assert.equal(bench.attributes.value(ONE, 'lastActivityTime'), bench.clock.now() - 3010)
    assert.equal(bench.attributes.saves[0]?.scope, 'SERVER_SCOPE')
  })

  it('tells inactivity once a silence, with the time of the alarm, and activity afterwards', async () => {
    const bench = openGatewayBench({ inactivityTimeoutMs: 600_000, stateCheckIntervalMs: 60_000 })
    const { session } = await bench.open('one', 'brief')
    session.touch()
    await bench.clock.advance(590_000)
    assert.deepEqual(lifecycle(bench), ['ACTIVITY_EVENT'])
    await bench.clock.advance(1_200_000)
    assert.deepEqual(lifecycle(bench), ['ACTIVITY_EVENT', 'INACTIVITY_EVENT'])
    assert.equal(bench.attributes.value(ONE, 'active'), false)
    const [inactivity] = bench.link.ofType('INACTIVITY_EVENT')
    assert.deepEqual(inactivity?.metadata, { deviceName: 'one', deviceType: 'default', scope: 'SERVER_SCOPE' })
    const state = inactivity.json() as Record<string, unknown>
    assert.equal(state['active'], false)
    assert.equal(state['inactivityTimeout'], 600_000)
    assert.equal(state['lastInactivityAlarmTime'], bench.attributes.value(ONE, 'inactivityAlarmTime'))
    assert.equal(bench.owner.figures().devices, 0, 'nothing is kept of a device that is silent')
    session.postTelemetry([{ ts: 1, entries }], new CountingReceipt())
    await bench.clock.advance(3000)
    assert.deepEqual(lifecycle(bench).at(-1), 'ACTIVITY_EVENT')
    assert.equal(bench.attributes.value(ONE, 'inactivityAlarmTime'), 0)
    assert.deepEqual(bench.failures, [])
  })

  it('tells the device’s label in its events, where it has one', async () => {
    const bench = openGatewayBench()
    bench.directory.devices.set('one', identityOf('one', { deviceLabel: 'by the door' }))
    bench.directory.devices.set('two', identityOf('two', { deviceLabel: null }))
    await bench.open('one')
    await bench.open('two')
    await bench.clock.settle()
    assert.deepEqual(
      bench.link.ofType('CONNECT_EVENT').map(({ metadata }) => metadata),
      [
        { deviceName: 'one', deviceLabel: 'by the door', deviceType: 'default', scope: 'SERVER_SCOPE' },
        { deviceName: 'two', deviceType: 'default', scope: 'SERVER_SCOPE' },
      ],
    )
  })

  it('goes by the device’s own timeout, and by its change at once', async () => {
    const bench = openGatewayBench({ inactivityTimeoutMs: 600_000, stateCheckIntervalMs: 60_000 })
    bench.attributes.put(ONE, 'SERVER_SCOPE', { key: 'inactivityTimeout', type: 'LONG', value: 3_600_000 })
    const { session } = await bench.open('one')
    session.touch()
    await bench.clock.advance(1_800_000)
    assert.deepEqual(lifecycle(bench), ['CONNECT_EVENT', 'ACTIVITY_EVENT'])
    const entry: Entry = { key: 'inactivityTimeout', type: 'LONG', value: 1000 }
    bench.attributes.put(ONE, 'SERVER_SCOPE', entry)
    bench.feed.publish({
      kind: 'attributes',
      entity: ONE,
      sequence: 1,
      scope: 'SERVER_SCOPE',
      attributes: [{ ...entry, lastUpdateTs: 1 }],
    })
    await bench.clock.settle()
    assert.deepEqual(lifecycle(bench), ['CONNECT_EVENT', 'ACTIVITY_EVENT', 'INACTIVITY_EVENT'])
  })

  it('takes what a chain says of a connection: news only, and inactivity without a wait', async () => {
    const bench = openGatewayBench()
    const { deviceId } = identityOf('one')
    const report = async (event: 'connect' | 'disconnect' | 'activity' | 'inactivity', at: number) => {
      assert.equal(bench.owner.report(deviceId, event, at), true)
      await bench.clock.settle()
    }
    const at = bench.clock.now()
    await report('connect', at)
    await report('activity', at)
    await report('activity', at)
    assert.deepEqual(lifecycle(bench), ['CONNECT_EVENT', 'ACTIVITY_EVENT'])
    await report('inactivity', at)
    assert.deepEqual(lifecycle(bench), ['CONNECT_EVENT', 'ACTIVITY_EVENT'])
    await report('inactivity', at + 1)
    await report('disconnect', at + 2)
    assert.deepEqual(lifecycle(bench).slice(2), ['INACTIVITY_EVENT', 'DISCONNECT_EVENT'])
    assert.equal(bench.attributes.value(ONE, 'active'), false)
    assert.equal(bench.attributes.value(ONE, 'inactivityAlarmTime'), at + 1)
  })

  it('goes on where a restart found it: an active device is not activated again', async () => {
    const bench = openGatewayBench()
    bench.attributes.put(ONE, 'SERVER_SCOPE', { key: 'active', type: 'BOOLEAN', value: true })
    const { session } = await bench.open('one', 'brief')
    session.touch()
    await bench.clock.advance(5000)
    assert.deepEqual(lifecycle(bench), [])
    assert.equal(bench.attributes.value(ONE, 'lastActivityTime'), bench.clock.now() - 5000)
  })

  it('waits for a store that does not answer, and loses no event', async () => {
    const bench = openGatewayBench()
    bench.attributes.fails = true
    const { session } = await bench.open('one')
    await bench.clock.advance(4000)
    assert.deepEqual(lifecycle(bench), [])
    assert.ok(bench.owner.figures().stateFailures > 0)
    bench.attributes.fails = false
    session.touch()
    await bench.clock.advance(4000)
    assert.deepEqual(lifecycle(bench), ['CONNECT_EVENT', 'ACTIVITY_EVENT'])
    assert.equal(bench.attributes.value(ONE, 'active'), true)
    assert.equal('active' in (bench.link.ofType('CONNECT_EVENT')[0]?.json() as object), false)
  })

  it('issue-8 C: is told once when the store was away for longer than an actor idles', async () => {
    const bench = openGatewayBench()
    bench.attributes.fails = true
    const { session } = await bench.open('one')
    await bench.clock.advance(1000)
    session.close()
    await bench.clock.advance(150_000)
    bench.attributes.fails = false
    await bench.clock.advance(150_000)
    assert.deepEqual(lifecycle(bench), ['CONNECT_EVENT', 'ACTIVITY_EVENT', 'DISCONNECT_EVENT'])
    await bench.clock.advance(1_200_000)
    assert.deepEqual(lifecycle(bench).slice(3), ['INACTIVITY_EVENT'])
  })

  it('issue-8 C: that went and came back while the store was away is told connected last', async () => {
    const bench = openGatewayBench()
    const { session } = await bench.open('one')
    await bench.clock.advance(60_000)
    bench.attributes.fails = true
    session.close()
    await bench.clock.advance(100)
    await bench.open('one')
    await bench.clock.advance(100)
    bench.attributes.fails = false
    await bench.clock.advance(150_000)
    assert.deepEqual(lifecycle(bench), ['CONNECT_EVENT', 'ACTIVITY_EVENT', 'DISCONNECT_EVENT', 'CONNECT_EVENT'])
  })
})
