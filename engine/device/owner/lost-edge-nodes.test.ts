import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { LinkErrors } from '../../link/errors.ts'
import { DeviceCluster } from '../cluster-testkit.ts'
import { identityOf, openGatewayBench, type GatewayBench } from '../testkit.ts'
import type { DeviceIdentity } from '../gateway.ts'

const NODE = { entityType: 'DEVICE', id: identityOf('one').deviceId } as const
const HEARD_AT = 4000
/** The lease interval of the bench, and what members take to agree. */
const GRACE_MS = 14_000

function open(edgeNodes = new Map([['one', ['child']]])): GatewayBench {
  let calls = 0
  const bench = openGatewayBench(
    {},
    {
      edgeNodes: {
        findDevicesOfEdgeNode({ deviceName }: DeviceIdentity) {
          if (calls++ === 0) return Promise.reject(new Error('the store does not answer'))
          return Promise.resolve(edgeNodes.get(deviceName)?.map((name) => identityOf(name)))
        },
      },
    },
  )
  // What the process left that had its session.
  const put = (key: string, value: number) => bench.attributes.put(NODE, 'SERVER_SCOPE', { key, type: 'LONG', value })
  bench.attributes.put(NODE, 'SERVER_SCOPE', { key: 'active', type: 'BOOLEAN', value: true })
  put('lastConnectTime', 3000)
  put('lastActivityTime', HEARD_AT)
  return bench
}

const told = ({ link }: GatewayBench) =>
  link.ofType('POST_TELEMETRY_REQUEST').map(({ metadata, data, ts }) => [metadata['deviceName'], data, ts])

const OFFLINE = '{"sparkplugConnectionState":"OFFLINE"}'
const BOTH = ['child', 'one'].map((name) => [name, OFFLINE, HEARD_AT])

const connections = (cluster: DeviceCluster, name: string) =>
  cluster.events(name).filter((type) => type !== 'ACTIVITY_EVENT')
const toldOffline = ({ link }: DeviceCluster) =>
  link.messages.filter(({ data }) => data === OFFLINE).map(({ metadata }) => metadata['deviceName'])

describe('an edge node whose process died', () => {
  it('and its devices are told offline, once the store and the link take it, and that is no activity', async () => {
    const bench = open()
    bench.link.refusal = LinkErrors.LINK_CLOSED()
    await bench.clock.advance(GRACE_MS)
    assert.deepEqual(told(bench), [])
    assert.equal(bench.attributes.value(NODE, 'lastDisconnectTime'), undefined)
    await bench.clock.advance(120_000)
    assert.deepEqual(told(bench), [])
    bench.link.refusal = undefined
    await bench.clock.advance(120_000)
    assert.deepEqual(told(bench), BOTH)
    assert.ok(Number(bench.attributes.value(NODE, 'lastDisconnectTime')) > 0)
    assert.equal(bench.attributes.value(NODE, 'lastActivityTime'), HEARD_AT)
    await bench.clock.advance(600_000)
    assert.deepEqual(told(bench), BOTH)
  })

  it('and is back says itself how it is', async () => {
    const bench = open()
    await bench.open('one')
    await bench.clock.advance(120_000)
    assert.deepEqual(told(bench), [])
  })

  it('is told by nobody else where it is a device like others', async () => {
    const bench = open(new Map())
    await bench.clock.advance(300_000)
    assert.deepEqual(told(bench), [])
    assert.ok(Number(bench.attributes.value(NODE, 'lastDisconnectTime')) > 0)
  })

  it('or was only cut off, is made to say anew how it is where it was told offline; others go on', async () => {
    const cluster = new DeviceCluster({})
    cluster.devicesOfEdgeNode = (name) => Promise.resolve(name === 'd0' ? ['d1'] : undefined)
    cluster.addEngine('engine')
    const transport = cluster.addTransport('transport')
    await cluster.clock.advance(GRACE_MS)
    const node = await transport.open('d0')
    const other = await transport.open('d2')
    await cluster.clock.advance(1000)
    const joins = cluster.cutOff(transport)
    await cluster.clock.advance(1000)
    assert.deepEqual(toldOffline(cluster), ['d1', 'd0'])
    joins()
    await cluster.clock.advance(GRACE_MS)
    assert.deepEqual([node.listener.ends, other.listener.ends], [['FAILED'], []])
    assert.deepEqual(connections(cluster, 'd0'), ['CONNECT_EVENT', 'DISCONNECT_EVENT'])
    const again = await transport.open('d0')
    await cluster.clock.advance(GRACE_MS)
    assert.deepEqual(again.listener.ends, [])
    for (const name of ['d0', 'd2'])
      assert.deepEqual(connections(cluster, name), ['CONNECT_EVENT', 'DISCONNECT_EVENT', 'CONNECT_EVENT'])
    assert.deepEqual([toldOffline(cluster).length, cluster.failures], [2, []])
  })

  it('and is back before it is known to be one is not told offline', async () => {
    const cluster = new DeviceCluster({})
    const { promise, resolve: answer } = Promise.withResolvers<readonly string[]>()
    cluster.devicesOfEdgeNode = () => promise
    cluster.addEngine('engine')
    const first = cluster.addTransport('first')
    const second = cluster.addTransport('second')
    await cluster.clock.advance(GRACE_MS)
    await first.open('d0')
    await cluster.clock.advance(1000)
    cluster.kill(first)
    await cluster.clock.advance(1000)
    const { listener } = await second.open('d0')
    await cluster.clock.settle()
    answer([])
    await cluster.clock.advance(GRACE_MS)
    assert.deepEqual([toldOffline(cluster), listener.ends], [[], []])
    assert.deepEqual(connections(cluster, 'd0'), ['CONNECT_EVENT', 'DISCONNECT_EVENT', 'CONNECT_EVENT'])
  })
})
