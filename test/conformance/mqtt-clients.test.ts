/** Devices with public clients of MQTT, unchanged: paho does all that a device may do, mosquitto's commands send and subscribe. */
import assert from 'node:assert/strict'
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { RestClient, login } from '../support/clients.ts'
import { pythonClients } from '../support/python-clients.ts'
import { runPythonScript } from '../support/python-script.ts'
import { requireTool } from '../support/require-tool.ts'
import { startMillrace } from '../support/start-millrace.ts'
import { eventually } from './wait.ts'

const run = promisify(execFile)
const ATTRIBUTES = 'v1/devices/me/attributes'

test('a device with paho works', { timeout: 600_000 }, (context) =>
  runPythonScript(context, { python: pythonClients, script: 'paho_client.py', parts: 7 }),
)

test(
  "mosquitto's commands send, subscribe and answer calls, in each version of MQTT",
  { timeout: 600_000 },
  async (context) => {
    if (!requireTool(context, 'mosquitto_sub') || !requireTool(context, 'mosquitto_pub')) return
    const millrace = await startMillrace()
    context.after(() => millrace.stop())
    const rest = new RestClient(millrace, await login(millrace))
    for (const version of ['mqttv31', 'mqttv311', 'mqttv5']) {
      const token = `PUMP-${version}`
      const id = await rest.createDevice(`pump of ${version}`, token)
      const ofDevice = `/api/plugins/telemetry/DEVICE/${id}`
      const asDevice = ['-V', version, '-h', '127.0.0.1', '-p', String(millrace.ports['mqtt'] ?? 0), '-u', token]
      const publish = (topic: string, payload: string, ...more: readonly string[]) =>
        run('mosquitto_pub', [...asDevice, '-t', topic, '-m', payload, ...more])

      const topics = ['-t', ATTRIBUTES, '-t', 'v1/devices/me/rpc/request/+']
      const subscriber = spawn('mosquitto_sub', [...asDevice, '-q', '1', '-v', ...topics], {
        stdio: ['ignore', 'pipe', 'ignore'],
      })
      const ended = once(subscriber, 'exit')
      context.after(async () => {
        subscriber.kill()
        await ended
      })
      let heard = ''
      subscriber.stdout.setEncoding('utf8').on('data', (text: string) => (heard += text))
      const hears = (what: RegExp) =>
        eventually(
          () => Promise.resolve(what.exec(heard)),
          (found) => found !== null,
        )
      // It does not say when it has subscribed.
      await eventually(
        async () => {
          await rest.expect('POST', `${ofDevice}/SHARED_SCOPE`, { target: 7 })
          return heard
        },
        (all) => all.includes(`${ATTRIBUTES} {"target":7}`),
      )

      // Another connection of the device answers.
      const call = rest.expect('POST', `/api/rpc/twoway/${id}`, { method: 'set', params: { a: 1 }, timeout: 60_000 })
      const [, number] = (await hears(/rpc\/request\/(\d+) \{"method":"set","params":\{"a":1\}\}/)) ?? []
      await publish(`v1/devices/me/rpc/response/${number}`, '{"done":true}', '-q', '1')
      assert.deepEqual(await call, { done: true })

      for (const quality of ['0', '1', '2'])
        await publish('v1/devices/me/telemetry', `{"quality${quality}":${quality}}`, '-q', quality)
      await publish(ATTRIBUTES, '{"model":"M1"}', '-q', '1')
      await eventually(
        () =>
          rest.expect<Record<string, { value: string | null }[]>>(
            'GET',
            `${ofDevice}/values/timeseries?keys=quality0,quality1,quality2`,
          ),
        (values) => ['0', '1', '2'].every((quality) => values[`quality${quality}`]?.[0]?.value === quality),
      )
      await eventually(
        () => rest.expect<{ key: string }[]>('GET', `${ofDevice}/values/attributes/CLIENT_SCOPE?keys=model`),
        (found) => found.length === 1,
      )
      await assert.rejects(publish(ATTRIBUTES, '{}', '-q', '1', '-u', 'NOBODY'))
    }
  },
)
