/** When the platform ends sessions because of what their device is now. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { STANDARD_MQTT, type DeviceIdentity } from './gateway.ts'
import { CountingReceipt, identityOf, openGatewayBench } from './testkit.ts'

const ONE = { entityType: 'DEVICE', id: identityOf('one').deviceId } as const

describe('a session that waits for one call, without a connection,', () => {
  it('is ended with the credentials of its device', async () => {
    const bench = openGatewayBench()
    const { session, listener } = await bench.open('one', 'brief')
    session.subscribeToCalls('next')
    await bench.clock.settle()
    bench.feed.publish({ kind: 'device-changed', entity: ONE, credentialsChanged: true })
    await bench.clock.settle()
    assert.deepEqual(listener.ends, ['CREDENTIALS_CHANGED'])
  })

  it('is ended by nothing once it waits no more', async () => {
    const bench = openGatewayBench()
    const [waited, closed] = [await bench.open('one', 'brief'), await bench.open('one', 'brief')]
    for (const { session } of [waited, closed]) session.subscribeToCalls('next')
    await bench.clock.settle()
    waited.session.unsubscribeFromCalls()
    closed.session.close()
    await bench.clock.settle()
    bench.feed.publish({ kind: 'device-changed', entity: ONE, credentialsChanged: true })
    await bench.clock.settle()
    assert.deepEqual([waited.listener.ends, closed.listener.ends], [[], []])
  })
})

describe('sessions of a device that is changed', () => {
  it('hear that it is another once they have it, and nothing of others', async () => {
    const bench = openGatewayBench()
    const [{ session, listener }, other] = [await bench.open('one'), await bench.open('two')]
    await bench.clock.settle()
    assert.equal(listener.refreshes, 0)
    const seen: string[] = []
    listener.refreshed = () => seen.push(session.device.deviceName)
    bench.directory.devices.set('one', identityOf('one', { deviceName: 'renamed' }))
    bench.feed.publish({ kind: 'device-changed', entity: ONE, credentialsChanged: false })
    await bench.clock.settle()
    assert.deepEqual([seen, other.listener.refreshes], [['renamed'], 0])
    session.close()
    bench.feed.publish({ kind: 'device-changed', entity: ONE, credentialsChanged: false })
    await bench.clock.settle()
    assert.deepEqual(seen, ['renamed'])
  })

  const sparkplug = { mqtt: { ...STANDARD_MQTT, sparkplug: { attributesMetricNames: [] } } }
  const cases: readonly (readonly [Partial<DeviceIdentity>, Partial<DeviceIdentity>, isEnded: boolean])[] = [
    [{ isGateway: true }, {}, true],
    [{}, { isGateway: true }, false],
    [{ isGateway: true }, { isGateway: true, deviceName: 'renamed' }, false],
    [sparkplug, {}, true],
    [{}, sparkplug, true],
    [sparkplug, { mqtt: { ...sparkplug.mqtt } }, false],
    [{ transportType: 'MQTT' }, { transportType: 'LWM2M' }, true],
    [{}, { transportType: 'COAP' }, true],
    [{ transportType: 'MQTT' }, { transportType: 'DEFAULT' }, false],
    [{ transportType: 'MQTT' }, { transportType: 'MQTT', ruleChainId: 'other' }, false],
  ]

  it('end where it lost what it came in as', async () => {
    for (const [before, now, isEnded] of cases) {
      const bench = openGatewayBench()
      bench.directory.devices.set('one', identityOf('one', before))
      const { session, listener } = await bench.open('one')
      await bench.clock.settle()
      bench.directory.devices.set('one', identityOf('one', now))
      bench.feed.publish({ kind: 'device-changed', entity: ONE, credentialsChanged: false })
      await bench.clock.settle()
      const what = `${JSON.stringify(before)} ${JSON.stringify(now)}`
      assert.deepEqual(listener.ends, isEnded ? ['CREDENTIALS_CHANGED'] : [], what)
      assert.equal(session.device.deviceName, now.deviceName ?? 'one')
    }
  })

  it('end so too where another session logs in as what it is now before it is looked up again', async () => {
    const bench = openGatewayBench({ maxSessionsPerDevice: 2 })
    bench.directory.devices.set('one', identityOf('one', { isGateway: true }))
    const { listener } = await bench.open('one')
    await bench.clock.settle()
    bench.directory.devices.set('one', identityOf('one'))
    bench.directory.fails = true
    bench.feed.publish({ kind: 'device-changed', entity: ONE, credentialsChanged: false })
    await bench.clock.settle()
    bench.directory.fails = false
    const others = [await bench.open('one', 'brief'), await bench.open('one')]
    await bench.clock.advance(5000)
    assert.deepEqual(listener.ends, ['CREDENTIALS_CHANGED'])
    for (const other of others) assert.deepEqual(other.listener.ends, [])
  })
})

describe('a session of a device that sends more than there is room for', () => {
  const flood = ({ session }: Awaited<ReturnType<ReturnType<typeof openGatewayBench>['open']>>): void => {
    const upload = [{ ts: 1, entries: [{ key: 'a', type: 'DOUBLE', value: 1 } as const] }]
    for (let count = 0; count < 10_001; count++) session.postTelemetry(upload, new CountingReceipt())
  }

  it('is ended all the same', async () => {
    const bench = openGatewayBench()
    const opened = await bench.open('one')
    await bench.clock.settle()
    flood(opened)
    bench.feed.publish({ kind: 'device-changed', entity: ONE, credentialsChanged: true })
    await bench.clock.advance(100)
    assert.deepEqual(opened.listener.ends, ['CREDENTIALS_CHANGED'])
  })

  it('is known as closed all the same', async () => {
    const bench = openGatewayBench()
    const opened = await bench.open('one')
    await bench.clock.advance(100)
    flood(opened)
    opened.session.close()
    await bench.clock.advance(5000)
    assert.equal(bench.link.ofType('DISCONNECT_EVENT').length, 1)
  })
})
