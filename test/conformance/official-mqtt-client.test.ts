/** A device with the official Python MQTT client, unchanged, does what devices do: it gets credentials, sends, is called, calls, is claimed. */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { test } from 'node:test'
import { pythonMqttClient } from '../support/python-clients.ts'
import { requireTool } from '../support/require-tool.ts'
import { PROJECT_ROOT, startMillrace } from '../support/start-millrace.ts'

const SCRIPT = join(PROJECT_ROOT, 'test', 'clients', 'mqtt_client.py')

test('the official MQTT client works', { timeout: 300_000 }, async (context) => {
  if (!requireTool(context, 'python3')) return
  const python = await pythonMqttClient()
  const millrace = await startMillrace()
  context.after(() => millrace.stop())
  const parameters = [SCRIPT, millrace.url, String(millrace.ports['mqtt'] ?? 0)]
  const client = spawn(python, parameters, { stdio: ['ignore', 'pipe', 'pipe'], timeout: 120_000 })
  let output = ''
  for (const stream of [client.stdout, client.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => (output += text))
  const [code] = (await once(client, 'close')) as [number | null]
  assert.equal(code, 0, output)
  assert.equal(output.match(/^ok /gm)?.length, 6, output)
})
