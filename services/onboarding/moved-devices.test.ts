import assert from 'node:assert/strict'
import { after, before, beforeEach, mock, test } from 'node:test'
import { entityId } from '../../model/entity-id.ts'
import { devices, type Device } from '../entities/device.ts'
import { onBothDatabases } from '../both-databases.testkit.ts'
import type { TestPlatform } from '../testkit.ts'
import { MovedDevices } from './moved-devices.ts'

await onBothDatabases('devices that went to another tenant ', (open) => {
  let platform: TestPlatform
  let other: string
  let device: Device
  let count = 0

  before(async () => {
    platform = await open()
    other = (await platform.services.tenants.saveByUser(platform.systemAdministrator, { title: 'Other' })).id
    await platform.services.movedDevices.start()
  })
  after(() => platform.close())
  beforeEach(async () => {
    device = await platform.services.devices.saveByUser(platform.tenant, { name: `moved ${++count}` })
  })

  const stranger = () => ({ ...platform.tenant, tenantId: other })
  const entity = () => entityId('DEVICE', device.id)
  const move = () => platform.services.deviceMove.moveByUser(platform.tenant, device.id, other)
  const movedBack = () => platform.services.deviceMove.moveByUser(stranger(), device.id, platform.tenantId)
  const known = async (moved: MovedDevices = platform.services.movedDevices) => {
    await moved.settled()
    return [platform.tenantId, other].map((tenantId) => moved.isFormer(tenantId, entity()))
  }
  const ofAnotherProcess = () => {
    const { entities, feed, clock } = platform
    return new MovedDevices({ entities, feed, clock, report: (text) => platform.reports.push(text) })
  }

  test('are known with their former tenants, until they are back there or gone', async () => {
    assert.deepEqual(await known(), [false, false])
    await move()
    assert.deepEqual(await known(), [true, false])
    await movedBack()
    assert.deepEqual(await known(), [false, true])
    await move()
    assert.deepEqual(await known(), [true, false])
    await platform.services.declared.of(devices).deleteByUser(stranger(), device.id)
    assert.deepEqual(await known(), [false, false])
    assert.deepEqual(await platform.entities.movedDevices.formerTenantsOf(device.id), [])
  })

  test('are known to a process that starts later', async () => {
    await move()
    const later = ofAnotherProcess()
    await later.start()
    assert.deepEqual(await known(later), [true, false])
    await later.close()
  })

  test('are read again where a change may have been missed, until they can be', async () => {
    const { feed, entities, clock, reports } = platform
    const later = ofAnotherProcess()
    await later.start()
    const moved = {
      id: device.id,
      movedTime: 1,
      deviceId: device.id,
      formerTenantId: platform.tenantId,
      tenantId: other,
    }
    await entities.write(entities.movedDevices.note(moved))
    assert.deepEqual(await known(later), [false, false])
    const away = mock.method(entities.movedDevices, 'behind', () => Promise.reject(new Error('away')))
    feed.gap()
    assert.deepEqual(await known(later), [false, false])
    assert.ok(reports.at(-1)?.startsWith('Moves of devices'))
    away.mock.restore()
    clock.runTimers()
    assert.deepEqual(await known(later), [true, false])
    await later.close()
  })

  test('go with their former tenant', async () => {
    const { services, systemAdministrator } = platform
    const third = await services.tenants.saveByUser(systemAdministrator, { title: `Third ${other}` })
    await services.deviceMove.moveByUser(platform.tenant, device.id, third.id)
    await services.deviceMove.moveByUser({ ...platform.tenant, tenantId: third.id }, device.id, other)
    await services.movedDevices.settled()
    assert.ok(services.movedDevices.isFormer(third.id, entity()))
    await services.tenants.deleteByUser(systemAdministrator, third.id)
    await services.movedDevices.settled()
    assert.ok(!services.movedDevices.isFormer(third.id, entity()))
    assert.deepEqual(await known(), [true, false])
  })

  test('keep no call of their former tenant', async () => {
    const { services, entities, clock } = platform
    const call = {
      ...{ id: device.id, tenantId: platform.tenantId, deviceId: device.id, method: 'm', params: '1' },
      ...{ isOneway: false, isPersistent: true, expirationTime: clock.now() + 5000, retries: 2 },
      ...{ additionalInfo: null, origin: '' },
    }
    await move()
    await assert.rejects(services.persistentCalls.accept(call), { code: 'services.ITEM_NOT_FOUND' })
    assert.equal(await entities.rpcs.find(call.id), undefined)
    assert.ok(await services.persistentCalls.accept({ ...call, tenantId: other }))
  })
})
