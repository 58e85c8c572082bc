/**
 * Two transports, two engines and one API as processes of their own on one NATS, PostgreSQL and QuestDB, all started at once on
 * empty stores: what a device sends on one and what a user does on another meet.
 */
import assert from 'node:assert/strict'
import { after, test, type TestContext } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { connectAsync, type MqttClient } from 'mqtt'
import WebSocket from 'ws'
import { DEMO_SYSADMIN, RestClient, login } from '../support/clients.ts'
import { eventually } from '../conformance/wait.ts'
import { requireServer } from '../support/servers/index.ts'
import {
  startMember,
  startProductionServers,
  type ClusterRole,
  type ProductionServers,
} from '../support/start-cluster.ts'
import type { RunningMillrace } from '../support/start-millrace.ts'

interface Cluster {
  readonly servers: ProductionServers
  readonly transports: readonly [RunningMillrace, RunningMillrace]
  readonly engines: readonly [RunningMillrace, RunningMillrace]
  readonly api: RunningMillrace
}

const closing: (() => Promise<unknown>)[] = []
let starting: Promise<Cluster> | undefined

/** Started by the first test that has the servers for it; undefined where the test was skipped. */
async function theCluster(context: TestContext): Promise<Cluster | undefined> {
  if (!requireServer(context, 'nats', 'postgres', 'questdb')) return undefined
  return (starting ??= startCluster())
}

async function startCluster(): Promise<Cluster> {
  const servers = await startProductionServers()
  closing.push(() => servers.stop())
  const member = async (...roles: readonly ClusterRole[]): Promise<RunningMillrace> => {
    const running = await startMember(servers.environment, roles)
    closing.push(() => running.stop())
    return running
  }
  const [first, second, engine, other, api] = await Promise.all([
    member('transport'),
    member('transport'),
    member('engine'),
    member('engine'),
    member('api'),
  ])
  return { servers, transports: [first, second], engines: [engine, other], api }
}

after(async () => {
  for (const close of closing.reverse()) await close()
})

test('a device on one transport receives a shared attribute that was written through the API', async (context) => {
  const cluster = await theCluster(context)
  if (cluster === undefined) return
  const { api, transports } = cluster
  const rest = new RestClient(api, await login(api))
  const deviceId = await rest.createDevice('on the first transport', 'FIRST')
  const device = await connectDevice(transports[0], 'FIRST')
  context.after(() => device.endAsync())
  const pushed = new Promise<string>((resolve) => device.once('message', (_topic, body) => resolve(body.toString())))
  await device.subscribeAsync('v1/devices/me/attributes', { qos: 1 })
  await rest.expect('POST', `/api/plugins/telemetry/DEVICE/${deviceId}/SHARED_SCOPE`, { setPoint: 21.5 })
  assert.deepEqual(JSON.parse(await pushed), { setPoint: 21.5 })
})

test('a call over the API reaches a device on either transport, over MQTT and long polling, and brings its answer', async (context) => {
  const cluster = await theCluster(context)
  if (cluster === undefined) return
  const { api, transports } = cluster
  const rest = new RestClient(api, await login(api))
  const call = { method: 'add', params: { a: 1, b: 2 }, timeout: 60_000 }
  const overMqtt = await rest.createDevice('called over MQTT', 'CALLED')
  const device = await connectDevice(transports[1], 'CALLED')
  context.after(() => device.endAsync())
  device.on('message', (topic, body) => {
    const { params } = JSON.parse(body.toString()) as { params: { a: number; b: number } }
    device.publish(topic.replace('request', 'response'), JSON.stringify({ sum: params.a + params.b }), { qos: 1 })
  })
  await device.subscribeAsync('v1/devices/me/rpc/request/+', { qos: 1 })
  assert.deepEqual(await rest.expect('POST', `/api/rpc/twoway/${overMqtt}`, call), { sum: 3 })

  const polling = await rest.createDevice('called over HTTP', 'POLLING')
  const path = `${transports[0].url}/api/v1/POLLING/rpc`
  const polled = fetch(`${path}?timeout=60000`)
  const answered = rest.expect('POST', `/api/plugins/rpc/twoway/${polling}`, call)
  const { id, method } = (await (await polled).json()) as { id: number; method: string }
  assert.equal(method, 'add')
  assert.equal((await fetch(`${path}/${id}`, { method: 'POST', body: '{"sum":3}' })).status, 200)
  assert.deepEqual(await answered, { sum: 3 })
})

test('an erasure that is asked of the API hears of the parked lanes of all engines', async (context) => {
  const cluster = await theCluster(context)
  if (cluster === undefined) return
  const { api } = cluster
  const rest = new RestClient(api, await login(api))
  const deviceId = await rest.createDevice('erased', 'ERASED')
  await rest.expect('DELETE', `/api/device/${deviceId}`)
  const system = new RestClient(api, await login(api, DEMO_SYSADMIN))
  interface Report {
    readonly pending: number
    readonly stores: readonly { readonly store: string; readonly gone: boolean }[]
  }
  await eventually(
    () => system.expect<Report>('POST', '/api/admin/erasure', {}),
    ({ pending, stores }) => pending === 0 && stores.some(({ store, gone }) => store === 'parked lanes' && gone),
  )
})

