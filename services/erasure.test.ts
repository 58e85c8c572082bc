/** What is no declared entity of its own, or goes with another: nothing of it is left. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { entityId, type EntityId } from '../model/entity-id.ts'
import { customers } from './entities/customer.ts'
import { users } from './entities/user.ts'
import { openTestPlatform, type TestPlatform } from './testkit.ts'

describe('deleting', () => {
  let platform: TestPlatform

  before(async () => {
    platform = await openTestPlatform()
  })
  after(() => platform.close())

  /** An attribute, and a relation each way. */
  async function leaveTraces(entity: EntityId): Promise<void> {
    const { services, tenant, tenantId } = platform
    const attribute = { key: 'trace', type: 'LONG', value: 1 } as const
    await services.attributes.saveByUser(tenant, entity, 'SERVER_SCOPE', [attribute])
    const other = entityId('TENANT', tenantId)
    const relation = { type: 'Uses', typeGroup: 'COMMON', additionalInfo: null } as const
    await services.relations.saveByUser(tenant, { ...relation, from: entity, to: other })
    await services.relations.saveByUser(tenant, { ...relation, from: other, to: entity })
  }

  async function assertNothingIsLeft({ entityType, id }: EntityId): Promise<void> {
    const { services, entities, timeSeries } = platform
    assert.deepEqual((await services.attributes.find({ entityType, id }, undefined, undefined)).value, [], id)
    assert.deepEqual((await entities.attributes.all(id)).rows, [])
    assert.equal(await entities.relations.count('FROM', id, 1), 0)
    assert.equal(await entities.relations.count('TO', id, 1), 0)
    const isNoted = (await entities.cleanups.pending()).includes(id)
    assert.ok(isNoted || timeSeries.deletedEntities.includes(id), `${entityType}: its series`)
  }

  test('a rule chain leaves nothing of it', async () => {
    const { services, tenant } = platform
    const { id } = await services.ruleChains.saveByUser(tenant, { name: 'traced chain' })
    await leaveTraces(entityId('RULE_CHAIN', id))
    await services.ruleChains.deleteByUser(tenant, id)
    await assertNothingIsLeft(entityId('RULE_CHAIN', id))
  })

  test('a customer leaves nothing of it and of its users', async () => {
    const { services, tenant, changes } = platform
    const all = services.declared
    const customer = await all.of(customers).saveByUser(tenant, { title: 'Traced' })
    const user = await all.of(users).saveByUser(tenant, {
      email: 'traced@example.org',
      authority: 'CUSTOMER_USER',
      customerId: customer.id,
    })
    const gone = [entityId('CUSTOMER', customer.id), entityId('USER', user.id)]
    for (const entity of gone) await leaveTraces(entity)
    await all.of(customers).deleteByUser(tenant, customer.id)
    assert.equal(await all.of(users).findAnywhere(user.id), undefined)
    for (const entity of gone) await assertNothingIsLeft(entity)
    const told = changes.filter(({ kind }) => kind === 'entity-deleted').map(({ entity }) => entity.id)
    for (const { id } of gone) assert.ok(told.includes(id))
  })
})
