import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { LinkErrors } from '../../link/errors.ts'
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
})