test('a WebSocket client of the API sees a point that was sent through the other transport', async (context) => {
  const cluster = await theCluster(context)
  if (cluster === undefined) return
  const { api, transports } = cluster
  const token = await login(api)
  const rest = new RestClient(api, token)
  const deviceId = await rest.createDevice('on the second transport', 'SECOND')
  const socket = new WebSocket(`${api.url.replace('http', 'ws')}/api/ws`)
  context.after(() => socket.close())
  const seen: string[] = []
  const first = new Promise<void>((resolve) => {
    socket.on('message', (text) => {
      assert.ok(Buffer.isBuffer(text))
      const { data } = JSON.parse(text.toString()) as { data?: Record<string, [number, string][]> }
      for (const [, value] of data?.['temperature'] ?? []) seen.push(value)
      resolve()
    })
  })
  await new Promise((resolve) => socket.once('open', resolve))
  socket.send(
    JSON.stringify({
      authCmd: { cmdId: 0, token },
      cmds: [{ type: 'TIMESERIES', entityType: 'DEVICE', entityId: deviceId, scope: 'LATEST_TELEMETRY', cmdId: 1 }],
    }),
  )
  await first
  for (const temperature of [20, 21, 22]) {
    const response = await fetch(`${transports[1].url}/api/v1/SECOND/telemetry`, {
      method: 'POST',
      body: JSON.stringify({ temperature }),
    })
    assert.equal(response.status, 200)
  }
  await until(() => seen.length >= 3)
  assert.deepEqual(seen, ['20', '21', '22'])
  const path = `/api/plugins/telemetry/DEVICE/${deviceId}/values/timeseries?keys=temperature&startTs=0&endTs=9999999999999&limit=10&orderBy=ASC`
  const { temperature } = await rest.expect<{ temperature: { value: string }[] }>('GET', path)
  assert.deepEqual(
    temperature.map(({ value }) => value),
    ['20', '21', '22'],
  )
})

test('a chain that is changed through the API runs in every engine', async (context) => {
  const cluster = await theCluster(context)
  if (cluster === undefined) return
  const { api, transports, engines } = cluster
  const rest = new RestClient(api, await login(api))
  const chains = await rest.expect<{ data: { id: { id: string }; root: boolean }[] }>(
    'GET',
    '/api/ruleChains?pageSize=10&page=0',
  )
  const root = chains.data.find((chain) => chain.root)
  assert.ok(root !== undefined)
  const path = `/api/ruleChain/${root.id.id}/metadata`
  const graph = await rest.expect<{ nodes: { type: string; configuration: object }[]; connections: object[] }>(
    'GET',
    path,
  )
  const logs = {
    type: 'org.thingsboard.rule.engine.action.TbLogNode',
    name: 'says so',
    configuration: {
      scriptLang: 'TBEL',
      tbelScript: 'return "every engine says " + msg.marker;',
      jsScript: 'return "x";',
    },
  }
  const saves = graph.nodes.findIndex(({ type }) => type.endsWith('TbMsgTimeseriesNode'))
  await rest.expect('POST', '/api/ruleChain/metadata', {
    ...graph,
    ruleChainId: { entityType: 'RULE_CHAIN', id: root.id.id },
    nodes: [...graph.nodes, logs],
    connections: [...graph.connections, { fromIndex: saves, toIndex: graph.nodes.length, type: 'Success' }],
  })
  // So many that both engines own some by all odds (one may have three partitions of ten); a change takes a moment to reach all.
  const tokens = Array.from({ length: 64 }, (_, index) => `MARKED_${index}`)
  await Promise.all(tokens.map((token) => rest.createDevice(token, token)))
  const says = (engine: RunningMillrace): boolean => engine.log().includes('every engine says here')
  await until(async () => {
    const posts = tokens.map(async (token, index) => {
      const url = `${transports[index % 2]?.url ?? ''}/api/v1/${token}/telemetry`
      const response = await fetch(url, { method: 'POST', body: '{"marker":"here"}' })
      assert.equal(response.status, 200)
    })
    await Promise.all(posts)
    await delay(200)
    return engines.every(says)
  })
})

test('every process answers for its own health, and only the API serves users', async (context) => {
  const cluster = await theCluster(context)
  if (cluster === undefined) return
  const { api, transports, engines } = cluster
  for (const member of [api, ...transports, ...engines]) {
    assert.equal((await fetch(`${member.url}/health`)).status, 200)
    assert.equal((await fetch(`${member.url}/metrics`)).status, 200)
  }
  const token = await login(api)
  const headers = { 'x-authorization': `Bearer ${token}` }
  assert.equal((await fetch(`${api.url}/api/tenant/devices?pageSize=1&page=0`, { headers })).status, 200)
  for (const member of [...transports, ...engines])
    assert.equal((await fetch(`${member.url}/api/tenant/devices?pageSize=1&page=0`, { headers })).status, 404)
  for (const member of [api, ...engines]) {
    const response = await fetch(`${member.url}/api/v1/FIRST/telemetry`, { method: 'POST', body: '{"a":1}' })
    assert.equal(response.status, 404)
  }
})

function connectDevice(transport: RunningMillrace, token: string): Promise<MqttClient> {
  return connectAsync({ host: '127.0.0.1', port: transport.ports['mqtt'] ?? 0, username: token, protocolVersion: 4 })
}

async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  const deadline = performance.now() + 60_000
  while (!(await condition())) {
    assert.ok(performance.now() < deadline, 'it did not come to pass within 60 s')
    await delay(25)
  }
}
