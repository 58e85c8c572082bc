/**
 * The example chain with real clients: what passes the filter is stored, latest, and pushed to a WebSocket subscriber; what does
 * not is logged and not stored. Both files of it, the expression language's and JavaScript's.
 */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { test, type TestContext } from 'node:test'
import { connectAsync } from 'mqtt'
import { WebSocket } from 'ws'
import { installChain } from '../../commands/install-chain.ts'
import { DEMO_TOKEN, RestClient, login } from '../support/clients.ts'
import { hasTool } from '../support/require-tool.ts'
import { startMillrace, type RunningMillrace } from '../support/start-millrace.ts'

const TOPIC = 'v1/devices/me/telemetry'

/** One way of sending a payload as the demo device, acknowledged when it resolves. */
type Send = (payload: string) => Promise<void>

async function mqttJs(context: TestContext, millrace: RunningMillrace): Promise<Send> {
  const client = await connectAsync({ host: '127.0.0.1', port: millrace.ports['mqtt'] ?? 0, username: DEMO_TOKEN })
  context.after(() => client.endAsync())
  return async (payload) => void (await client.publishAsync(TOPIC, payload, { qos: 1 }))
}

function command(name: string, argv: (payload: string) => readonly string[]): Send {
  return async (payload) => {
    const { status, stderr } = spawnSync(name, argv(payload), { encoding: 'utf8', timeout: 60_000 })
    assert.equal(status, 0, `${name}: ${stderr}`)
  }
}

async function senders(context: TestContext, millrace: RunningMillrace): Promise<Map<string, Send>> {
  const ways = new Map<string, Send>([['MQTT.js', await mqttJs(context, millrace)]])
  const port = String(millrace.ports['mqtt'])
  const url = `${millrace.url}/api/v1/${DEMO_TOKEN}/telemetry`
  const tools: [string, Send][] = [
    [
      'mosquitto_pub',
      command('mosquitto_pub', (payload) => [
        '-h',
        '127.0.0.1',
        '-p',
        port,
        '-u',
        DEMO_TOKEN,
        '-q',
        '1',
        '-t',
        TOPIC,
        '-m',
        payload,
      ]),
    ],
    [
      'curl',
      command('curl', (payload) => ['-sS', '--fail', '-H', 'Content-Type: application/json', '-d', payload, url]),
    ],
  ]
  for (const [name, send] of tools) {
    if (hasTool(name)) ways.set(name, send)
    else {
      assert.notEqual(process.env['REQUIRE_REAL'], '1', `${name} is required and not on this machine`)
      context.diagnostic(`skipped: needs ${name}, which is not on this machine`)
    }
  }
  return ways
}

/** Subscribes to the device's latest telemetry; `heard` resolves with the value of the next update of `key`. */
async function subscribe(context: TestContext, millrace: RunningMillrace, token: string, deviceId: string) {
  const socket = new WebSocket(`${millrace.url.replace('http', 'ws')}/api/ws`)
  context.after(() => socket.terminate())
  await once(socket, 'open')
  const heard: string[] = []
  socket.on('message', (frame: Buffer) => {
    const update = JSON.parse(frame.toString()) as { data?: Record<string, [number, string][]> }
    for (const [, value] of update.data?.['temperature'] ?? []) heard.push(String(value))
  })
  const command = { type: 'TIMESERIES', cmdId: 1, entityType: 'DEVICE', entityId: deviceId, scope: 'LATEST_TELEMETRY' }
  socket.send(JSON.stringify({ authCmd: { cmdId: 0, token }, cmds: [command] }))
  await once(socket, 'message')
  return heard
}

async function until(what: string, holds: () => boolean | Promise<boolean>): Promise<void> {
  for (let attempt = 0; attempt < 2400; attempt++) {
    if (await holds()) return
    await new Promise((resolve) => setTimeout(resolve, 25))
  }
  assert.fail(`not within 60 s: ${what}`)
}

for (const file of ['examples/temperature-filter.json', 'examples/temperature-filter-javascript.json']) {
  test(`${file} stores what is in range and logs the rest, whoever sends it`, { timeout: 600_000 }, async (context) => {
    const millrace = await startMillrace()
    context.after(() => millrace.stop())
    assert.equal(await installChain([file, '--url', millrace.url, '--root']), 0)
    const token = await login(millrace)
    const rest = new RestClient(millrace, token)
    const { id } = await rest.expect<{ id: { id: string } }>('GET', '/api/tenant/devices?deviceName=Demo%20Thermometer')
    const series = `/api/plugins/telemetry/DEVICE/${id.id}/values/timeseries`
    const history = async (key: string) => {
      const answer = await rest.expect<Record<string, { value: string }[]>>(
        'GET',
        `${series}?keys=${key}&startTs=0&endTs=9999999999999&limit=1000`,
      )
      return (answer[key] ?? []).map((point) => point.value)
    }
    const heard = await subscribe(context, millrace, token, id.id)

    for (const [name, send] of await senders(context, millrace)) {
      await send('{"temperature": 81}')
      await send('{"temperature": -41}')
      await send(`{"noTemperature": "${name}"}`)
      await send('{"temperature": -40}')
      await send('{"temperature": 80}')
      await send('{"temperature": 20}')
      await until(`${name}: 20 is the latest value`, async () => {
        const latest = await rest.expect<{ temperature: { value: string }[] }>('GET', `${series}?keys=temperature`)
        return latest.temperature[0]?.value === '20'
      })
      await until(
        `${name}: the subscriber heard what is stored`,
        () => heard.includes('-40') && heard.includes('80') && heard.at(-1) === '20',
      )
      await until(
        `${name}: the log has both`,
        () => /temperature\W+81\b/.test(millrace.log()) && /temperature\W+-41\b/.test(millrace.log()),
      )
      assert.deepEqual(await history('noTemperature'), [name])
      assert.deepEqual((await history('temperature')).sort(), ['-40', '20', '80'])
      assert.ok(!heard.includes('81') && !heard.includes('-41'), 'what is not stored is not pushed')
      await rest.expect(
        'DELETE',
        `${series.replace('values/timeseries', 'timeseries/delete')}?keys=temperature,noTemperature&deleteAllDataForKeys=true`,
      )
      heard.length = 0
    }
  })
}
