import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { EntityDataQuery } from '../../model/entity-query.ts'
import { openTestPlatform } from '../testkit.ts'

test('a long text is looked for beside latest telemetry in as many entities as their ends have room', async (context) => {
  const platform = await openTestPlatform()
  context.after(() => platform.close())
  const { services, tenant } = platform
  for (let made = 0; made < 240; made++) await services.devices.saveByUser(tenant, { name: `Long ${made}` })
  const find = (textSearch: string, latest: EntityDataQuery['latest']) =>
    services.entityQueries.find(tenant, {
      filter: { kind: 'type', entityType: 'DEVICE', name: 'Long', types: undefined },
      ...{ keyFilters: [], operation: 'AND', fields: ['name'], latest },
      page: { page: 0, pageSize: 1, textSearch, sort: undefined, isDynamic: false },
    })
  const series = [{ type: 'TIME_SERIES', key: 'k' } as const]
  const long = 'x'.repeat(49_000)
  assert.equal((await find('Long 23', series)).totalElements, 11)
  assert.equal((await find('x'.repeat(40_000), series)).totalElements, 0)
  await assert.rejects(find(long, series), { code: 'query.TOO_MANY', message: /more than 228 entities/ })
  assert.equal((await find(long, [{ type: 'SERVER_ATTRIBUTE', key: 'k' }])).totalElements, 0, 'nothing is joined here')
})

test('a search with % reads the texts of some entities at a time, whatever they hold', async (context) => {
  const platform = await openTestPlatform()
  context.after(() => platform.close())
  const { services, tenant, entities } = platform
  const text = 'x'.repeat(1_000_000)
  for (let made = 0; made < 24; made++) {
    const { id } = await services.devices.saveByUser(tenant, { name: `Wide ${made}`, additionalInfo: { made } })
    const entity = { entityType: 'DEVICE', id } as const
    const attribute = { key: 'k', type: 'STRING', value: `${text}${made % 2 === 0 ? 'even' : 'odd'}` } as const
    await services.attributes.saveByUser(tenant, entity, 'SERVER_SCOPE', [attribute])
  }
  const read = context.mock.method(entities.queries, 'attributes')
  const find = (textSearch: string, page: Partial<EntityDataQuery['page']> = {}) =>
    services.entityQueries.find(tenant, {
      filter: { kind: 'type', entityType: 'DEVICE', name: 'Wide', types: undefined },
      ...{ keyFilters: [], operation: 'AND', fields: ['name', 'additionalInfo'] },
      latest: [{ type: 'SERVER_ATTRIBUTE', key: 'k' }],
      page: { page: 0, pageSize: 3, textSearch, sort: undefined, isDynamic: false, ...page },
    })
  const sort = { key: { type: 'ENTITY_FIELD', key: 'name' }, direction: 'ASC' } as const
  const found = await find('wide%xeven', { sort })
  assert.equal(found.totalElements, 12)
  assert.deepEqual(
    found.data.map(({ latest }) => latest.ENTITY_FIELD?.['name']?.value),
    ['Wide 0', 'Wide 10', 'Wide 12'],
  )
  assert.deepEqual(
    found.data.map(({ latest }) => latest.ENTITY_FIELD?.['additionalInfo']?.value),
    ['{"made":0}', '{"made":10}', '{"made":12}'],
  )
  const most = Math.max(...read.mock.calls.map((call) => call.arguments[0]?.length ?? 0))
  assert.ok(most <= 4, `the texts of ${most} entities were read at once`)
})

test('where SQL does not tell a number as clients read it, texts of some entities are read at a time', async (context) => {
  const platform = await openTestPlatform()
  context.after(() => platform.close())
  const { services, tenant, entities } = platform
  const text = 'x'.repeat(1_000_000)
  for (let made = 0; made < 24; made++) {
    const { id } = await services.devices.saveByUser(tenant, { name: `Wide ${made}` })
    await services.attributes.saveByUser(tenant, { entityType: 'DEVICE', id }, 'SERVER_SCOPE', [
      { key: 'k', type: 'STRING', value: `${text}${made % 2 === 0 ? 'even' : 'odd'}` },
      { key: 'n', type: 'DOUBLE', value: 1e10 },
    ])
  }
  const read = context.mock.method(entities.queries, 'attributes')
  const found = await services.entityQueries.find(tenant, {
    filter: { kind: 'type', entityType: 'DEVICE', name: 'Wide', types: undefined },
    ...{ keyFilters: [], operation: 'AND', fields: ['name'] },
    latest: ['k', 'n'].map((key) => ({ type: 'SERVER_ATTRIBUTE', key })),
    page: { page: 0, pageSize: 3, textSearch: 'even1.0E10', sort: undefined, isDynamic: false },
  })
  assert.equal(found.totalElements, 12)
  assert.equal(found.data.length, 3)
  const most = Math.max(...read.mock.calls.map((call) => call.arguments[0]?.length ?? 0))
  assert.ok(most <= 4, `the texts of ${most} entities were read at once`)
})

test('a search with % reads additionalInfo of some entities at a time', async (context) => {
  const platform = await openTestPlatform()
  context.after(() => platform.close())
  const { services, tenant, entities } = platform
  const text = 'x'.repeat(1_000_000)
  for (let made = 0; made < 24; made++)
    await services.devices.saveByUser(tenant, { name: `Wide ${made}`, additionalInfo: { text: `${text}${made % 2}` } })
  const read = context.mock.method(entities.queries, 'find')
  const found = await services.entityQueries.find(tenant, {
    filter: { kind: 'type', entityType: 'DEVICE', name: 'Wide', types: undefined },
    ...{ keyFilters: [], operation: 'AND', fields: ['name', 'additionalInfo'] },
    latest: [{ type: 'SERVER_ATTRIBUTE', key: 'k' }],
    page: { page: 0, pageSize: 1, textSearch: 'wide%x1', sort: undefined, isDynamic: false },
  })
  assert.equal(found.totalElements, 12)
  const long = read.mock.calls.filter(({ arguments: [, , fields] }) => fields?.includes('additionalInfo'))
  const most = Math.max(...long.map(({ arguments: [selection] }) => selection?.sources[0]?.ids?.length ?? Infinity))
  assert.ok(most <= 4, `additionalInfo of ${most} entities was read at once`)
})
