/**
 * Devices that move between two transports whose clocks differ, while the engine that owns them is killed: each change of theirs is
 * told once, nothing is overwritten, and the latest value is the last one sent. Events are made points by the rule chain, at their own
 * times, so that one that ran twice is one point and one that was told twice is two.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { connectAsync, type MqttClient } from 'mqtt'
import { RestClient, login } from '../support/clients.ts'
import { requireServer, startNats, startPostgres } from '../support/servers/index.ts'
import { natsAndPostgresEnvironment, type ClusterRole } from '../support/start-cluster.ts'
import { startMillrace, type RunningMillrace } from '../support/start-millrace.ts'

const INACTIVITY_S = 10
/** Longer than a device may be silent, with the kill in it. */
const POSTING_MS = Number(process.env['MOVING_DEVICE_SECONDS'] ?? 20) * 1000
const EVERY_MS = 200
const LIMIT_MS = 180_000
const EVENTS = ['CONNECT_EVENT', 'DISCONNECT_EVENT', 'ACTIVITY_EVENT', 'INACTIVITY_EVENT'] as const
const CLOCK_OFFSET = new URL('../support/clock-offset.ts', import.meta.url).href

test('devices that move between transports are told of once each, whoever owns them', async (context) => {
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
  const environment = {
    ...natsAndPostgresEnvironment({ nats: nats.url, postgres: postgres.url }),
    DEFAULT_INACTIVITY_TIMEOUT: String(INACTIVITY_S),
    DEFAULT_STATE_CHECK_INTERVAL: '1',
  }
  const member = async (role: ClusterRole, offsetMs: number): Promise<RunningMillrace> => {
    const running = await startMillrace({
      environment: { ...environment, MILLRACE_ROLES: role, TEST_CLOCK_OFFSET_MS: String(offsetMs) },
      preload: [CLOCK_OFFSET],
    })
    closing.push(() => running.stop())
    return running
  }
  const api = await member('api', 0)
  const [a, b, ...engines] = await Promise.all([
    member('transport', 500),
    member('transport', 0),
    member('engine', 0),
    member('engine', -500),
  ])
  const rest = new RestClient(api, await login(api))
  await saveEventsAsPoints(rest)

  const mqtt = await rest.createDevice('moves over MQTT', 'MOVES_MQTT')
  const http = await rest.createDevice('speaks HTTP to both', 'MOVES_HTTP')
  const sent = { mqtt: 0, http: 0 }
  const began = Date.now()
  const postMqtt = async (client: MqttClient): Promise<void> => {
    const n = ++sent.mqtt
    await client.publishAsync('v1/devices/me/telemetry', point(n), { qos: 1 })
  }
  const postHttp = async (transport: RunningMillrace): Promise<void> => {
    const n = ++sent.http
    const response = await fetch(`${transport.url}/api/v1/MOVES_HTTP/telemetry`, {
      method: 'POST',
      body: point(n),
    })
    assert.equal(response.status, 200, await response.text())
  }

  const first = await connect(a, 'MOVES_MQTT')
  closing.push(() => first.endAsync(true))
  let takenOver = 0
  first.on('close', () => takenOver++)
  await postMqtt(first)
  await delay(1000)
  const second = await connect(b, 'MOVES_MQTT')
  closing.push(() => second.endAsync(true))

  const until = performance.now() + POSTING_MS
  let killed: Promise<void> | undefined
  while (performance.now() < until) {
    await Promise.all([postMqtt(second), postHttp(sent.http % 2 === 0 ? a : b)])
    if (killed === undefined && performance.now() > until - POSTING_MS / 2) {
      killed = engines[sent.mqtt % engines.length]?.kill()
    }
    await delay(EVERY_MS)
  }
  await killed
  assert.equal(takenOver, 1, 'the session at A was ended by the one at B')

  const seen = async (device: string): Promise<Record<string, number>> => {
    const counts: Record<string, number> = {}
    for (const event of EVENTS) counts[event] = (await history(rest, device, event, began)).length
    return counts
  }
  const whilePosting = [await seen(mqtt), await seen(http)]
  assert.deepEqual(
    whilePosting.map((counts) => [counts['DISCONNECT_EVENT'], counts['INACTIVITY_EVENT']]),
    [
      [0, 0],
      [0, 0],
    ],
    'a device that posts is neither gone nor inactive',
  )
  await second.endAsync()
  const deadline = performance.now() + LIMIT_MS
  while ((await seen(mqtt))['INACTIVITY_EVENT'] === 0 || (await seen(http))['INACTIVITY_EVENT'] === 0) {
    assert.ok(performance.now() < deadline, `told inactive within ${LIMIT_MS} ms`)
    await delay(500)
  }
  // What would be told a second time comes with the next check.
  await delay(3000)
  // A new connection is told as one, also where it takes over from another.
  assert.deepEqual(await seen(mqtt), { CONNECT_EVENT: 2, DISCONNECT_EVENT: 1, ACTIVITY_EVENT: 1, INACTIVITY_EVENT: 1 })
  assert.deepEqual(await seen(http), { CONNECT_EVENT: 0, DISCONNECT_EVENT: 0, ACTIVITY_EVENT: 1, INACTIVITY_EVENT: 1 })
  for (const [device, count] of [
    [mqtt, sent.mqtt],
    [http, sent.http],
  ] as const) {
    const values = (await history(rest, device, 'n', began)).map(({ value }) => Number(value))
    assert.deepEqual(
      values.sort((one, other) => one - other),
      Array.from({ length: count }, (_, index) => index + 1),
    )
    const latest = await rest.expect<Record<string, { value: string }[]>>(
      'GET',
      `/api/plugins/telemetry/DEVICE/${device}/values/timeseries?keys=n`,
    )
    assert.equal(latest['n']?.[0]?.value, String(count))
  }
})

