import assert from 'node:assert/strict'
import { test } from 'node:test'
import { filterOf, keyFiltersOf, withAlias } from './aliases.js'
import { isPage, pageAt } from './pages.js'
import { intervalOf, spanOf, storedWindow } from './time-window.js'

const NOW = new Date(2026, 2, 18, 15, 30).getTime()
const aliasOf = ({ entityAliases }: Record<string, unknown>, id: string) =>
  (entityAliases as Record<string, { alias: string }>)[id]?.alias
const spans = (stored: object) => {
  const { isLive, startTs, endTs } = spanOf(stored, NOW)
  return [isLive, startTs, endTs]
}

test('the window of a dashboard is read as ThingsBoard stores it', () => {
  assert.deepEqual(spans({ selectedTab: 0, realtime: { realtimeType: 0, timewindowMs: 60_000 } }), [
    true,
    NOW - 60_000,
    NOW,
  ])
  assert.deepEqual(spans({ realtime: { timewindowMs: 60_000 } }), [true, NOW - 60_000, NOW])
  assert.deepEqual(spans({ selectedTab: 1, history: { historyType: 0, timewindowMs: 5_000 } }), [
    false,
    NOW - 5_000,
    NOW,
  ])
  const fixedTimewindow = { startTimeMs: 10, endTimeMs: 20 }
  assert.deepEqual(spans({ selectedTab: 1, history: { historyType: 1, fixedTimewindow } }), [false, 10, 20])
  const day = new Date(2026, 2, 18).getTime()
  assert.deepEqual(spans({ selectedTab: 0, realtime: { realtimeType: 1, quickInterval: 'CURRENT_DAY' } }), [
    true,
    day,
    NOW,
  ])
  const before = new Date(2026, 2, 17).getTime()
  assert.deepEqual(spans({ selectedTab: 1, history: { historyType: 2, quickInterval: 'YESTERDAY' } }), [
    false,
    before,
    day,
  ])
  const month = [new Date(2026, 1, 1).getTime(), new Date(2026, 2, 1).getTime()]
  assert.deepEqual(spans({ selectedTab: 1, history: { historyType: 2, quickInterval: 'PREVIOUS_MONTH' } }), [
    false,
    ...month,
  ])
})

test('a window that says nothing, or nonsense, is the last hour', () => {
  for (const stored of [
    undefined,
    {},
    { selectedTab: 0, realtime: { timewindowMs: 'x' } },
    { selectedTab: 0, realtime: { realtimeType: 1, quickInterval: 'NEXT_DAY' } },
  ])
    assert.deepEqual([spanOf(stored, NOW).startTs, spanOf(stored, NOW).agg], [NOW - 3_600_000, 'NONE'])
})

test('what is chosen is stored so that it is read again the same', () => {
  const fixed = [10, 20] as [number, number]
  assert.deepEqual(spans(storedWindow({ isLive: true, ms: 7_000, agg: 'AVG' })), [true, NOW - 7_000, NOW])
  assert.deepEqual(spans(storedWindow({ isLive: false, ms: 7_000, agg: 'AVG' })), [false, NOW - 7_000, NOW])
  assert.deepEqual(spans(storedWindow({ isLive: false, fixed, agg: 'AVG' })), [false, 10, 20])
})

test('steps are so few that the server puts them together', () => {
  for (const ms of [1_000, 60_000, 86_400_000, 365 * 86_400_000]) {
    const span = spanOf(storedWindow({ isLive: true, ms, agg: 'AVG' }), NOW)
    assert.ok(ms / intervalOf(span) <= 700 && intervalOf(span) % 1_000 === 0)
  }
})

test('aliases lead to filters of the server, or to the reason why there is none', () => {
  const filter = { type: 'deviceType', deviceTypes: ['a'], deviceNameFilter: '' }
  const entityAliases = {
    x: { id: 'x', alias: 'X', filter },
    s: { id: 's', alias: 'S', filter: { type: 'stateEntity' } },
  }
  const single = (id: string) => ({ filter: { type: 'singleEntity', singleEntity: { entityType: 'DEVICE', id } } })
  assert.deepEqual(filterOf({ type: 'entity', entityAliasId: 'x' }, { entityAliases }), { filter })
  assert.deepEqual(filterOf({ type: 'device', deviceId: 'd' }, { entityAliases }), single('d'))
  assert.deepEqual(filterOf({ entityAliasId: 's' }, { entityAliases }, { entityType: 'DEVICE', id: 'e' }), single('e'))
  for (const datasource of [{ type: 'function' }, { entityAliasId: 'none' }, { entityAliasId: 's' }, {}])
    assert.match(JSON.stringify(filterOf(datasource, { entityAliases })), /^{"reason":"It /)
})

test('filters of keys are told without what only their editor needs', () => {
  const key = { type: 'TIME_SERIES', key: 't' }
  const predicate = { type: 'NUMERIC', operation: 'GREATER', value: { defaultValue: 5 } }
  const info = { keyFilterPredicate: predicate, userInfo: { editable: true } }
  const complex = { keyFilterPredicate: { type: 'COMPLEX', operation: 'OR', predicates: [info, info] } }
  const filters = { f: { keyFilters: [{ key, valueType: 'NUMERIC', predicates: [info, complex] }] } }
  assert.deepEqual(keyFiltersOf({ filterId: 'f' }, { filters }), [
    { key, valueType: 'NUMERIC', predicate },
    { key, valueType: 'NUMERIC', predicate: { type: 'COMPLEX', operation: 'OR', predicates: [predicate, predicate] } },
  ])
  assert.deepEqual(keyFiltersOf({}, { filters }), [])
})

test('an alias that is there is used again, and another gets a name of its own', () => {
  const filter = { type: 'entityName', entityType: 'DEVICE', entityNameFilter: 'a' }
  const first = withAlias({ entityAliases: {} }, 'A', filter, () => '1')
  assert.deepEqual(
    withAlias(first.configuration, 'A', { ...filter }, () => '2'),
    first,
  )
  const other = withAlias(first.configuration, 'A', { ...filter, entityNameFilter: 'b' }, () => '2')
  assert.deepEqual([other.aliasId, aliasOf(other.configuration, '2')], ['2', 'A 2'])
})

test('who may not see a page gets the first of the own', () => {
  assert.equal(pageAt('/tenants', 'SYS_ADMIN').link?.text, 'Tenants')
  assert.equal(pageAt('/tenants', 'TENANT_ADMIN').link?.text, 'Dashboards')
  assert.equal(pageAt('/users', 'CUSTOMER_USER').link?.text, 'Dashboards')
  assert.equal(pageAt('/nowhere', 'SYS_ADMIN').link?.text, 'Tenants')
  assert.deepEqual(['/dashboards/a-1', '/account', '//evil.example/', '/dashboards/a/b'].map(isPage), [
    true,
    true,
    false,
    false,
  ])
})
