import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { entityId, type EntityId } from '../../model/entity-id.ts'
import { parseJson } from '../../model/json.ts'
import { assets } from '../entities/asset.ts'
import { devices } from '../entities/device.ts'
import { openTestPlatform, type TestPlatform } from '../testkit.ts'
import { MAX_LEVELS } from './search.ts'

describe('relations', () => {
  let platform: TestPlatform
  let made = 0

  before(async () => {
    platform = await openTestPlatform()
  })
  after(() => platform.close())

  async function asset(): Promise<EntityId> {
    const { id } = await platform.services.declared.of(assets).saveByUser(platform.tenant, { name: `asset ${++made}` })
    return entityId('ASSET', id)
  }

  async function device(): Promise<EntityId> {
    const { id } = await platform.services.devices.saveByUser(platform.tenant, { name: `device ${++made}` })
    return entityId('DEVICE', id)
  }

  const relation = (from: EntityId, to: EntityId, type = 'Contains') =>
    ({ from, to, type, typeGroup: 'COMMON', additionalInfo: null }) as const

  const relate = (from: EntityId, to: EntityId, type = 'Contains') =>
    platform.services.relations.saveByUser(platform.tenant, relation(from, to, type))

  const messagesSince = (start: number) =>
    platform.link.messages
      .slice(start)
      .map(({ type, originator, data }) => ({ type, originator, data: parseJson(data) }))

  /** `a` contains `b`, which contains `c` and manages `d`; `c` contains `e`, which uses `a`. */
  async function circle() {
    const [a, b, c] = [await asset(), await asset(), await asset()]
    const [d, e] = [await device(), await device()]
    await relate(a, b)
    await relate(b, c)
    await relate(b, d, 'Manages')
    await relate(c, e)
    await relate(e, a, 'Uses')
    return { a, b, c, d, e }
  }

  test('tell both ends when they are made and when they go', async () => {
    const [from, to] = [await asset(), await device()]
    const start = platform.link.messages.length
    assert.equal((await relate(from, to)).version, 1)
    assert.equal((await relate(from, to)).version, 2)
    const deleted = await platform.services.relations.deleteByUser(platform.tenant, relation(from, to))
    assert.equal(deleted.version, 2)
    const json = (version: number) => ({ ...relation(from, to), version })
    assert.deepEqual(messagesSince(start), [
      { type: 'RELATION_ADD_OR_UPDATE', originator: from, data: json(1) },
      { type: 'RELATION_ADD_OR_UPDATE', originator: to, data: json(1) },
      { type: 'RELATION_ADD_OR_UPDATE', originator: from, data: json(2) },
      { type: 'RELATION_ADD_OR_UPDATE', originator: to, data: json(2) },
      { type: 'RELATION_DELETED', originator: from, data: json(2) },
      { type: 'RELATION_DELETED', originator: to, data: json(2) },
    ])
    const again = platform.services.relations.deleteByUser(platform.tenant, relation(from, to))
    await assert.rejects(again, { status: 404, message: "Requested item wasn't found!" })
  })

  test('all go at once where that is asked, and the entity hears of it', async () => {
    const { a, b, c } = await circle()
    const { relations } = platform.services
    const start = platform.link.messages.length
    await relations.deleteAllByUser(platform.tenant, b)
    assert.deepEqual(messagesSince(start), [{ type: 'RELATIONS_DELETED', originator: b, data: {} }])
    assert.equal((await relations.list(platform.tenantId, 'FROM', a)).length, 0)
    assert.equal((await relations.list(platform.tenantId, 'FROM', c)).length, 1)
  })

  test('go with each of their ends', async () => {
    const { a, b, c, e } = await circle()
    const { services, tenant, tenantId } = platform
    await services.declared.of(devices).deleteByUser(tenant, e.id)
    assert.deepEqual(await services.relations.list(tenantId, 'TO', a), [])
    assert.deepEqual(await services.relations.list(tenantId, 'FROM', c), [])
    await services.declared.of(assets).deleteByUser(tenant, b.id)
    assert.deepEqual(await services.relations.list(tenantId, 'FROM', a), [])
    const chain = await services.ruleChains.saveByUser(tenant, { name: 'related chain' })
    await relate(entityId('RULE_CHAIN', chain.id), c)
    await services.ruleChains.deleteByUser(tenant, chain.id)
    assert.deepEqual(await services.relations.list(tenantId, 'TO', c), [])
  })

  test('are searched level by level; a circle ends the search and is in the answer', async () => {
    const { a, b, c, d, e } = await circle()
    const { relations } = platform.services
    const typesOf = async (maxLevel: number, lastLevelOnly = false) => {
      const search = { root: a, direction: 'FROM', maxLevel, lastLevelOnly } as const
      const found = await relations.search(platform.tenantId, search)
      return found
        .map(({ from, type }) => `${[a, b, c, d, e].findIndex(({ id }) => id === from.id)} ${type}`)
        .toSorted()
    }
    assert.deepEqual(await typesOf(1), ['0 Contains'])
    assert.deepEqual(await typesOf(2), ['0 Contains', '1 Contains', '1 Manages'])
    assert.deepEqual(await typesOf(0), ['0 Contains', '1 Contains', '1 Manages', '2 Contains', '4 Uses'])
    assert.deepEqual(await typesOf(2, true), ['1 Contains', '1 Manages'])
    // A branch that ends early ends at its last level.
    assert.deepEqual(await typesOf(3, true), ['1 Manages', '2 Contains'])
    const backwards = { root: d, direction: 'TO', maxLevel: 2 } as const
    assert.deepEqual(await relations.findRelated(platform.tenantId, backwards), [b, a])
  })

  test('are filtered by what was found, not by the way there', async () => {
    const { a, e } = await circle()
    const search = { root: a, direction: 'FROM' } as const
    const devices = [{ type: 'Contains', entityTypes: ['DEVICE'] }] as const
    assert.deepEqual(await platform.services.relations.findRelated(platform.tenantId, search, devices), [e])
    const any = [{ entityTypes: [] }]
    assert.equal((await platform.services.relations.search(platform.tenantId, search, any)).length, 5)
  })

  test('of another tenant are not there', async () => {
    const { a } = await circle()
    assert.deepEqual(await platform.services.relations.list(entityId('TENANT', a.id).id, 'FROM', a), [])
  })

  test('are searched to a bounded depth', async () => {
    const { relations } = platform.services
    const chain = Array.from({ length: MAX_LEVELS + 2 }, (_, index) =>
      entityId('ASSET', `00000000-0000-4000-8000-${String(index).padStart(12, '0')}`),
    )
    for (const [index, end] of chain.slice(1).entries())
      await relations.save(platform.tenantId, relation(chain[index] ?? end, end))
    const root = chain[0] ?? (await asset())
    const deep = relations.search(platform.tenantId, { root, direction: 'FROM' })
    await assert.rejects(deep, { status: 400, message: /deeper than 100 levels/ })
    const bounded = await relations.search(platform.tenantId, { root, direction: 'FROM', maxLevel: MAX_LEVELS })
    assert.equal(bounded.length, MAX_LEVELS)
  })

  test('of lists are the oldest where no more are asked for', async () => {
    const { relations } = platform.services
    const [hub, ...ends] = [await asset(), await asset(), await asset(), await asset()]
    for (const end of ends) {
      platform.clock.time++
      await relate(hub, end)
    }
    const found = await relations.list(platform.tenantId, 'FROM', hub, { most: 2 })
    assert.deepEqual(
      found.map(({ to }) => to.id),
      ends.slice(0, 2).map(({ id }) => id),
    )
  })

  test('need a type that can be kept', async () => {
    const [from, to] = [await asset(), await asset()]
    const saving = (type: string) => relate(from, to, type)
    await assert.rejects(saving(' '), { status: 400, message: 'Validation error: type must not be blank' })
    await assert.rejects(saving('t'.repeat(256)), { status: 400 })
  })

  test('of lists show only ends that the caller may read, with their names', async () => {
    const { services, tenant, customer, tenantId } = platform
    const [whole, own, foreign] = [await device(), await device(), await asset()]
    for (const { id } of [whole, own])
      await services.declared.of(devices).assignByUser(tenant, id, { id: customer.customerId ?? '', title: '' })
    await relate(whole, own)
    await relate(whole, foreign)
    await relate(whole, entityId('USER', tenant.userId))
    const found = await services.relations.list(tenantId, 'FROM', whole)
    const named = async (principal: typeof tenant) =>
      (await services.farEnds.readable(principal, 'FROM', found)).map(({ name }) => name)
    const ownName = (await services.declared.of(devices).findAnywhere(own.id))?.name
    assert.deepEqual(await named(customer), [ownName])
    assert.equal((await named(tenant)).length, 3)
    assert.ok((await named(tenant)).includes(tenant.email))
  })
})
