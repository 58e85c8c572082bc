import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { openTestPlatform, type TestPlatform } from '../testkit.ts'
import { customers, isPublic } from './customer.ts'
import { publicCustomer } from './public-customer.ts'

describe('the customer to whom belongs what everybody may see', () => {
  let platform: TestPlatform
  before(async () => {
    platform = await openTestPlatform()
  })
  after(() => platform.close())

  test('is made once, and no other is called so', async () => {
    const { declared } = platform.services
    const service = declared.of(customers)
    const reserved = { status: 400, message: "'Public' title for customer is system reserved!" }
    await assert.rejects(service.saveByUser(platform.tenant, { title: 'Public' }), reserved)
    const made = await publicCustomer(declared, platform.tenant)
    assert.ok(isPublic(made))
    assert.equal((await publicCustomer(declared, platform.tenant)).id, made.id)
    await assert.rejects(service.saveByUser(platform.tenant, { ...made, additionalInfo: null }), reserved)
  })

  test('is the one that is public, whatever it is called since', async () => {
    const { declared } = platform.services
    const service = declared.of(customers)
    const before = await publicCustomer(declared, platform.tenant)
    await service.saveByUser(platform.tenant, { ...before, title: 'For everybody' })
    const other = { title: 'Says it of another', additionalInfo: { other: { isPublic: true } } }
    await service.saveByUser(platform.tenant, other)
    assert.equal((await publicCustomer(declared, platform.tenant)).id, before.id)
  })

  test('is made once by calls that come together', async () => {
    const other = await openTestPlatform()
    try {
      const { declared } = other.services
      const made = await Promise.all([1, 2, 3].map(() => publicCustomer(declared, other.tenant)))
      assert.equal(new Set(made.map(({ id }) => id)).size, 1)
    } finally {
      await other.close()
    }
  })
})
