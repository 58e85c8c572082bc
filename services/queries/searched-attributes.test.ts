/** Searches in shown attributes: of their scope alone, and what ends one may go on in latest telemetry. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { EntityKey } from '../../model/entity-query.ts'
import { onBothDatabases } from '../both-databases.testkit.ts'
import type { TestPlatform } from '../testkit.ts'

const OWN: EntityKey = { type: 'SERVER_ATTRIBUTE', key: 'k' }
const OTHER: EntityKey = { type: 'SERVER_ATTRIBUTE', key: 'other' }
const CLIENTS: EntityKey = { type: 'CLIENT_ATTRIBUTE', key: 'k' }
const ANY: EntityKey = { type: 'ATTRIBUTE', key: 'k' }
const SERIES: EntityKey = { type: 'TIME_SERIES', key: 't' }

await onBothDatabases('searched attributes ', (open: () => Promise<TestPlatform>) => {
  test('a search looks into the attributes that are shown, each once', async (context) => {
    const platform = await open()
    context.after(() => platform.close())
    const { services, tenant } = platform
    const text = (key: string, value: string) => ({ key, type: 'STRING', value }) as const
    for (const name of ['first', 'second']) {
      const { id } = await services.devices.saveByUser(tenant, { name, label: '', type: 'Searched' })
      const entity = { entityType: 'DEVICE', id } as const
      const kept = name === 'first' ? [text('k', 'ab\u001a'), text('other', 'cd')] : [text('k', 'xy\u001a')]
      await services.attributes.saveByUser(tenant, entity, 'SHARED_SCOPE', [text('k', 'shared')])
      await services.attributes.saveByUser(tenant, entity, 'SERVER_SCOPE', kept)
      await services.telemetry.saveByUser(tenant, entity, [{ ts: 1, entries: [text('t', 'end')] }], 0)
    }
    const found = async (textSearch: string, latest: readonly EntityKey[]) => {
      const page = await services.entityQueries.find(tenant, {
        filter: { kind: 'type', entityType: 'DEVICE', name: '', types: ['Searched'] },
        ...{ keyFilters: [], operation: 'AND', fields: ['name'], latest },
        page: { page: 0, pageSize: 10, textSearch, sort: undefined, isDynamic: false },
      })
      return [page.totalElements, page.data.map(({ latest: shown }) => shown.ENTITY_FIELD?.['name']?.value).sort()]
    }
    assert.deepEqual(await found('ab', [OWN]), [1, ['first']])
    assert.deepEqual(await found('b\u001acd', [OWN, OTHER]), [1, ['first']])
    assert.deepEqual(await found('firstcdab', [OTHER, OWN]), [1, ['first']])
    assert.deepEqual(await found('shared', [OWN]), [0, []])
    assert.deepEqual(await found('xy', [CLIENTS]), [0, []])
    assert.deepEqual(await found('xy', [ANY, OTHER]), [1, ['second']])
    assert.deepEqual(await found('s', [OWN, SERIES]), [2, ['first', 'second']])
    assert.deepEqual(await found('b\u001aend', [OWN, SERIES]), [1, ['first']])
    assert.deepEqual(await found('y\u001aend', [OWN, SERIES]), [1, ['second']])
    assert.deepEqual(await found('x', [OWN, SERIES]), [1, ['second']])
  })
})
