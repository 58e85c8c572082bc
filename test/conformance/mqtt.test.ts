/** The MQTT device API with the MQTT.js client, in the protocol versions 3.1.1 and 5. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import mqtt, { type IClientOptions, type MqttClient } from 'mqtt'
import { RestClient, login } from '../support/clients.ts'
import { startMillrace, type RunningMillrace } from '../support/start-millrace.ts'
import { eventually } from './wait.ts'

const TELEMETRY = 'v1/devices/me/telemetry'
const ATTRIBUTES = 'v1/devices/me/attributes'
const T = 1_700_000_000_000

describe('the MQTT device API', () => {
  let millrace: RunningMillrace
  let tenant: RestClient
  const clients: MqttClient[] = []

  before(async () => {
    millrace = await startMillrace()
    tenant = new RestClient(millrace, await login(millrace))
  })
  after(async () => {
    for (const client of clients) await client.endAsync(true)
    await millrace.stop()
  })

  const connect = async (username: string, protocolVersion: 4 | 5): Promise<MqttClient> => {
    const options: IClientOptions = { username, protocolVersion, reconnectPeriod: 0 }
    const client = await mqtt.connectAsync(`mqtt://127.0.0.1:${millrace.ports['mqtt']}`, options)
    clients.push(client)
    return client
  }
  const nextMessage = async (client: MqttClient): Promise<{ topic: string; payload: unknown }> => {
    const [topic, payload] = await new Promise<[string, Buffer]>((resolve) =>
      client.once('message', (...message) => resolve([message[0], message[1]])),
    )
    return { topic, payload: JSON.parse(payload.toString()) }
  }

  const closing = (client: MqttClient): Promise<void> => new Promise((resolve) => client.once('close', () => resolve()))

  for (const version of [4, 5] as const) {
    test(`stores telemetry of every form and quality of service (protocol ${version})`, async () => {
      const token = `MQTT_TELEMETRY_${version}`
      const path = `/api/plugins/telemetry/DEVICE/${await tenant.createDevice(token, token)}`
      const client = await connect(token, version)
      await client.publishAsync(TELEMETRY, '{"a":1}', { qos: 1 })
      await client.publishAsync(TELEMETRY, `{"ts":${T},"values":{"b":2.0}}`, { qos: 0 })
      await client.publishAsync(TELEMETRY, `[{"ts":${T + 1},"values":{"c":3}},{"ts":${T + 2},"values":{"c":4}}]`, {
        qos: 1,
      })
      const stored = await eventually(
        async () => (await tenant.call('GET', `${path}/values/timeseries?keys=a,b,c&useStrictDataTypes=true`)).text,
        (text) => !text.includes('null'),
      )
      assert.match(stored, /"a":\[\{"ts":\d+,"value":1\}\]/)
      assert.ok(stored.endsWith(`"b":[{"ts":${T},"value":2.0}],"c":[{"ts":${T + 2},"value":4}]}`), stored)
      const history = await tenant.call(
        'GET',
        `${path}/values/timeseries?keys=c&startTs=${T}&endTs=${T + 9}&orderBy=ASC`,
      )
      assert.equal(history.text, `{"c":[{"ts":${T + 1},"value":"3"},{"ts":${T + 2},"value":"4"}]}`)
    })

    test(`takes client attributes, answers requests, pushes shared ones (protocol ${version})`, async () => {
      const token = `MQTT_ATTRIBUTES_${version}`
      const path = `/api/plugins/telemetry/DEVICE/${await tenant.createDevice(token, token)}`
      const client = await connect(token, version)
      await client.subscribeAsync([ATTRIBUTES, `${ATTRIBUTES}/response/+`], { qos: 1 })
      await client.publishAsync(ATTRIBUTES, '{"fw":"x1","n":2}', { qos: 1 })
      await eventually(
        () => tenant.expect<unknown[]>('GET', `${path}/values/attributes/CLIENT_SCOPE?keys=fw`),
        (found) => found.length === 1,
      )
      const pushed = nextMessage(client)
      await tenant.expect('POST', `${path}/SHARED_SCOPE`, { target: 5, mode: 'eco' })
      assert.deepEqual(await pushed, { topic: ATTRIBUTES, payload: { target: 5, mode: 'eco' } })
      const answered = nextMessage(client)
      await client.publishAsync(`${ATTRIBUTES}/request/7`, '{"clientKeys":"fw,absent","sharedKeys":"target"}', {
        qos: 1,
      })
      assert.deepEqual(await answered, {
        topic: `${ATTRIBUTES}/response/7`,
        payload: { client: { fw: 'x1' }, shared: { target: 5 } },
      })
      const deleted = nextMessage(client)
      await tenant.expect('DELETE', `${path}/SHARED_SCOPE?keys=mode`)
      assert.deepEqual(await deleted, { topic: ATTRIBUTES, payload: { deleted: ['mode'] } })
    })
  }

  test('refuses a token nobody has', async () => {
    await assert.rejects(connect('no-such-token', 4), { code: 5 })
    await assert.rejects(connect('no-such-token', 5), (error: { code?: number }) => (error.code ?? 0) >= 0x80)
  })

  test('refuses a topic that is not its own, and serves on', async () => {
    await tenant.createDevice('mqtt topics', 'MQTT_TOPICS')
    const client = await connect('MQTT_TOPICS', 4)
    await assert.rejects(client.subscribeAsync('some/other/topic', { qos: 1 }))
    await client.publishAsync('some/other/topic', '{"a":1}', { qos: 1 })
    assert.ok(client.connected)
  })

  test('tells a version 5 device that its payload is no JSON, closes a version 3 one, and stores nothing', async () => {
    const id = await tenant.createDevice('mqtt bad json', 'MQTT_BAD_JSON')
    const five = await connect('MQTT_BAD_JSON', 5)
    await assert.rejects(five.publishAsync(TELEMETRY, '{"bad":', { qos: 1 }), { code: 0x99 })
    assert.ok(five.connected)
    const three = await connect('MQTT_BAD_JSON', 4)
    const closed = closing(three)
    three.publish(TELEMETRY, '{"bad":', { qos: 1 })
    await closed
    const keys = await tenant.expect<string[]>('GET', `/api/plugins/telemetry/DEVICE/${id}/keys/timeseries`)
    assert.deepEqual(keys, [])
  })

  test('closes the session of a device that is deleted', async () => {
    const id = await tenant.createDevice('mqtt short lived', 'MQTT_SHORT')
    const client = await connect('MQTT_SHORT', 4)
    const closed = closing(client)
    await tenant.expect('DELETE', `/api/device/${id}`)
    await closed
    await assert.rejects(connect('MQTT_SHORT', 4), { code: 5 })
  })
})
