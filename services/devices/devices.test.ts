import { deviceProfiles } from '../entities/device-profile.ts'
import { devices } from '../entities/device.ts'
import assert from 'node:assert/strict'
import { customers } from '../entities/customer.ts'
import { after, before, beforeEach, test } from 'node:test'
import { credentialKey } from '../../engine/device/credential-keys.ts'
import type { JsonObject } from '../../model/json.ts'
import type { Lwm2mProof } from '../../engine/device/gateway.ts'
import { openTestPlatform, type TestPlatform } from '../testkit.ts'
import { DEMO_ACCESS_TOKEN, DEMO_DEVICE_NAME } from '../seed.ts'

let platform: TestPlatform

before(async () => {
  platform = await openTestPlatform()
})
after(() => platform.close())
beforeEach(() => {
  platform.link.messages.length = 0
  platform.changes.length = 0
})

test('finds the seeded device by its access token', async () => {
  const identity = (await platform.services.devices.findByCredentials([DEMO_ACCESS_TOKEN])).get(DEMO_ACCESS_TOKEN)
  assert.equal(identity?.deviceName, DEMO_DEVICE_NAME)
  assert.equal(identity?.deviceType, 'default')
  assert.equal(identity?.ruleChainId, null)
  assert.equal((await platform.services.devices.findByCredentials(['nobody'])).get('nobody'), undefined)
})

test('creates a device with a random token of 20 letters and digits and tells the rule engine', async () => {
  const { services, tenant, tenantId, link } = platform
  const device = await services.devices.saveByUser(tenant, { name: 'created', label: 'lab' })
  const credentials = await services.devices.credentials(tenantId, device.id)
  assert.match(credentials?.credentialsId ?? '', /^[A-Za-z0-9]{20}$/)
  assert.equal(device.version, 1)
  assert.equal(device.type, 'default')
  const [message] = link.messages
  assert.equal(message?.type, 'ENTITY_CREATED')
  assert.deepEqual(message?.originator, { entityType: 'DEVICE', id: device.id })
  assert.equal(message?.metadata['userEmail'], 'tenant@millrace.local')
  assert.equal(message?.metadata['entityName'], 'created')
  assert.equal((message?.json() as { name: string }).name, 'created')
})

test('a new device is inactive by its attribute, so that who looks for inactive devices finds it', async () => {
  const { services, tenant, tenantId } = platform
  const device = await services.devices.saveByUser(tenant, { name: 'never heard of' }, 'A TOKEN OF ITS OWN')
  const entity = { entityType: 'DEVICE', id: device.id } as const
  const { value } = await services.attributes.find(entity, 'SERVER_SCOPE', undefined)
  assert.deepEqual(
    value.map(({ key, value: is }) => [key, is]),
    [['active', false]],
  )
  const saved = { entityId: device.id, scope: 'SERVER_SCOPE', sequence: 1 } as const
  const attribute = { key: 'active', type: 'BOOLEAN', value: true, lastUpdateTs: 1 } as const
  await platform.entities.write([platform.entities.attributes.save([{ ...saved, attribute }])])
  await services.devices.saveByUser(tenant, { id: device.id, name: 'heard of', version: 1 })
  const { data } = await services.declared.of(devices).page(tenantId, { active: true }, { pageSize: 100, page: 0 })
  assert.ok(
    data.some(({ record }) => record.id === device.id),
    'a later save does not write it again',
  )
  await services.declared.of(devices).deleteByUser(tenant, device.id)
})

test('a new device is inactive also where long attributes are written with it', async () => {
  const { services, tenant } = platform
  const entries = [{ key: 'long', type: 'STRING', value: 'x'.repeat(2 ** 14) }] as const
  const device = await services.devices.saveByUser(tenant, { name: 'imported with much' }, undefined, {
    joined: async (saved) => {
      const entity = { entityType: 'DEVICE', id: saved.id } as const
      const route = () => services.declared.of(devices).routeOf(saved)
      return [await services.attributes.savingByUser(tenant, { entity, scope: 'SERVER_SCOPE', entries, route })]
    },
  })
  const keys = await services.attributes.keys({ entityType: 'DEVICE', id: device.id }, 'SERVER_SCOPE')
  assert.deepEqual(keys.toSorted(), ['active', 'long'])
})

