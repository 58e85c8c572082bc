/** Firmware that a client loads from the server's LwM2M port, and software that is written to it, from the upload by a user to the state that the user reads. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { TestClient } from '../../transports/lwm2m/testkit.ts'
import { answerWith, load, says, takeImage } from '../../transports/lwm2m/updates/package.testkit.ts'
import { RestClient, login } from '../support/clients.ts'
import { createLwm2mDevice, createLwm2mProfile } from '../support/lwm2m-device.ts'
import { uploadPackage } from '../support/packages.ts'
import { startMillrace } from '../support/start-millrace.ts'
import { eventually } from './wait.ts'

const IMAGE = Buffer.from(Array.from({ length: 5000 }, (_, index) => index & 0xff))
const ENDPOINT = 'urn:updated:1'
const observed = ['/5_1.0/0/3', '/5_1.0/0/5', '/9_1.0/0/7', '/9_1.0/0/9']
const named = ['/5_1.0/0/7', '/9_1.0/0/1']

test('firmware and software come to a client', { timeout: 600_000 }, async (context) => {
  const millrace = await startMillrace()
  context.after(() => millrace.stop())
  const rest = new RestClient(millrace, await login(millrace))
  const port = millrace.ports['lwm2m'] ?? 0
  const profileId = await createLwm2mProfile(rest, 'updated meters', {
    observeAttr: {
      keyName: Object.fromEntries([...observed, ...named].map((path) => [path, path])),
      ...{ observe: observed, telemetry: observed, attribute: named },
    },
    clientLwM2mSettings: { fwUpdateStrategy: 2, fwUpdateResource: `coap://127.0.0.1:${port}`, swUpdateStrategy: 1 },
  })
  const upload = (type: 'FIRMWARE' | 'SOFTWARE'): Promise<object> =>
    uploadPackage(rest, { deviceProfileId: profileId, type, title: type, version: '2', image: IMAGE })
  const [firmwareId, softwareId] = [await upload('FIRMWARE'), await upload('SOFTWARE')]
  const deviceId = await createLwm2mDevice(rest, profileId, ENDPOINT, { firmwareId, softwareId })
  const isTold = (key: string, wanted: string) =>
    eventually(
      async () => {
        const path = `/api/plugins/telemetry/DEVICE/${deviceId}/values/timeseries?keys=${key}`
        return (await rest.expect<Record<string, { value: string }[]>>('GET', path))[key]?.[0]?.value
      },
      (value) => value === wanted,
    )

  const client = await TestClient.open(port)
  context.after(() => client.raw.close())
  // The server writes what the device is to have once that stands in its attributes.
  await eventually(
    () =>
      rest.expect<{ key: string }[]>('GET', `/api/plugins/telemetry/DEVICE/${deviceId}/values/attributes/SHARED_SCOPE`),
    (all) => ['fw_title', 'sw_title'].every((wanted) => all.some(({ key }) => key === wanted)),
  )
  assert.equal(await client.register(ENDPOINT, [], '</>;ct="110",</5/0>,</9/0>'), '2.01')
  const firmware = await answerWith(client, '/5/0/3', '"v":0', 1)
  await answerWith(client, '/5/0/5', '"v":0', 1)
  const software = await answerWith(client, '/9/0/7', '"v":0', 1)
  await answerWith(client, '/9/0/9', '"v":0', 1)
  await answerWith(client, '/5/0/7', '"vs":"1"')
  await answerWith(client, '/9/0/1', '"vs":"1"')

  const [, address = ''] = /^PUT \/5\/0\/1 .*"vs":"([^"]+)"/.exec(await client.answerNext({ code: '2.04' })) ?? []
  const other = await TestClient.open(port)
  context.after(() => other.raw.close())
  assert.deepEqual(await load(other, address, 512), IMAGE)
  assert.deepEqual(await takeImage(client, '/9/0/2'), IMAGE)
  await says(client, firmware, '/5/0/3', 2, 2)
  assert.equal(await client.answerNext({ code: '2.04' }), 'POST /5/0/2')
  await says(client, software, '/9/0/7', 3, 3)
  assert.equal(await client.answerNext({ code: '2.04' }), 'POST /9/0/4')
  await isTold('fw_state', 'DOWNLOADED')
  await isTold('sw_state', 'DOWNLOADED')
  await says(client, firmware, '/5/0/3', 3, 4)
  await isTold('fw_state', 'UPDATING')
  await isTold('/9_1.0/0/7', 'Delivered')
})
