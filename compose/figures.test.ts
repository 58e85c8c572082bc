import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createMetrics } from '../api/metrics.ts'
import { openTestPlatform } from '../services/testkit.ts'
import { httpDeviceFigures, mqttFigures, serviceFigures } from './figures.ts'

const mqtt = {
  connections: 3,
  accepted: 5,
  overConnectionLimit: 0,
  unauthenticated: 1,
  received: 70,
  acknowledged: 60,
  storedUnacknowledged: 7,
  refused: 1,
  undecodable: 1,
  unknownTopics: 1,
  malformed: 0,
  pushed: 2,
  pushesDropped: 0,
  slowConsumers: 0,
  overTenantLimit: 0,
  silentDropped: 0,
}

test('what only grows is a counter whose name says so, what rises and falls is a gauge', async () => {
  const http = { received: 9, acknowledged: 8, refused: 1, undecodable: 0, unauthenticated: 0, waitingPolls: 4 }
  const metrics = createMetrics([
    { name: 'mqtt', figures: () => mqttFigures(mqtt) },
    { name: 'http_device_api', figures: () => httpDeviceFigures(http) },
  ])
  const text = await metrics.render('public')
  const gauges = [...text.matchAll(/^# TYPE (millrace_\w+) gauge$/gm)].map(([, name]) => name)
  assert.deepEqual(gauges, ['millrace_mqtt_connections', 'millrace_http_device_api_waiting_polls'])
  const counters = [...text.matchAll(/^# TYPE (millrace_\w+) counter$/gm)].map(([, name]) => name)
  assert.equal(counters.length, Object.keys(mqtt).length + Object.keys(http).length - gauges.length)
  assert.ok(counters.every((name) => name?.endsWith('_total')))
  assert.match(text, /^millrace_mqtt_acknowledged_publishes_total 60$/m)
  assert.match(text, /^millrace_http_device_api_received_uploads_total 9$/m)
})

test('what the services hold is told: callers who wait, files, attempts, senders of notifications', async (context) => {
  const platform = await openTestPlatform()
  context.after(() => platform.close())
  const { services, tenant, clock } = platform
  const { id } = await services.devices.saveByUser(tenant, { name: 'called' })
  const call = { method: 'm', params: '1', isOneway: false, isPersistent: false, retries: null, requestId: undefined }
  const draft = { ...call, expirationTime: clock.now() + 5000, additionalInfo: null }
  const before = serviceFigures(services)
  const waiting = services.calls.callDeviceByUser(tenant, id, draft)
  while (serviceFigures(services)['calls_waiting'] === 0) await new Promise((resolve) => setImmediate(resolve))
  clock.runTimers()
  await waiting
  const nothing = {
    token: undefined,
    clientId: undefined,
    userName: undefined,
    password: undefined,
    certificate: undefined,
  }
  const request = { key: 'k', secret: 's', deviceName: 'd', credentialsType: 'ACCESS_TOKEN', isGateway: false } as const
  await services.provisioning.provision({ ...request, ...nothing }, '127.0.0.1')
  const after = serviceFigures(services)
  assert.deepEqual([before['calls_waiting'], after['calls_waiting']], [0, 0])
  assert.deepEqual([before['provisioning_wrong_attempts_total'], after['provisioning_wrong_attempts_total']], [0, 1])
  assert.ok((after['audit_rows_total'] ?? 0) > (before['audit_rows_total'] ?? 0))
  assert.equal(after['file_answer_bytes'], 0)
})
