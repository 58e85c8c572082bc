/** Every form of query over the fleet, by a name that says what matches and what is asked. */
import type { AlarmDataQuery } from '../../model/alarm-query.ts'
import type { AskedFilter, EntityDataQuery, EntityFilter, EntityKey } from '../../model/entity-query.ts'
import type { PageQuery } from '../../model/entities.ts'
import { devices } from '../../services/entities/device.ts'
import type { TestPlatform } from '../../services/testkit.ts'
import type { Fleet } from './fleet.ts'

/** Answers how many there are in all. */
export type Case = () => Promise<number>

const NAME: EntityKey = { type: 'ENTITY_FIELD', key: 'name' }
const CREATED: EntityKey = { type: 'ENTITY_FIELD', key: 'createdTime' }
const OWNER: EntityKey = { type: 'ENTITY_FIELD', key: 'ownerName' }
const LABEL: EntityKey = { type: 'ENTITY_FIELD', key: 'label' }
const LEVEL: EntityKey = { type: 'SERVER_ATTRIBUTE', key: 'level' }
const ANY_LEVEL: EntityKey = { type: 'ATTRIBUTE', key: 'level' }
const SITE: EntityKey = { type: 'SERVER_ATTRIBUTE', key: 'site' }
const ACTIVE: EntityKey = { type: 'SERVER_ATTRIBUTE', key: 'active' }
const TEMPERATURE: EntityKey = { type: 'TIME_SERIES', key: 'temperature' }
const MODE: EntityKey = { type: 'TIME_SERIES', key: 'mode' }
const ALL: EntityFilter = { kind: 'type', entityType: 'DEVICE', name: '', types: ['default'] }
const PAGE_SIZE = 20

const plain = <Value>(defaultValue: Value) => ({ defaultValue, userValue: undefined, dynamicValue: undefined })
const below = (key: EntityKey, limit: number): AskedFilter => ({
  key,
  predicate: { type: 'NUMERIC', operation: 'LESS', value: plain(limit) },
})
const equal = (key: EntityKey, value: number): AskedFilter => ({
  key,
  predicate: { type: 'NUMERIC', operation: 'EQUAL', value: plain(value) },
})
const text = (
  key: EntityKey,
  operation: 'EQUAL' | 'STARTS_WITH' | 'CONTAINS',
  value: string,
  ignoreCase = false,
): AskedFilter => ({ key, predicate: { type: 'STRING', operation, value: plain(value), ignoreCase } })
const isActive: AskedFilter = { key: ACTIVE, predicate: { type: 'BOOLEAN', operation: 'EQUAL', value: plain(true) } }

interface Asked {
  readonly filters?: readonly AskedFilter[]
  readonly operation?: 'AND' | 'OR'
  readonly filter?: EntityFilter
  readonly by?: EntityKey
  readonly direction?: 'ASC' | 'DESC'
  readonly page?: number
  readonly search?: string
  readonly latest?: readonly EntityKey[]
}

function queryOf({ filters = [], operation = 'AND', filter = ALL, ...more }: Asked): EntityDataQuery {
  const { by = NAME, direction = 'ASC', page = 0, search, latest = [LEVEL, SITE] } = more
  return {
    ...{ filter, keyFilters: filters, operation, fields: ['name', 'type', 'label'], latest },
    page: { page, pageSize: PAGE_SIZE, textSearch: search, sort: { key: by, direction }, isDynamic: false },
  }
}

/** Shares of the devices that match, by the limit of a number. */
const SHARES = { '1 of 100': 10, '1 of 10': 100, '1 of 2': 500 } as const
const SORTS: Readonly<Record<string, Pick<Asked, 'by' | 'direction'>>> = {
  'by name': {},
  'by createdTime': { by: CREATED, direction: 'DESC' },
  'by ownerName': { by: OWNER },
  'by label': { by: LABEL, direction: 'DESC' },
  'by an attribute': { by: LEVEL, direction: 'DESC' },
  'by latest telemetry': { by: TEMPERATURE },
}

