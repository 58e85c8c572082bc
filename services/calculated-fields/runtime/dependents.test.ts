/** Whom a value concerns: those that are related to its entity, and nobody else of the tenant. */
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test, type TestContext } from 'node:test'
import { openField } from '../../../nodes/calculated/kinds.ts'
import { entityId, type EntityId } from '../../../model/entity-id.ts'
import type { Relation } from '../../../model/relation.ts'
import { assetProfiles } from '../../entities/asset-profile.ts'
import { assets } from '../../entities/asset.ts'
import { calculatedFields } from '../../entities/calculated-field.ts'
import { recordWith } from '../../entities/rows.ts'
import type { RelationService } from '../../relations/relations.ts'
import { openTestPlatform, type TestPlatform } from '../../testkit.ts'
import { KnownFacts } from './facts.ts'
import { FieldIndex } from './field-index.ts'
import type { Payload } from './payload.ts'
import { CalculationReader } from './reader.ts'
import { RelatedEntities } from './related.ts'

const VALUES: Payload = {
  ...{ kind: 'values', source: 'series', values: [['temperature', 1, 1]], deleted: [] },
  type: 'POST_TELEMETRY_REQUEST',
}

const LEVEL = { direction: 'FROM', relationType: 'Contains' }

type ListOfMany = RelationService['listOfMany']

/** A reader of one tenant whose only field is set on `owner` and asks for what is two levels below. */
async function openReader(
  t: TestContext,
  platform: TestPlatform,
  owner: EntityId,
  list?: (query: Parameters<ListOfMany>) => readonly Relation[] | undefined,
) {
  const { services, feed, tenantId } = platform
  const configuration = {
    ...{ type: 'SIMPLE', expression: 't', output: { type: 'TIME_SERIES', name: 'o' } },
    arguments: {
      t: {
        refEntityKey: { key: 'temperature', type: 'TS_LATEST' },
        refDynamicSourceConfiguration: { type: 'RELATION_PATH_QUERY', levels: [LEVEL, LEVEL] },
      },
    },
  }
  const identity = { id: 'f', createdTime: 1, version: 1, tenantId }
  const field = recordWith(calculatedFields, identity, { name: 'f', entityId: owner, type: 'SIMPLE', configuration })
  const index = new FieldIndex(
    {
      fields: { findAnywhere: () => Promise.resolve(field), findWhere: () => Promise.resolve([field]) },
      ...{ feed, open: openField, report: assert.fail },
      toolsOf: () => ({ limit: () => 0, compile: () => ({ call: () => 0 }), compileWithArguments: assert.fail }),
    },
    () => undefined,
  )
  await index.start()
  const { declared, relations, attributes, telemetry, alarms, limits } = services
  let reads = 0
  const listOfMany: ListOfMany = (...query) => {
    reads++
    const listed = list?.(query)
    return listed === undefined ? relations.listOfMany(...query) : Promise.resolve(listed)
  }
  const routeOf = () => Promise.resolve({ tenantId, customerId: null, ruleChainId: null, queueName: null })
  const facts = new KnownFacts({ declared, routeOf, feed })
  const related = new RelatedEntities({ relations: { listOfMany }, feed })
  t.after(() => {
    for (const one of [index, facts, related]) one.close()
  })
  const reader = new CalculationReader({
    ...{ declared, attributes, telemetry, alarms, limits, index, facts, related },
  })
  return {
    reads: () => reads,
    forwards: async (entity: EntityId, payload = VALUES) =>
      (await reader.read(tenantId, entity, payload, undefined, 1)).forwards,
  }
}

test('a value goes to what is related to its entity, whose relations are read once', async (t) => {
  const platform = await openTestPlatform()
  t.after(() => platform.close())
  const { services, tenant, tenantId } = platform
  const made = async (name: string): Promise<EntityId> =>
    entityId('ASSET', (await services.declared.of(assets).saveByUser(tenant, { name })).id)
  const [hall, room, near, far] = await Promise.all(['hall', 'room', 'near', 'far'].map(made))
  assert.ok(hall && room && near && far)
  const relate = (from: EntityId, to: EntityId) =>
    services.relations.save(tenantId, { from, to, type: 'Contains', typeGroup: 'COMMON', additionalInfo: null })
  await relate(hall, room)
  await relate(room, near)
  const { forwards, reads } = await openReader(t, platform, hall)
  const concerned = async (entity: EntityId) => (await forwards(entity)).map((forward) => forward.entity.id)
  assert.deepEqual(await concerned(far), [], 'an asset that is in no room')
  assert.deepEqual(await concerned(near), [hall.id])
  const readSoFar = reads()
  assert.deepEqual([await concerned(near), reads() - readSoFar], [[hall.id], 0])
  await relate(room, far)
  assert.deepEqual(await concerned(far), [hall.id], 'a relation that is new is seen at once')
  const crowded = await made('crowded')
  const others = Array.from({ length: 1_000 }, () => entityId('ASSET', randomUUID()))
  for (const some of [others.slice(0, 500), others.slice(500)])
    await Promise.all(some.map((other) => relate(other, crowded)))
  platform.clock.time += 1
  await relate(room, crowded)
  assert.deepEqual(await concerned(crowded), [hall.id], 'on the way more was found than is followed')
})