test('of what a device says of itself at length nothing is kept in memory', async () => {
  const { services, tenant } = platform
  const saved = async (more: string): Promise<boolean | undefined> => {
    const name = `says ${more.length}`
    const { id } = await services.devices.saveByUser(tenant, { name, additionalInfo: { gateway: true, more } })
    return (await services.devices.findIdentity(id))?.isGateway
  }
  assert.equal(await saved('x'.repeat(65_000)), true)
  assert.equal(await saved('x'.repeat(66_000)), undefined)
})

test('refuses a name that is taken and leaves nothing behind', async () => {
  const { services, tenant, tenantId, link } = platform
  await services.devices.saveByUser(tenant, { name: 'twice' })
  link.messages.length = 0
  await assert.rejects(services.devices.saveByUser(tenant, { name: 'twice', type: 'made on the way' }), {
    message: 'Device with such name already exists!',
    status: 400,
    restCode: 31,
  })
  const { data } = await services.declared.of(deviceProfiles).page(tenantId, {}, { pageSize: 100, page: 0 })
  assert.ok(!data.some(({ record }) => record.name === 'made on the way'))
  assert.equal(link.messages.length, 0)
})

test('refuses an access token that is in use and makes no device', async () => {
  const { services, tenant, tenantId } = platform
  await assert.rejects(services.devices.saveByUser(tenant, { name: 'token thief' }, DEMO_ACCESS_TOKEN), {
    message: 'Device credentials are already assigned to another device!',
  })
  assert.equal(await services.declared.of(devices).findByName(tenantId, 'token thief'), undefined)
})

test('makes a profile for a type that is new and uses it for the next device', async () => {
  const { services, tenant } = platform
  const first = await services.devices.saveByUser(tenant, { name: 'thermo 1', type: 'thermostat' })
  const second = await services.devices.saveByUser(tenant, { name: 'thermo 2', type: 'thermostat' })
  assert.equal(first.type, 'thermostat')
  assert.equal(second.deviceProfileId, first.deviceProfileId)
})

test('two devices of one new type, created at the same time, share one profile', async () => {
  const { services, tenant } = platform
  const [first, second] = await Promise.all([
    services.devices.saveByUser(tenant, { name: 'racer 1', type: 'raced' }),
    services.devices.saveByUser(tenant, { name: 'racer 2', type: 'raced' }),
  ])
  assert.equal(first.deviceProfileId, second.deviceProfileId)
})

test('refuses a profile of nobody', async () => {
  const draft = { name: 'no profile', deviceProfileId: '11111111-2222-1333-8444-555555555555' }
  await assert.rejects(platform.services.devices.saveByUser(platform.tenant, draft), {
    message: 'Device is referencing non existing device profile!',
  })
})

for (const [name, message] of [
  ['', 'Device name should be specified!'],
  ['   ', 'Device name should be specified!'],
  ['<b>bold</b>', 'Validation error: name is malformed'],
  ['{{constructor}}', 'Validation error: name is malformed'],
  ['x'.repeat(256), 'Validation error: name length must be equal or less than 255'],
] as const) {
  test(`refuses the name ${JSON.stringify(name.slice(0, 20))}`, async () => {
    await assert.rejects(platform.services.devices.saveByUser(platform.tenant, { name }), {
      message,
      status: 400,
      restCode: 31,
    })
  })
}

test('refuses a stale version, overwrites without one, and counts versions', async () => {
  const { services, tenant } = platform
  const device = await services.devices.saveByUser(tenant, { name: 'versions' })
  const second = await services.devices.saveByUser(tenant, { id: device.id, name: 'versions 2', version: 1 })
  assert.equal(second.version, 2)
  await assert.rejects(services.devices.saveByUser(tenant, { id: device.id, name: 'versions 3', version: 1 }), {
    message: 'Device was already changed by someone else',
    status: 409,
    restCode: 35,
  })
  const third = await services.devices.saveByUser(tenant, { id: device.id, name: 'versions 3' })
  assert.equal(third.version, 3)
})

test('saves without a version that meet all succeed, one after the other', async () => {
  const { services, tenant } = platform
  const device = await services.devices.saveByUser(tenant, { name: 'met' })
  const saves = ['a', 'b', 'c'].map((label) =>
    services.devices.saveByUser(tenant, { id: device.id, name: 'met', label }),
  )
  const versions = (await Promise.all(saves)).map((saved) => saved.version)
  assert.deepEqual(versions.sort(), [2, 3, 4])
})

