import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { entityId } from '../../model/entity-id.ts'
import { childKey } from '../../engine/device/credential-keys.ts'
import type { DeviceIdentity } from '../../engine/device/gateway.ts'
import { customers } from '../entities/customer.ts'
import { devices } from '../entities/device.ts'
import { tenantProfiles } from '../entities/tenant-profile.ts'
import { openTestPlatform, type TestPlatform } from '../testkit.ts'

describe('devices behind a gateway', () => {
  let platform: TestPlatform
  let gateway: DeviceIdentity

  const gatewayNamed = async (name: string, customerId: string | null = null): Promise<DeviceIdentity> => {
    const draft = { name, type: 'default', customerId, additionalInfo: { gateway: true, overwriteActivityTime: true } }
    await platform.services.devices.saveByUser(platform.tenant, draft, name)
    const identity = (await platform.services.devices.findByCredentials([name])).get(name)
    assert.ok(identity !== undefined)
    return identity
  }

  const named = async (name: string) => {
    const device = await platform.services.declared.of(devices).findByName(platform.tenantId, name)
    assert.ok(device !== undefined)
    return device
  }

  const connect = (name: string, type = 'default', by = gateway) =>
    platform.services.gatewayChildren.connect(by, { name, type })

  before(async () => {
    platform = await openTestPlatform()
    gateway = await gatewayNamed('gateway')
  })
  after(() => platform.close())

  test('a device says whether it is a gateway', async () => {
    assert.equal(gateway.isGateway, true)
    assert.equal(gateway.overwritesActivityTime, true)
    await platform.services.devices.saveByUser(
      platform.tenant,
      { name: 'plain', type: 'default', additionalInfo: { gateway: 'true' } },
      'plain',
    )
    const plain = (await platform.services.devices.findByCredentials(['plain'])).get('plain')
    assert.ok(plain !== undefined && !('isGateway' in plain))
  })

  test('are made once, with type, profile, customer, relation and message', async () => {
    const customer = await platform.services.declared.of(customers).saveByUser(platform.tenant, { title: 'owner' })
    const owned = await gatewayNamed('owned', customer.id)
    const ids = await Promise.all([connect('made', 'thermo', owned), connect('made', 'thermo', owned)])
    const device = await named('made')
    assert.deepEqual(ids, [device.id, device.id])
    assert.equal(device.type, 'thermo')
    assert.equal(device.customerId, customer.id)
    assert.equal(device.version, 1)
    assert.deepEqual(device.additionalInfo, { lastConnectedGateway: owned.deviceId })
    const relation = await platform.services.relations.find(platform.tenantId, {
      from: entityId('DEVICE', owned.deviceId),
      to: entityId('DEVICE', device.id),
      type: 'Created',
      typeGroup: 'COMMON',
    })
    assert.ok(relation !== undefined)
    const told = await platform.link.published('ENTITY_CREATED', device.id)
    assert.deepEqual(told.metadata, { gatewayId: owned.deviceId, customerId: customer.id })
  })

  test('keep their type, and name the gateway that was last', async () => {
    const id = await connect('kept', 'first')
    const other = await gatewayNamed('other gateway')
    assert.equal(await connect('kept', 'second', other), id)
    const device = await named('kept')
    assert.equal(device.type, 'first')
    assert.deepEqual([device.additionalInfo, device.version], [{ lastConnectedGateway: other.deviceId }, 2])
    await connect('kept', 'second', other)
    assert.equal((await named('kept')).version, 2)
  })

  test('their gateway is called when they get another name or go, and not for what else changes', async () => {
    const told = await gatewayNamed('told')
    const id = await connect('to rename', 'default', told)
    const service = platform.services.declared.of(devices)
    const calls = (): unknown[] =>
      platform.link.messages
        .filter(({ type, originator }) => type === 'RPC_CALL_FROM_SERVER_TO_DEVICE' && originator.id === told.deviceId)
        .map(({ data, metadata }) => {
          const { method, params } = JSON.parse(data) as { method: string; params: string }
          return [
            method,
            JSON.parse(params) as unknown,
            metadata['oneway'],
            metadata['persistent'],
            metadata['deviceName'],
          ]
        })
    await service.saveByUser(platform.tenant, { ...(await named('to rename')), label: 'new' })
    assert.deepEqual(calls(), [])
    await service.saveByUser(platform.tenant, { ...(await named('to rename')), name: 'renamed' })
    const renamed = ['gateway_device_renamed', { 'to rename': 'renamed' }, 'true', 'true', 'told']
    assert.deepEqual(calls(), [renamed])
    await service.deleteByUser(platform.tenant, id)
    assert.deepEqual(calls(), [renamed, ['gateway_device_deleted', 'renamed', 'true', 'true', 'told']])
  })

  test('a device that is no gateway is not called, whatever another says of it', async () => {
    const service = platform.services.declared.of(devices)
    const { id } = await service.saveByUser(platform.tenant, { name: 'no gateway' })
    const additionalInfo = { lastConnectedGateway: id }
    const other = await service.saveByUser(platform.tenant, { name: 'says so', additionalInfo })
    await service.saveByUser(platform.tenant, { ...other, name: 'says so still' })
    await service.deleteByUser(platform.tenant, other.id)
    const calls = platform.link.messages.filter(({ originator }) => originator.id === id)
    assert.ok(calls.every(({ type }) => type !== 'RPC_CALL_FROM_SERVER_TO_DEVICE'))
  })

  test('nobody is called of a device whose gateway is gone', async () => {
    const gone = await gatewayNamed('gone')
    const id = await connect('left behind', 'default', gone)
    const service = platform.services.declared.of(devices)
    await service.deleteByUser(platform.tenant, gone.deviceId)
    await service.saveByUser(platform.tenant, { ...(await named('left behind')), name: 'left alone' })
    await service.deleteByUser(platform.tenant, id)
    const calls = platform.link.messages.filter(({ originator }) => originator.id === gone.deviceId)
    assert.ok(calls.every(({ type }) => type !== 'RPC_CALL_FROM_SERVER_TO_DEVICE'))
  })

  test('are found by tenant and name, of no other tenant', async () => {
    const id = await connect('named')
    const own = childKey(platform.tenantId, 'named')
    const foreign = childKey('00000000-0000-4000-8000-0000000000ff', 'named')
    const found = await platform.services.devices.findByCredentials([own, foreign])
    assert.deepEqual([found.get(own)?.deviceId, found.has(foreign)], [id, false])
  })

  test('a gateway of another tenant gets a device of its own by the same name', async () => {
    const id = await connect('shared name')
    const { tenants } = platform.services
    const foreign = await tenants.saveByUser(platform.systemAdministrator, { title: 'another' })
    const identity = { ...gateway, tenantId: foreign.id }
    // The gateway is no device of that tenant; its children are all the same.
    const other = await connect('shared name', 'default', identity)
    assert.notEqual(other, id)
    assert.equal((await platform.services.declared.of(devices).findAnywhere(other))?.tenantId, foreign.id)
  })

  test('are renamed where the same gateway made them under a former name, and only then', async () => {
    const sparkplug = (device: string, by = gateway) =>
      platform.services.gatewayChildren.connect(by, {
        ...{ name: `group:node:${device}`, type: 'line device', label: device, formerName: device },
      })
    const id = await connect('former')
    assert.equal(await sparkplug('former'), id)
    const device = await named('group:node:former')
    assert.deepEqual([device.label, device.type, await sparkplug('former')], ['former', 'default', id])
    const others = await connect('of another')
    const made = await sparkplug('of another', await gatewayNamed('an edge node'))
    assert.notEqual(made, others)
    const own = await named('group:node:of another')
    assert.deepEqual([own.id, own.label, own.type], [made, 'of another', 'line device'])
  })

  test('a name that can not be is refused', async () => {
    await assert.rejects(connect('x'.repeat(256)), { code: 'device.CHILD_REFUSED' })
    await assert.rejects(connect('half \ud83d'), { code: 'device.CHILD_REFUSED' })
  })

  test("the tenant's limit refuses a new one, and is not asked again for a while", async () => {
    const { declared, limits } = platform.services
    const service = declared.of(tenantProfiles)
    const [profile] = await service.findWhere([])
    assert.ok(profile !== undefined)
    const maxDevices = await limits.count(platform.tenantId, 'DEVICE')
    const profileData = { limits: { ...profile.profileData.limits, maxDevices } }
    await service.saveByUser(platform.systemAdministrator, { ...profile, profileData })
    await assert.rejects(connect('too many'), { code: 'device.CHILD_LIMIT' })
    await service.saveByUser(platform.systemAdministrator, { ...profile, version: profile.version + 1 })
    await assert.rejects(connect('too many'), { code: 'device.CHILD_LIMIT' })
    platform.clock.time += 300_001
    assert.ok(await connect('too many'))
  })
})
