/** The official Python REST client, unchanged, does what its users do: log-in to deletion, and a call to a device over MQTT. */
import { test } from 'node:test'
import { pythonClients } from '../support/python-clients.ts'
import { runPythonScript } from '../support/python-script.ts'

test('the official REST client works', { timeout: 300_000 }, (context) =>
  runPythonScript(context, { python: pythonClients, script: 'rest_client.py', parts: 11 }),
)