test('tells sessions when the credentials change, and finds the device by the new token only', async () => {
  const { services, tenant, changes } = platform
  const device = await services.devices.saveByUser(tenant, { name: 'rekeyed' }, 'OLD_KEY')
  changes.length = 0
  const saved = await services.devices.saveCredentialsByUser(tenant, {
    deviceId: device.id,
    credentialsType: 'ACCESS_TOKEN',
    credentialsId: 'NEW_KEY',
    credentialsValue: null,
  })
  assert.equal(saved.version, 2)
  assert.deepEqual(changes, [
    { kind: 'device-changed', entity: { entityType: 'DEVICE', id: device.id }, credentialsChanged: true },
  ])
  assert.equal((await services.devices.findByCredentials(['OLD_KEY'])).get('OLD_KEY'), undefined)
  assert.equal((await services.devices.findByCredentials(['NEW_KEY'])).get('NEW_KEY')?.deviceId, device.id)
})

test('tells of a device that is made with credentials, which may have been tried before, and cuts off none that was quicker', async () => {
  const { services, tenant, changes } = platform
  changes.length = 0
  const { id } = await services.devices.saveByUser(tenant, { name: 'tried before' }, 'TRIED_BEFORE')
  assert.deepEqual(
    changes.filter(({ kind }) => kind === 'device-changed'),
    [{ kind: 'device-changed', entity: { entityType: 'DEVICE', id }, credentialsChanged: false }],
  )
})

test('issue-8 E: notes which devices have other credentials or none any more, for processes that missed it', async () => {
  const { services, tenant, tenantId, clock } = platform
  const [changed, renamed, deleted] = await Promise.all(
    ['other token', 'other name', 'gone'].map((name) => services.devices.saveByUser(tenant, { name })),
  )
  if (changed === undefined || renamed === undefined || deleted === undefined) throw new Error('three were made')
  clock.time += 1000
  const since = clock.now()
  const credentials = await services.devices.credentials(tenantId, changed.id)
  if (credentials === undefined) throw new Error('no credentials')
  await services.devices.saveCredentialsByUser(tenant, { ...credentials, credentialsId: 'OTHER_TOKEN' })
  await services.devices.saveByUser(tenant, { id: renamed.id, name: 'another name' })
  await services.declared.of(devices).deleteByUser(tenant, deleted.id)
  const found = await services.devices.findCredentialsChanged(since, 10)
  assert.deepEqual([...found].sort(), [changed.id, deleted.id].sort())
})

test('assigns to a customer and back, and says so to the rule engine', async () => {
  const { services, tenant, tenantId, link } = platform
  const customer = await services.declared.of(customers).saveByUser(tenant, { title: 'Customer B' })
  const device = await services.devices.saveByUser(tenant, { name: 'assigned' })
  link.messages.length = 0
  const assigned = await services.declared.of(devices).assignByUser(tenant, device.id, customer)
  assert.equal(assigned.customerId, customer.id)
  assert.equal(
    (await services.declared.of(devices).findShown(tenantId, device.id))?.names['customerTitle'],
    'Customer B',
  )
  const unassigned = await services.declared.of(devices).assignByUser(tenant, device.id, null)
  assert.equal(unassigned.customerId, null)
  assert.deepEqual(
    link.messages.map((message) => [
      message.type,
      message.metadata['assignedCustomerName'] ?? message.metadata['unassignedCustomerName'],
    ]),
    [
      ['ENTITY_ASSIGNED', 'Customer B'],
      ['ENTITY_UNASSIGNED', 'Customer B'],
    ],
  )
  await assert.rejects(services.declared.of(devices).assignByUser(tenant, device.id, null), {
    message: "Device isn't assigned to any customer!",
  })
})

test('deletes a device with its credentials, attributes and series', async () => {
  const { services, tenant, tenantId, timeSeries, changes, link } = platform
  const device = await services.devices.saveByUser(tenant, { name: 'gone' }, 'GONE_KEY')
  const entity = { entityType: 'DEVICE', id: device.id } as const
  await services.attributes.saveByUser(tenant, entity, 'SERVER_SCOPE', [{ key: 'a', type: 'LONG', value: 1 }])
  changes.length = 0
  link.messages.length = 0
  await services.declared.of(devices).deleteByUser(tenant, device.id)
  assert.equal((await services.devices.findByCredentials(['GONE_KEY'])).get('GONE_KEY'), undefined)
  assert.deepEqual((await services.attributes.find(entity, undefined, undefined)).value, [])
  assert.ok(timeSeries.deletedEntities.includes(device.id))
  assert.deepEqual(changes, [{ kind: 'entity-deleted', entity, tenantId }])
  assert.deepEqual(
    link.messages.map((message) => message.type),
    ['ENTITY_DELETED'],
  )
})

