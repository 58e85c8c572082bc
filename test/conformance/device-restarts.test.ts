/** What a device is told as its server stops, and what it finds when the server is back: kept sessions by each of MQTT's ways, QoS 2 and gateways in them, observations of CoAP, long polls of HTTP. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { connect as connectTcp } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { connect as connectTls } from 'node:tls'
import { connect, type MqttClient } from 'mqtt'
import type { IPublishPacket } from 'mqtt-packet'
import { RawClient as RawCoapClient } from '../../transports/coap/testkit.ts'
import { RawClient as RawMqttClient } from '../../transports/mqtt/testkit.ts'
import { createAuthority, type Authority } from '../support/certificates.ts'
import { RestClient, login } from '../support/clients.ts'
import { figure } from '../support/figure.ts'
import { startMillrace, type RunningMillrace } from '../support/start-millrace.ts'
import { eventually } from './wait.ts'

const ATTRIBUTES = 'v1/devices/me/attributes'
const CALLS = 'v1/devices/me/rpc/request/+'
const TIMEOUT = { timeout: 600_000 }

interface World {
  readonly authority: Authority
  readonly start: () => Promise<readonly [RunningMillrace, RestClient]>
}

async function openWorld(context: TestContext): Promise<World> {
  const dataDir = await mkdtemp(join(tmpdir(), 'millrace-restarts-'))
  context.after(() => rm(dataDir, { recursive: true, force: true }))
  const authority = await createAuthority(context)
  const { certFile, keyFile } = await authority.issue(['127.0.0.1'])
  const environment = {
    ...{ MQTT_SSL_ENABLED: 'true', MQTT_SSL_BIND_PORT: '0', MQTT_SSL_PEM_CERT: certFile, MQTT_SSL_PEM_KEY: keyFile },
    ...{ MQTT_WS_ENABLED: 'true', MQTT_WS_BIND_PORT: '0' },
  }
  return {
    authority,
    start: async () => {
      const millrace = await startMillrace({ dataDir, environment })
      context.after(() => millrace.stop())
      return [millrace, new RestClient(millrace, await login(millrace))]
    },
  }
}

type Way = 'mqtt' | 'mqttws' | 'mqtts'

interface Came {
  readonly client: MqttClient
  readonly heard: readonly string[]
  readonly isPresent: boolean
}

async function come(
  context: TestContext,
  { ports }: RunningMillrace,
  { token, way = 'mqtt', version = 5, ca }: { token: string; way?: Way; version?: 4 | 5; ca: string },
): Promise<Came> {
  const at = `127.0.0.1:${ports[way]}`
  const url = { mqtt: `mqtt://${at}`, mqttws: `ws://${at}/mqtt`, mqtts: `mqtts://${at}` }[way]
  const client = connect(url, {
    ...{ username: token, clientId: token, clean: false, protocolVersion: version, reconnectPeriod: 0, ca },
    ...(version === 5 ? { properties: { sessionExpiryInterval: 3600 } } : {}),
  })
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

function hears(heard: readonly string[], pattern: RegExp): Promise<unknown> {
  return eventually(
    () => Promise.resolve(heard),
    (all) => all.some((text) => pattern.test(text)),
  )
}

function published(payload: string, dup: boolean): IPublishPacket {
  return { cmd: 'publish', topic: 'v1/devices/me/telemetry', payload, qos: 2, messageId: 7, retain: false, dup }
}

const sharedOf = (id: string) => `/api/plugins/telemetry/DEVICE/${id}/SHARED_SCOPE`
const callOf = (method: string) => ({ method, params: {}, persistent: true, timeout: 600_000 })

test('a kept session goes on over TCP, WebSocket and TLS, before and after a restart', TIMEOUT, async (context) => {
  const { authority, start } = await openWorld(context)
  const ca = await readFile(authority.caFile, 'utf8')
  let [millrace, rest] = await start()
  const ids = new Map<4 | 5, string>()
  for (const version of [4, 5] as const) {
    const token = `WAYS_${version}`
    ids.set(version, await rest.createDevice(token, token))
    const first = await come(context, millrace, { token, version, ca })
    assert.equal(first.isPresent, false)
    await first.client.subscribeAsync([ATTRIBUTES, CALLS], { qos: 1 })
    await first.client.endAsync(true)
  }
  let target = 0
  for (const isRestarted of [false, true]) {
    if (isRestarted) {
      assert.equal(await millrace.stop(), 0)
      ;[millrace, rest] = await start()
    }
    for (const way of ['mqttws', 'mqtts', 'mqtt'] as const) {
      for (const [version, id] of ids) {
        await rest.expect('POST', sharedOf(id), { target: ++target })
        await rest.expect('POST', `/api/rpc/oneway/${id}`, callOf(`m${target}`))
        const { client, heard, isPresent } = await come(context, millrace, {
          token: `WAYS_${version}`,
          way,
          version,
          ca,
        })
        assert.equal(isPresent, true, `MQTT ${version} by ${way}`)
        await hears(heard, new RegExp(`attributes \\{"target":${target}\\}$`))
        await hears(heard, new RegExp(`rpc/request/\\d+ \\{"method":"m${target}"`))
        await client.endAsync(true)
      }
    }
  }
})

test(
  'a QoS 2 publish in a kept session is stored once, though its connection is cut at each step',
  TIMEOUT,
  async (context) => {
    const { authority, start } = await openWorld(context)
    const [millrace, rest] = await start()
    const id = await rest.createDevice('TWICE', 'TWICE')
    const ca = await readFile(authority.caFile, 'utf8')
    const open = async (way: 'mqtt' | 'mqtts', version: 4 | 5): Promise<RawMqttClient> => {
      const where = { host: '127.0.0.1', port: millrace.ports[way] ?? 0 }
      const socket = way === 'mqtt' ? connectTcp(where) : connectTls({ ...where, ca })
      await once(socket, way === 'mqtt' ? 'connect' : 'secureConnect')
      const client = RawMqttClient.over(socket, version)
      const properties = version === 5 ? { properties: { sessionExpiryInterval: 3600 } } : {}
      client.send(client.connectPacket('TWICE', { clean: false, clientId: `two ${version}`, ...properties }))
      await client.received(1)
      client.packets.length = 0
      return client
    }
    const gone = async (client: RawMqttClient): Promise<void> => {
      client.socket.destroy()
      await client.end()
    }
    let sent = 0
    for (const version of [5, 4] as const) {
      for (const way of ['mqtt', 'mqtts'] as const) {
        const payload = JSON.stringify({ n: ++sent })
        // Cut before the PUBREC was read, before the PUBREL, and before the PUBCOMP was read.
        let client = await open(way, version)
        client.send(published(payload, false))
        await client.received(1)
        await gone(client)
        client = await open(way, version)
        client.send(published(payload, true))
        assert.equal((await client.received(1))[0]?.cmd, 'pubrec')
        await gone(client)
        client = await open(way, version)
        client.send({ cmd: 'pubrel', messageId: 7 })
        assert.equal((await client.received(1))[0]?.cmd, 'pubcomp')
        await gone(client)
        client = await open(way, version)
        client.send({ cmd: 'pubrel', messageId: 7 })
        assert.equal((await client.received(1))[0]?.cmd, 'pubcomp')
        await gone(client)
      }
    }
    const path = `/api/plugins/telemetry/DEVICE/${id}/values/timeseries?keys=n&startTs=0&endTs=9999999999999&limit=100&orderBy=ASC`
    const values = async (): Promise<string[]> =>
      ((await rest.expect<{ n?: { value: string }[] }>('GET', path)).n ?? []).map(({ value }) => value)
    assert.deepEqual(await eventually(values, (found) => found.length >= sent), ['1', '2', '3', '4'])
  },
)

test(
  'a gateway with a kept session goes on after a restart, and its devices with their calls',
  TIMEOUT,
  async (context) => {
    const { authority, start } = await openWorld(context)
    const ca = await readFile(authority.caFile, 'utf8')
    let [millrace, rest] = await start()
    const gatewayId = await rest.createDevice('GATEWAY', 'GATEWAY')
    const gateway = await rest.expect<object>('GET', `/api/device/${gatewayId}`)
    await rest.expect('POST', '/api/device', { ...gateway, additionalInfo: { gateway: true } })
    const first = await come(context, millrace, { token: 'GATEWAY', version: 4, ca })
    await first.client.subscribeAsync(['v1/gateway/attributes', 'v1/gateway/rpc', ATTRIBUTES], { qos: 1 })
    await first.client.publishAsync('v1/gateway/connect', '{"device":"behind it"}', { qos: 1 })
    const child = await rest.expect<{ id: { id: string } }>('GET', '/api/tenant/devices?deviceName=behind%20it')
    await rest.expect('POST', sharedOf(child.id.id), { target: 1 })
    await hears(first.heard, /^v1\/gateway\/attributes \{"device":"behind it","data":\{"target":1\}\}$/)
    assert.equal(await millrace.stop(), 0)
    ;[millrace, rest] = await start()
    await rest.expect('POST', sharedOf(gatewayId), { target: 2 })
    await rest.expect('POST', `/api/rpc/oneway/${child.id.id}`, callOf('reboot'))
    const second = await come(context, millrace, { token: 'GATEWAY', version: 4, ca })
    assert.equal(second.isPresent, true)
    await hears(second.heard, /^v1\/devices\/me\/attributes \{"target":2\}$/)
    await second.client.publishAsync('v1/gateway/telemetry', '{"behind it":[{"n":1}]}', { qos: 1 })
    await hears(second.heard, /^v1\/gateway\/rpc \{"device":"behind it","data":\{"id":\d+,"method":"reboot"/)
    await rest.expect('POST', sharedOf(child.id.id), { target: 3 })
    await hears(second.heard, /^v1\/gateway\/attributes \{"device":"behind it","data":\{"target":3\}\}$/)
  },
)

test(
  'an observer of CoAP is told that its server stops, and has all of it when it asks the next one',
  TIMEOUT,
  async (context) => {
    const { start } = await openWorld(context)
    let [millrace, rest] = await start()
    const id = await rest.createDevice('OBSERVER', 'OBSERVER')
    await rest.expect('POST', sharedOf(id), { target: 1 })
    const observe = (path: string, token: string) => ({
      code: '0.01',
      path: `/api/v1/OBSERVER/${path}`,
      observe: 0,
      token,
    })
    const first = await RawCoapClient.open(millrace.ports['coap'] ?? 0)
    context.after(() => first.close())
    const answered = await first.answerTo(observe('attributes', 'a1'))
    assert.deepEqual([answered.code, answered.text], ['2.05', '{"target":1}'])
    assert.equal((await first.answerTo(observe('rpc', 'a2'))).code, '2.03')
    const before = first.messages.length
    const stopped = millrace.stop()
    for (let index = before, ended = 0; ended < 2; index++) if ((await first.message(index)).code === '5.03') ended++
    assert.equal(await stopped, 0)
    ;[millrace, rest] = await start()
    await rest.expect('POST', sharedOf(id), { target: 2 })
    await rest.expect('POST', `/api/rpc/oneway/${id}`, callOf('reboot'))
    const second = await RawCoapClient.open(millrace.ports['coap'] ?? 0)
    context.after(() => second.close())
    const anew = await second.answerTo(observe('attributes', 'b1'))
    assert.deepEqual([anew.code, anew.text], ['2.05', '{"target":2}'])
    const index = second.messages.length
    second.send(observe('rpc', 'b2'))
    const calls = await eventually(
      () => Promise.resolve(second.messages.slice(index)),
      (messages) => messages.some(({ payload }) => payload.toString().includes('"reboot"')),
    )
    for (const message of calls) if (message.type === 'CON') second.reply('ACK', message.id)
    const next = second.messages.length
    await rest.expect('POST', sharedOf(id), { target: 3 })
    await eventually(
      () => Promise.resolve(second.messages.slice(next)),
      (messages) => messages.some(({ payload }) => payload.toString() === '{"target":3}'),
    )
  },
)

test('a long poll ends as its server stops, and the next one has the call that waited', TIMEOUT, async (context) => {
  const { start } = await openWorld(context)
  let [millrace, rest] = await start()
  const id = await rest.createDevice('POLLS', 'POLLS')
  const poll = (path: string) => fetch(`${millrace.url}/api/v1/POLLS/${path}?timeout=300000`)
  const waiting = [poll('rpc'), poll('attributes/updates')]
  await eventually(
    () => figure(millrace, 'millrace_http_device_api_waiting_polls'),
    (polls) => polls === waiting.length,
  )
  const began = performance.now()
  assert.equal(await millrace.stop(), 0)
  for (const answer of waiting) assert.equal((await answer).status, 503)
  assert.ok(performance.now() - began < 60_000, 'the stop waited for polls')
  ;[millrace, rest] = await start()
  await rest.expect('POST', `/api/rpc/oneway/${id}`, callOf('one'))
  await rest.expect('POST', `/api/rpc/oneway/${id}`, callOf('two'))
  for (const method of ['one', 'two']) {
    const answer = await poll('rpc')
    assert.equal(answer.status, 200)
    assert.match(await answer.text(), new RegExp(`"method":"${method}"`))
  }
  const update = poll('attributes/updates')
  await eventually(
    async () => {
      await rest.expect('POST', sharedOf(id), { target: Math.round(performance.now()) })
      return Promise.race([update, delay(500, undefined)])
    },
    (answer) => answer !== undefined,
  )
  assert.match(await (await update).text(), /^\{"target":\d+\}$/)
})
