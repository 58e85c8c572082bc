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
