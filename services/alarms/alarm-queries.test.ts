/** Alarm queries over real stores, on both databases. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { AlarmDataQuery } from '../../model/alarm-query.ts'
import { entityId, type EntityId } from '../../model/entity-id.ts'
import type { AskedFilter } from '../../model/entity-query.ts'
import type { Principal } from '../../model/principal.ts'
import { EntityQueryRepository } from '../../storage/entities/queries/entity-queries.ts'
import { assets } from '../entities/asset.ts'
import { onBothDatabases } from '../both-databases.testkit.ts'
import type { TestPlatform } from '../testkit.ts'

const ALL: AlarmDataQuery = {
  filter: { kind: 'type', entityType: 'ASSET', name: '', types: undefined },
  keyFilters: [],
  operation: 'AND',
  startTs: undefined,
  endTs: undefined,
  timeWindowMs: undefined,
  types: undefined,
  severities: undefined,
  assigneeId: undefined,
  isPropagated: false,
  alarmFields: ['type'],
  fields: [],
  latest: [],
  page: {
    page: 0,
    pageSize: 10,
    textSearch: undefined,
    sort: { key: { type: 'ALARM_FIELD', key: 'type' }, direction: 'ASC' },
    isDynamic: false,
  },
}

await onBothDatabases('alarm queries ', testQueries)

function testQueries(open: () => Promise<TestPlatform>): void {
  let platform: TestPlatform
  let tenant: Principal
  let start: number
  const entities: Record<string, EntityId> = {}

  before(async () => {
    platform = await open()
    tenant = platform.tenant
    const { services } = platform
    const customerId = platform.customer.customerId ?? ''
    for (const name of ['plant', 'pump', 'valve']) {
      const draft = { name, label: name === 'valve' ? 'A valve' : null, ...(name === 'valve' ? { customerId } : {}) }
      const { id } = await services.declared.of(assets).saveByUser(tenant, draft)
      entities[name] = entityId('ASSET', id)
    }
    const of = (name: string): EntityId => entities[name] ?? assert.fail(name)
    const above = { from: of('plant'), type: 'Contains', typeGroup: 'COMMON', additionalInfo: null } as const
    await services.relations.saveByUser(tenant, { ...above, to: of('pump') })
    await services.relations.saveByUser(tenant, { ...above, to: of('valve') })
    start = platform.clock.now()
    const raise = async (originator: EntityId, type: string, more: object = {}) => {
      platform.clock.time += 1000
      return services.alarms.saveByUser(tenant, { originator, type, severity: 'MAJOR', ...more })
    }
    await raise(of('pump'), 'Hot', { severity: 'CRITICAL', propagate: true })
    const { id } = await raise(of('pump'), 'Slow', { details: { rpm: 7 } })
    await services.alarms.assignByUser(tenant, id, tenant.userId)
    await raise(of('valve'), 'Leak', { severity: 'MINOR', acknowledged: true, cleared: true, propagate: true })
  })
  after(() => platform.close())

  const find = (change: Partial<AlarmDataQuery>, principal = tenant) =>
    platform.services.alarmQueries.find(principal, { ...ALL, ...change })
  const typesOf = async (change: Partial<AlarmDataQuery>, principal = tenant) => {
    const page = await find(change, principal)
    const { page: bounds, ...query } = { ...ALL, ...change }
    if (bounds.textSearch === undefined)
      assert.equal(await platform.services.alarmQueries.count(principal, query), page.totalElements)
    return page.data.map(({ info }) => info['type'])
  }
  const sorted = (key: string, direction: 'ASC' | 'DESC' = 'ASC'): Partial<AlarmDataQuery> => ({
    page: { ...ALL.page, sort: { key: { type: 'ALARM_FIELD', key }, direction } },
  })
  const searched = (textSearch: string, alarmFields: readonly string[]): Partial<AlarmDataQuery> => ({
    page: { ...ALL.page, textSearch },
    alarmFields,
  })

  test('finds by status, severity, type, assignee and time', async () => {
    assert.deepEqual(await typesOf({}), ['Hot', 'Leak', 'Slow'])
    assert.deepEqual(await typesOf({ cleared: false }), ['Hot', 'Slow'])
    assert.deepEqual(await typesOf({ acknowledged: true }), ['Leak'])
    assert.deepEqual(await typesOf({ severities: ['CRITICAL', 'MINOR'] }), ['Hot', 'Leak'])
    assert.deepEqual(await typesOf({ types: ['Slow', 'none'] }), ['Slow'])
    assert.deepEqual(await typesOf({ assigneeId: tenant.userId }), ['Slow'])
    assert.deepEqual(await typesOf({ startTs: start + 2000 }), ['Leak', 'Slow'])
    assert.deepEqual(await typesOf({ endTs: start + 2000 }), ['Hot', 'Slow'])
    assert.deepEqual(await typesOf({ startTs: 1, endTs: 2, timeWindowMs: 1500 }), ['Leak', 'Slow'])
  })

  test('shows an alarm once for all the entities that match, on its originator first', async () => {
    const onPlant: AlarmDataQuery['filter'] = { kind: 'list', entityType: 'ASSET', ids: [entities['plant']?.id ?? ''] }
    assert.deepEqual(await typesOf({ filter: onPlant }), [])
    const { data } = await find({ filter: onPlant, isPropagated: true })
    assert.deepEqual(
      data.map(({ info, entity }) => [info['type'], info['originator'], entity]),
      [
        ['Hot', entities['pump'], entities['plant']],
        ['Leak', entities['valve'], entities['plant']],
      ],
    )
    const all = await find({ isPropagated: true })
    assert.deepEqual(
      all.data.map(({ entity }) => entity.id),
      ['pump', 'valve', 'pump'].map((name) => entities[name]?.id),
    )
    assert.equal(all.totalElements, 3)
  })

  test('sorts by members of alarms, by their originators, or by the entities', async () => {
    assert.deepEqual(await typesOf(sorted('createdTime', 'DESC')), ['Leak', 'Slow', 'Hot'])
    assert.deepEqual(await typesOf(sorted('severity')), ['Hot', 'Slow', 'Leak'])
    assert.deepEqual(await typesOf(sorted('assigneeEmail', 'DESC')).then(([first]) => first), 'Slow')
    assert.equal((await typesOf(sorted('originatorLabel')))[0], 'Leak')
    assert.equal((await typesOf(sorted('originator')))[2], 'Leak')
    assert.deepEqual(await typesOf({ page: { ...ALL.page, sort: undefined } }), ['Leak', 'Slow', 'Hot'])
    const byName = { key: { type: 'ENTITY_FIELD', key: 'name' }, direction: 'DESC' } as const
    assert.deepEqual(await typesOf({ page: { ...ALL.page, sort: byName } }), ['Leak', 'Slow', 'Hot'])
    await assert.rejects(find(sorted('nothing')), { status: 400 })
    await assert.rejects(find({ page: { ...ALL.page, pageSize: 0 } }), { code: 'query.PAGE_SIZE' })
    const far = { page: Number.MAX_SAFE_INTEGER, pageSize: 10_000 }
    await assert.rejects(find({ page: { ...ALL.page, ...far } }), { code: 'query.PAGE_TOO_FAR' })
  })

  test('searches in the members that are named', async () => {
    assert.deepEqual(await typesOf(searched('LE', ['type'])), ['Leak'])
    assert.deepEqual(await typesOf(searched('pump', ['type', 'originator'])), ['Hot', 'Slow'])
    assert.deepEqual(await typesOf(searched('cleared_', ['status'])), ['Leak'])
    assert.deepEqual(await typesOf(searched('rpm', ['details'])), ['Slow'])
    assert.deepEqual(await typesOf(searched('rpm', ['nothing'])), [])
  })

  test('filters by keys of entities and of alarms', async () => {
    const filter = (type: 'ALARM_FIELD' | 'ENTITY_FIELD', key: string, value: string): AskedFilter => ({
      key: { type, key },
      predicate: {
        type: 'STRING',
        operation: 'STARTS_WITH',
        ignoreCase: false,
        value: { defaultValue: value, userValue: undefined, dynamicValue: undefined },
      },
    })
    assert.deepEqual(await typesOf({ keyFilters: [filter('ENTITY_FIELD', 'name', 'pu')] }), ['Hot', 'Slow'])
    assert.deepEqual(await typesOf({ keyFilters: [filter('ALARM_FIELD', 'status', 'CLEAR')] }), ['Leak'])
    const both = [filter('ENTITY_FIELD', 'name', 'pu'), filter('ALARM_FIELD', 'type', 'S')]
    assert.deepEqual(await typesOf({ keyFilters: both }), ['Slow'])
  })

  test('pages, with values of the entities', async () => {
    const { data, ...rest } = await find({ page: { ...ALL.page, page: 1, pageSize: 2 }, fields: ['name'] })
    assert.deepEqual(rest, { totalPages: 2, totalElements: 3, hasNext: false })
    assert.deepEqual(
      data.map(({ info, latest }) => [info['type'], latest.ENTITY_FIELD?.['name']?.value]),
      [['Slow', 'pump']],
    )
  })

  test('a page behind the last tells how many there are, searched or not', async () => {
    const behind = { ...ALL.page, page: 5, pageSize: 2 }
    const totalOf = async (textSearch?: string) => {
      const { data, totalElements } = await find({ page: { ...behind, textSearch }, alarmFields: ['type'] })
      return [data.length, totalElements]
    }
    assert.deepEqual(await Promise.all([totalOf(), totalOf('LE'), totalOf('nothing')]), [
      [0, 3],
      [0, 1],
      [0, 0],
    ])
  })

  test('counts no entities where nobody is told how many there are', async (context) => {
    const paged = context.mock.method(EntityQueryRepository.prototype, 'page')
    assert.equal((await typesOf({})).length, 3)
    assert.equal(paged.mock.callCount(), 0)
  })

  test('shows nobody what is not theirs', async () => {
    assert.deepEqual(await typesOf({}, platform.customer), ['Leak'])
    const { filter: _, page: __, ...everything } = ALL
    const countAll = (principal: Principal) =>
      platform.services.alarmQueries.count(principal, { ...everything, filter: undefined })
    assert.equal(await countAll(tenant), 3)
    assert.equal(await countAll(platform.customer), 1)
    const stranger = { ...tenant, tenantId: '11111111-2222-4333-8444-555555555555' }
    assert.deepEqual(await typesOf({ isPropagated: true }, stranger), [])
    assert.equal(await countAll(stranger), 0)
  })
}
