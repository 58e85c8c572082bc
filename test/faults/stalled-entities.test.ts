/** A PostgreSQL that stands still under devices with kept sessions: they are served and told in time, and what they were told is so afterwards. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { connect, type MqttClient } from 'mqtt'
import { login, RestClient } from '../support/clients.ts'
import { requireOwnServer, startPostgres } from '../support/servers/index.ts'
import { SLOWNESS } from '../support/slowness.ts'
import { startMillrace } from '../support/start-millrace.ts'
import { eventually } from '../conformance/wait.ts'

const ATTRIBUTES = 'v1/devices/me/attributes'
const CALLS = 'v1/devices/me/rpc/request/+'
/** Five seconds, and what the machine needs. PostgreSQL's own answer would take 61. */
const TOLD_MS = 20_000 * SLOWNESS

test(
  'a device that subscribes while PostgreSQL stands still is told within seconds',
  { timeout: 600_000 },
  async (context) => {
    if (!requireOwnServer(context, 'postgres')) return
    const postgres = await startPostgres()
    context.after(() => postgres.stop())
    const millrace = await startMillrace({
      environment: { DATABASE_ENTITIES_TYPE: 'postgres', DATABASE_URL: postgres.url },
    })
    context.after(() => millrace.stop())
    const rest = new RestClient(millrace, await login(millrace))
    const ids = new Map<string, string>()
    const come = async (token: string, protocolVersion: 4 | 5): Promise<{ client: MqttClient; isPresent: boolean }> => {
      const client = connect(`mqtt://127.0.0.1:${millrace.ports['mqtt']}`, {
        ...{ username: token, clientId: token, clean: false, protocolVersion, reconnectPeriod: 0 },
        ...(protocolVersion === 5 ? { properties: { sessionExpiryInterval: 600 } } : {}),
      })
      context.after(() => client.endAsync(true))
      const isPresent = await new Promise<boolean>((resolve, reject) => {
        client.once('connect', ({ sessionPresent }) => resolve(sessionPresent))
        client.once('error', reject)
      })
      return { client, isPresent }
    }
    for (const [token, version] of [
      ['STALLED_5', 5],
      ['STALLED_4', 4],
    ] as const) {
      ids.set(token, await rest.createDevice(token, token))
      const { client } = await come(token, version)
      await client.subscribeAsync(ATTRIBUTES, { qos: 1 })
      const heard: string[] = []
      client.on('message', (topic, payload) => heard.push(`${topic} ${payload.toString()}`))

      postgres.pause()
      const began = performance.now()
      const granted = await client.subscribeAsync(CALLS, { qos: 1 })
      const subscribedMs = Math.round(performance.now() - began)
      await client.publishAsync('v1/devices/me/telemetry', '{"n":1}', { qos: 1 })
      const publishedMs = Math.round(performance.now() - began) - subscribedMs
      context.diagnostic(`${token}: SUBACK after ${subscribedMs} ms, PUBACK after ${publishedMs} ms more`)
      postgres.resume()
      assert.deepEqual(
        granted.map(({ qos }) => qos),
        [1],
      )
      assert.ok(subscribedMs < TOLD_MS, `told after ${subscribedMs} ms`)

      // It is subscribed, as it was told.
      const call = { method: 'reboot', params: {}, timeout: 60_000 }
      await eventually(
        () => rest.call('POST', `/api/rpc/oneway/${ids.get(token)}`, call),
        ({ status }) => status === 200,
      )
      await eventually(
        () => delay(20).then(() => heard),
        (all) => all.some((text) => text.includes('"reboot"')),
      )
      // Its session was not stored, and so is over: the next CONNACK says so, whatever PostgreSQL made of the write.
      await client.endAsync(true)
      const again = await come(token, version)
      assert.equal(again.isPresent, false)
      await again.client.subscribeAsync([ATTRIBUTES, CALLS], { qos: 1 })
      await again.client.endAsync(true)
      assert.equal((await come(token, version)).isPresent, true)
    }
  },
)
