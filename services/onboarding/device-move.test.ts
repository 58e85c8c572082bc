import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, test } from 'node:test'
import { NULL_UUID } from '../../model/entity-id.ts'
import type { Principal } from '../../model/principal.ts'
import { deviceProfiles } from '../entities/device-profile.ts'
import { devices, type Device } from '../entities/device.ts'
import { entityViews } from '../entities/entity-view.ts'
import { otaPackages } from '../entities/ota-package.ts'
import { tenantProfiles } from '../entities/tenant-profile.ts'
import { openTestPlatform, type TestPlatform } from '../testkit.ts'

const SERVER = 'SERVER_SCOPE'

describe('a device that goes to another tenant', () => {
  let platform: TestPlatform
  let other: string
  let device: Device
  let count = 0

  before(async () => {
    platform = await openTestPlatform()
    other = (await platform.services.tenants.saveByUser(platform.systemAdministrator, { title: 'Other' })).id
  })
  after(() => platform.close())
  beforeEach(async () => {
    const { services, tenant, customer } = platform
    const draft = { name: `moved ${++count}`, type: 'pump', customerId: customer.customerId }
    device = await services.devices.saveByUser(tenant, draft, `token ${count}`)
  })

  const move = (): Promise<Device> => platform.services.deviceMove.moveByUser(platform.tenant, device.id, other)
  const entity = () => ({ entityType: 'DEVICE', id: device.id }) as const

  test('takes credentials, attributes and its type along, and leaves what it was to its tenant', async () => {
    const { services, entities, tenant, tenantId } = platform
    const { attributes, declared, relations, alarms } = services
    await attributes.saveByUser(tenant, entity(), SERVER, [{ key: 'a', type: 'LONG', value: 1 }])
    await relations.saveByUser(tenant, {
      from: entity(),
      to: { entityType: 'TENANT', id: tenantId },
      type: 'x',
      typeGroup: 'COMMON',
      additionalInfo: null,
    })
    await alarms.saveByUser(tenant, { originator: entity(), type: 'hot', severity: 'MAJOR' })
    platform.changes.length = 0
    const moved = await move()
    assert.deepEqual([moved.tenantId, moved.customerId, moved.type, moved.version], [other, null, 'pump', 2])
    const profile = await declared.of(deviceProfiles).find(other, moved.deviceProfileId)
    assert.equal(profile?.name, 'pump')
    assert.equal(await declared.of(devices).find(tenantId, device.id), undefined)
    const known = await services.devices.findByCredentials([`token ${count}`])
    assert.equal(known.get(`token ${count}`)?.tenantId, other)
    assert.equal((await services.devices.credentials(other, device.id))?.credentialsId, `token ${count}`)
    assert.equal((await attributes.find(entity(), SERVER, ['a'])).value[0]?.value, 1)
    const read = { tenantId, ids: [device.id], direction: 'FROM', group: 'COMMON', limit: 10 } as const
    assert.deepEqual(await entities.relations.findOf(read), [])
    assert.equal(await alarms.findActive(device.id, 'hot'), undefined)
    const told = platform.changes.find(({ kind, entity: { id } }) => kind === 'device-changed' && id === device.id)
    assert.ok(told?.kind === 'device-changed' && told.credentialsChanged)
  })

  test('is told of the firmware of its new profile, and no more of that of its former tenant', async () => {
    const { services } = platform
    const { attributes, declared, otaUpdates } = services
    const stranger = { ...platform.tenant, tenantId: other }
    const draft = { title: 'fw', url: 'http://127.0.0.1/fw' }
    const newPackage = (by: Principal, type: 'FIRMWARE' | 'SOFTWARE') =>
      declared.of(otaPackages).saveByUser(by, { ...draft, type, packageVersion: `${type} of ${by.tenantId}` })
    const own = await newPackage(platform.tenant, 'FIRMWARE')
    const ownSoftware = await newPackage(platform.tenant, 'SOFTWARE')
    const there = await newPackage(stranger, 'FIRMWARE')
    const packages = { firmwareId: own.id, softwareId: ownSoftware.id }
    await declared.of(devices).saveByUser(platform.tenant, { ...device, version: undefined, ...packages })
    const first = await services.devices.saveByUser(stranger, { name: `first ${count}`, type: 'pump' })
    const profile = await declared.of(deviceProfiles).find(other, first.deviceProfileId)
    await declared.of(deviceProfiles).saveByUser(stranger, { ...profile, version: undefined, firmwareId: there.id })
    await otaUpdates.settled()
    const told = async () => {
      const { value } = await attributes.find(entity(), 'SHARED_SCOPE', ['fw_version', 'sw_version'])
      return value.map((attribute) => attribute.value)
    }
    assert.deepEqual(await told(), [own.packageVersion, ownSoftware.packageVersion])
    await move()
    await otaUpdates.settled()
    assert.deepEqual(await told(), [there.packageVersion])
  })

  test('is told to both rule engines; the new tenant hears no name of a user', async () => {
    const { link, services, tenant, tenantId } = platform
    await move()
    const given = await link.published('ENTITY_ASSIGNED_TO_TENANT', device.id)
    assert.deepEqual([given.tenantId, given.metadata['assignedToTenantName']], [tenantId, 'Other'])
    assert.equal(given.metadata['userEmail'], tenant.email)
    const got = await link.published('ENTITY_ASSIGNED_FROM_TENANT', device.id)
    assert.deepEqual([got.tenantId, got.metadata['assignedFromTenantId']], [other, tenantId])
    assert.ok(!('userEmail' in got.metadata))
    const filter = { startTime: 1, endTime: Number.MAX_SAFE_INTEGER, actionTypes: [] }
    for (const [owner, action] of [
      [tenantId, 'ASSIGNED_TO_TENANT'],
      [other, 'ASSIGNED_FROM_TENANT'],
    ] as const) {
      const { data } = await services.audit.page({ ...filter, tenantId: owner }, { page: 0, pageSize: 1000 })
      const rows = data.filter((row) => row.entity.id === device.id && row.actionType.startsWith('ASSIGNED_'))
      assert.deepEqual(
        rows.map(({ actionType }) => actionType),
        [action],
      )
    }
  })

  test('stays whole where it was when it may not go', async () => {
    const { services, tenant, systemAdministrator } = platform
    const { declared, deviceMove, limits } = services
    const unchanged = async () => assert.deepEqual(await declared.of(devices).findAnywhere(device.id), device)
    await assert.rejects(deviceMove.moveByUser(tenant, device.id, NULL_UUID), { code: 'onboarding.TENANT_UNKNOWN' })
    await declared.of(entityViews).saveByUser(tenant, { name: `view ${count}`, type: 'v', entityId: entity() })
    await assert.rejects(move(), { code: 'onboarding.VIEWED' })
    await unchanged()
    const [view] = await declared.of(entityViews).findAllBy(device.tenantId, { name: `view ${count}` })
    await declared.of(entityViews).deleteByUser(tenant, view?.id ?? '')
    const stranger = { ...tenant, tenantId: other }
    await services.devices.saveByUser(stranger, { name: device.name })
    await assert.rejects(move(), { code: 'entities.NAME_TAKEN' })
    await unchanged()
    const renamed = await declared
      .of(devices)
      .saveByUser(tenant, { ...device, name: `renamed ${count}`, version: undefined })
    device = renamed
    const [profile] = await declared.of(tenantProfiles).findWhere([])
    assert.ok(profile !== undefined)
    const maxDevices = await limits.count(other, 'DEVICE')
    const profileData = { limits: { ...profile.profileData.limits, maxDevices } }
    const limited = await declared.of(tenantProfiles).saveByUser(systemAdministrator, { ...profile, profileData })
    await assert.rejects(move(), { code: 'count.LIMIT_REACHED' })
    await unchanged()
    await declared.of(tenantProfiles).saveByUser(systemAdministrator, { ...limited, profileData: profile.profileData })
    await assert.rejects(deviceMove.moveByUser(stranger, device.id, device.tenantId), {
      code: 'onboarding.DEVICE_UNKNOWN',
    })
    assert.equal((await move()).tenantId, other)
  })
})
