import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { isMillraceError } from '../../model/errors.ts'
import type { ProvisionAnswer, ProvisionRequest } from '../../engine/device/gateway.ts'
import { deviceProfiles, type DeviceProfile } from '../entities/device-profile.ts'
import { devices } from '../entities/device.ts'
import { tenantProfiles } from '../entities/tenant-profile.ts'
import { openTestPlatform, type TestPlatform } from '../testkit.ts'
import { DEFAULT_ATTEMPT_LIMITS } from './wrong-attempts.ts'

const FAILURE = { status: 'FAILURE' }
const NOT_FOUND = { status: 'NOT_FOUND' }

function request(key: string, change: Partial<ProvisionRequest> = {}): ProvisionRequest {
  return {
    deviceName: undefined,
    key,
    secret: 'secret',
    credentialsType: 'ACCESS_TOKEN',
    token: undefined,
    clientId: undefined,
    userName: undefined,
    password: undefined,
    certificate: undefined,
    isGateway: false,
    ...change,
  }
}

describe('provisioning', () => {
  let platform: TestPlatform
  let count = 0

  before(async () => {
    platform = await openTestPlatform({ provisioning: { ...DEFAULT_ATTEMPT_LIMITS, wrongPerAddress: 3 } })
  })
  after(() => platform.close())

  const profileWith = (provisionType: DeviceProfile['provisionType']): Promise<DeviceProfile> => {
    const name = `profile ${++count}`
    return platform.services.declared.of(deviceProfiles).saveByUser(platform.tenant, {
      name,
      type: 'DEFAULT',
      transportType: 'DEFAULT',
      provisionType,
      provisionDeviceKey: name,
      profileData: { provisionConfiguration: { type: provisionType, provisionDeviceSecret: 'secret' } },
    })
  }

  const provision = (asked: ProvisionRequest, address = `10.0.0.${++count}`): Promise<ProvisionAnswer> =>
    platform.services.provisioning.provision(asked, address)

  const deviceOf = async (name: string) => {
    const device = await platform.services.declared.of(devices).findByName(platform.tenantId, name)
    assert.ok(device !== undefined)
    return device
  }

  const serverAttributes = async (id: string) => {
    const { value } = await platform.services.attributes.find({ entityType: 'DEVICE', id }, 'SERVER_SCOPE', undefined)
    return Object.fromEntries(value.map((attribute) => [attribute.key, attribute.value]))
  }

  test('makes a device of the profile with a token, told to the rule engine without secrets', async () => {
    const profile = await profileWith('ALLOW_CREATE_NEW_DEVICES')
    const answer = await provision(request(profile.name, { deviceName: 'new', isGateway: true }))
    const device = await deviceOf('new')
    const credentials = await platform.services.devices.credentials(platform.tenantId, device.id)
    assert.deepEqual(answer, {
      status: 'SUCCESS',
      credentialsType: 'ACCESS_TOKEN',
      credentialsValue: credentials?.credentialsId,
    })
    assert.equal(device.type, profile.name)
    assert.deepEqual(device.additionalInfo, { gateway: true })
    assert.deepEqual(await serverAttributes(device.id), { active: false, provisionState: 'provisioned' })
    const created = await platform.link.published('ENTITY_CREATED', device.id)
    assert.deepEqual(created.metadata, { tenantId: platform.tenantId })
    const told = await platform.link.published('PROVISION_SUCCESS', device.id)
    assert.deepEqual(told.metadata, { tenantId: platform.tenantId })
    assert.ok(told.data.includes('"deviceName":"new"') && !told.data.includes('secret'))
  })

  test('tells of a device that brings its own credentials, which it may have tried before', async () => {
    const profile = await profileWith('ALLOW_CREATE_NEW_DEVICES')
    platform.changes.length = 0
    await provision(request(profile.name, { deviceName: 'tried before', token: 'tried before' }))
    const entity = { entityType: 'DEVICE', id: (await deviceOf('tried before')).id } as const
    assert.deepEqual(
      platform.changes.filter(({ kind }) => kind === 'device-changed'),
      [{ kind: 'device-changed', entity, credentialsChanged: false }],
    )
  })

  test('refuses a name that is taken, and says so to the tenant', async () => {
    const profile = await profileWith('ALLOW_CREATE_NEW_DEVICES')
    await provision(request(profile.name, { deviceName: 'twice' }))
    assert.deepEqual(await provision(request(profile.name, { deviceName: 'twice' })), FAILURE)
    await platform.link.published('PROVISION_FAILURE', (await deviceOf('twice')).id)
    const named = { tenantId: platform.tenantId, startTime: 1, endTime: Number.MAX_SAFE_INTEGER }
    const page = await platform.services.audit.page(
      { ...named, actionTypes: ['PROVISION_SUCCESS', 'PROVISION_FAILURE'] },
      { page: 0, pageSize: 100 },
    )
    const ofDevice = page.data.filter(({ entityName }) => entityName === 'twice')
    const actions = ofDevice.map(({ actionType }) => actionType)
    assert.deepEqual(actions.toSorted(), ['PROVISION_FAILURE', 'PROVISION_SUCCESS'])
    const provisionRequest = {
      ...{ deviceName: 'twice', credentialsType: 'ACCESS_TOKEN', gateway: false },
      credentials: { provisionDeviceKey: profile.name },
    }
    for (const { actionData } of ofDevice) assert.deepEqual(JSON.parse(actionData), { provisionRequest })
  })

  test('takes own credentials of each kind; those that are taken or make no sense leave nothing behind', async () => {
    const profile = await profileWith('ALLOW_CREATE_NEW_DEVICES')
    const own = await provision(request(profile.name, { deviceName: 'own', token: 'own token' }))
    assert.deepEqual(own, { status: 'SUCCESS', credentialsType: 'ACCESS_TOKEN', credentialsValue: 'own token' })
    assert.deepEqual(await provision(request(profile.name, { deviceName: 'thief', token: 'own token' })), FAILURE)
    const basic = { credentialsType: 'MQTT_BASIC', clientId: 'c', userName: 'u', password: 'p' } as const
    assert.deepEqual(await provision(request(profile.name, { deviceName: 'basic', ...basic })), {
      status: 'SUCCESS',
      credentialsType: 'MQTT_BASIC',
      credentialsValue: '{"clientId":"c","userName":"u","password":"p"}',
    })
    const x509 = { credentialsType: 'X509_CERTIFICATE', certificate: '-----BEGIN CERTIFICATE-----\nAB\nCD\n' } as const
    const certified = await provision(request(profile.name, { deviceName: 'x509', ...x509 }))
    assert.equal(certified.status === 'SUCCESS' && certified.credentialsValue, 'ABCD')
    const empty = await provision(request(profile.name, { deviceName: 'empty', credentialsType: 'X509_CERTIFICATE' }))
    assert.equal(empty.status === 'SUCCESS' && empty.credentialsType, 'ACCESS_TOKEN')
    const lwm2m = { credentialsType: 'LWM2M_CREDENTIALS', token: 't' } as const
    assert.deepEqual(await provision(request(profile.name, { deviceName: 'lwm2m', ...lwm2m })), FAILURE)
    assert.deepEqual(await provision(request(profile.name, { deviceName: '  ' })), FAILURE)
    const { declared } = platform.services
    for (const name of ['thief', 'lwm2m', '  '])
      assert.equal(await declared.of(devices).findByName(platform.tenantId, name), undefined)
  })

  test('gives the credentials of a device that was made for it, once', async () => {
    const profile = await profileWith('CHECK_PRE_PROVISIONED_DEVICES')
    const draft = { name: 'waiting', deviceProfileId: profile.id }
    const device = await platform.services.devices.saveByUser(platform.tenant, draft, 'its token')
    await platform.services.devices.saveByUser(platform.tenant, { name: 'of another profile' })
    const asked = request(profile.name, { deviceName: 'waiting' })
    const answers = await Promise.all([provision(asked), provision(asked)])
    assert.deepEqual(answers.map(({ status }) => status).toSorted(), ['FAILURE', 'SUCCESS'])
    const success = answers.find(({ status }) => status === 'SUCCESS')
    assert.equal(success?.status === 'SUCCESS' && success.credentialsValue, 'its token')
    assert.deepEqual(await serverAttributes(device.id), { active: false, provisionState: 'provisioned' })
    await platform.link.published('PROVISION_SUCCESS', device.id)
    await platform.link.published('PROVISION_FAILURE', device.id)
    assert.deepEqual(await provision({ ...asked, deviceName: 'nobody' }), FAILURE)
    assert.deepEqual(await provision({ ...asked, deviceName: undefined }), FAILURE)
    assert.deepEqual(await provision({ ...asked, deviceName: 'of another profile' }), FAILURE)
  })

  test('knows nobody with a wrong key or secret, nor a profile that does not provision', async () => {
    const profile = await profileWith('ALLOW_CREATE_NEW_DEVICES')
    const disabled = await profileWith('DISABLED')
    assert.deepEqual(await provision(request(profile.name, { secret: 'no' })), NOT_FOUND)
    assert.deepEqual(await provision(request('no')), NOT_FOUND)
    assert.deepEqual(await provision(request('')), NOT_FOUND)
    assert.deepEqual(await provision(request(profile.name, { secret: '' })), NOT_FOUND)
    assert.deepEqual(await provision(request(disabled.name)), NOT_FOUND)
  })

  test('hears nothing of an address that was wrong too often, until its window is over', async () => {
    const profile = await profileWith('ALLOW_CREATE_NEW_DEVICES')
    for (let attempt = 0; attempt < 3; attempt++)
      assert.deepEqual(await provision(request('no'), '192.0.2.1'), NOT_FOUND)
    const locked = { code: 'onboarding.TOO_MANY_WRONG', status: 429 }
    await assert.rejects(provision(request(profile.name), '192.0.2.1'), locked)
    assert.equal((await provision(request(profile.name), '192.0.2.2')).status, 'SUCCESS')
    platform.clock.time += DEFAULT_ATTEMPT_LIMITS.windowMs
    assert.equal((await provision(request(profile.name), '192.0.2.1')).status, 'SUCCESS')
  })

  test('hears all devices of one address that come together, a bounded number', async () => {
    const profile = await profileWith('ALLOW_CREATE_NEW_DEVICES')
    const { atOncePerAddress, waitingPerAddress } = DEFAULT_ATTEMPT_LIMITS
    const heard = await Promise.all(
      Array.from({ length: 2 * atOncePerAddress }, () => provision(request(profile.name), '192.0.2.3')),
    )
    assert.equal(heard.filter(({ status }) => status === 'SUCCESS').length, 2 * atOncePerAddress)
    const many = atOncePerAddress + waitingPerAddress + 1
    const outcomes = await Promise.allSettled(
      Array.from({ length: many }, () => provision(request(profile.name, { secret: 'no' }), '192.0.2.4')),
    )
    const codes = outcomes.flatMap((outcome) =>
      outcome.status === 'rejected' && isMillraceError(outcome.reason) ? [outcome.reason.code] : [],
    )
    assert.equal(codes.filter((code) => code === 'onboarding.BUSY').length, 1)
    // As many are heard as may be wrong, and those that were under way with the last of them.
    const known = many - codes.length
    assert.ok(known >= 3 && known < 3 + atOncePerAddress, `${known} were heard`)
  })

  test('makes no more devices than the tenant may have', async () => {
    const profile = await profileWith('ALLOW_CREATE_NEW_DEVICES')
    const { declared, limits } = platform.services
    const [shipped] = await declared.of(tenantProfiles).findWhere([])
    assert.ok(shipped !== undefined)
    const maxDevices = await limits.count(platform.tenantId, 'DEVICE')
    const profileData = { limits: { ...shipped.profileData.limits, maxDevices } }
    await declared.of(tenantProfiles).saveByUser(platform.systemAdministrator, { ...shipped, profileData })
    assert.deepEqual(await provision(request(profile.name, { deviceName: 'one too many' })), FAILURE)
  })
})
