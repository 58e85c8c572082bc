/** A device that sleeps though its profile does not say so: calls wait for it from when a user saves its power mode. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout } from 'node:timers/promises'
import { TestClient } from '../../transports/lwm2m/testkit.ts'
import { RestClient, login } from '../support/clients.ts'
import { createLwm2mDevice, createLwm2mProfile } from '../support/lwm2m-device.ts'
import { startMillrace } from '../support/start-millrace.ts'
import { eventually } from './wait.ts'

const ENDPOINT = 'urn:sleeper:1'
/** Time enough to read a call that waits from the store and to send it. */
const LISTENS_MS = 1000
const CALL = { method: 'Execute', params: { id: '/3_1.0/0/4' } }

test("a device's own power mode counts for its registered client", { timeout: 600_000 }, async (context) => {
  const millrace = await startMillrace()
  context.after(() => millrace.stop())
  const rest = new RestClient(millrace, await login(millrace))
  const profileId = await createLwm2mProfile(rest, 'sleepers', { observeAttr: { keyName: {} } })
  const deviceId = await createLwm2mDevice(rest, profileId, ENDPOINT)
  const client = await TestClient.open(millrace.ports['lwm2m'] ?? 0)
  context.after(() => client.raw.close())
  assert.equal(await client.register(ENDPOINT, ['lt=86400'], '</>,</3/0>'), '2.01')
  const powerMode = async (own: object): Promise<void> => {
    const device = await rest.expect<{ deviceData: object }>('GET', `/api/device/${deviceId}`)
    const deviceData = { ...device.deviceData, transportConfiguration: { type: 'LWM2M', ...own } }
    await rest.expect('POST', '/api/device', { ...device, deviceData })
  }
  const reached = async (): Promise<boolean> =>
    (await rest.call('POST', `/api/rpc/oneway/${deviceId}`, { ...CALL, timeout: 1000 })).status === 200
  const executed = async (): Promise<void> => assert.match(await client.answerNext({ code: '2.04' }), /^POST \/3\/0\/4/)

  await eventually(reached, (isReached) => isReached)
  await executed()
  await powerMode({ powerMode: 'PSM', psmActivityTimer: LISTENS_MS })
  // Each answer keeps it awake for as long again.
  for (let calls = 0; calls === 0 || (await reached()); calls++) {
    if (calls > 0) await executed()
    await setTimeout(2 * LISTENS_MS)
  }
  await rest.expect('POST', `/api/rpc/twoway/${deviceId}`, { ...CALL, persistent: true, timeout: 60_000 })
  const before = client.raw.messages.length
  assert.equal(await client.update(), '2.04')
  assert.equal(client.raw.messages[before]?.code, '2.04', 'it was called while it slept')
  await executed()

  await powerMode({ powerMode: null })
  await eventually(reached, (isReached) => isReached)
})
