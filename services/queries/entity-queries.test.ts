import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type {
  EntityDataQuery,
  EntityFilter,
  EntityKey,
  KeyPredicate,
  AskedPredicate,
} from '../../model/entity-query.ts'
import type { Entry } from '../../model/value.ts'
import { deviceOf, household, insertionOf } from '../../storage/entities/contract-testkit.ts'
import { emptyDatabase, serverForFile } from '../../storage/postgres/testkit.ts'
import { openPostgresEntityStore } from '../../storage/entities/entity-store.ts'
import { assets } from '../entities/asset.ts'
import { customers } from '../entities/customer.ts'
import { dashboards } from '../entities/dashboard.ts'
import { DECLARED_TABLES } from '../entities/declared.ts'
import { devices } from '../entities/device.ts'
import { openTestPlatform, type TestPlatform } from '../testkit.ts'
import { comparedValue, matches } from './predicates.ts'

const NAME: EntityKey = { type: 'ENTITY_FIELD', key: 'name' }
const METERS: EntityFilter = { kind: 'type', entityType: 'DEVICE', name: '', types: ['Meter'] }

function queryOf(change: Partial<EntityDataQuery> & { readonly filter?: EntityFilter } = {}): EntityDataQuery {
  return {
    filter: METERS,
    keyFilters: [],
    operation: 'AND',
    fields: ['name'],
    latest: [],
    page: { page: 0, pageSize: 100, textSearch: undefined, sort: { key: NAME, direction: 'ASC' }, isDynamic: false },
    ...change,
  }
}

/** The same predicate as a client asks it. */
function asked(predicate: KeyPredicate): AskedPredicate {
  if (predicate.type === 'COMPLEX') return { ...predicate, predicates: predicate.predicates.map(asked) }
  const value = { defaultValue: predicate.value, userValue: undefined, dynamicValue: undefined }
  return { ...predicate, value } as AskedPredicate
}

const VALUES: readonly (Entry | undefined)[] = [
  { key: 'k', type: 'LONG', value: 5 },
  { key: 'k', type: 'LONG', value: -3 },
  { key: 'k', type: 'DOUBLE', value: 5.5 },
  { key: 'k', type: 'DOUBLE', value: -0 },
  { key: 'k', type: 'STRING', value: 'Alpha' },
  { key: 'k', type: 'STRING', value: 'alphabet' },
  { key: 'k', type: 'STRING', value: 'a_b%c\\d' },
  { key: 'k', type: 'STRING', value: 'É*[x]?' },
  { key: 'k', type: 'STRING', value: '5' },
  { key: 'k', type: 'BOOLEAN', value: true },
  { key: 'k', type: 'BOOLEAN', value: false },
  { key: 'k', type: 'JSON', value: '{"a":1}' },
  undefined,
]

function predicates(): readonly KeyPredicate[] {
  const all: KeyPredicate[] = []
  for (const value of ['Alpha', 'alpha', 'a', '%b', 'a_b', '_', 'é', '*[x]', '5', "'Alpha', x", 'd', '\\'])
    for (const operation of [
      'EQUAL',
      'NOT_EQUAL',
      'STARTS_WITH',
      'ENDS_WITH',
      'CONTAINS',
      'NOT_CONTAINS',
      'IN',
      'NOT_IN',
    ] as const)
      for (const ignoreCase of [true, false]) all.push({ type: 'STRING', operation, value, ignoreCase })
  for (const value of [5, 0, -3, 5.5, 1e21])
    for (const operation of ['EQUAL', 'NOT_EQUAL', 'GREATER', 'LESS', 'GREATER_OR_EQUAL', 'LESS_OR_EQUAL'] as const)
      all.push({ type: 'NUMERIC', operation, value })
  for (const value of [true, false])
    for (const operation of ['EQUAL', 'NOT_EQUAL'] as const) all.push({ type: 'BOOLEAN', operation, value })
  const [first, second] = [all[3], all[200]]
  if (first !== undefined && second !== undefined)
    for (const operation of ['AND', 'OR'] as const)
      all.push({
        type: 'COMPLEX',
        operation,
        predicates: [first, second, { type: 'COMPLEX', operation: 'OR', predicates: [second] }],
      })
  return all
}

