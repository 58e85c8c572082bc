import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { entityId, type EntityId } from '../../model/entity-id.ts'
import { systemClock } from '../../model/system-clock.ts'
import type { AggregationTurn, MemberSelection } from '../../engine/rulechain/capabilities/aggregation.ts'
import { AggregationWorkers } from '../../engine/workers/aggregation/aggregation-workers.ts'
import { onBothDatabases } from '../both-databases.testkit.ts'
import { assets } from '../entities/asset.ts'
import { customers } from '../entities/customer.ts'
import { deviceProfiles } from '../entities/device-profile.ts'
import { devices } from '../entities/device.ts'
import { insertTenant, type TestPlatform } from '../testkit.ts'
import { nodeAggregation } from './aggregation.ts'

const OTHER_TENANT = '99999999-9999-4999-8999-999999999999'
const ALL: MemberSelection = { entityType: 'DEVICE', profiles: [], related: undefined }
const LEVELS = { direction: 'FROM', maxLevel: 0, fetchLastLevelOnly: false } as const

await onBothDatabases('aggregations of nodes ', (open) => {
  let platform: TestPlatform
  const workers = new AggregationWorkers({ clock: systemClock, threads: 1 })
  let building: EntityId
  let customer: EntityId
  let profile: EntityId
  const made: EntityId[] = []

  before(async () => {
    platform = await open()
    await platform.entities.write([insertTenant(platform.entities, OTHER_TENANT, 'Other')])
    const { services, tenant, tenantId } = platform
    const { declared, relations, devices: deviceService } = services
    const group = { name: 'grouped meter', type: 'DEFAULT', transportType: 'DEFAULT' } as const
    profile = entityId('DEVICE_PROFILE', (await declared.of(deviceProfiles).saveByUser(tenant, group)).id)
    building = entityId('ASSET', (await declared.of(assets).saveByUser(tenant, { name: 'building' })).id)
    const floor = entityId('ASSET', (await declared.of(assets).saveByUser(tenant, { name: 'floor' })).id)
    const { id, title } = await declared.of(customers).saveByUser(tenant, { title: 'owner of the group' })
    customer = entityId('CUSTOMER', id)
    const related = { typeGroup: 'COMMON', additionalInfo: null } as const
    await relations.save(tenantId, { from: building, to: floor, type: 'Contains', ...related })
    for (let index = 0; index < 4; index++) {
      const draft = { name: `member ${index}`, ...(index < 2 ? { deviceProfileId: profile.id } : { type: 'pump' }) }
      const device = entityId('DEVICE', (await deviceService.saveByUser(tenant, draft)).id)
      made.push(device)
      await relations.save(tenantId, {
        ...{ from: index === 0 ? building : floor, to: device, type: index === 3 ? 'Uses' : 'Contains', ...related },
      })
      if (index % 2 === 0) await declared.of(devices).assignByUser(tenant, device.id, { id, title })
    }
  })
  after(async () => {
    await workers.close()
    await platform.close()
  })

  function inTurn<Result>(
    work: (turn: AggregationTurn) => Promise<Result>,
    tenantId = platform.tenantId,
    bounds = { maxEntities: 100, maxBytes: 10_000 },
  ): Promise<Result> {
    return nodeAggregation(platform.services, workers, bounds)({ tenantId }).inTurn(work)
  }

  const membersOf = (parent: EntityId, change: Partial<MemberSelection> = {}, tenantId = platform.tenantId) =>
    inTurn(async (turn) => {
      const ids = await turn.members(parent, { ...ALL, ...change })
      return ids.map((id) => made.findIndex((device) => device.id === id))
    }, tenantId)

  test('the members of a tenant, a customer, a profile, and those that relations lead to', async () => {
    const tenant = entityId('TENANT', platform.tenantId)
    assert.deepEqual((await membersOf(tenant)).filter((place) => place >= 0).toSorted(), [0, 1, 2, 3])
    assert.deepEqual((await membersOf(customer)).toSorted(), [0, 2])
    assert.deepEqual((await membersOf(profile)).toSorted(), [0, 1])
    assert.deepEqual(await membersOf(customer, { profiles: ['pump', 'no such'] }), [2])
    assert.deepEqual(await membersOf(profile, { profiles: ['pump'] }), [])
    const related = { ...LEVELS, relationTypes: ['Contains'] }
    assert.deepEqual((await membersOf(building, { related })).toSorted(), [0, 1, 2])
    assert.deepEqual(
      (await membersOf(building, { related: { ...related, relationTypes: [] } })).toSorted(),
      [0, 1, 2, 3],
    )
    assert.deepEqual(await membersOf(building, { related: { ...related, maxLevel: 1 } }), [0])
    assert.deepEqual(
      await membersOf(building, { related, profiles: ['grouped meter'] }).then((all) => all.toSorted()),
      [0, 1],
    )
    assert.equal((await membersOf(building, { related, entityType: 'ASSET' })).length, 1)
    await assert.rejects(membersOf(building), { code: 'aggregation.PARENT_UNFIT' })
    await assert.rejects(membersOf(profile, { entityType: 'ASSET' }), { code: 'aggregation.PARENT_UNFIT' })
  })

  test('another tenant finds none of them, whatever it names', async () => {
    const related = { ...LEVELS, relationTypes: [] }
    for (const [parent, change] of [
      [entityId('TENANT', platform.tenantId), {}],
      [customer, {}],
      [profile, {}],
      [building, { related }],
    ] as const)
      assert.deepEqual(await membersOf(parent, change, OTHER_TENANT), [])
    const [first] = made
    assert.ok(first !== undefined)
    await inTurn(async (turn) => {
      assert.deepEqual(await turn.names('DEVICE', [first.id]), [])
      assert.deepEqual(await turn.alarms([first.id], { types: [], since: undefined }), [])
      await assert.rejects(turn.column([first.id], { source: 'LATEST_TELEMETRY', key: 't' }), RangeError)
    }, OTHER_TENANT)
    // A relation of its own to another tenant's device leads nowhere.
    const own = entityId('TENANT', OTHER_TENANT)
    const foreign = { from: own, to: first, type: 'Contains', typeGroup: 'COMMON', additionalInfo: null } as const
    await platform.services.relations.save(OTHER_TENANT, foreign)
    assert.deepEqual(await membersOf(own, { related }, OTHER_TENANT), [])
  })

  test('latest telemetry and attributes of the members, in their order', async () => {
    const { telemetry, attributes } = platform.services
    for (const [index, entity] of made.entries()) {
      if (index === 1) continue
      const group = { ts: 1_000, entries: [{ key: 't', type: 'DOUBLE', value: index + 0.5 }] } as const
      await telemetry.saveByUser(platform.tenant, entity, [group], 0)
      const entries = [{ key: 'floor', type: 'STRING', value: `F${index}` }] as const
      await attributes.saveByUser(platform.tenant, entity, 'SERVER_SCOPE', entries)
    }
    await inTurn(async (turn) => {
      const ids = await turn.members(building, { ...ALL, related: { ...LEVELS, relationTypes: [] } })
      const order = ids.map((id) => made.findIndex((device) => device.id === id))
      const series = await turn.column(ids, { source: 'LATEST_TELEMETRY', key: 't' })
      assert.deepEqual(
        order.map((index, place) => [index, series.kinds[place] === 0 ? null : series.numbers[place]]).toSorted(),
        [
          [0, 0.5],
          [1, null],
          [2, 2.5],
          [3, 3.5],
        ],
      )
      const floors = await turn.column(ids, { source: 'SERVER_SCOPE', key: 'floor' })
      const texts = order.map((index, place) => [
        index,
        floors.kinds[place] === 0 ? null : floors.texts[floors.numbers[place] ?? 0],
      ])
      assert.deepEqual(texts.toSorted(), [
        [0, 'F0'],
        [1, null],
        [2, 'F2'],
        [3, 'F3'],
      ])
      const shared = await turn.column(ids, { source: 'SHARED_SCOPE', key: 'floor' })
      assert.deepEqual([...shared.kinds], [0, 0, 0, 0])
      const names = await turn.names('DEVICE', ids)
      assert.deepEqual(names.map(({ name, type }) => [name, type]).toSorted()[0], ['member 0', 'grouped meter'])
    })
  })

  test('more entities, or more bytes, than one aggregation may have are refused', async () => {
    const tenant = entityId('TENANT', platform.tenantId)
    const read = async (turn: AggregationTurn) => {
      const ids = await turn.members(tenant, ALL)
      await turn.column(ids, { source: 'LATEST_TELEMETRY', key: 't' })
    }
    await assert.rejects(inTurn(read, platform.tenantId, { maxEntities: 3, maxBytes: 10_000 }), {
      code: 'aggregation.TOO_MANY_ENTITIES',
    })
    await assert.rejects(inTurn(read, platform.tenantId, { maxEntities: 100, maxBytes: 20 }), {
      code: 'aggregation.TOO_LARGE',
    })
  })

  test('values of many bytes are read a few entities at a time, and the rest not once they are too many', async () => {
    const { attributes } = platform.services
    const { queries } = platform.entities
    const tenant = entityId('TENANT', platform.tenantId)
    const MIB = 2 ** 20
    for (const [index, entity] of made.entries()) {
      const value = String(index).repeat(1.5 * MIB)
      await attributes.saveByUser(platform.tenant, entity, 'SERVER_SCOPE', [{ key: 'large', type: 'STRING', value }])
    }
    const reads: number[] = []
    const read = queries.attributes.bind(queries)
    queries.attributes = async (...asked) => {
      const found = await read(...asked)
      reads.push(found.reduce((sum, { attribute: { value } }) => sum + String(value).length, 0) / MIB)
      return found
    }
    const column = (maxBytes: number) =>
      inTurn(
        async (turn) => turn.column(await turn.members(tenant, ALL), { source: 'SERVER_SCOPE', key: 'large' }),
        platform.tenantId,
        { maxEntities: 100, maxBytes },
      )
    const { texts } = await column(20 * MIB)
    assert.deepEqual(texts.map((text) => `${text[0]} ${text.length / MIB}`).toSorted(), [
      '0 1.5',
      '1 1.5',
      '2 1.5',
      '3 1.5',
    ])
    assert.ok(Math.max(...reads) <= 4, `${Math.max(...reads)} MiB were read at a time`)
    reads.length = 0
    await assert.rejects(column(2 * MIB), { code: 'aggregation.TOO_LARGE' })
    assert.ok(reads.reduce((sum, one) => sum + one, 0) <= 4, 'the others were not read')
    queries.attributes = read
  })

  test('alarms are counted by type, severity and status, of the entities that are named', async () => {
    const { alarms } = platform.services
    const [first, second, third] = made
    assert.ok(first !== undefined && second !== undefined && third !== undefined)
    const raise = (originator: EntityId, type: string, severity: 'CRITICAL' | 'MINOR') =>
      alarms.createOrUpdate(platform.tenantId, { originator, type, severity }, () => [])
    await raise(first, 'Fire', 'CRITICAL')
    await raise(second, 'Fire', 'CRITICAL')
    await raise(second, 'Smoke', 'MINOR')
    await raise(third, 'Fire', 'CRITICAL')
    await alarms.clear(second, 'Fire', undefined, () => [])
    const tallies = (types: readonly string[], since?: number) =>
      inTurn((turn) => turn.alarms([first.id, second.id], { types, since })).then((found) =>
        found.map(({ type, severity, status, alarms: count }) => [type, severity, status, count]).toSorted(),
      )
    assert.deepEqual(await tallies([]), [
      ['Fire', 'CRITICAL', 'ACTIVE_UNACK', 1],
      ['Fire', 'CRITICAL', 'CLEARED_UNACK', 1],
      ['Smoke', 'MINOR', 'ACTIVE_UNACK', 1],
    ])
    assert.deepEqual(await tallies(['Smoke']), [['Smoke', 'MINOR', 'ACTIVE_UNACK', 1]])
    assert.deepEqual(await tallies([], platform.clock.now() + 1_000_000), [])
  })
})
