/** A real client of LwM2M (Eclipse Leshan) registers, is observed and read, called, written to by a shared attribute, given firmware, and leaves. */
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { test } from 'node:test'
import { RestClient, login } from '../support/clients.ts'
import { requireLeshan, startLeshanClient } from '../support/leshan-client.ts'
import { createLwm2mDevice, createLwm2mProfile, serverToldOf } from '../support/lwm2m-device.ts'
import { uploadPackage } from '../support/packages.ts'
import { startMillrace } from '../support/start-millrace.ts'
import { eventually } from './wait.ts'

interface Entity {
  readonly id: { readonly id: string }
}

const PROFILE = {
  name: 'meters',
  type: 'DEFAULT',
  transportType: 'LWM2M',
  provisionType: 'DISABLED',
  profileData: {
    configuration: { type: 'DEFAULT' },
    transportConfiguration: {
      type: 'LWM2M',
      observeAttr: {
        keyName: { '/3_1.2/0/9': 'battery', '/3_1.2/0/0': 'maker', '/3_1.2/0/14': 'offset' },
        observe: ['/3_1.2/0/9'],
        telemetry: ['/3_1.2/0/9'],
        attribute: ['/3_1.2/0/0'],
        attributeLwm2m: {},
      },
      bootstrap: [],
      clientLwM2mSettings: { defaultObjectIDVer: '1.0' },
    },
  },
}
const NO_SECURITY = { securityMode: 'NO_SEC' }
/** The first of them may install it. */
const TIMEOUT = { timeout: 600_000 }
const ENDPOINT = 'urn:meter:1'