function testQueries(name: string, open: () => Promise<TestPlatform>): void {
  describe(`entity queries over ${name}`, () => {
    let platform: TestPlatform
    const ids: string[] = []
    const find = (query: EntityDataQuery, principal = platform.tenant) =>
      platform.services.entityQueries.find(principal, query)
    const names = async (query: EntityDataQuery, principal = platform.tenant) =>
      (await find(query, principal)).data.map(({ latest }) => latest.ENTITY_FIELD?.['name']?.value)

    before(async () => {
      platform = await open()
      const { services, tenant } = platform
      for (const [place, value] of VALUES.entries()) {
        const deviceName = `m${String(place).padStart(2, '0')}`
        const device = await services.devices.saveByUser(tenant, {
          name: deviceName,
          type: 'Meter',
          label: place % 2 ? null : 'even',
        })
        ids.push(device.id)
        if (value === undefined) continue
        const entity = { entityType: 'DEVICE', id: device.id } as const
        await services.attributes.saveByUser(tenant, entity, 'SERVER_SCOPE', [value])
        await services.telemetry.saveByUser(tenant, entity, [{ ts: 10 + place, entries: [value] }], 0)
      }
      await services.declared.of(assets).saveByUser(tenant, { name: 'm-hall', type: 'Hall' })
    })
    after(() => platform.close())

    test('a predicate means the same in the store, over telemetry and over values in memory', async () => {
      for (const predicate of predicates()) {
        const expected = VALUES.flatMap((value, place) =>
          matches(predicate, value && comparedValue(value)) ? [`m${String(place).padStart(2, '0')}`] : [],
        )
        for (const type of ['SERVER_ATTRIBUTE', 'ATTRIBUTE', 'TIME_SERIES'] as const) {
          const keyFilters = [{ key: { type, key: 'k' }, predicate: asked(predicate) }]
          const found = await names(queryOf({ keyFilters }))
          assert.deepEqual(found, expected, `${type} ${JSON.stringify(predicate)}`)
          const count = await platform.services.entityQueries.count(platform.tenant, queryOf({ keyFilters }))
          assert.equal(count, expected.length)
        }
      }
    })

    test('attributes and telemetry sort alike: numbers, then texts, what is not there as the reference has it', async () => {
      for (const direction of ['ASC', 'DESC'] as const) {
        const sortedBy = (type: EntityKey['type']) =>
          names(queryOf({ page: { ...queryOf().page, sort: { key: { type, key: 'k' }, direction } } }))
        // JSON and -0 are kept as text by one store only.
        const without = (found: readonly (string | undefined)[]) =>
          found.filter((each) => each !== 'm11' && each !== 'm03')
        const byTelemetry = await sortedBy('TIME_SERIES')
        assert.deepEqual(without(await sortedBy('SERVER_ATTRIBUTE')), without(byTelemetry))
        assert.deepEqual(without(await sortedBy('ATTRIBUTE')), without(byTelemetry))
        if (direction === 'ASC') assert.deepEqual(without(byTelemetry).slice(0, 5), ['m01', 'm10', 'm09', 'm00', 'm02'])
      }
    })

    test('a page is the same whichever way it is looked up', async () => {
      const { entities, tenant } = platform
      const house = await household(entities)
      const made = Array.from({ length: 1_200 }, (_, place) => ({
        ...deviceOf(house.tenant, house.profile, `d${String(place).padStart(4, '0')}`),
        type: 'default',
      }))
      const flags = made.map(({ id }, place) => ({
        entityId: id,
        scope: 'SERVER_SCOPE' as const,
        attribute: { key: 'on', type: 'BOOLEAN' as const, value: place % 2 === 0, lastUpdateTs: 1 },
        sequence: 0,
      }))
      await entities.write([...made.map((each) => insertionOf(entities, each)), entities.attributes.save(flags)])
      const principal = { ...tenant, tenantId: house.tenant.id }
      const isOn: KeyPredicate = { type: 'BOOLEAN', operation: 'EQUAL', value: true }
      const query = queryOf({
        filter: { kind: 'type', entityType: 'DEVICE', name: '', types: ['default'] },
        keyFilters: [{ key: { type: 'SERVER_ATTRIBUTE', key: 'on' }, predicate: asked(isOn) }],
      })
      const page = (number: number, pageSize: number) =>
        find({ ...query, page: { ...query.page, page: number, pageSize } }, principal)
      // All at once are looked up by the attribute, a few in the order of their names.
      const whole = (await page(0, 1_000)).data.map(({ entity }) => entity.id)
      assert.deepEqual(
        whole,
        made.filter((_, place) => place % 2 === 0).map(({ id }) => id),
      )
      for (const number of [0, 3, 119, 120]) {
        const { data, totalElements } = await page(number, 5)
        assert.deepEqual(
          data.map(({ entity }) => entity.id),
          whole.slice(number * 5, number * 5 + 5),
        )
        assert.equal(totalElements, 600)
      }
    })

    test('filters by names as prefix, suffix and part, in any case', async () => {
      const byName = (text: string) =>
        names(queryOf({ filter: { kind: 'type', entityType: 'DEVICE', name: text, types: undefined } }))
      assert.equal((await byName('M0')).length, 10)
      assert.deepEqual(await byName('%12'), ['m12'])
      assert.deepEqual(await byName('%M1%'), ['m10', 'm11', 'm12'])
      assert.deepEqual(await byName('0'), [])
    })

    test('a text that is longer than the database takes is the fault of who asks', async () => {
      const text = 'x'.repeat(60_000)
      const asking = [
        queryOf({ page: { ...queryOf().page, textSearch: text } }),
        queryOf({ latest: [{ type: 'TIME_SERIES', key: 'k' }], page: { ...queryOf().page, textSearch: text } }),
        queryOf({ filter: { kind: 'type', entityType: 'DEVICE', name: text, types: undefined } }),
        ...[true, false].map((ignoreCase) => {
          const predicate = asked({ type: 'STRING', operation: 'CONTAINS', value: text, ignoreCase })
          return queryOf({ keyFilters: [{ key: NAME, predicate }] })
        }),
      ]
      // PostgreSQL takes it.
      for (const query of asking) {
        const found = await names(query).catch((error: unknown) => error)
        if (found instanceof Error) assert.equal('status' in found && found.status, 400, found.message)
        else assert.deepEqual(found, [])
      }
    })

    test('several filters combine by AND and OR, telemetry and attributes mixed', async () => {
      const filters = (type: EntityKey['type']) => ({
        key: { type, key: 'k' },
        predicate: asked({ type: 'NUMERIC', operation: 'EQUAL', value: 5 }),
      })
      const other = {
        key: NAME,
        predicate: asked({ type: 'STRING', operation: 'ENDS_WITH', value: '1', ignoreCase: false }),
      }
      const both = [filters('TIME_SERIES'), filters('SERVER_ATTRIBUTE')]
      assert.deepEqual(await names(queryOf({ keyFilters: both })), ['m00'])
      assert.deepEqual(await names(queryOf({ keyFilters: [...both, other] })), [])
      assert.deepEqual(await names(queryOf({ keyFilters: [...both, other], operation: 'OR' })), ['m00', 'm01', 'm11'])
    })

    test('pages, counts and searches in what is selected', async () => {
      const page = { ...queryOf().page, pageSize: 5, page: 2 }
      const { data, totalElements, totalPages, hasNext } = await find(queryOf({ page }))
      assert.deepEqual([data.length, totalElements, totalPages, hasNext], [3, 13, 3, false])
      const far = { ...page, pageSize: 10_000, page: Number.MAX_SAFE_INTEGER }
      await assert.rejects(find(queryOf({ page: far })), { code: 'query.PAGE_TOO_FAR' })
      const search = (textSearch: string, latest: readonly EntityKey[] = []) =>
        names(queryOf({ latest, page: { ...queryOf().page, textSearch } }))
      assert.deepEqual(await search('M03'), ['m03'])
      assert.deepEqual(await search('lphab'), [])
      assert.deepEqual(await search('LPHAB', [{ type: 'ATTRIBUTE', key: 'k' }]), ['m05'])
      assert.deepEqual(await search('lphab', [{ type: 'TIME_SERIES', key: 'k' }]), ['m05'])
    })

    test('answers fields and latest values, and says of what is missing that it is', async () => {
      const fields = [
        'name',
        'label',
        'displayName',
        'type',
        'entityType',
        'ownerName',
        'ownerType',
        'email',
        'additionalInfo',
      ]
      const latest: readonly EntityKey[] = [
        { type: 'TIME_SERIES', key: 'k' },
        { type: 'SERVER_ATTRIBUTE', key: 'k' },
        { type: 'SHARED_ATTRIBUTE', key: 'k' },
        { type: 'ATTRIBUTE', key: '__proto__' },
      ]
      const filter: EntityFilter = { kind: 'list', entityType: 'DEVICE', ids: ids.slice(0, 1) }
      const { data } = await find(queryOf({ filter, fields, latest }))
      const shown = data[0]?.latest
      const texts = fields.map((field) => shown?.ENTITY_FIELD?.[field]?.value)
      assert.deepEqual(texts, ['m00', 'even', 'even', 'Meter', 'DEVICE', 'Tenant', 'TENANT', '', ''])
      assert.deepEqual(shown?.TIME_SERIES?.['k'], { ts: 10, value: '5' })
      assert.equal(shown?.SERVER_ATTRIBUTE?.['k']?.value, '5')
      assert.deepEqual(shown?.SHARED_ATTRIBUTE?.['k'], { ts: 0, value: '' })
      assert.deepEqual(Object.keys(shown?.ATTRIBUTE ?? {}), ['__proto__'])
    })

    test('a dynamic value is the attribute of the caller’s own, the default where there is none', async () => {
      const { services, tenant, tenantId } = platform
      const dynamic = (attribute: string): readonly EntityDataQuery['keyFilters'][number][] => [
        {
          key: { type: 'SERVER_ATTRIBUTE', key: 'k' },
          predicate: {
            type: 'NUMERIC',
            operation: 'GREATER',
            value: { defaultValue: 5.2, userValue: undefined, dynamicValue: { source: 'CURRENT_TENANT', attribute } },
          },
        },
      ]
      const entity = { entityType: 'TENANT', id: tenantId } as const
      await services.attributes.saveByUser(tenant, entity, 'SERVER_SCOPE', [{ key: 'limit', type: 'LONG', value: 0 }])
      assert.deepEqual(await names(queryOf({ keyFilters: dynamic('limit') })), ['m00', 'm02'])
      assert.deepEqual(await names(queryOf({ keyFilters: dynamic('none') })), ['m02'])
    })

    test('a customer user sees what is assigned to the customer, other tenants nothing', async () => {
      const { services, tenant, customer } = platform
      const [id = ''] = ids
      await services.declared.of(devices).assignByUser(tenant, id, { id: customer.customerId ?? '', title: '' })
      assert.deepEqual(await names(queryOf(), customer), ['m00'])
      assert.equal(await services.entityQueries.count(customer, queryOf()), 1)
      const filter: EntityFilter = { kind: 'one', entity: { entityType: 'DEVICE', id: ids[1] } }
      assert.deepEqual(await names(queryOf({ filter }), customer), [])
      const all: EntityFilter = { kind: 'type', entityType: 'ASSET', name: '', types: undefined }
      assert.deepEqual(await names(queryOf({ filter: all }), customer), [])
      assert.deepEqual(await names(queryOf({ filter: all })), ['m-hall'])
      const dashboardIds: string[] = []
      for (const title of ['shown', 'hidden']) {
        const { id: dashboardId } = await services.declared.of(dashboards).saveByUser(tenant, { title })
        dashboardIds.push(dashboardId)
      }
      const holder = await services.declared.of(customers).findAnywhere(customer.customerId ?? '')
      assert.ok(holder)
      await services.content.dashboards.assign(tenant, dashboardIds[0] ?? '', [holder])
      const boards: EntityFilter = { kind: 'type', entityType: 'DASHBOARD', name: '', types: undefined }
      assert.deepEqual(await names(queryOf({ filter: boards }), customer), ['shown'])
      assert.deepEqual(await names(queryOf({ filter: boards })), ['hidden', 'shown'])
      const foreign = { ...tenant, tenantId: '0b1c2d3e-0000-4000-8000-00000000ffff' }
      assert.deepEqual(await names(queryOf(), foreign), [])
      assert.deepEqual(await names(queryOf({ filter }), foreign), [])
      const self: EntityFilter = { kind: 'one', entity: { entityType: 'CURRENT_USER', id: undefined } }
      assert.deepEqual(await names(queryOf({ filter: self }), customer), [customer.email])
    })

    test('columns of latest values find what values one by one find, page by page', async () => {
      const key: EntityKey = { type: 'TIME_SERIES', key: 'k' }
      const ofSeries = (predicate: KeyPredicate) => ({ key, predicate: asked(predicate) })
      const even = { type: 'STRING', operation: 'EQUAL', value: 'even', ignoreCase: false } as const
      const below = { type: 'NUMERIC', operation: 'LESS', value: 5.2 } as const
      const text = { type: 'STRING', operation: 'STARTS_WITH', value: 'a', ignoreCase: true } as const
      const filters = [
        [],
        [ofSeries(below)],
        [ofSeries(below), ofSeries(text)],
        [ofSeries(below), { key: { type: 'ENTITY_FIELD', key: 'label' } as const, predicate: asked(even) }],
        [ofSeries(text), { key: { type: 'SERVER_ATTRIBUTE', key: 'k' } as const, predicate: asked(text) }],
      ]
      const asks = filters.flatMap((keyFilters) =>
        (['AND', 'OR'] as const).flatMap((operation) =>
          [key, NAME].flatMap((sortKey) =>
            (['ASC', 'DESC'] as const).flatMap((direction) =>
              [0, 1, 2].map((page) =>
                queryOf({
                  ...{ keyFilters, operation, latest: [key] },
                  page: { ...queryOf().page, page, pageSize: 3, sort: { key: sortKey, direction } },
                }),
              ),
            ),
          ),
        ),
      )
      const answers = () =>
        Promise.all(asks.map(async (each) => JSON.stringify(await find(each)).replace(/"ts":\d+/g, '')))
      const inColumns = await answers()
      const { latestColumn } = platform.timeSeries
      delete platform.timeSeries.latestColumn
      const oneByOne = await answers()
      assert.ok(latestColumn !== undefined)
      platform.timeSeries.latestColumn = latestColumn
      assert.deepEqual(inColumns, oneByOne)
    })

    test('the system administrator counts what all tenants have, and sees none of it', async () => {
      const { services, tenant } = platform
      const system = { ...tenant, authority: 'SYS_ADMIN', tenantId: null } as const
      assert.equal(await services.entityQueries.count(system, queryOf()), VALUES.length)
      assert.deepEqual(await names(queryOf(), system), [])
      // What compares with values of tenants would tell them.
      const compared = {
        key: NAME,
        predicate: asked({ type: 'STRING', operation: 'EQUAL', value: 'm00', ignoreCase: false }),
      }
      assert.equal(await services.entityQueries.count(system, queryOf({ keyFilters: [compared] })), 0)
    })

    test('keys of what is found, newest value each', async () => {
      const { entityTypes, attributes } = await platform.services.entityQueries.keys(platform.tenant, queryOf(), {
        timeSeries: true,
        scopes: ['SERVER_SCOPE', 'SHARED_SCOPE'],
      })
      assert.deepEqual(entityTypes, ['DEVICE'])
      assert.deepEqual(
        [...(attributes.get('SERVER_SCOPE') ?? [])].map(({ key }) => key),
        ['active', 'k'],
      )
      assert.deepEqual(attributes.get('SHARED_SCOPE'), [])
    })
  })
}

testQueries('SQLite', () => openTestPlatform())

const server = await serverForFile()
if (server !== undefined) {
  testQueries('PostgreSQL', () =>
    openTestPlatform({
      openEntities: async (clock) =>
        openPostgresEntityStore({
          url: await emptyDatabase(server),
          applicationName: 'test',
          clock,
          tables: DECLARED_TABLES,
        }),
    }),
  )
}
