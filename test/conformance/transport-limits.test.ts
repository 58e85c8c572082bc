/** The rates of a tenant profile as devices meet them, over each protocol. Source: `device-api.md` 11. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { isDeepStrictEqual } from 'node:util'
import mqtt from 'mqtt'
import { RawClient } from '../../transports/coap/testkit.ts'
import { DEMO_SYSADMIN, RestClient, login } from '../support/clients.ts'
import { startMillrace, type RunningMillrace } from '../support/start-millrace.ts'
import { eventually } from './wait.ts'

const TELEMETRY = 'v1/devices/me/telemetry'

interface TenantProfile {
  readonly profileData: { readonly configuration: object }
}

describe('rates of devices', () => {
  let millrace: RunningMillrace
  let tenant: RestClient
  let admin: RestClient

  before(async () => {
    millrace = await startMillrace()
    tenant = new RestClient(millrace, await login(millrace))
    admin = new RestClient(millrace, await login(millrace, DEMO_SYSADMIN))
  })
  after(() => millrace.stop())

  async function limit(limits: object): Promise<void> {
    const { id } = await admin.expect<{ id: { id: string } }>('GET', '/api/tenantProfileInfo/default')
    const profile = await admin.expect<TenantProfile>('GET', `/api/tenantProfile/${id.id}`)
    const configuration = { ...profile.profileData.configuration, ...limits }
    await admin.expect('POST', '/api/tenantProfile', { ...profile, profileData: { configuration } })
  }

  const post = async (token: string, body = '{"a":1}') =>
    (await fetch(`${millrace.url}/api/v1/${token}/telemetry`, { method: 'POST', body })).status

  async function postCoap(token: string): Promise<string> {
    const client = await RawClient.open(millrace.ports['coap'] ?? 0)
    const { code } = await client.answerTo({ path: `/api/v1/${token}/telemetry`, payload: '{"a":1}' })
    client.close()
    return code
  }

  test('a device that sends too much is refused in the words of its protocol, and no other device', async () => {
    for (const name of ['http', 'coap', 'mqtt', 'quiet']) await tenant.createDevice(`rate ${name}`, `RATE_${name}`)
    await limit({ transportDeviceTelemetryMsgRateLimit: '3:600' })
    // It counts within a quarter of a second.
    await eventually(
      () => post('RATE_http'),
      (status) => status === 429,
    )
    const body: unknown = await (
      await fetch(`${millrace.url}/api/v1/RATE_http/telemetry`, { method: 'POST', body: '{"a":1}' })
    ).json()
    assert.match(JSON.stringify(body), /tenant's profile limits/)
    const codes: string[] = []
    for (let number = 0; number < 4; number++) codes.push(await postCoap('RATE_coap'))
    assert.deepEqual(codes, ['2.01', '2.01', '2.01', '4.29'])
    const url = `mqtt://127.0.0.1:${millrace.ports['mqtt']}`
    const client = await mqtt.connectAsync(url, { username: 'RATE_mqtt', protocolVersion: 5, reconnectPeriod: 0 })
    for (let number = 0; number < 3; number++) await client.publishAsync(TELEMETRY, '{"a":1}', { qos: 1 })
    const ended = new Promise<number | undefined>((resolve) =>
      client.once('disconnect', ({ reasonCode }) => resolve(reasonCode)),
    )
    client.publish(TELEMETRY, '{"a":1}', { qos: 1 }, () => undefined)
    assert.equal(await ended, 0x83)
    await client.endAsync(true)
    assert.equal(await post('RATE_quiet'), 200)
    await limit({ transportDeviceTelemetryMsgRateLimit: null })
    await eventually(
      () => post('RATE_http'),
      (status) => status === 200,
    )
  })

  test('a gateway hears of what its devices sent too much, and of its limits', async () => {
    await tenant.expect('POST', '/api/device', {
      name: 'rate gateway',
      type: 'gateways',
      additionalInfo: { gateway: true },
    })
    const { id } = await tenant.expect<{ id: { id: string } }>('GET', '/api/tenant/devices?deviceName=rate gateway')
    const credentials = await tenant.expect<{ credentialsId: string }>('GET', `/api/device/${id.id}/credentials`)
    await limit({ transportGatewayTelemetryDataPointsRateLimit: '5:600', transportGatewayDeviceMsgRateLimit: '100:1' })
    const client = await mqtt.connectAsync(`mqtt://127.0.0.1:${millrace.ports['mqtt']}`, {
      ...{ username: credentials.credentialsId, protocolVersion: 5, reconnectPeriod: 0 },
    })
    await client.subscribeAsync('v1/devices/me/rpc/response/+')
    const sessionLimits = async (): Promise<unknown> => {
      const answered = new Promise<Buffer>((resolve) => client.once('message', (_topic, payload) => resolve(payload)))
      await client.publishAsync('v1/devices/me/rpc/request/1', '{"method":"getSessionLimits","params":{}}', { qos: 1 })
      const { rateLimits, gatewayRateLimits } = JSON.parse((await answered).toString()) as Record<string, unknown>
      return { rateLimits, gatewayRateLimits }
    }
    const wanted = {
      rateLimits: { messages: '100:1', telemetryMessages: null, telemetryDataPoints: null },
      gatewayRateLimits: { messages: null, telemetryMessages: null, telemetryDataPoints: '5:600' },
    }
    await eventually(sessionLimits, (told) => isDeepStrictEqual(told, wanted))
    await client.publishAsync('v1/gateway/telemetry', '{"A":[{"a":1,"b":2}],"B":[{"c":3}]}', { qos: 1 })
    await assert.rejects(client.publishAsync('v1/gateway/telemetry', '{"A":[{"a":1,"b":2,"c":3}]}', { qos: 1 }))
    await client.endAsync(true)
  })
})
