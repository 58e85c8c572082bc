/** Edge nodes of Sparkplug B: with MQTT.js and messages of their own making, and with a public Sparkplug library, unchanged. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import mqtt, { type IClientOptions, type MqttClient } from 'mqtt'
import { NODE, payloadBytes, readPayload, willOf, type SentPayload } from '../../transports/mqtt/sparkplug/testkit.ts'
import { DEMO_SYSADMIN, RestClient, login } from '../support/clients.ts'
import { pythonSparkplugClient } from '../support/python-clients.ts'
import { runPythonScript } from '../support/python-script.ts'
import { startMillrace, type RunningMillrace } from '../support/start-millrace.ts'
import { eventually } from './wait.ts'

interface Named {
  readonly id: { readonly id: string }
  readonly name: string
  readonly label: string
  readonly type: string
}

describe('Sparkplug B', () => {
  let millrace: RunningMillrace
  let tenant: RestClient
  const clients: MqttClient[] = []

  before(async () => {
    millrace = await startMillrace()
    tenant = new RestClient(millrace, await login(millrace))
    await makeNode(tenant, 'NODE')
  })
  after(async () => {
    for (const client of clients) await client.endAsync(true)
    await millrace.stop()
  })

  async function makeNode(of: RestClient, token: string): Promise<void> {
    await of.expect('POST', '/api/deviceProfile', {
      ...{ name: 'edge node', type: 'DEFAULT', transportType: 'MQTT' },
      profileData: {
        configuration: { type: 'DEFAULT' },
        provisionConfiguration: { type: 'DISABLED' },
        transportConfiguration: { type: 'MQTT', sparkplug: true, sparkplugAttributesMetricNames: ['serial'] },
      },
    })
    await of.expect('POST', `/api/device?accessToken=${token}`, { name: 'node', type: 'edge node' })
  }

  async function connect(username: string, change: Partial<IClientOptions> = {}): Promise<MqttClient> {
    const will = willOf(3)
    const client = await mqtt.connectAsync(`mqtt://127.0.0.1:${millrace.ports['mqtt']}`, {
      ...{ username, protocolVersion: 4, reconnectPeriod: 0, will, ...change },
    })
    clients.push(client)
    return client
  }

  const send = (client: MqttClient, topic: string, payload: SentPayload) =>
    client.publishAsync(`${NODE}/${topic}`, payloadBytes(payload), { qos: 1 })

  async function born(client: MqttClient, temperature: number): Promise<void> {
    const now = Date.now()
    const stamped = { timestamp: now }
    await send(client, 'NBIRTH/node', {
      ...{ timestamp: now, seq: 0 },
      metrics: [
        { name: 'bdSeq', datatype: 4, long_value: 3, ...stamped },
        { name: 'Node Control/Rebirth', datatype: 11, boolean_value: false, ...stamped },
        { name: 'load', alias: 1, datatype: 2, int_value: 65_535, ...stamped },
        { name: 'serial', datatype: 12, string_value: 'S1', ...stamped },
      ],
    })
    await send(client, 'DBIRTH/node/D', {
      ...{ timestamp: now, seq: 1 },
      metrics: [
        { name: 'temperature', alias: 2, datatype: 10, double_value: temperature, ...stamped },
        { name: 'target', alias: 3, datatype: 3, int_value: 5, ...stamped },
      ],
    })
  }

  const named = async (of: RestClient, name: string): Promise<Named> =>
    of.expect('GET', `/api/tenant/devices?deviceName=${encodeURIComponent(name)}`)

  async function latest(of: RestClient, name: string, key: string): Promise<string | null> {
    const { id } = await named(of, name)
    const path = `/api/plugins/telemetry/DEVICE/${id.id}/values/timeseries?keys=${encodeURIComponent(key)}`
    const series = await of.expect<Record<string, { value: string | null }[]>>('GET', path)
    return series[key]?.[0]?.value ?? null
  }

  const becomes = (name: string, key: string, value: string, of = tenant) =>
    eventually(
      () => latest(of, name, key),
      (found) => found === value,
    )

  const nextCommand = (client: MqttClient): Promise<unknown> =>
    new Promise((resolve) => client.once('message', (topic, body) => resolve([topic, readPayload(body)])))

  test('a node is born with its device, sends data, and both are offline when its connection breaks', async () => {
    const node = await connect('NODE')
    await born(node, 20.5)
    await becomes('plant:node:D', 'temperature', '20.5')
    await becomes('node', 'load', '-1')
    await becomes('node', 'NDEATH bdSeq', '3')
    await becomes('node', 'sparkplugConnectionState', 'ONLINE')
    const device = await named(tenant, 'plant:node:D')
    assert.deepEqual([device.label, device.type], ['D', 'edge node device'])
    const { id } = await named(tenant, 'node')
    const shared = `/api/plugins/telemetry/DEVICE/${id.id}/values/attributes/SHARED_SCOPE?keys=serial`
    await eventually(
      () => tenant.expect<{ value: unknown }[]>('GET', shared),
      ([found]) => found?.value === 'S1',
    )
    await send(node, 'DDATA/node/D', { seq: 2, metrics: [{ alias: 2, double_value: 21.25, timestamp: Date.now() }] })
    await becomes('plant:node:D', 'temperature', '21.25')
    node.stream.destroy()
    await becomes('node', 'sparkplugConnectionState', 'OFFLINE')
    await becomes('plant:node:D', 'sparkplugConnectionState', 'OFFLINE')
  })

  test('shared attributes and calls reach metrics of the node and of its device', async () => {
    const node = await connect('NODE', { protocolVersion: 5, properties: { sessionExpiryInterval: 0 } })
    await node.subscribeAsync([`${NODE}/NCMD/node`, `${NODE}/DCMD/node/#`], { qos: 1 })
    await born(node, 1)
    await becomes('plant:node:D', 'sparkplugConnectionState', 'ONLINE')
    const device = await named(tenant, 'plant:node:D')
    const path = `/api/plugins/telemetry/DEVICE/${device.id.id}/SHARED_SCOPE`
    const written = nextCommand(node)
    await tenant.expect('POST', path, { target: -7 })
    assert.deepEqual(await written, [`${NODE}/DCMD/node/D`, [{ alias: 3, datatype: 3, int_value: 2 ** 32 - 7 }]])
    const { id } = await named(tenant, 'node')
    const called = nextCommand(node)
    const params = { metricName: 'Node Control/Rebirth', value: true }
    const answer = await tenant.expect('POST', `/api/rpc/twoway/${id.id}`, { method: 'NCMD', params })
    assert.deepEqual(answer, { result: 'Success: NCMD' })
    const rebirth = { name: 'Node Control/Rebirth', datatype: 11, boolean_value: true }
    assert.deepEqual(await called, [`${NODE}/NCMD/node`, [rebirth]])
    const wrong = { method: 'DCMD', params: { metricName: 'unknown', value: 1 } }
    const refused = await tenant.expect<{ result: string }>('POST', `/api/rpc/twoway/${device.id.id}`, wrong)
    assert.equal(refused.result, 'BAD_REQUEST_PARAMS')
    await send(node, 'NDEATH/node', { metrics: [{ name: 'bdSeq', datatype: 4, long_value: 3 }] })
    await becomes('plant:node:D', 'sparkplugConnectionState', 'OFFLINE')
  })

  test('nodes and devices of the same names of two tenants are not one', async () => {
    const admin = new RestClient(millrace, await login(millrace, DEMO_SYSADMIN))
    const { id: tenantId } = await admin.expect<Named>('POST', '/api/tenant', { title: 'another' })
    const user = { email: 'other@millrace.local', authority: 'TENANT_ADMIN', tenantId }
    const { id } = await admin.expect<Named>('POST', '/api/user?sendActivationMail=false', user)
    const { token } = await admin.expect<{ token: string }>('GET', `/api/user/${id.id}/token`)
    const other = new RestClient(millrace, token)
    await makeNode(other, 'OTHER_NODE')
    const nodes = [await connect('NODE'), await connect('OTHER_NODE')] as const
    await born(nodes[0], 101.5)
    await born(nodes[1], 202.5)
    await becomes('plant:node:D', 'temperature', '101.5')
    await becomes('plant:node:D', 'temperature', '202.5', other)
    const ids = [await named(tenant, 'plant:node:D'), await named(other, 'plant:node:D')].map((device) => device.id.id)
    assert.notEqual(ids[0], ids[1])
    const command = nextCommand(nodes[1])
    let strange = 0
    nodes[0].on('message', () => strange++)
    await other.expect('POST', `/api/plugins/telemetry/DEVICE/${ids[1]}/SHARED_SCOPE`, { target: 9 })
    assert.deepEqual(await command, [`${NODE}/DCMD/node/D`, [{ alias: 3, datatype: 3, int_value: 9 }]])
    await becomes('plant:node:D', 'temperature', '101.5')
    assert.equal(strange, 0)
  })

  test('a client without the will of an edge node is refused, and one that says rubbish told so', async () => {
    await assert.rejects(
      mqtt.connectAsync(`mqtt://127.0.0.1:${millrace.ports['mqtt']}`, { username: 'NODE', reconnectPeriod: 0 }),
      {
        code: 3,
      },
    )
    const node = await connect('NODE', { protocolVersion: 5, properties: { sessionExpiryInterval: 0 } })
    await born(node, 1)
    await assert.rejects(send(node, 'DDATA/node/D', { seq: 2, metrics: [{ alias: 77, double_value: 1 }] }), {
      code: 0x99,
    })
    await assert.rejects(node.publishAsync('v1/devices/me/telemetry', '{"a":1}', { qos: 1 }), { code: 0x99 })
    // Names with control characters, and a flood of births: what can not be is refused, the node goes on.
    for (const name of ['tab\tbell\u0007', 'x'.repeat(300)]) {
      await send(node, `DBIRTH/node/${name}`, { seq: 3, metrics: [] }).catch((error: { code?: number }) =>
        assert.ok((error.code ?? 0) >= 0x80),
      )
    }
    const flood = Array.from({ length: 200 }, (_, index) =>
      send(node, `DBIRTH/node/F${index}`, { seq: 4, metrics: [] }),
    )
    await Promise.all(flood)
    await send(node, 'DDATA/node/D', { seq: 5, metrics: [{ alias: 2, double_value: 3.5, timestamp: Date.now() }] })
    await becomes('plant:node:D', 'temperature', '3.5')
  })
})

test('an edge node with a public Sparkplug library works', { timeout: 600_000 }, (context) =>
  runPythonScript(context, { python: pythonSparkplugClient, script: 'sparkplug_client.py', parts: 5 }),
)
