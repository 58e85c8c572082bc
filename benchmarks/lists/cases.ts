/** What is asked: over REST, and, where it is a list of one repository, as its statements alone. */
import type { PageQuery } from '../../model/entities.ts'
import type { EntityStore } from '../../storage/entities/entity-store.ts'
import type { AuditFilter } from '../../storage/entities/audit-log.ts'
import type { AlarmFilter } from '../../storage/entities/alarms.ts'
import type { Condition } from '../../storage/entities/tables/row-store.ts'
import { conditionsOf, type EventFilter } from '../../services/events/event-filters.ts'
import type { Filled } from './fill.ts'

export interface Case {
  readonly name: string
  /** Answers how many there are in all. */
  readonly statements?: (entities: EntityStore) => Promise<number>
  readonly path?: string
  /** Of a POST. */
  readonly body?: unknown
  /** Of a WebSocket: answered by its first frame. */
  readonly command?: object
}

const PAGE_SIZE = 20
const NEWEST: PageQuery = { page: 0, pageSize: PAGE_SIZE, sortProperty: 'createdTime', sortOrder: 'DESC' }

function linkOf({ page, pageSize, sortProperty, sortOrder, textSearch }: PageQuery): string {
  const words = new URLSearchParams({ page: String(page), pageSize: String(pageSize) })
  if (sortProperty !== undefined) words.set('sortProperty', sortProperty)
  if (sortOrder !== undefined) words.set('sortOrder', sortOrder)
  if (textSearch !== undefined) words.set('textSearch', textSearch)
  return words.toString()
}

export function casesOf(filled: Filled, rows: number): readonly Case[] {
  return [...auditCases(filled, rows), ...eventCases(filled, rows), ...alarmCases(filled)]
}

function auditCases({ tenantId, begin, end, userIds, entityIds }: Filled, rows: number): readonly Case[] {
  const [userId = ''] = userIds
  const [id = ''] = entityIds
  const all: AuditFilter = { tenantId, startTime: 0, endTime: Number.MAX_SAFE_INTEGER, actionTypes: [] }
  const one = (name: string, filter: Partial<AuditFilter>, query: Partial<PageQuery>, path = ''): Case => {
    const asked = { ...all, ...filter }
    const range =
      filter.startTime === undefined ? '' : `&startTime=${filter.startTime}&endTime=${filter.endTime ?? end}`
    const types = asked.actionTypes.length === 0 ? '' : `&actionTypes=${asked.actionTypes.join(',')}`
    const link = { ...NEWEST, ...query }
    return {
      name: `audit log, ${name}`,
      statements: async ({ auditLog }) => (await auditLog.page(asked, link)).totalElements,
      path: `/api/audit/logs${path}?${linkOf(link)}${range}${types}`,
    }
  }
  const middle = Math.floor((begin + end) / 2)
  const tenth = { startTime: middle, endTime: middle + (end - begin) / 10 }
  const entity = { entityType: 'DEVICE', id }
  return [
    one('first page', {}, {}),
    one('oldest first', {}, { sortOrder: 'ASC' }),
    one('page in the middle', {}, { page: rows / PAGE_SIZE / 2 }),
    one('last page', {}, { page: rows / PAGE_SIZE - 1 }),
    one('by user name', {}, { sortProperty: 'userName' }),
    one('a tenth of the time', tenth, {}),
    one('a tenth of the time, page in the middle', tenth, { page: rows / PAGE_SIZE / 20 }),
    one('of an action', { actionTypes: ['LOGIN'] }, {}),
    one('of an entity', { entity }, {}, `/entity/DEVICE/${id}`),
    one('of a user', { userId }, {}, `/user/${userId}`),
    one('of a user, page in the middle', { userId }, { page: rows / PAGE_SIZE / 40 }, `/user/${userId}`),
    one('text of 1 in 1,000', {}, { textSearch: 'device 0042' }),
    one('text of 1 in 50', {}, { textSearch: 'failure' }),
    one('text of all', {}, { textSearch: 'device' }),
    one('text of none', {}, { textSearch: 'nowhere' }),
    one('text of 1 in 1,000, a tenth of the time', tenth, { textSearch: 'device 0042' }),
  ]
}

