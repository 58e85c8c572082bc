import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openTestPlatform } from '../services/testkit.ts'
import { serviceFigures } from './figures.ts'

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
  assert.deepEqual([after['telemetry_writes_under_way'], after['telemetry_saves_under_way']], [0, 0])
  assert.deepEqual([after['telemetry_saves_waiting'], after['telemetry_late_saves_total']], [0, 0])
})
