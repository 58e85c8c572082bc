/** A device with the official Python MQTT client, unchanged, does what devices do: it gets credentials, sends, is called, calls, loads its firmware, is claimed; and as a gateway for others. */
import { test } from 'node:test'
import { pythonMqttClient } from '../support/python-clients.ts'
import { runPythonScript } from '../support/python-script.ts'

test('the official MQTT client works', { timeout: 600_000 }, (context) =>
  runPythonScript(context, { python: pythonMqttClient, script: 'mqtt_client.py', parts: 8 }),
)