function eventCases({ tenantId, begin, end, nodeId, entityIds }: Filled, rows: number): readonly Case[] {
  const [other = ''] = entityIds
  const one = (name: string, filter: Partial<EventFilter>, query: Partial<PageQuery>, more: More = {}): Case => {
    const { id = nodeId, startTime = 0, endTime = Number.MAX_SAFE_INTEGER } = more
    const asked: EventFilter = { eventType: 'DEBUG_RULE_NODE', ...filter }
    const link = { ...NEWEST, ...query }
    const ofType: Condition = { column: 'entity_type', is: 'RULE_NODE' }
    const wanted = { type: asked.eventType, tenantId, entityId: id, startTime, endTime }
    const where = [ofType, ...conditionsOf(asked)]
    return {
      name: `events, ${name}`,
      statements: async ({ events }) => (await events.page({ ...wanted, where }, link)).totalElements,
    }
  }
  const middle = Math.floor((begin + end) / 2)
  const tenth = { startTime: middle, endTime: middle + (end - begin) / 10 }
  return [
    one('first page', {}, {}),
    one('oldest first', {}, { sortOrder: 'ASC' }),
    one('page in the middle', {}, { page: rows / PAGE_SIZE / 2 }),
    one('a tenth of the time', {}, {}, tenth),
    one('of another node', {}, {}, { id: other }),
    one('that came in', { msgDirectionType: 'IN' }, {}),
    one('that failed', { isError: true }, {}),
    one('text in the data of 1 in 1,000', { dataSearch: '":42}' }, {}),
    one('text of none', { dataSearch: 'nowhere' }, {}),
  ]
}

interface More {
  readonly id?: string
  readonly startTime?: number
  readonly endTime?: number
}

function alarmCases({ tenantId, deviceIds, userIds }: Filled): readonly Case[] {
  const [id = ''] = deviceIds
  const [userId = ''] = userIds
  const one = (name: string, filter: Partial<AlarmFilter>, words: string, query: Partial<PageQuery> = {}): Case => {
    const link = { ...NEWEST, ...query }
    const path = filter.entityId === undefined ? '/api/v2/alarms' : `/api/v2/alarm/DEVICE/${filter.entityId}`
    return {
      name: `alarms, ${name}`,
      statements: async ({ alarms }) => (await alarms.page({ tenantId, ...filter }, link)).totalElements,
      path: `${path}?${linkOf(link)}${words}`,
    }
  }
  const active = { cleared: false, acknowledged: false }
  return [
    one('first page', {}, ''),
    one('page in the middle', {}, '', { page: 2_500 }),
    one('by severity', {}, '', { sortProperty: 'severity' }),
    one('by originator', {}, '', { sortProperty: 'originatorName' }),
    one('active', { cleared: false }, '&statusList=ACTIVE'),
    one('active and not acknowledged', active, '&statusList=ACTIVE,UNACK'),
    one('critical', { severities: ['CRITICAL'] }, '&severityList=CRITICAL'),
    one(
      'active and critical',
      { cleared: false, severities: ['CRITICAL'] },
      '&statusList=ACTIVE&severityList=CRITICAL',
    ),
    one('of a type', { types: ['Type 5'] }, '&typeList=Type%205'),
    one('of an assignee', { assigneeId: userId }, `&assigneeId=${userId}`),
    one('of a device', { entityId: id }, ''),
    one('text of 1 in 10', {}, '', { textSearch: 'type 5' }),
    one('text of none', {}, '', { textSearch: 'nowhere' }),
    ...alarmQueryCases(),
  ].map((each) => (each.name.includes('by originator') ? { name: each.name, path: each.path ?? '' } : each))
}

const FIELDS = ['createdTime', 'originator', 'type', 'severity', 'status', 'assignee'].map((key) => ({
  type: 'ALARM_FIELD',
  key,
}))

function alarmQueryCases(): readonly Case[] {
  const entityFilter = { type: 'entityType', entityType: 'DEVICE' }
  const sortOrder = { key: { type: 'ALARM_FIELD', key: 'createdTime' }, direction: 'DESC' }
  const data = (link: object) => ({
    entityFilter,
    alarmFields: FIELDS,
    entityFields: [{ type: 'ENTITY_FIELD', key: 'name' }],
    latestValues: [],
    pageLink: { page: 0, pageSize: PAGE_SIZE, timeWindow: 10_000_000_000_000, sortOrder, ...link },
  })
  const cases: Case[] = []
  for (const [name, link] of Object.entries({
    'first page': {},
    active: { statusList: ['ACTIVE'] },
    'text of 1 in 10': { textSearch: 'type 5' },
    'by severity': { sortOrder: { key: { type: 'ALARM_FIELD', key: 'severity' }, direction: 'ASC' } },
  })) {
    const query = data(link)
    cases.push({ name: `alarm query, ${name}`, path: '/api/alarmsQuery/find', body: query })
    cases.push({ name: `alarm data by WebSocket, ${name}`, command: { type: 'ALARM_DATA', query } })
  }
  for (const [name, query] of Object.entries({
    'of all': {},
    'active and critical': { statusList: ['ACTIVE'], severityList: ['CRITICAL'] },
    'of devices': { entityFilter },
  })) {
    cases.push({ name: `alarm count, ${name}`, path: '/api/alarmsQuery/count', body: query })
    cases.push({ name: `alarm count by WebSocket, ${name}`, command: { type: 'ALARM_COUNT', query } })
  }
  return cases
}