test('a client of Eclipse Leshan works', TIMEOUT, async (context) => {
  if (!requireLeshan(context)) return
  const millrace = await startMillrace()
  context.after(() => millrace.stop())
  const rest = new RestClient(millrace, await login(millrace))
  const profile = await rest.expect<Entity>('POST', '/api/deviceProfile', PROFILE)
  const device = await rest.expect<Entity>('POST', '/api/device-with-credentials', {
    device: { name: 'meter 1', deviceProfileId: { entityType: 'DEVICE_PROFILE', id: profile.id.id } },
    credentials: {
      credentialsType: 'LWM2M_CREDENTIALS',
      credentialsId: ENDPOINT,
      credentialsValue: JSON.stringify({
        client: { securityConfigClientMode: 'NO_SEC', endpoint: ENDPOINT },
        bootstrap: { bootstrapServer: NO_SECURITY, lwm2mServer: NO_SECURITY },
      }),
    },
  })
  const { id } = device.id
  const ofDevice = `/api/plugins/telemetry/DEVICE/${id}`
  const battery = async (): Promise<string | undefined> => {
    const values = await rest.expect<{ battery?: { value: string | null }[] }>(
      'GET',
      `${ofDevice}/values/timeseries?keys=battery`,
    )
    return values.battery?.[0]?.value ?? undefined
  }
  const call = (method: string, params: object) =>
    rest.expect<unknown>('POST', `/api/rpc/twoway/${id}`, { method, params, timeout: 20_000 })

  const client = await startLeshanClient(ENDPOINT, millrace.ports['lwm2m'] ?? 0)
  context.after(() => client.kill())
  await client.heard('REGISTERED')
  await eventually(battery, (value) => value === '90')
  await eventually(
    () =>
      rest.expect<{ key: string; value: unknown }[]>('GET', `${ofDevice}/values/attributes/CLIENT_SCOPE?keys=maker`),
    ([maker]) => maker?.value === 'Acme',
  )
  client.tell('battery 42')
  await eventually(battery, (value) => value === '42')

  const level = { result: 'CONTENT', value: 'LwM2mSingleResource [id=9, value=42, type=INTEGER]' }
  assert.deepEqual(await call('Read', { id: '/3_1.2/0/9' }), level)
  assert.deepEqual(await call('Read', { key: 'battery' }), level)
  assert.deepEqual(await call('Read', { id: '/3_1.2/0/99' }), { result: 'NOT_FOUND', error: 'NOT_FOUND' })
  const whole = await call('Read', { id: '/3_1.2/0' })
  assert.match(JSON.stringify(whole), /resources=\{0=LwM2mSingleResource \[id=0, value=Acme, type=STRING\], 9=/)
  assert.deepEqual(await call('WriteReplace', { id: '/3_1.2/0/14', value: '+05' }), { result: 'CHANGED' })
  await client.heard('WRITE 14 +05')
  assert.deepEqual(await call('Execute', { id: '/3_1.2/0/4' }), { result: 'CHANGED' })
  await client.heard('EXECUTE 4')
  const ids = ['/3_1.2/0/9', '/3_1.2/0/14']
  const several = (offset: string): object => ({
    result: 'CONTENT',
    value: `{/3/0/9=${level.value}, /3/0/14=LwM2mSingleResource [id=14, value=${offset}, type=STRING]}`,
  })
  assert.deepEqual(await call('ReadComposite', { ids }), several('+05'))
  assert.deepEqual(await call('WriteComposite', { nodes: { '/3_1.2/0/14': '+06' } }), { result: 'CHANGED' })
  await client.heard('WRITE 14 +06')
  assert.deepEqual(await call('ObserveComposite', { ids }), several('+06'))
  assert.deepEqual(await call('ObserveCompositeCancel', { ids }), { result: 'CONTENT', value: '1' })
  const found = await call('Discover', { id: '/3_1.2/0' })
  assert.match(JSON.stringify(found), /<\/3\/0\/9>/)

  await rest.expect('POST', `${ofDevice}/SHARED_SCOPE`, { offset: '+07' })
  await client.heard('WRITE 14 +07')
  assert.deepEqual(await call('ObserveCancel', { id: '/3_1.2/0/9' }), { result: 'CONTENT', value: '1' })

  // A profile that changes counts at once.
  const current = await rest.expect<typeof PROFILE>('GET', `/api/deviceProfile/${profile.id.id}`)
  const { profileData } = current
  const { transportConfiguration } = profileData
  const observeAttr = { ...transportConfiguration.observeAttr, telemetry: ['/3_1.2/0/9', '/3_1.2/0/14'] }
  await rest.expect('POST', '/api/deviceProfile', {
    ...current,
    profileData: { ...profileData, transportConfiguration: { ...transportConfiguration, observeAttr } },
  })
  await eventually(
    () => rest.expect<{ offset?: { value: string | null }[] }>('GET', `${ofDevice}/values/timeseries?keys=offset`),
    ({ offset }) => offset?.[0]?.value === '+07',
  )

  client.tell('stop')
  await client.heard('DEREGISTERED')
  const attributes = (scope: string) =>
    rest.expect<{ key: string; value: unknown }[]>(
      'GET',
      `${ofDevice}/values/attributes/${scope}?keys=active,lastDisconnectTime`,
    )
  await eventually(
    () => attributes('SERVER_SCOPE'),
    (all) => all.some(({ key }) => key === 'lastDisconnectTime'),
  )
})

test(
  'a client of Eclipse Leshan takes firmware, from the upload to the state that a user reads',
  TIMEOUT,
  async (context) => {
    if (!requireLeshan(context)) return
    const millrace = await startMillrace()
    context.after(() => millrace.stop())
    const rest = new RestClient(millrace, await login(millrace))
    const observed = ['/5_1.1/0/3', '/5_1.1/0/5']
    const named = ['/5_1.1/0/6', '/5_1.1/0/7']
    const profileId = await createLwm2mProfile(rest, 'updated meters', {
      observeAttr: {
        keyName: Object.fromEntries([...observed, ...named].map((path) => [path, path])),
        ...{ observe: observed, telemetry: observed, attribute: named, attributeLwm2m: {} },
      },
      clientLwM2mSettings: { fwUpdateStrategy: 1 },
    })
    // The library takes bodies of up to 8 KiB unless it is told otherwise.
    const image = Buffer.from(Array.from({ length: 8000 }, (_, index) => (index * 7) % 251))
    const firmware = { type: 'FIRMWARE', title: 'meter-app', version: '2' } as const
    const firmwareId = await uploadPackage(rest, { deviceProfileId: profileId, image, ...firmware })
    const device = await createLwm2mDevice(rest, profileId, ENDPOINT, { firmwareId })
    const isTold = (key: string, wanted: string) =>
      eventually(
        async () => {
          const path = `/api/plugins/telemetry/DEVICE/${device}/values/timeseries?keys=${encodeURIComponent(key)}`
          return (await rest.expect<Record<string, { value: string | null }[]>>('GET', path))[key]?.[0]?.value
        },
        (value) => value === wanted,
      )
    const client = await startLeshanClient(ENDPOINT, millrace.ports['lwm2m'] ?? 0)
    context.after(() => client.kill())
    await client.heard('REGISTERED')
    await client.heard(`PACKAGE ${image.length} ${createHash('sha256').update(image).digest('hex')}`)
    await client.heard('INSTALL')
    await isTold('/5_1.1/0/3', 'Updating')
    client.tell('installed')
    await isTold('fw_state', 'UPDATED')
    await isTold('/5_1.1/0/5', 'Firmware updated successfully')
  },
)

test(
  'a client that knows its bootstrap server alone registers, and begins anew when it is called to',
  TIMEOUT,
  async (context) => {
    if (!requireLeshan(context)) return
    const millrace = await startMillrace()
    context.after(() => millrace.stop())
    const rest = new RestClient(millrace, await login(millrace))
    const { observeAttr } = PROFILE.profileData.transportConfiguration
    const profileId = await createLwm2mProfile(rest, 'told', {
      observeAttr: { ...observeAttr, observe: ['/3_1.2/0/9', '/3_1.2/0/14'], observeStrategy: 'COMPOSITE_ALL' },
      bootstrap: [serverToldOf('NO_SEC', millrace.ports['lwm2m'] ?? 0)],
    })
    const device = await createLwm2mDevice(rest, profileId, ENDPOINT)
    /** Resolves with its time, which is later than `after`. */
    const batteryIs = async (expected: string, after = 0): Promise<number> => {
      const path = `/api/plugins/telemetry/DEVICE/${device}/values/timeseries?keys=battery`
      const { battery } = await eventually(
        () => rest.expect<{ battery?: { ts: number; value: string | null }[] }>('GET', path),
        ({ battery }) => battery?.[0]?.value === expected && battery[0].ts > after,
      )
      return battery?.[0]?.ts ?? 0
    }
    const execute = (id: string) =>
      rest.expect<unknown>('POST', `/api/rpc/twoway/${device}`, { method: 'Execute', params: { id }, timeout: 20_000 })

    const stranger = await startLeshanClient('urn:nobody', millrace.ports['lwm2m_bootstrap'] ?? 0, ['bootstrap'])
    context.after(() => stranger.kill())
    assert.match(await stranger.heardFirst(['BOOTSTRAPPED', 'REFUSED']), /^REFUSED BAD_REQUEST/)
    await stranger.kill()
    const client = await startLeshanClient(ENDPOINT, millrace.ports['lwm2m_bootstrap'] ?? 0, ['bootstrap'])
    context.after(() => client.kill())
    await client.heard('BOOTSTRAPPED')
    await client.heard('REGISTERED')
    await batteryIs('90')
    client.tell('battery 42')
    const toldAt = await batteryIs('42')
    assert.deepEqual(await execute('/1/0/8'), { result: 'CHANGED' })
    await client.heard('UPDATED')
    assert.deepEqual(await execute('/1/0/9'), { result: 'CHANGED' })
    await client.heard('BOOTSTRAPPED')
    await client.heard('REGISTERED')
    // It is observed anew: the client tells nobody of a change between its reading for an observation and the answer with it.
    await batteryIs('42', toldAt)
    client.tell('battery 43')
    await batteryIs('43')
  },
)