test('behind the bound of a level between, nobody is missed', async (t) => {
  const platform = await openTestPlatform()
  t.after(() => platform.close())
  const { services, tenant } = platform
  const profile = await services.declared.of(assetProfiles).saveByUser(tenant, { name: 'halls' })
  const made = async (name: string, assetProfileId?: string): Promise<EntityId> =>
    entityId('ASSET', (await services.declared.of(assets).saveByUser(tenant, { name, assetProfileId })).id)
  const hall = await made('hall', profile.id)
  const near = await made('near')
  const rooms = Array.from({ length: 1_100 }, (_, at) => entityId('ASSET', `room ${at}`))
  const relation = (from: EntityId, to: EntityId): Relation => ({
    ...{ from, to, type: 'Contains', typeGroup: 'COMMON', additionalInfo: null, version: 1 },
  })
  // Only the last room, which is behind the bound, is in the hall.
  const list = ([, , ends]: Parameters<ListOfMany>): readonly Relation[] =>
    ends.flatMap(({ id }) =>
      id === near.id ? rooms.map((room) => relation(room, near)) : id === 'room 1099' ? [relation(hall, near)] : [],
    )
  const ofHall = await openReader(t, platform, hall, list)
  assert.deepEqual(
    (await ofHall.forwards(near)).map(({ entity }) => entity),
    [hall],
  )
  const halls = entityId('ASSET_PROFILE', profile.id)
  const ofHalls = await openReader(t, platform, halls, list)
  assert.deepEqual(
    (await ofHalls.forwards(near)).map(({ entity, payload }) => [entity, payload.kind]),
    [[halls, 'members']],
  )
})

test('a relation that comes or goes is told to whom it leads to others, from any level of the way', async (t) => {
  const platform = await openTestPlatform()
  t.after(() => platform.close())
  const { services, tenant, tenantId } = platform
  const made = async (name: string): Promise<EntityId> =>
    entityId('ASSET', (await services.declared.of(assets).saveByUser(tenant, { name })).id)
  const [hall, room, lamp, other] = await Promise.all(['hall', 'room', 'lamp', 'other'].map(made))
  assert.ok(hall && room && lamp && other)
  await services.relations.save(tenantId, {
    ...{ from: hall, to: room, type: 'Contains', typeGroup: 'COMMON', additionalInfo: null },
  })
  const { forwards } = await openReader(t, platform, hall)
  const told = async (originator: EntityId, from: EntityId, to: EntityId, type = 'Contains') =>
    (await forwards(originator, { kind: 'relations', changed: [{ from, to, type }] })).map(
      ({ entity, payload }) => [entity.id, payload.kind] as const,
    )
  assert.deepEqual(await told(room, room, lamp), [[hall.id, 'related']], 'the last step')
  assert.deepEqual(await told(room, hall, room), [[hall.id, 'related']], 'the first step')
  assert.deepEqual(await told(hall, hall, room), [], 'the message is its own')
  assert.deepEqual(await told(room, room, lamp, 'Uses'), [], 'no way has such a step')
  assert.deepEqual(await told(other, other, lamp), [], 'no way leads there')
})

test('of an entity with many relations no more are read than are followed', async (t) => {
  const platform = await openTestPlatform()
  t.after(() => platform.close())
  const { relations } = platform.services
  const asked: (number | undefined)[] = []
  const listOfMany: ListOfMany = (...query) => {
    asked.push(query[3]?.most)
    return relations.listOfMany(...query)
  }
  const related = new RelatedEntities({ relations: { listOfMany }, feed: platform.feed })
  t.after(() => related.close())
  const [hall, ...rooms] = Array.from({ length: 4 }, () => entityId('ASSET', randomUUID()))
  assert.ok(hall)
  for (const to of rooms) {
    platform.clock.time++
    await relations.save(platform.tenantId, {
      ...{ from: hall, to, type: 'Contains', typeGroup: 'COMMON', additionalInfo: null },
    })
  }
  const level = { direction: 'FROM', relationType: 'Contains' } as const
  assert.deepEqual(await related.find(platform.tenantId, hall, [level], 2), rooms.slice(0, 2))
  assert.deepEqual(asked, [2])
})
