/**
 * The socket of a dashboard and of the details of an entity, as front ends drive it: one query for an alias, then values and series under
 * the same command, a new window, another page, a second tab, a new socket with a refreshed token. Source: `websocket-api.md` 2 to 7.
 */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { DEMO_TENANT } from '../support/clients.ts'
import { FrontEnd, refreshed, type FrontEndSocket, type Ref, type Row, type TokenPair } from '../support/front-end.ts'
import { startMillrace, type RunningMillrace } from '../support/start-millrace.ts'

const T = 1_700_000_000_000
const HOUR = 3_600_000

interface Value {
  readonly ts: number
  readonly value?: string
  readonly count?: number
}
interface Shown {
  readonly entityId: Ref
  readonly latest: Readonly<Record<string, Readonly<Record<string, Value>>>> | null
  readonly timeseries: Readonly<Record<string, readonly Value[]>> | null
  readonly aggLatest: Readonly<
    Record<string, { readonly current: Value | null; readonly previous: Value | null }>
  > | null
}
interface DataFrame {
  readonly errorCode: number
  readonly errorMsg: string | null
  readonly data: { readonly data: readonly Shown[]; readonly totalElements: number; readonly hasNext: boolean } | null
  readonly update: readonly Shown[] | null
}
interface CountFrame {
  readonly cmdUpdateType: string
  readonly count: number
}
interface AlarmFrame {
  readonly errorCode: number
  readonly errorMsg: string | null
  readonly data: { readonly data: readonly AlarmRow[]; readonly totalElements: number } | null
  readonly update: readonly AlarmRow[] | null
}
interface AlarmRow extends Row {
  readonly type: string
  readonly status: string
  readonly entityId: Ref
  readonly latest: Shown['latest']
}
interface LegacyFrame {
  readonly data: Readonly<Record<string, readonly (readonly [number, string | null])[]>>
}

const FIELDS = ['name', 'label', 'additionalInfo'].map((key) => ({ type: 'ENTITY_FIELD', key }))
const BY_TIME = { key: { type: 'ENTITY_FIELD', key: 'createdTime' }, direction: 'DESC' }
const pageLink = (more: object = {}) => ({
  ...{ page: 0, pageSize: 1024, textSearch: null, dynamic: true, sortOrder: BY_TIME },
  ...more,
})

