/** A device with MQTT.js that is away for a while and comes back to its MQTT 5 session: what it missed is there. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { connect, type MqttClient } from 'mqtt'
import { login, RestClient } from '../support/clients.ts'
import { SLOWNESS } from '../support/slowness.ts'
import { startMillrace } from '../support/start-millrace.ts'
import { eventually } from './wait.ts'

const ATTRIBUTES = 'v1/devices/me/attributes'
const CALLS = 'v1/devices/me/rpc/request/+'
const TOKEN = 'MQTT_AWAY'

const countSoon = (heard: readonly string[]) =>
  new Promise<number>((resolve) => setTimeout(() => resolve(heard.length), 20))

test('a device hears of what it missed, over MQTT 5', { timeout: 600_000 }, async (context) => {
  const millrace = await startMillrace()
  context.after(() => millrace.stop())
  const tenant = new RestClient(millrace, await login(millrace))
  const deviceId = await tenant.createDevice(TOKEN, TOKEN)
  const shared = `/api/plugins/telemetry/DEVICE/${deviceId}/SHARED_SCOPE`
  const open = async (username = TOKEN) => {
    const client = connect(`mqtt://127.0.0.1:${millrace.ports['mqtt']}`, {
      username,
      clientId: 'away',
      clean: false,
      protocolVersion: 5,
      reconnectPeriod: 0,
      properties: { sessionExpiryInterval: 600 },
    })
    const heard: string[] = []
    client.on('message', (topic, payload) => heard.push(`${topic} ${payload.toString()}`))
    const isPresent = await new Promise<boolean>((resolve, reject) => {
      client.once('connect', ({ sessionPresent }) => resolve(sessionPresent))
      client.once('error', reject)
    })
    context.after(() => client.endAsync(true))
    return { client, heard, isPresent }
  }
  const leave = async (client: MqttClient) => {
    await client.endAsync(true)
    const path = `/api/plugins/telemetry/DEVICE/${deviceId}/values/attributes/SERVER_SCOPE?keys=lastConnectTime,lastDisconnectTime`
    await eventually(
      () => tenant.expect<{ key: string; value: number }[]>('GET', path),
      (found) => {
        const at = Object.fromEntries(found.map(({ key, value }) => [key, value]))
        return (at['lastDisconnectTime'] ?? 0) >= (at['lastConnectTime'] ?? Infinity)
      },
      60_000 * SLOWNESS,
    )
  }
  const first = await open()
  assert.equal(first.isPresent, false)
  await first.client.subscribeAsync([ATTRIBUTES, CALLS], { qos: 1 })
  await tenant.expect('POST', shared, { target: 1, mode: 'eco' })
  await eventually(
    () => countSoon(first.heard),
    (count) => count === 1,
    60_000 * SLOWNESS,
  )
  await leave(first.client)

  await tenant.expect('POST', shared, { target: 2 })
  await tenant.expect('POST', shared, { target: 3 })
  await tenant.expect('DELETE', `${shared}?keys=mode`)
  const call = { method: 'reboot', params: { in: 5 }, persistent: true, timeout: 600_000 }
  await tenant.expect('POST', `/api/rpc/oneway/${deviceId}`, call)

  const second = await open()
  assert.equal(second.isPresent, true)
  await eventually(
    () => countSoon(second.heard),
    (count) => count === 3,
    60_000 * SLOWNESS,
  )
  const [deleted, updated, called] = second.heard
  assert.equal(deleted, `${ATTRIBUTES} {"deleted":["mode"]}`)
  assert.equal(updated, `${ATTRIBUTES} {"target":3}`)
  assert.match(called ?? '', /^v1\/devices\/me\/rpc\/request\/\d+ \{"method":"reboot","params":\{"in":5\}\}$/)

  // With other credentials it is not who left it.
  await leave(second.client)
  const credentials = await tenant.expect<object>('GET', `/api/device/${deviceId}/credentials`)
  await tenant.expect('POST', '/api/device/credentials', { ...credentials, credentialsId: `${TOKEN}_2` })
  assert.equal((await open(`${TOKEN}_2`)).isPresent, false)
})