test('series that could not be deleted with their device are deleted at the next start', async () => {
  const { services, tenant, timeSeries, entities } = platform
  const device = await services.devices.saveByUser(tenant, { name: 'gone later' })
  timeSeries.failure = new Error('the disk is full')
  await services.declared.of(devices).deleteByUser(tenant, device.id)
  timeSeries.failure = undefined
  assert.deepEqual(await entities.cleanups.pending(), [device.id])
  await services.startOutbox()
  while ((await entities.cleanups.pending()).length > 0) await new Promise((resolve) => setImmediate(resolve))
  assert.ok(timeSeries.deletedEntities.includes(device.id))
  assert.deepEqual(await entities.cleanups.pending(), [])
})

test('lists only the active devices where asked', async () => {
  const { services, tenant, tenantId } = platform
  const device = await services.devices.saveByUser(tenant, { name: 'lively' })
  const entity = { entityType: 'DEVICE', id: device.id } as const
  await services.attributes.saveByUser(tenant, entity, 'SERVER_SCOPE', [
    { key: 'active', type: 'BOOLEAN', value: true },
  ])
  const shown = async (active: boolean) => {
    const page = await services.declared.of(devices).page(tenantId, { active }, { pageSize: 10, page: 0 }, 'infos')
    return page.data.map(({ record, names }) => [record.name, names['active']])
  }
  assert.deepEqual(await shown(true), [['lively', 1]])
  assert.ok((await shown(false)).every(([name, active]) => name !== 'lively' && active !== 1))
})

test('does not show or change a device of another tenant', async () => {
  const { services, tenant, tenantId } = platform
  const device = await services.devices.saveByUser(tenant, { name: 'mine' })
  const stranger = { ...tenant, tenantId: '00000000-0000-4000-8000-000000000000' }
  assert.equal(await services.declared.of(devices).find(stranger.tenantId, device.id), undefined)
  await assert.rejects(services.access.check(stranger, 'WRITE', { entityType: 'DEVICE', id: device.id }), {
    status: 404,
  })
  assert.equal((await services.declared.of(devices).find(tenantId, device.id))?.name, 'mine')
})

test('finds a client of LwM2M by its endpoint where its credentials ask for no security, with what its profile says', async () => {
  const { services, tenant } = platform
  const observeAttr = { keyName: { '/3/0/9': 'battery' }, telemetry: ['/3/0/9'] }
  const profile = await services.declared.of(deviceProfiles).saveByUser(tenant, {
    ...{ name: 'meters', type: 'DEFAULT', transportType: 'LWM2M', provisionType: 'DISABLED' },
    profileData: { transportConfiguration: { type: 'LWM2M', observeAttr } },
  })
  const deviceOf = (endpoint: string, client: Record<string, string>) =>
    services.devices.saveByUser(
      tenant,
      { name: `meter ${endpoint}`, deviceProfileId: profile.id },
      {
        credentialsType: 'LWM2M_CREDENTIALS',
        credentialsId: '',
        credentialsValue: JSON.stringify({ client: { endpoint, ...client }, bootstrap: {} }),
      },
    )
  const device = await deviceOf('open', { securityConfigClientMode: 'NO_SEC' })
  await deviceOf('keyed', { securityConfigClientMode: 'RPK', key: 'AA==' })
  await deviceOf('shared', { securityConfigClientMode: 'PSK', identity: 'identity', key: '00' })
  await services.devices.saveByUser(tenant, { name: 'token' }, 'open-token')
  const endpoints = ['open', 'keyed', 'shared', 'identity', 'open-token', 'nobody']
  const keys = endpoints.map((endpoint) => credentialKey({ type: 'LWM2M_ENDPOINT', endpoint }) ?? '')
  const found = await services.devices.findByCredentials(keys)
  assert.deepEqual([...found.keys()], keys.slice(0, 1))
  const [identity, again] = [found.get(keys[0] ?? ''), await services.devices.findByCredentials(keys)]
  assert.equal(identity?.deviceId, device.id)
  assert.equal(identity?.transportType, 'LWM2M')
  assert.deepEqual(identity?.lwm2m, { observeAttr, type: 'LWM2M' })
  assert.equal(again.get(keys[0] ?? '')?.lwm2m, identity?.lwm2m, 'one object as long as it is the same')
  assert.equal(identity?.ownLwm2m, undefined)
  const own = { type: 'LWM2M', powerMode: 'PSM', edrxCycle: null }
  const saved = async (transportConfiguration: JsonObject) => {
    const { version: _, ...draft } = device
    await services.devices.saveByUser(tenant, { ...draft, deviceData: { transportConfiguration } })
    return (await services.devices.findIdentity(device.id))?.ownLwm2m
  }
  assert.equal(await saved({ ...own, powerMode: null }), undefined)
  assert.deepEqual(await saved(own), own)
  assert.deepEqual(await saved({ ...own, more: 'x'.repeat(1000), psmActivityTimer: { of: [] } }), own, 'nothing long')
})

