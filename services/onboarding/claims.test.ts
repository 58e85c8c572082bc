import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { NULL_UUID, type EntityId } from '../../model/entity-id.ts'
import { customers } from '../entities/customer.ts'
import { devices, type Device } from '../entities/device.ts'
import { openTestPlatform, type TestPlatform } from '../testkit.ts'
import { DEFAULT_CLAIM_SETTINGS } from './claims.ts'

const DENIED = { code: 'services.PERMISSION_DENIED' }
const SERVER = 'SERVER_SCOPE'

describe('claiming', () => {
  let platform: TestPlatform
  let count = 0

  before(async () => void (platform = await openTestPlatform()))
  after(() => platform.close())

  const make = (members: object = {}): Promise<Device> =>
    platform.services.declared.of(devices).saveByUser(platform.tenant, { name: `claimed ${++count}`, ...members })

  const offer = (device: Device, secretKey: string, durationMs = 0): Promise<void> =>
    platform.services.claims.offer(identityOf(device), { secretKey, durationMs })

  const claim = async (device: Device, secretKey: string): Promise<string> =>
    (await platform.services.claims.claimByUser(platform.customer, device.name, secretKey)).response

  const customerOf = async ({ id }: Device): Promise<string | null | undefined> =>
    (await platform.services.declared.of(devices).findAnywhere(id))?.customerId

  test('gives the device to the customer of who knows the secret; the rule engine, the audit log and the feed hear of it', async () => {
    const device = await make()
    await offer(device, 's1')
    platform.changes.length = 0
    const result = await platform.services.claims.claimByUser(platform.customer, device.name, 's1')
    assert.equal(result.response, 'SUCCESS')
    assert.equal(result.response === 'SUCCESS' && result.device.version, 2)
    assert.equal(await customerOf(device), platform.customer.customerId)
    assert.ok(platform.changes.some(({ kind, entity }) => kind === 'device-changed' && entity.id === device.id))
    const message = await platform.link.published('ENTITY_ASSIGNED', device.id)
    assert.equal(message.metadata['assignedCustomerId'], platform.customer.customerId)
    assert.equal(await claim(device, 's1'), 'CLAIMED')
    assert.deepEqual(await audited(platform, device), ['ASSIGNED_TO_CUSTOMER FAILURE', 'ASSIGNED_TO_CUSTOMER SUCCESS'])
  })

  test('with a wrong secret spends the offer', async () => {
    const device = await make()
    await offer(device, 's1')
    assert.equal(await claim(device, 'zz'), 'FAILURE')
    assert.equal(await claim(device, 's1'), 'FAILURE')
    await offer(device, '')
    assert.equal(await claim(device, ''), 'SUCCESS')
  })

  test('hears one of many secrets that are tried side by side', async () => {
    const device = await make()
    await offer(device, 's')
    const secrets = [...Array.from({ length: 5 }, (_none, index) => `wrong ${index}`), 's']
    const answers = await Promise.all(secrets.map((secret) => claim(device, secret)))
    assert.deepEqual(
      answers,
      secrets.map(() => 'FAILURE'),
    )
    assert.equal(await customerOf(device), null)
    await offer(device, 'next')
    assert.equal(await claim(device, 'next'), 'SUCCESS')
  })

  test('counts the first of two offers, until it is over', async () => {
    const device = await make()
    await offer(device, 's1', 1000)
    await offer(device, 's2', 60_000)
    platform.clock.time += 1001
    assert.equal(await claim(device, 's1'), 'FAILURE')
    await offer(device, 's3', 1000)
    platform.clock.time += 1001
    await offer(device, 's4')
    assert.equal(await claim(device, 's4'), 'SUCCESS')
  })

  test('has one winner of two who claim at once', async () => {
    const device = await make()
    await offer(device, 's')
    const answers = await Promise.all([claim(device, 's'), claim(device, 's')])
    assert.deepEqual(answers.toSorted(), ['CLAIMED', 'SUCCESS'])
  })

  test('is not offered for what a customer has, and a device that goes takes its offer with it', async () => {
    const device = await make({ customerId: platform.customer.customerId })
    await offer(device, 's')
    assert.equal(await platform.entities.deviceClaims.find(device.id), undefined)
    const other = await make()
    await offer(other, 's')
    await platform.services.declared.of(devices).deleteByUser(platform.tenant, other.id)
    assert.equal(await platform.entities.deviceClaims.find(other.id), undefined)
  })

  test('takes what the tenant wrote into claimingData, and removes it', async () => {
    const device = await make()
    const { attributes } = platform.services
    const entity = { entityType: 'DEVICE', id: device.id } as const
    const value = JSON.stringify({ secretKey: 'k', expirationTime: platform.clock.now() + 1000 })
    await attributes.saveByUser(platform.tenant, entity, SERVER, [
      { key: 'claimingData', type: 'JSON', value },
      { key: 'claimingAllowed', type: 'BOOLEAN', value: true },
    ])
    assert.equal(await claim(device, 'wrong'), 'FAILURE')
    platform.changes.length = 0
    assert.equal(await claim(device, 'k'), 'SUCCESS')
    assert.deepEqual(await keysOf(attributes, entity), ['active'])
    const told = platform.changes.find(({ kind }) => kind === 'attributes-deleted')
    assert.deepEqual(told?.kind === 'attributes-deleted' && told.keys, ['claimingAllowed', 'claimingData'])
  })

  test('hears of a user few wrong guesses of claimingData, one after the other or side by side, until a while has passed', async () => {
    const device = await make()
    const entity = { entityType: 'DEVICE', id: device.id } as const
    const value = JSON.stringify({ secretKey: 'k', expirationTime: platform.clock.now() + 86_400_000 })
    await platform.services.attributes.saveByUser(platform.tenant, entity, SERVER, [
      { key: 'claimingData', type: 'JSON', value },
    ])
    for (let times = 0; times < 9; times++) assert.equal(await claim(device, `wrong ${times}`), 'FAILURE')
    const many = await Promise.allSettled(Array.from({ length: 30 }, (_none, index) => claim(device, `other ${index}`)))
    assert.ok(many.filter(({ status }) => status === 'fulfilled').length <= 10)
    const tooMany = { code: 'onboarding.TOO_MANY_WRONG', status: 429 }
    await assert.rejects(claim(device, 'k'), tooMany)
    assert.equal(await customerOf(device), null)
    const other = await make()
    await offer(other, 's')
    assert.equal(await claim(other, 's'), 'SUCCESS')
    platform.clock.time += 600_000
    assert.equal(await claim(device, 'k'), 'SUCCESS')
  })

  test('is given back by who has it, not by another customer, and by nobody of a public link', async () => {
    const { claims, declared } = platform.services
    const other = await declared.of(customers).saveByUser(platform.tenant, { title: `other ${++count}` })
    const theirs = await make({ customerId: other.id })
    await assert.rejects(claims.reclaimByUser(platform.customer, theirs.name), DENIED)
    const visitor = { ...platform.customer, userId: NULL_UUID }
    const device = await make({ customerId: platform.customer.customerId })
    await assert.rejects(claims.reclaimByUser(visitor, device.name), DENIED)
    await assert.rejects(claims.claimByUser(visitor, device.name, 's'), DENIED)
    await claims.reclaimByUser(platform.customer, device.name)
    assert.equal(await customerOf(device), null)
    const message = await platform.link.published('ENTITY_UNASSIGNED', device.id)
    assert.equal(message.metadata['unassignedCustomerId'], platform.customer.customerId)
    await claims.reclaimByUser(platform.tenant, device.name)
    const unknown = { code: 'onboarding.DEVICE_UNKNOWN' }
    await assert.rejects(claims.claimByUser(platform.customer, 'nobody', 's'), unknown)
    await assert.rejects(claims.claimByUser({ ...platform.customer, tenantId: NULL_UUID }, device.name, 's'), unknown)
  })

  test('needs the attribute claimingAllowed where devices are not claimed by default; giving back writes it', async () => {
    const strict = await openTestPlatform({ claims: { ...DEFAULT_CLAIM_SETTINGS, isAllowedByDefault: false } })
    try {
      const { attributes, claims, declared } = strict.services
      const device = await declared.of(devices).saveByUser(strict.tenant, { name: 'strict' })
      const entity = { entityType: 'DEVICE', id: device.id } as const
      const offered = async () => {
        await claims.offer(identityOf(device), { secretKey: 's', durationMs: 0 })
        return (await claims.claimByUser(strict.customer, device.name, 's')).response
      }
      assert.equal(await offered(), 'FAILURE')
      await attributes.saveByUser(strict.tenant, entity, SERVER, [
        { key: 'claimingAllowed', type: 'BOOLEAN', value: true },
      ])
      assert.equal(await offered(), 'SUCCESS')
      assert.deepEqual(await keysOf(attributes, entity), ['active'])
      await claims.reclaimByUser(strict.customer, device.name)
      const { value } = await attributes.find(entity, SERVER, ['claimingAllowed'])
      assert.equal(value[0]?.value, true)
    } finally {
      await strict.close()
    }
  })
})

async function keysOf(
  attributes: TestPlatform['services']['attributes'],
  entity: EntityId,
): Promise<readonly string[]> {
  return (await attributes.find(entity, SERVER, undefined)).value.map(({ key }) => key)
}

function identityOf(device: Device) {
  const { id, tenantId, customerId, name, type, deviceProfileId } = device
  return {
    ...{ deviceId: id, tenantId, customerId, deviceName: name, deviceType: type, deviceProfileId },
    ruleChainId: null,
  }
}

/** What the audit log has of a device's assignments. */
async function audited({ services, tenantId }: TestPlatform, { id }: Device): Promise<readonly string[]> {
  const filter = { tenantId, startTime: 1, endTime: Number.MAX_SAFE_INTEGER, actionTypes: [] }
  const { data } = await services.audit.page(filter, { page: 0, pageSize: 1000 })
  return data
    .filter(({ entity, actionType }) => entity.id === id && actionType !== 'ADDED')
    .map(({ actionType, actionStatus }) => `${actionType} ${actionStatus}`)
    .toSorted()
}