describe('the socket of a front end', { timeout: 600_000 }, () => {
  let millrace: RunningMillrace
  let pair: TokenPair
  let page: FrontEnd
  let devices: readonly Ref[]
  const sockets: FrontEndSocket[] = []

  before(async () => {
    millrace = await startMillrace()
    const answer = await fetch(`${millrace.url}/api/auth/login`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(DEMO_TENANT),
    })
    pair = (await answer.json()) as TokenPair
    page = new FrontEnd(millrace, pair.token)
    const made: Ref[] = []
    for (const name of ['Boiler A', 'Boiler B', 'Boiler C'])
      made.push((await page.post<Row>('/api/device', { name, type: 'boiler' })).id)
    devices = made
    for (const [index, device] of devices.entries()) {
      await save(device, { ts: T, values: { temperature: 10 * (index + 1), note: `n${index}` } })
      await page.post(`/api/plugins/telemetry/DEVICE/${device.id}/SERVER_SCOPE`, { floor: index })
    }
  })
  after(async () => {
    for (const socket of sockets) socket.close()
    await millrace.stop()
  })

  const save = (device: Ref | undefined, body: object) =>
    page.post(`/api/plugins/telemetry/DEVICE/${device?.id}/timeseries/LATEST_TELEMETRY`, body)
  const tab = async (front = page): Promise<FrontEndSocket> => {
    const socket = await front.openSocket()
    sockets.push(socket)
    return socket
  }
  const alias = (entityFilter: object, more: object = {}, link: object = {}) => ({
    ...{ entityFilter: { resolveMultiple: true, ...entityFilter }, pageLink: pageLink(link), keyFilters: [] },
    ...{ entityFields: FIELDS, latestValues: [] },
    ...more,
  })
  const boilers = (more: object = {}, link: object = {}) =>
    alias({ type: 'deviceType', deviceTypes: ['boiler'], deviceNameFilter: '' }, more, link)
  const single = (device: Ref | undefined, more: object = {}) =>
    alias({ type: 'singleEntity', singleEntity: device }, more)
  const temperatureOf = ({ data, update }: DataFrame) =>
    (data?.data ?? update ?? []).map(({ latest }) => latest?.['TIME_SERIES']?.['temperature']?.value)

  test('logs in with the type of the command, and shows a value card with what changes', async () => {
    const socket = await tab()
    const latestValues = [{ type: 'TIME_SERIES', key: 'temperature' }]
    socket.send({
      ...{ type: 'ENTITY_DATA', cmdId: 1, query: boilers({ latestValues }) },
      latestCmd: { keys: latestValues },
    })
    const first = await socket.next<DataFrame>(1)
    assert.deepEqual(temperatureOf(first).toSorted(), ['10', '20', '30'])
    await save(devices[1], [{ ts: T + 1000, values: { temperature: 21 } }])
    const update = await socket.next<DataFrame>(1)
    assert.deepEqual([update.data, update.update?.map(({ entityId }) => entityId)], [null, [devices[1]]])
    assert.deepEqual(temperatureOf(update), ['21'])
    assert.equal(update.update?.[0]?.timeseries, null)
  })

  test('takes series under the command of the query, and a new window in its place', async () => {
    const socket = await tab()
    const device = devices[0]
    const series = {
      keys: ['temperature'],
      interval: 1000,
      limit: 25_000,
      agg: 'NONE',
      fetchLatestPreviousPoint: false,
    }
    const latestValues = [{ type: 'ATTRIBUTE', key: 'floor' }]
    socket.send({ type: 'ENTITY_DATA', cmdId: 7, query: single(device, { latestValues }) })
    const found = await socket.next<DataFrame>(7)
    assert.deepEqual(
      found.data?.data.map(({ entityId }) => entityId),
      [device],
    )
    const now = Date.now()
    const tsCmd = {
      ...series,
      startTs: now - HOUR,
      timeWindow: HOUR + 1000,
      intervalType: 'MILLISECONDS',
      timeZoneId: null,
    }
    socket.send({ type: 'ENTITY_DATA', cmdId: 7, tsCmd, latestCmd: { keys: latestValues } })
    const window = await socket.next<DataFrame>(7)
    assert.deepEqual([window.data, window.update?.[0]?.timeseries], [null, { temperature: [] }])
    await save(device, { ts: now, values: { temperature: 50 } })
    const point = await socket.next<DataFrame>(7)
    assert.deepEqual(point.update?.[0]?.timeseries, { temperature: [{ ts: now, value: '50' }] })
    await page.post(`/api/plugins/telemetry/DEVICE/${device?.id}/SERVER_SCOPE`, { floor: 9 })
    const attribute = await socket.next<DataFrame>(7)
    assert.equal(attribute.update?.[0]?.latest?.['ATTRIBUTE']?.['floor']?.value, '9')
    // The user chooses a longer window, aggregated: the same command, without its query.
    const averages = { ...tsCmd, startTs: T, timeWindow: 10_000, interval: 10_000, agg: 'AVG' }
    socket.send({ type: 'ENTITY_DATA', cmdId: 7, tsCmd: averages })
    const averaged = await socket.next<DataFrame>(7)
    assert.deepEqual(averaged.update?.[0]?.timeseries, { temperature: [{ ts: T + 5000, value: '10.0', count: 1 }] })
    // The window rolls on: points still come, the attribute that is asked for no more does not.
    await page.post(`/api/plugins/telemetry/DEVICE/${device?.id}/SERVER_SCOPE`, { floor: 10 })
    await save(device, { ts: now + 1, values: { temperature: 51 } })
    const later = await socket.next<DataFrame>(7)
    assert.deepEqual(later.update?.[0]?.timeseries, { temperature: [{ ts: now + 1, value: '51' }] })
    assert.deepEqual(await socket.left(7), [])
  })

  test('shows history beside live points, and calendar intervals in the zone of the reader', async () => {
    const socket = await tab()
    const device = devices[2]
    const history = { keys: ['temperature'], startTs: T - HOUR, endTs: T + HOUR, limit: 100, agg: 'NONE' }
    socket.send({
      ...{ type: 'ENTITY_DATA', cmdId: 3, query: single(device) },
      historyCmd: { ...history, interval: 0, intervalType: 'MILLISECONDS', timeZoneId: 'Europe/Kyiv' },
      tsCmd: { ...history, startTs: Date.now() - HOUR, timeWindow: 2 * HOUR, endTs: undefined },
    })
    const first = await socket.next<DataFrame>(3)
    assert.deepEqual(first.data?.data[0]?.timeseries, { temperature: [{ ts: T, value: '30' }] })
    assert.deepEqual((await socket.next<DataFrame>(3)).update?.[0]?.timeseries, { temperature: [] })
    const monthly = { ...history, intervalType: 'MONTH', interval: 2_592_000_000, agg: 'MAX' }
    socket.send({
      ...{ type: 'ENTITY_DATA', cmdId: 3 },
      historyCmd: { ...monthly, timeZoneId: 'America/New_York', fetchLatestPreviousPoint: true },
    })
    const monthlyFrame = await socket.next<DataFrame>(3)
    assert.deepEqual(monthlyFrame.update?.[0]?.timeseries, { temperature: [{ ts: T, value: '30' }] })
  })

  test('compares aggregates of a history and of a rolling window', async () => {
    const socket = await tab()
    const device = (await page.post<Row>('/api/device', { name: 'Aggregated', type: 'default' })).id
    await save(
      device,
      [1, 2, 3].map((value) => ({ ts: T + value * 1000, values: { power: value } })),
    )
    const keys = [
      { id: 1, key: 'power', agg: 'AVG', previousStartTs: T - 10_000, previousEndTs: T, previousValueOnly: false },
      { id: 2, key: 'power', agg: 'SUM', previousStartTs: T, previousEndTs: T + 3000, previousValueOnly: true },
      { id: 3, key: 'power', agg: 'MAX' },
    ]
    const aggHistoryCmd = { keys, startTs: T, endTs: T + 10_000 }
    const latestValues = [{ type: 'TIME_SERIES', key: 'power' }]
    socket.send({ type: 'ENTITY_DATA', cmdId: 4, query: single(device, { latestValues }), aggHistoryCmd })
    const whole = (await socket.next<DataFrame>(4)).data?.data[0]?.aggLatest
    assert.deepEqual(
      [
        whole?.['1']?.current?.value,
        whole?.['1']?.previous?.value,
        whole?.['2']?.current,
        whole?.['2']?.previous?.value,
      ],
      ['2.0', '', null, '3'],
    )
    assert.deepEqual([whole?.['3']?.current?.value, whole?.['3']?.previous], ['3', null])
    const aggTsCmd = { keys: [{ id: 5, key: 'power', agg: 'COUNT' }], startTs: T, timeWindow: 10_000 }
    socket.send({ type: 'ENTITY_DATA', cmdId: 4, aggTsCmd, latestCmd: { keys: latestValues } })
    const rolling = (await socket.next<DataFrame>(4)).update?.[0]?.aggLatest
    assert.equal(rolling?.['5']?.current?.value, '3')
    await save(device, { ts: T + 9000, values: { power: 4 } })
    assert.equal((await socket.next<DataFrame>(4)).update?.[0]?.latest?.['TIME_SERIES']?.['power']?.value, '4')
  })

  test('turns the pages of a table of entities, sorted by a key, found by a text', async () => {
    const socket = await tab()
    const latestValues = [{ type: 'TIME_SERIES', key: 'temperature' }]
    const sortOrder = { key: { type: 'SERVER_ATTRIBUTE', key: 'floor' }, direction: 'ASC' }
    await Promise.all(
      devices.map(({ id }, floor) =>
        page.post(`/api/plugins/telemetry/DEVICE/${id}/SERVER_SCOPE`, { floor: 2 - floor }),
      ),
    )
    const query = (link: object) => boilers({ latestValues }, { pageSize: 2, sortOrder, dynamic: false, ...link })
    const names = ({ data }: DataFrame) => data?.data.map(({ latest }) => latest?.['ENTITY_FIELD']?.['name']?.value)
    const latestCmd = { keys: latestValues }
    socket.send({ type: 'ENTITY_DATA', cmdId: 11, query: query({}), latestCmd })
    const first = await socket.next<DataFrame>(11)
    assert.deepEqual(
      [names(first), first.data?.totalElements, first.data?.hasNext],
      [['Boiler C', 'Boiler B'], 3, true],
    )
    // In place, under the same command.
    socket.send({ type: 'ENTITY_DATA', cmdId: 11, query: query({ page: 1 }), latestCmd })
    assert.deepEqual(names(await socket.next<DataFrame>(11)), ['Boiler A'])
    await save(devices[2], { values: { temperature: 33 }, ts: Date.now() })
    await save(devices[0], { values: { temperature: 11 }, ts: Date.now() })
    const live = await socket.next<DataFrame>(11)
    assert.deepEqual(
      live.update?.map(({ entityId }) => entityId),
      [devices[0]],
    )
    // As a front end does it too: the old one ended, the next under a new number.
    socket.send({ type: 'ENTITY_DATA_UNSUBSCRIBE', cmdId: 11 }, { type: 'ENTITY_DATA_UNSUBSCRIBE', cmdId: 4711 })
    socket.send({ type: 'ENTITY_DATA', cmdId: 12, query: query({ textSearch: 'oiler b' }), latestCmd })
    assert.deepEqual(names(await socket.next<DataFrame>(12)), ['Boiler B'])
    assert.deepEqual(await socket.left(11), [])
  })

  test('counts entities and alarms by filters, and tells of what changes', async () => {
    const socket = await tab()
    const device = devices[0]
    const value = (defaultValue: unknown) => ({ defaultValue, dynamicValue: null, userValue: null })
    const keyFilters = [
      {
        key: { type: 'TIME_SERIES', key: 'temperature' },
        valueType: 'NUMERIC',
        predicate: {
          ...{ type: 'COMPLEX', operation: 'OR' },
          predicates: [
            { type: 'NUMERIC', operation: 'LESS', value: value(12) },
            { type: 'NUMERIC', operation: 'GREATER', value: value(1e6) },
          ],
        },
      },
    ]
    const entityFilter = { type: 'deviceType', deviceTypes: ['boiler'], deviceNameFilter: '', resolveMultiple: true }
    socket.send({ type: 'ENTITY_COUNT', cmdId: 21, query: { entityFilter, keyFilters } })
    const counted = await socket.next<CountFrame>(21)
    assert.deepEqual([counted.cmdUpdateType, counted.count], ['COUNT_DATA', 1])
    const alarms = { statusList: ['ACTIVE'], severityList: ['CRITICAL', 'MAJOR'], typeList: [], assigneeId: null }
    const count = { ...alarms, searchPropagatedAlarms: true, timeWindow: 86_400_000, startTs: null, endTs: null }
    socket.send({ type: 'ALARM_COUNT', cmdId: 22, query: { entityFilter, keyFilters: [], ...count } })
    socket.send({ type: 'ALARM_COUNT', cmdId: 23, query: { ...count, severityList: ['MINOR'] } })
    socket.send({ type: 'ALARM_STATUS', cmdId: 24, originatorId: device, severityList: ['CRITICAL'], typeList: null })
    assert.equal((await socket.next<CountFrame>(22)).count, 0)
    assert.equal((await socket.next<CountFrame>(23)).count, 0)
    assert.deepEqual((await socket.next<{ active: boolean }>(24)).active, false)
    const alarm = await page.post<Row>('/api/alarm', { originator: device, type: 'Counted', severity: 'CRITICAL' })
    const alarmCount = await socket.next<CountFrame>(22)
    assert.deepEqual([alarmCount.cmdUpdateType, alarmCount.count], ['ALARM_COUNT_DATA', 1])
    assert.equal((await socket.next<{ active: boolean }>(24)).active, true)
    await page.post(`/api/alarm/${alarm.id.id}/clear`)
    assert.equal((await socket.next<CountFrame>(22)).count, 0)
    assert.equal((await socket.next<{ active: boolean }>(24)).active, false)
    for (const [type, cmdId] of [
      ['ENTITY_COUNT_UNSUBSCRIBE', 21],
      ['ALARM_COUNT_UNSUBSCRIBE', 22],
      ['ALARM_COUNT_UNSUBSCRIBE', 4712],
      ['ALARM_STATUS_UNSUBSCRIBE', 24],
    ])
      socket.send({ type, cmdId })
    await page.post('/api/alarm', { originator: device, type: 'Not counted', severity: 'CRITICAL' })
    assert.deepEqual([await socket.left(22), await socket.left(23), await socket.left(24)], [[], [], []])
  })

  test('turns the pages of a table of alarms, sorted, and follows what happens to them', async () => {
    const socket = await tab()
    const device = (await page.post<Row>('/api/device', { name: 'Alarmed', type: 'default', label: 'A label' })).id
    const raise = (type: string, severity = 'MAJOR') =>
      page.post<Row>('/api/alarm', { originator: device, type, severity })
    for (const type of ['a', 'b', 'c']) await raise(type)
    const keys = ['createdTime', 'originator', 'originatorLabel', 'type', 'severity', 'status', 'assignee']
    const query = (more: object = {}) => ({
      ...single(device, { latestValues: [{ type: 'SERVER_ATTRIBUTE', key: 'floor' }] }),
      alarmFields: keys.map((key) => ({ type: 'ALARM_FIELD', key })),
      pageLink: {
        ...pageLink({ pageSize: 2, sortOrder: { key: { type: 'ALARM_FIELD', key: 'type' }, direction: 'ASC' } }),
        ...{ searchPropagatedAlarms: false, statusList: [], severityList: [], typeList: [], assigneeId: null },
        ...{ startTs: null, endTs: null, timeWindow: 86_400_000 },
        ...more,
      },
    })
    const types = ({ data }: AlarmFrame) => data?.data.map(({ type }) => type)
    socket.send({ type: 'ALARM_DATA', cmdId: 31, query: query() })
    const first = await socket.next<AlarmFrame>(31)
    assert.deepEqual([types(first), first.data?.totalElements], [['a', 'b'], 3])
    const [row] = first.data?.data ?? []
    assert.deepEqual(
      [row?.entityId, row?.['originatorName'], row?.['originatorLabel'], row?.latest?.['SERVER_ATTRIBUTE']],
      [device, 'Alarmed', 'A label', { floor: { ts: 0, value: '' } }],
    )
    await page.post(`/api/alarm/${row?.id.id}/ack`)
    assert.deepEqual(
      (await socket.next<AlarmFrame>(31)).update?.map(({ status }) => status),
      ['ACTIVE_ACK'],
    )
    socket.send({ type: 'ALARM_DATA', cmdId: 31, query: query({ page: 1 }) })
    assert.deepEqual(types(await socket.next<AlarmFrame>(31)), ['c'])
    socket.send({ type: 'ALARM_DATA', cmdId: 31, query: query({ statusList: ['ACTIVE', 'ACK'], textSearch: 'a' }) })
    assert.deepEqual(types(await socket.next<AlarmFrame>(31)), ['a'])
    // By the columns that the table has.
    for (const key of [...keys, 'startTime', 'endTime', 'ackTime', 'clearTime', 'assignTime']) {
      const sortOrder = { key: { type: 'ALARM_FIELD', key }, direction: 'DESC' }
      socket.send({ type: 'ALARM_DATA', cmdId: 32, query: query({ sortOrder, pageSize: 10 }) })
      const sorted = await socket.next<AlarmFrame>(32)
      assert.deepEqual([sorted.errorCode, sorted.data?.totalElements], [0, 3], `${key}: ${sorted.errorMsg}`)
    }
    socket.send({ type: 'ALARM_DATA_UNSUBSCRIBE', cmdId: 32 }, { type: 'ALARM_DATA_UNSUBSCRIBE', cmdId: 31 })
    await raise('d')
    assert.deepEqual([await socket.left(31), await socket.left(32)], [[], []])
  })

  test('shows what no alias finds as an empty page, not as an error', async () => {
    const socket = await tab()
    const nobody = { entityType: 'DEVICE', id: '11111111-2222-4333-8444-555555555555' }
    const filters = [
      { type: 'singleEntity', singleEntity: nobody },
      { type: 'entityList', entityType: 'DEVICE', entityList: [] },
      { type: 'entityList', entityType: 'DEVICE', entityList: [nobody.id] },
      { type: 'entityName', entityType: 'ASSET', entityNameFilter: 'No such' },
      { type: 'assetType', assetType: 'none', assetNameFilter: '' },
      { type: 'entityViewType', entityViewTypes: ['none'], entityViewNameFilter: '' },
      { type: 'edgeType', edgeTypes: ['default'], edgeNameFilter: '' },
      {
        ...{ type: 'relationsQuery', rootStateEntity: true, stateEntityParamName: null, defaultStateEntity: null },
        ...{ rootEntity: nobody, direction: 'FROM', maxLevel: 0, fetchLastLevelOnly: false },
        filters: [{ relationType: 'Contains', entityTypes: [] }],
      },
      {
        ...{ type: 'deviceSearchQuery', rootStateEntity: false, stateEntityParamName: null, rootEntity: nobody },
        ...{
          direction: 'FROM',
          maxLevel: null,
          fetchLastLevelOnly: false,
          relationType: null,
          deviceTypes: ['boiler'],
        },
      },
    ]
    for (const [index, filter] of filters.entries()) {
      socket.send({ type: 'ENTITY_DATA', cmdId: 100 + index, query: alias(filter), latestCmd: { keys: [] } })
      const frame = await socket.next<DataFrame>(100 + index)
      assert.deepEqual([frame.errorCode, frame.data?.totalElements], [0, 0], `${filter.type}: ${frame.errorMsg}`)
    }
    for (const entityType of ['CURRENT_TENANT', 'CURRENT_USER', 'CURRENT_USER_OWNER']) {
      const id = '13814000-1dd2-11b2-8080-808080808080'
      const query = alias({ type: 'singleEntity', singleEntity: { entityType, id } })
      socket.send({ type: 'ENTITY_DATA', cmdId: 120, query })
      assert.equal((await socket.next<DataFrame>(120)).data?.totalElements, 1, entityType)
    }
    const usage = alias(
      { type: 'apiUsageState' },
      { latestValues: [{ type: 'TIME_SERIES', key: 'transportApiState' }] },
    )
    socket.send({ type: 'ENTITY_DATA', cmdId: 121, query: usage })
    const states = await socket.next<DataFrame>(121)
    assert.equal(states.data?.data[0]?.entityId.entityType, 'API_USAGE_STATE')
  })

  test('follows the tabs of an entity: attributes of a scope, latest telemetry; each ends by its own command', async () => {
    const socket = await tab()
    const device = (await page.post<Row>('/api/device', { name: 'Tabs', type: 'default' })).id
    const target = { entityType: 'DEVICE', entityId: device.id }
    const attributes = { type: 'ATTRIBUTES', cmdId: 41, ...target, scope: 'SHARED_SCOPE' }
    const telemetry = { type: 'TIMESERIES', cmdId: 42, ...target, scope: 'LATEST_TELEMETRY' }
    socket.send(attributes, telemetry)
    assert.deepEqual((await socket.next<LegacyFrame>(41)).data, {})
    assert.deepEqual((await socket.next<LegacyFrame>(42)).data, {})
    const path = `/api/plugins/telemetry/DEVICE/${device.id}`
    await page.post(`${path}/SERVER_SCOPE`, { mode: 'not shared' })
    await page.post(`${path}/SHARED_SCOPE`, { mode: 'eco', nested: { a: [1] }, on: true })
    const shared = (await socket.next<LegacyFrame>(41)).data
    assert.deepEqual(
      Object.entries(shared).map(([key, [point]]) => [key, point?.[1]]),
      [
        ['mode', 'eco'],
        ['nested', '{"a":[1]}'],
        ['on', 'true'],
      ],
    )
    await save(device, { ts: T, values: { fresh: 1.5 } })
    assert.deepEqual((await socket.next<LegacyFrame>(42)).data, { fresh: [[T, '1.5']] })
    assert.equal((await page.rest.call('DELETE', `${path}/SHARED_SCOPE?keys=mode,nested`)).status, 200)
    assert.deepEqual((await socket.next<LegacyFrame>(41)).data, { mode: [[0, '']], nested: [[0, '']] })
    socket.send({ ...attributes, unsubscribe: true }, { ...telemetry, cmdId: 4713, unsubscribe: true })
    await page.post(`${path}/SHARED_SCOPE`, { mode: 'boost' })
    await save(device, { ts: T + 1, values: { fresh: 2 } })
    assert.deepEqual((await socket.next<LegacyFrame>(42)).data, { fresh: [[T + 1, '2']] })
    assert.deepEqual(await socket.left(41), [])
  })

  test('goes on in a new socket with a refreshed token, under the same numbers, beside a second tab', async () => {
    const [first, second] = [await tab(), await tab()]
    const device = devices[1]
    const command = {
      ...{ type: 'ENTITY_DATA', cmdId: 1, query: single(device) },
      latestCmd: { keys: [{ type: 'TIME_SERIES', key: 'level' }] },
    }
    first.send(command)
    second.send(command)
    await Promise.all([first.next(1), second.next(1)])
    first.close()
    pair = await refreshed(millrace, pair.refreshToken)
    const again = await tab(new FrontEnd(millrace, pair.token))
    again.send(command)
    await again.next(1)
    await save(device, { ts: T + 5, values: { level: 7 } })
    for (const socket of [second, again]) {
      const { update } = await socket.next<DataFrame>(1)
      assert.equal(update?.[0]?.latest?.['TIME_SERIES']?.['level']?.value, '7')
    }
    second.send({ type: 'ENTITY_DATA_UNSUBSCRIBE', cmdId: 1 })
    await save(device, { ts: T + 6, values: { level: 8 } })
    await again.next(1)
    assert.deepEqual([await second.left(1), second.isOpen, again.isOpen], [[], true, true])
  })

  test('keeps a list of unread notifications that grows as the reader scrolls', async () => {
    const socket = await tab()
    socket.send({ type: 'NOTIFICATIONS_COUNT', cmdId: 51 }, { type: 'NOTIFICATIONS', cmdId: 52, limit: 2, types: [] })
    const count = await socket.next<{ totalUnreadCount: number }>(51)
    await socket.next(52)
    const configuration = { type: 'PLATFORM_USERS', usersFilter: { type: 'ALL_USERS' } }
    const target = await page.post<Row>('/api/notification/target', { name: 'Everybody', configuration })
    const text = { WEB: { method: 'WEB', enabled: true, subject: 'Hi', body: 'Text' } }
    const template = { notificationType: 'GENERAL', configuration: { deliveryMethodsTemplates: text } }
    const request = { targets: [target.id.id], templateId: null, template, additionalConfig: { sendingDelayInSec: 0 } }
    interface Unread {
      readonly notifications: readonly Row[] | null
      readonly update: Row | null
      readonly totalUnreadCount: number
    }
    for (let sent = 1; sent <= 3; sent += 1) {
      await page.post('/api/notification/request', request)
      const { totalUnreadCount } = await socket.next<{ totalUnreadCount: number }>(51)
      assert.equal(totalUnreadCount, count.totalUnreadCount + sent)
      assert.equal((await socket.next<Unread>(52)).update?.['subject'], 'Hi')
    }
    socket.send({ type: 'NOTIFICATIONS', cmdId: 52, limit: 20, types: [] })
    const all = await socket.next<Unread>(52)
    assert.equal(all.notifications?.length, count.totalUnreadCount + 3)
    const [newest] = all.notifications ?? []
    socket.send({ type: 'MARK_NOTIFICATIONS_AS_READ', cmdId: 53, notifications: [newest?.id.id] })
    assert.equal((await socket.next<Unread>(52)).totalUnreadCount, count.totalUnreadCount + 2)
    socket.send({ type: 'MARK_ALL_NOTIFICATIONS_AS_READ', cmdId: 54 })
    const none = await socket.next<Unread>(52)
    assert.deepEqual([none.notifications, none.totalUnreadCount], [[], 0])
    socket.send({ type: 'NOTIFICATIONS_UNSUBSCRIBE', cmdId: 52 }, { type: 'NOTIFICATIONS_UNSUBSCRIBE', cmdId: 51 })
  })
})
