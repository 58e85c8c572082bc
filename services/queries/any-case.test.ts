/** Texts in whatever case, of which the databases fold ASCII and others in two ways, against the same over values in memory. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { AskedPredicate, EntityDataQuery, KeyPredicate } from '../../model/entity-query.ts'
import { onBothDatabases } from '../both-databases.testkit.ts'
import type { TestPlatform } from '../testkit.ts'
import { matches } from './predicates.ts'

/** Longer than the index has it. */
const LONG_TEXT = `${'x'.repeat(64)}al`
const TEXTS = [
  'ISTANBUL \u0130',
  'istanbul i',
  '\u212aelvin',
  'kelvin',
  '\u03a3\u03a3',
  'AE_b',
  '\u00c9\u0065',
  'K',
  LONG_TEXT,
]
const WANTED = [
  'XAL',
  LONG_TEXT,
  'L _',
  'l i',
  'K',
  'k',
  '\u03c3',
  '\u00e9e',
  'e_',
  'kelvin, x',
  'Istanbul I',
  'ISTANBUL \u0130',
  '\u0307',
]
/** Twice as many are more than a statement of SQLite takes parameters, four times as many more than one of PostgreSQL. */
const LISTED = 17_000
const OPERATIONS = [
  ...(['EQUAL', 'NOT_EQUAL', 'STARTS_WITH', 'ENDS_WITH', 'CONTAINS'] as const),
  ...(['NOT_CONTAINS', 'IN', 'NOT_IN'] as const),
]

await onBothDatabases('texts in whatever case ', (open: () => Promise<TestPlatform>) => {
  test('a text is compared alike in the store and in memory, as an attribute and as a name', async (context) => {
    const platform = await open()
    context.after(() => platform.close())
    const { services, tenant } = platform
    for (const [place, value] of TEXTS.entries()) {
      const { id } = await services.devices.saveByUser(tenant, { name: `${place}`, label: value, type: 'Worded' })
      const entry = { key: 'k', type: 'STRING', value } as const
      await services.attributes.saveByUser(tenant, { entityType: 'DEVICE', id }, 'SERVER_SCOPE', [entry])
    }
    const found = async (key: EntityDataQuery['keyFilters'][number]['key'], predicate: KeyPredicate) => {
      const { data } = await services.entityQueries.find(tenant, {
        filter: { kind: 'type', entityType: 'DEVICE', name: '', types: ['Worded'] },
        ...{ keyFilters: [{ key, predicate: asked(predicate) }], operation: 'AND', fields: ['name'], latest: [] },
        page: { page: 0, pageSize: 100, textSearch: undefined, sort: undefined, isDynamic: false },
      })
      return data.map(({ latest }) => Number(latest.ENTITY_FIELD?.['name']?.value)).sort()
    }
    for (const value of WANTED)
      for (const operation of OPERATIONS)
        for (const ignoreCase of [true, false]) {
          const predicate = { type: 'STRING', operation, value, ignoreCase } as const
          const expected = [...TEXTS.keys()].filter((place) =>
            matches(predicate, { text: TEXTS[place] ?? '', number: null, flag: null }),
          )
          const label = JSON.stringify(predicate)
          assert.deepEqual(await found({ type: 'SERVER_ATTRIBUTE', key: 'k' }, predicate), expected, label)
          assert.deepEqual(await found({ type: 'ENTITY_FIELD', key: 'label' }, predicate), expected, `label ${label}`)
        }
  })

  test('a list of thousands is looked for in attributes and names', async (context) => {
    const platform = await open()
    context.after(() => platform.close())
    const { services, tenant } = platform
    for (const value of ['Listed', 'other']) {
      const { id } = await services.devices.saveByUser(tenant, { name: value, label: value, type: 'Worded' })
      const entry = { key: 'k', type: 'STRING', value } as const
      await services.attributes.saveByUser(tenant, { entityType: 'DEVICE', id }, 'SERVER_SCOPE', [entry])
    }
    const value = [...Array.from({ length: LISTED }, (_, place) => `item ${place}`), 'LISTED'].join(',')
    const predicate = asked({ type: 'STRING', operation: 'IN', value, ignoreCase: true })
    const keys = [
      { type: 'SERVER_ATTRIBUTE', key: 'k' },
      { type: 'ENTITY_FIELD', key: 'label' },
    ] as const
    for (const key of keys) {
      const { data, totalElements } = await services.entityQueries.find(tenant, {
        filter: { kind: 'type', entityType: 'DEVICE', name: '', types: ['Worded'] },
        ...{ keyFilters: [{ key, predicate }], operation: 'AND', fields: ['name'], latest: [] },
        page: { page: 0, pageSize: 100, textSearch: undefined, sort: undefined, isDynamic: false },
      })
      const names = data.map(({ latest }) => latest.ENTITY_FIELD?.['name']?.value)
      assert.deepEqual([names, totalElements], [['Listed'], 1], key.type)
    }
  })
})

function asked(predicate: KeyPredicate): AskedPredicate {
  if (predicate.type === 'COMPLEX') return { ...predicate, predicates: predicate.predicates.map(asked) }
  const value = { defaultValue: predicate.value, userValue: undefined, dynamicValue: undefined }
  return { ...predicate, value } as AskedPredicate
}