/** The last page that is full. */
function lastPage(count: number, share: number): number {
  return Math.floor((count * share) / PAGE_SIZE) - 1
}

function entityQueries(count: number, { root }: Fleet): Readonly<Record<string, Asked>> {
  const asked: Record<string, Asked> = {}
  for (const [sort, by] of Object.entries(SORTS)) {
    asked[`no filter, ${sort}`] = by
    for (const [share, limit] of Object.entries(SHARES)) {
      asked[`number, ${share}, ${sort}`] = { ...by, filters: [below(LEVEL, limit)] }
      asked[`latest, ${share}, ${sort}`] = { ...by, filters: [below(TEMPERATURE, limit)] }
    }
  }
  const related: EntityFilter = {
    kind: 'related',
    types: undefined,
    search: {
      ...{ roots: [root], direction: 'FROM', maxLevel: 3, lastLevelOnly: false },
      rules: [{ relationType: 'Contains', entityTypes: ['DEVICE'], isNegated: false }],
    },
  }
  return {
    ...asked,
    'no filter, by name, last page': { page: lastPage(count, 1) },
    'no filter, by createdTime, last page': { by: CREATED, direction: 'DESC', page: lastPage(count, 1) },
    'no filter, by an attribute, last page': { by: LEVEL, page: lastPage(count, 1) },
    'number, 1 of 2, by name, last page': { filters: [below(LEVEL, 500)], page: lastPage(count, 0.5) },
    'latest, 1 of 2, by name, last page': { filters: [below(TEMPERATURE, 500)], page: lastPage(count, 0.5) },
    'number equal, 1 of 1000, by name': { filters: [equal(LEVEL, 7)] },
    'number of any scope, 1 of 10, by name': { filters: [below(ANY_LEVEL, 100)] },
    'flag, 1 of 2, by name': { filters: [isActive] },
    'text equal, 1 of 100, by name': { filters: [text(SITE, 'EQUAL', 's7')] },
    'text equal in any case, 1 of 100, by name': { filters: [text(SITE, 'EQUAL', 'S7', true)] },
    'text equal, 1 of 100, by an attribute': { filters: [text(SITE, 'EQUAL', 's7')], by: LEVEL, direction: 'DESC' },
    'text starts with, 1 of 9, by name': { filters: [text(SITE, 'STARTS_WITH', 's1')] },
    'text contains, 1 of 5, by name': { filters: [text(SITE, 'CONTAINS', '7')] },
    'text contains in any case, 1 of 5, by createdTime': {
      filters: [text(SITE, 'CONTAINS', '7', true)],
      ...{ by: CREATED, direction: 'DESC' },
    },
    'name contains, 1 of 100, by name': { filters: [text(NAME, 'CONTAINS', '#07', true)] },
    'latest text equal, 1 of 10, by name': { filters: [text(MODE, 'EQUAL', 'm3')] },
    'two numbers, 1 of 20, by name': { filters: [below(LEVEL, 100), isActive] },
    'number and latest, 1 of 100, by name': { filters: [below(LEVEL, 100), below(TEMPERATURE, 100)] },
    'number or text, 1 of 50, by name': { filters: [below(LEVEL, 10), text(SITE, 'EQUAL', 's7')], operation: 'OR' },
    'number or latest, 1 of 50, by name': { filters: [below(LEVEL, 10), below(TEMPERATURE, 10)], operation: 'OR' },
    'search, 1 of 100, nothing shown': { search: '#07', latest: [] },
    'search, 1 of 100, attributes shown': { search: '#07' },
    'search, 1 of 100, latest shown': { search: '#07', latest: [LEVEL, SITE, TEMPERATURE, MODE] },
    'search, 1 of 100, latest shown, number 1 of 10': {
      ...{ search: '#07', latest: [LEVEL, SITE, TEMPERATURE, MODE], filters: [below(LEVEL, 100)] },
    },
    'related, 1 of 10, by name': { filter: related },
    'related, number 1 of 20, by name': { filter: related, filters: [below(LEVEL, 500)] },
  }
}

