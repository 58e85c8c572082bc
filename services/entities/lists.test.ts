/** Lists with names of others beside them: what is searched, filtered and sorted by stands in joined tables, whose rows are read of the page alone. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { PageQuery } from '../../model/entities.ts'
import { onBothDatabases } from '../both-databases.testkit.ts'
import type { TestPlatform } from '../testkit.ts'
import { customers } from './customer.ts'
import { devices } from './device.ts'

await onBothDatabases('lists ', (open) => {
  let platform: TestPlatform
  const list = (query: Partial<PageQuery>, members: Readonly<Record<string, unknown>> = {}) =>
    platform.services.declared
      .of(devices)
      .page(platform.tenantId, { ...members, type: 'Meter' }, { page: 0, pageSize: 100, ...query }, 'infos')
  const namesOf = async (query: Partial<PageQuery>, members: Readonly<Record<string, unknown>> = {}) =>
    (await list(query, members)).data.map(({ record }) => record.name)

  before(async () => {
    platform = await open()
    const { services, tenant } = platform
    const owners = ['Zoe', 'Ada'].map((title) => services.declared.of(customers).saveByUser(tenant, { title }))
    const [zoe, ada] = await Promise.all(owners)
    for (const [place, customerId] of [zoe?.id, undefined, ada?.id, zoe?.id, undefined, ada?.id, zoe?.id].entries()) {
      const draft = { name: `d${place}`, type: 'Meter', ...(customerId === undefined ? {} : { customerId }) }
      const { id } = await services.devices.saveByUser(tenant, draft)
      if (place === 6) continue
      const active = { key: 'active', type: 'BOOLEAN', value: place % 2 === 0 } as const
      await services.attributes.saveByUser(tenant, { entityType: 'DEVICE', id }, 'SERVER_SCOPE', [active])
    }
  })
  after(() => platform.close())

  test('pages of every order join to the whole list, each with its names', async () => {
    for (const sortProperty of [
      'name',
      'createdTime',
      'customerTitle',
      'deviceProfileName',
      'active',
      'id',
      undefined,
    ]) {
      for (const sortOrder of ['ASC', 'DESC'] as const) {
        const sort = sortProperty === undefined ? {} : { sortProperty, sortOrder }
        const whole = (await list(sort)).data
        const pages = await Promise.all([0, 1, 2, 3].map((page) => list({ ...sort, page, pageSize: 2 })))
        assert.deepEqual(
          pages.flatMap(({ data }) => data),
          whole,
        )
        assert.deepEqual(
          pages.map(({ totalElements }) => totalElements),
          [7, 7, 7, 7],
        )
      }
    }
  })

  test('names of others sort, those without one last', async () => {
    const { data } = await list({ sortProperty: 'customerTitle', sortOrder: 'ASC' })
    assert.deepEqual(
      data.map(({ names }) => names['customerTitle']),
      ['Ada', 'Ada', 'Zoe', 'Zoe', 'Zoe', null, null],
    )
  })

  test('a search in names of others and a filter by a flag count what they show', async () => {
    const byName = { sortProperty: 'name', sortOrder: 'ASC' } as const
    assert.deepEqual(await namesOf({ ...byName, textSearch: 'ada' }), ['d2', 'd5'])
    assert.deepEqual(await namesOf(byName, { active: true }), ['d0', 'd2', 'd4'])
    assert.deepEqual(await namesOf({ ...byName, textSearch: 'zoe' }, { active: false }), ['d3', 'd6'])
    const { totalElements, hasNext } = await list({ textSearch: 'zoe', pageSize: 2 }, { active: false })
    assert.deepEqual([totalElements, hasNext], [2, false])
    assert.equal((await list({ textSearch: 'zoe', pageSize: 1 })).totalElements, 3)
  })
})