/** Without a time: its owner gives it one. */
function point(n: number): string {
  return JSON.stringify({ n })
}

function connect(transport: RunningMillrace, token: string): Promise<MqttClient> {
  return connectAsync({ host: '127.0.0.1', port: transport.ports['mqtt'] ?? 0, username: token, reconnectPeriod: 0 })
}

async function history(rest: RestClient, device: string, key: string, since: number) {
  const range = `startTs=${since - 60_000}&endTs=${Date.now() + 60_000}&limit=10000`
  const path = `/api/plugins/telemetry/DEVICE/${device}/values/timeseries?keys=${key}&${range}`
  return (await rest.expect<Record<string, { ts: number; value: string }[]>>('GET', path))[key] ?? []
}

/** Telemetry is saved as it comes; a lifecycle event as a point named for it, at the event's time. */
async function saveEventsAsPoints(rest: RestClient): Promise<void> {
  const chain = await rest.expect<{ id: { id: string } }>('POST', '/api/ruleChain', { name: 'events as points' })
  const script = `
    var point = {};
    point[msgType] = 1;
    return { msg: point, metadata: metadata, msgType: "POST_TELEMETRY_REQUEST" };`
  const node = (type: string, name: string, configuration: object, configurationVersion = 0) => ({
    type: `org.thingsboard.rule.engine.${type}`,
    name,
    configurationVersion,
    configuration,
  })
  await rest.expect('POST', '/api/ruleChain/metadata', {
    ruleChainId: { entityType: 'RULE_CHAIN', id: chain.id.id },
    firstNodeIndex: 0,
    nodes: [
      node('filter.TbMsgTypeSwitchNode', 'by type', { version: 0 }),
      node('transform.TbTransformMsgNode', 'point', { scriptLang: 'TBEL', tbelScript: script, jsScript: script }),
      node(
        'telemetry.TbMsgTimeseriesNode',
        'save',
        { defaultTTL: 0, useServerTs: false, processingSettings: { type: 'ON_EVERY_MESSAGE' } },
        1,
      ),
    ],
    connections: [
      { fromIndex: 0, toIndex: 2, type: 'Post telemetry' },
      ...['Connect Event', 'Disconnect Event', 'Activity Event', 'Inactivity Event'].map((type) => ({
        fromIndex: 0,
        toIndex: 1,
        type,
      })),
      { fromIndex: 1, toIndex: 2, type: 'Success' },
    ],
  })
  await rest.expect('POST', `/api/ruleChain/${chain.id.id}/root`)
}