const ALARMS: AlarmDataQuery = {
  ...{ filter: ALL, keyFilters: [], operation: 'AND', startTs: undefined, endTs: undefined, timeWindowMs: undefined },
  ...{ types: undefined, severities: undefined, assigneeId: undefined, isPropagated: false },
  ...{ alarmFields: ['createdTime', 'originator', 'type', 'severity', 'status'], fields: ['name'], latest: [] },
  page: {
    ...{ page: 0, pageSize: PAGE_SIZE, textSearch: undefined, isDynamic: false },
    sort: { key: { type: 'ALARM_FIELD', key: 'createdTime' }, direction: 'DESC' },
  },
}

function alarmQueries(): Readonly<Record<string, AlarmDataQuery>> {
  const page = (change: Partial<AlarmDataQuery['page']>) => ({ page: { ...ALARMS.page, ...change } })
  return {
    'alarms, by createdTime': ALARMS,
    'alarms, by severity': {
      ...ALARMS,
      ...page({ sort: { key: { type: 'ALARM_FIELD', key: 'severity' }, direction: 'ASC' } }),
    },
    'alarms, by name of the device': { ...ALARMS, ...page({ sort: { key: NAME, direction: 'ASC' } }) },
    'alarms, active and critical': { ...ALARMS, cleared: false, severities: ['CRITICAL'] },
    'alarms, of a type': { ...ALARMS, types: ['Type 5'] },
    'alarms, searched': { ...ALARMS, ...page({ textSearch: 'type 5' }) },
    'alarms, of devices by a number, 1 of 100': { ...ALARMS, keyFilters: [below(LEVEL, 10)] },
  }
}

const LISTS: Readonly<Record<string, Omit<PageQuery, 'page' | 'pageSize'>>> = {
  ...Object.fromEntries(
    ['createdTime', 'name', 'type', 'label', 'customerTitle', 'deviceProfileName', 'active'].flatMap((sortProperty) =>
      (['ASC', 'DESC'] as const).map((sortOrder) => [
        `list, by ${sortProperty} ${sortOrder}`,
        { sortProperty, sortOrder },
      ]),
    ),
  ),
  'list, searched, 1 of 100, by createdTime': { textSearch: '#07', sortProperty: 'createdTime', sortOrder: 'DESC' },
  'list, searched, 1 of 100, by name': { textSearch: '#07', sortProperty: 'name', sortOrder: 'ASC' },
}

export function casesOf(platform: TestPlatform, fleet: Fleet, count: number): ReadonlyMap<string, Case> {
  const { services, tenant, tenantId } = platform
  const { entityQueries: queries, alarmQueries: alarms, declared } = services
  const list = declared.of(devices)
  const cases = new Map<string, Case>()
  for (const [name, asked] of Object.entries(entityQueries(count, fleet)))
    cases.set(name, async () => (await queries.find(tenant, queryOf(asked))).totalElements)
  const counted: Readonly<Record<string, Asked>> = {
    'count, no filter': {},
    'count, number 1 of 10': { filters: [below(LEVEL, 100)] },
    'count, text contains, 1 of 5': { filters: [text(SITE, 'CONTAINS', '7')] },
    'count, latest 1 of 10': { filters: [below(TEMPERATURE, 100)] },
  }
  for (const [name, asked] of Object.entries(counted)) cases.set(name, () => queries.count(tenant, queryOf(asked)))
  for (const [name, query] of Object.entries(alarmQueries())) {
    cases.set(name, async () => (await alarms.find(tenant, query)).totalElements)
  }
  cases.set('count of alarms', () => alarms.count(tenant, { ...ALARMS, filter: undefined }))
  for (const [name, query] of Object.entries(LISTS))
    cases.set(
      name,
      async () => (await list.page(tenantId, {}, { ...query, page: 0, pageSize: 10 }, 'infos')).totalElements,
    )
  const last: PageQuery = { page: count / 10 - 1, pageSize: 10, sortProperty: 'createdTime', sortOrder: 'DESC' }
  cases.set(
    'list, by createdTime DESC, last page',
    async () => (await list.page(tenantId, {}, last, 'infos')).totalElements,
  )
  return cases
}
