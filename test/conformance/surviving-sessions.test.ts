/** Devices whose server process is killed: they come back, at another transport or the same one started again, and need not subscribe again. */
import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { test, type TestContext } from 'node:test'
import { connect, type MqttClient } from 'mqtt'
import { login, RestClient } from '../support/clients.ts'
import { requireServer, startNats, startPostgres } from '../support/servers/index.ts'
import { SLOWNESS } from '../support/slowness.ts'
import { natsAndPostgresEnvironment, startMember, type ClusterRole } from '../support/start-cluster.ts'
import { startMillrace, type RunningMillrace } from '../support/start-millrace.ts'
import { eventually } from './wait.ts'

const ATTRIBUTES = 'v1/devices/me/attributes'
const CALLS = 'v1/devices/me/rpc/request/+'
/** Behind the time of a session that has a second, and its removal from the store. */
const SHORT_MS = 5000 * SLOWNESS

interface Coming {
  readonly version?: 4 | 5
  readonly clean?: boolean
  readonly expiry?: number
}

interface Came {
  readonly client: MqttClient
  readonly heard: string[]
  readonly isPresent: boolean
}

async function come(
  context: TestContext,
  { ports }: RunningMillrace,
  username: string,
  { version = 5, clean = false, expiry = 600 }: Coming = {},
): Promise<Came> {
  const client = connect(`mqtt://127.0.0.1:${ports['mqtt']}`, {
    ...{ username, clean, clientId: 'same for all', protocolVersion: version, reconnectPeriod: 0 },
    ...(version === 5 ? { properties: { sessionExpiryInterval: expiry } } : {}),
  })
  // Its server dies under it.
  client.on('error', () => undefined)
  const heard: string[] = []
  client.on('message', (topic, payload) => heard.push(`${topic} ${payload.toString()}`))
  const isPresent = await new Promise<boolean>((resolve, reject) => {
    client.once('connect', ({ sessionPresent }) => resolve(sessionPresent))
    client.once('error', reject)
  })
  context.after(() => client.endAsync(true))
  return { client, heard, isPresent }
}

function hears(heard: readonly string[], ...patterns: readonly RegExp[]): Promise<unknown> {
  return eventually(
    () => new Promise<readonly string[]>((resolve) => setTimeout(() => resolve(heard), 20)),
    (texts) => patterns.every((pattern) => texts.some((text) => pattern.test(text))),
    120_000 * SLOWNESS,
  )
}

/** `kill`: ends the transport, and resolves with the one to come to. */
async function walk(
  context: TestContext,
  rest: RestClient,
  first: RunningMillrace,
  kill: () => Promise<readonly [RunningMillrace, RestClient]>,
): Promise<void> {
  await rest.createDevice('SHORT', 'SHORT')
  const short = await come(context, first, 'SHORT', { expiry: 1 })
  await short.client.subscribeAsync(CALLS)
  await short.client.endAsync()
  const gone = Date.now() + SHORT_MS
  const ids: string[] = []
  for (const [token, version] of [
    ['SURVIVES_5', 5],
    ['SURVIVES_4', 4],
  ] as const) {
    ids.push(await rest.createDevice(token, token))
    const { client, isPresent } = await come(context, first, token, { version })
    assert.equal(isPresent, false)
    await client.subscribeAsync([ATTRIBUTES, CALLS], { qos: 1 })
  }
  await rest.createDevice('FOREIGN', 'FOREIGN')
  const gatewayId = await rest.createDevice('GATEWAY', 'GATEWAY')
  const gateway = await rest.expect<object>('GET', `/api/device/${gatewayId}`)
  await rest.expect('POST', '/api/device', { ...gateway, additionalInfo: { gateway: true } })
  const before = await come(context, first, 'GATEWAY')
  await before.client.subscribeAsync(['v1/gateway/rpc', 'v1/gateway/attributes'], { qos: 1 })
  await before.client.publishAsync('v1/gateway/connect', '{"device":"behind it"}', { qos: 1 })

  // A process that dies before the time of one is over leaves it for up to two minutes more.
  await new Promise((resolve) => setTimeout(resolve, Math.max(0, gone - Date.now())))
  const [second, after] = await kill()
  const child = await after.expect<{ id: { id: string } }>('GET', '/api/tenant/devices?deviceName=behind%20it')
  ids.push(child.id.id)
  for (const id of ids) {
    await after.expect('POST', `/api/plugins/telemetry/DEVICE/${id}/SHARED_SCOPE`, { target: 2 })
    const call = { method: 'reboot', params: { in: 5 }, persistent: true, timeout: 600_000 }
    await after.expect('POST', `/api/rpc/oneway/${id}`, call)
  }

  for (const [token, version] of [
    ['SURVIVES_5', 5],
    ['SURVIVES_4', 4],
  ] as const) {
    const { heard, isPresent } = await come(context, second, token, { version })
    assert.equal(isPresent, true, `MQTT ${version}`)
    await hears(heard, /attributes \{"target":2\}$/, /rpc\/request\/\d+ \{"method":"reboot","params":\{"in":5\}\}$/)
  }
  const back = await come(context, second, 'GATEWAY')
  assert.equal(back.isPresent, true, 'of a gateway')
  await back.client.publishAsync('v1/gateway/connect', '{"device":"behind it"}', { qos: 1 })
  await hears(back.heard, /^v1\/gateway\/rpc .*"behind it".*"reboot"/)

  assert.equal((await come(context, second, 'SHORT')).isPresent, false, 'its time is over')
  assert.equal((await come(context, second, 'FOREIGN')).isPresent, false, 'of another device')
  assert.equal((await come(context, second, 'SURVIVES_5', { clean: true })).isPresent, false)
  assert.equal((await come(context, second, 'SURVIVES_5', { expiry: 1 })).isPresent, true, 'what the clean start began')
}

test(
  'a device whose process was killed goes on with its session after the restart',
  { timeout: 600_000 * SLOWNESS },
  async (context) => {
    const folder = await mkdtemp(path.join(tmpdir(), 'millrace-survives-'))
    context.after(() => rm(folder, { recursive: true, force: true }))
    const first = await startMillrace({ dataDir: folder })
    context.after(() => first.stop())
    const rest = new RestClient(first, await login(first))
    await walk(context, rest, first, async () => {
      await first.kill()
      const second = await startMillrace({ dataDir: folder })
      context.after(() => second.stop())
      return [second, new RestClient(second, await login(second))]
    })
  },
)

test(
  'a device whose transport was killed goes on with its session at another one',
  { timeout: 600_000 * SLOWNESS },
  async (context) => {
    if (!requireServer(context, 'nats', 'postgres')) return
    const closing: (() => Promise<unknown>)[] = []
    context.after(async () => {
      for (const close of closing.reverse()) await close()
    })
    const [nats, postgres] = await Promise.all([startNats(), startPostgres()])
    closing.push(
      () => nats.stop(),
      () => postgres.stop(),
    )
    const environment = natsAndPostgresEnvironment({ nats: nats.url, postgres: postgres.url })
    const member = async (role: ClusterRole): Promise<RunningMillrace> => {
      const running = await startMember(environment, [role])
      closing.push(() => running.stop())
      return running
    }
    const api = await member('api')
    const [a, b] = await Promise.all([member('transport'), member('transport'), member('engine')])
    const rest = new RestClient(api, await login(api))
    await walk(context, rest, a, async () => {
      await a.kill()
      return [b, rest]
    })
  },
)
