/** What a customer's user, and who came by a public link, can not do to what is in the customer's hands. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { NULL_UUID } from '../../model/entity-id.ts'
import type { Principal } from '../../model/principal.ts'
import { assets } from '../entities/asset.ts'
import { customers, type Customer } from '../entities/customer.ts'
import { devices } from '../entities/device.ts'
import { users } from '../entities/user.ts'
import { openTestPlatform, type TestPlatform } from '../testkit.ts'

const DENIED = { code: 'services.PERMISSION_DENIED' }

describe('what a customer has', () => {
  let platform: TestPlatform
  let other: Customer
  let asset: { readonly id: string }
  let device: { readonly id: string }

  before(async () => {
    platform = await openTestPlatform()
    const { services, tenant, customer } = platform
    const { declared } = services
    other = await declared.of(customers).saveByUser(tenant, { title: 'other' })
    const customerId = customer.customerId
    asset = await declared.of(assets).saveByUser(tenant, { name: 'hall', customerId })
    device = await declared.of(devices).saveByUser(tenant, { name: 'pump', customerId })
  })
  after(() => platform.close())

  test('is not handed to another customer by its own user', async () => {
    const { services, customer } = platform
    const change = { id: asset.id, name: 'hall', customerId: other.id }
    await assert.rejects(services.declared.of(assets).saveByUser(customer, change), DENIED)
    const kept = { ...change, customerId: customer.customerId }
    assert.equal((await services.declared.of(assets).saveByUser(customer, kept)).customerId, customer.customerId)
  })

  test('is followed no longer without a question when it changes hands, nor as who one was before', async () => {
    const { services, changes, tenant } = platform
    const { declared } = services
    changes.length = 0
    await declared.of(assets).assignByUser(tenant, asset.id, null)
    await declared.of(assets).assignByUser(tenant, asset.id, { id: platform.customer.customerId ?? '', title: '' })
    const user = await declared.of(users).findAnywhere(platform.customer.userId)
    assert.ok(user !== undefined)
    await declared.of(users).saveByUser(tenant, { ...user, phone: '1' })
    await declared.of(customers).saveByUser(tenant, { ...other, additionalInfo: { isPublic: false } })
    const heard = changes.map(({ kind, entity }) => `${kind} ${entity.id}`)
    assert.equal(heard.filter((text) => text === `device-changed ${asset.id}`).length, 2)
    assert.ok(heard.includes(`user-tokens-withdrawn ${user.id}`))
    assert.ok(heard.includes(`user-tokens-withdrawn ${NULL_UUID}`))
  })

  test('shows no credentials to who came by a public link, and is not changed by them', async () => {
    const { services, customer } = platform
    const visitor: Principal = { ...customer, userId: NULL_UUID }
    const entity = { entityType: 'DEVICE', id: device.id } as const
    await services.access.check(visitor, 'READ', entity)
    await services.access.check(visitor, 'READ_TELEMETRY', entity)
    for (const operation of ['READ_CREDENTIALS', 'WRITE_CREDENTIALS', 'WRITE', 'DELETE'] as const)
      await assert.rejects(services.access.check(visitor, operation, entity), DENIED, operation)
    await services.access.check(customer, 'READ_CREDENTIALS', entity)
  })

  test('has no alarm of another customer changed by a save, nor one of who may not be seen as its assignee', async () => {
    const { services, tenant, customer } = platform
    const { alarms, declared } = services
    const originator = { entityType: 'DEVICE', id: device.id } as const
    const draft = { originator, type: 'hot', severity: 'MAJOR' } as const
    const record = await declared.of(devices).findAnywhere(device.id)
    assert.ok(record !== undefined)
    await declared.of(devices).saveByUser(tenant, { ...record, customerId: other.id, version: undefined })
    await alarms.saveByUser(tenant, draft)
    await declared.of(devices).saveByUser(tenant, { ...record, version: undefined })
    const own = { ...draft, customerId: customer.customerId ?? undefined }
    await assert.rejects(alarms.saveByUser(customer, { ...own, cleared: true }), DENIED)
    const foreign = { ...own, type: 'cold', assigneeId: tenant.userId }
    await assert.rejects(alarms.saveByUser(customer, foreign), DENIED)
    assert.equal(await alarms.findActive(device.id, 'cold'), undefined)
  })
})