test('tells what a client of LwM2M is to hear of itself at the bootstrap server', async () => {
  const { services, tenant } = platform
  const bootstrap = { lwm2mServer: { securityMode: 'PSK', clientPublicKeyOrId: 'a', clientSecretKey: '00' } }
  const client = { endpoint: 'told', securityConfigClientMode: 'NO_SEC' }
  const told = await services.devices.saveByUser(
    tenant,
    { name: 'told' },
    {
      ...{ credentialsType: 'LWM2M_CREDENTIALS', credentialsId: '' },
      credentialsValue: JSON.stringify({ client, bootstrap }),
    },
  )
  const token = await services.devices.saveByUser(tenant, { name: 'not told' }, 'not-told')
  const of = ({ id }: { readonly id: string }, tenantId = tenant.tenantId ?? '') =>
    services.devices.findBootstrapCredentials({ deviceId: id, tenantId })
  assert.deepEqual(await of(told), bootstrap)
  assert.equal(await of(token), undefined)
  assert.equal(await of(told, token.id), undefined, 'of another tenant')
})

test('finds a client of LwM2M by what DTLS proved of it, and by nothing else', async () => {
  const { services, tenant } = platform
  const certificate = Buffer.from('a certificate')
  const rawKey = Buffer.from('a raw key')
  const clients: readonly Record<string, string>[] = [
    { endpoint: 'p', securityConfigClientMode: 'PSK', identity: 'of p', key: '00'.repeat(16) },
    { endpoint: 'p2', securityConfigClientMode: 'PSK', identity: 'of p2', key: '01'.repeat(16) },
    { endpoint: 'r', securityConfigClientMode: 'RPK', key: rawKey.toString('base64') },
    { endpoint: 'x', securityConfigClientMode: 'X509', cert: certificate.toString('base64') },
    { endpoint: 'issued', securityConfigClientMode: 'X509', cert: '' },
  ]
  for (const client of clients) {
    await services.devices.saveByUser(
      tenant,
      { name: `proven ${client['endpoint']}` },
      {
        ...{ credentialsType: 'LWM2M_CREDENTIALS', credentialsId: '' },
        credentialsValue: JSON.stringify({ client, bootstrap: {} }),
      },
    )
  }
  const keyId = (await services.devices.findPreSharedKey('of p'))?.keyId ?? ''
  assert.deepEqual((await services.devices.findPreSharedKey('of p'))?.key, Buffer.alloc(16))
  for (const identity of ['p', 'r', 'nobody'])
    assert.equal(await services.devices.findPreSharedKey(identity), undefined)
  const isFound = async (endpoint: string, proof: Lwm2mProof | undefined): Promise<boolean> => {
    const key = credentialKey({ type: 'LWM2M_ENDPOINT', endpoint, ...(proof === undefined ? {} : { proof }) }) ?? ''
    return (await services.devices.findByCredentials([key])).has(key)
  }
  const psk = { mode: 'PSK', identity: 'of p', keyId } as const
  const x509 = { mode: 'X509', certificate, trustedName: undefined } as const
  const [wrongKey, wrongCertificate] = [Buffer.from('another raw key'), Buffer.from('another certificate')]
  const cases: readonly (readonly [string, Lwm2mProof | undefined, boolean])[] = [
    ['p', psk, true],
    ['p', undefined, false],
    ['p', { ...psk, keyId: 'of the key before' }, false],
    ['p2', psk, false],
    ['r', psk, false],
    ['r', { mode: 'RPK', key: rawKey }, true],
    ['r', { mode: 'RPK', key: wrongKey }, false],
    ['x', x509, true],
    ['x', { ...x509, certificate: wrongCertificate, trustedName: 'x' }, false],
    ['issued', x509, false],
    ['issued', { ...x509, trustedName: 'another' }, false],
    ['issued', { ...x509, trustedName: 'issued' }, true],
    ['p', { ...x509, trustedName: 'p' }, false],
  ]
  for (const [endpoint, proof, expected] of cases)
    assert.equal(await isFound(endpoint, proof), expected, `${endpoint} by ${JSON.stringify(proof)}`)
})
