import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { test } from 'node:test'
import { createNode, testContext } from '../testkit.ts'
import { azureIotHub } from './azure-iot-hub.ts'

const CONFIGURATION = {
  ...azureIotHub.defaultConfiguration,
  ...{ host: 'Hub.azure-devices.net', port: 1, clientId: 'd1', cleanSession: false, ssl: false },
  credentials: { type: 'sas', sasKey: Buffer.from('key').toString('base64') },
}

test('it connects as the hub wants it, with a token that is made for each connection', async () => {
  const context = testContext()
  await createNode(azureIotHub, CONFIGURATION, context)
  const { password, ...settings } = context.fakes.outbound.opened[0]?.settings as { password: (now: number) => string }
  assert.deepEqual(settings, {
    ...{ host: 'Hub.azure-devices.net', port: 8883, version: 4, clientId: 'd1', cleanSession: true, tls: true },
    ...{ connectTimeoutMs: 10_000, username: 'Hub.azure-devices.net/d1/?api-version=2021-04-12' },
    secret: CONFIGURATION.credentials.sasKey,
  })
  const signature = createHmac('sha256', 'key').update('hub.azure-devices.net\n4600').digest('base64')
  assert.equal(
    password(1_000_000),
    `SharedAccessSignature sr=hub.azure-devices.net&sig=${encodeURIComponent(signature)}&se=4600`,
  )
})

test('what is missing is named at the start', async () => {
  await assert.rejects(createNode(azureIotHub, { ...CONFIGURATION, clientId: null }), /clientId/)
  await assert.rejects(createNode(azureIotHub, { ...CONFIGURATION, credentials: { type: 'sas' } }), /sasKey/)
  await assert.rejects(createNode(azureIotHub, { ...CONFIGURATION, credentials: { type: 'anonymous' } }), /credentials/)
})
