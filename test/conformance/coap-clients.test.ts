/** Devices with public clients of CoAP, unchanged: aiocoap does all that a device may do, libcoap sends, asks and observes. */
import assert from 'node:assert/strict'
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { RestClient, login } from '../support/clients.ts'
import { pythonCoapClient } from '../support/python-clients.ts'
import { runPythonScript } from '../support/python-script.ts'
import { requireTool } from '../support/require-tool.ts'
import { startMillrace } from '../support/start-millrace.ts'
import { eventually } from './wait.ts'

const TOOL = 'coap-client-openssl'
const run = promisify(execFile)

test('a device with aiocoap works', { timeout: 600_000 }, (context) =>
  runPythonScript(context, { python: pythonCoapClient, script: 'coap_client.py', parts: 7, protocol: 'coap' }),
)

test('a device with libcoap sends, asks and observes', { timeout: 600_000 }, async (context) => {
  if (!requireTool(context, TOOL)) return
  const millrace = await startMillrace()
  context.after(() => millrace.stop())
  const rest = new RestClient(millrace, await login(millrace))
  const id = await rest.createDevice('pump', 'PUMP')
  const ofDevice = `/api/plugins/telemetry/DEVICE/${id}`
  const at = (path: string): string => `coap://127.0.0.1:${millrace.ports['coap'] ?? 0}/api/v1/${path}`
  /** What it says, complaints too. */
  const asked = async (...parameters: readonly string[]): Promise<string> => {
    const { stdout, stderr } = await run(TOOL, ['-B', '120', ...parameters])
    return stdout + stderr
  }
  const long = 'x'.repeat(3000)
  assert.equal((await asked('-m', 'post', '-e', '{"temperature":21.5}', at('PUMP/telemetry'))).trim(), '')
  await asked('-m', 'post', '-b', '256', '-e', JSON.stringify({ long }), at('PUMP/telemetry'))
  await asked('-m', 'post', '-N', '-B', '1', '-e', '{"unconfirmed":1}', at('PUMP/telemetry'))
  assert.match(await asked('-m', 'post', '-e', '{"temperature":1}', at('NOBODY/telemetry')), /4\.01/)
  await eventually(
    () =>
      rest.expect<Record<string, { value: string | null }[]>>(
        'GET',
        `${ofDevice}/values/timeseries?keys=temperature,long,unconfirmed`,
      ),
    ({ temperature, long: text, unconfirmed }) =>
      temperature?.[0]?.value === '21.5' && text?.[0]?.value === long && unconfirmed?.[0]?.value === '1',
  )

  const observer = spawn(TOOL, ['-w', '-s', '600', at('PUMP/attributes')], { stdio: ['ignore', 'pipe', 'ignore'] })
  const ended = once(observer, 'exit')
  context.after(async () => {
    observer.kill()
    await ended
  })
  let heard = ''
  observer.stdout.setEncoding('utf8').on('data', (text: string) => (heard += text))
  const hears = (text: string) =>
    eventually(
      () => Promise.resolve(heard),
      (all) => all.includes(text),
    )
  await hears('{}')
  await rest.expect('POST', `${ofDevice}/SHARED_SCOPE`, { target: 7 })
  await hears('{"target":7}')
  await rest.expect('POST', `${ofDevice}/SHARED_SCOPE`, { text: long })
  await hears(`{"text":"${long}"}`)
  const answer: unknown = JSON.parse(await asked('-b', '256', at('PUMP/attributes?sharedKeys=target,text')))
  assert.deepEqual(answer, { shared: { target: 7, text: long } })
})
