/** The official Python REST clients, unchanged, do what their users do: log-in to deletion, and a call to a device over MQTT. */
import { test } from 'node:test'
import { pythonClients, pythonGeneratedClient } from '../support/python-clients.ts'
import { runPythonScript } from '../support/python-script.ts'

test('the official REST client works', { timeout: 600_000 }, (context) =>
  runPythonScript(context, { python: pythonClients, script: 'rest_client.py', parts: 12 }),
)

test('the client generated from the OpenAPI description works', { timeout: 600_000 }, (context) =>
  runPythonScript(context, { python: pythonGeneratedClient, script: 'ce_client.py', parts: 16 }),
)
