/**
 * What front ends show first, and what they choose from: the home pages of each kind of user, fields that find entities, dialogs of alarms and
 * packages, a dashboard for everybody. Source: `rest-api.md` 1.3, 5.4, 7, 9, 13.2, 14; `websocket-api.md` 6, 7.
 */
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { after, before, describe, test } from 'node:test'
import { DEMO_CUSTOMER, DEMO_SYSADMIN, DEMO_TENANT, login } from '../support/clients.ts'
import { FrontEnd, tablePage, type PageOf, type Ref, type Row } from '../support/front-end.ts'
import { startMillrace, type RunningMillrace } from '../support/start-millrace.ts'

const NULL_UUID = '13814000-1dd2-11b2-8080-808080808080'
const HOUR = 3_600_000

interface CountFrame {
  readonly count: number
}
interface DataFrame {
  readonly errorCode: number
  readonly errorMsg: string | null
  readonly data: { readonly data: readonly Shown[]; readonly totalElements: number } | null
  readonly update: readonly Shown[] | null
}
interface Shown {
  readonly entityId: Ref
  readonly latest: Readonly<Record<string, Readonly<Record<string, { readonly value: string }>>>> | null
  readonly timeseries: Readonly<Record<string, readonly unknown[]>> | null
}

const FIELDS = ['name', 'label', 'additionalInfo'].map((key) => ({ type: 'ENTITY_FIELD', key }))

describe('home pages, fields and dialogs', { timeout: 600_000 }, () => {
  let millrace: RunningMillrace
  let tenant: FrontEnd
  let customer: FrontEnd
  let sysadmin: FrontEnd

  before(async () => {
    millrace = await startMillrace()
    tenant = new FrontEnd(millrace, await login(millrace, DEMO_TENANT))
    customer = new FrontEnd(millrace, await login(millrace, DEMO_CUSTOMER))
    sysadmin = new FrontEnd(millrace, await login(millrace, DEMO_SYSADMIN))
  })
  after(() => millrace.stop())

  test('the home of a system administrator counts what there is, and shows how the platform fares', async () => {
    const socket = await sysadmin.openSocket()
    const types = ['TENANT', 'TENANT_PROFILE', 'DEVICE', 'ASSET', 'USER', 'CUSTOMER', 'DASHBOARD', 'EDGE']
    for (const [index, entityType] of types.entries()) {
      const query = { entityFilter: { type: 'entityType', entityType, resolveMultiple: true }, keyFilters: [] }
      socket.send({ type: 'ENTITY_COUNT', cmdId: index, query })
      const { count } = await socket.next<CountFrame>(index)
      assert.equal(typeof count, 'number', entityType)
      const asked = await sysadmin.post<number>('/api/entitiesQuery/count', query)
      assert.equal(asked, count, entityType)
      if (['TENANT', 'DEVICE', 'USER', 'CUSTOMER'].includes(entityType)) assert.ok(count > 0, entityType)
    }
    const keys = ['cpuUsage', 'memoryUsage', 'discUsage', 'cpuCount', 'totalMemory', 'totalDiscSpace']
    const latestValues = keys.map((key) => ({ type: 'TIME_SERIES', key }))
    const entityFilter = { type: 'singleEntity', singleEntity: { entityType: 'TENANT', id: NULL_UUID } }
    const pageLink = { page: 0, pageSize: 1, textSearch: null, dynamic: true, sortOrder: null }
    const query = { entityFilter, pageLink, keyFilters: [], entityFields: FIELDS, latestValues }
    socket.send({ type: 'ENTITY_DATA', cmdId: 20, query, latestCmd: { keys: latestValues } })
    const frame = await socket.next<DataFrame>(20)
    assert.deepEqual([frame.errorCode, frame.errorMsg], [0, null])
    for (const path of [
      '/api/admin/systemInfo',
      '/api/admin/featuresInfo',
      '/api/admin/updates',
      '/api/dashboard/home/info',
    ])
      assert.equal((await sysadmin.rest.call('GET', path)).status, 200, path)
    socket.close()
  })

  test('the home of a tenant counts active devices and alarms, and draws how much is used', async () => {
    const socket = await tenant.openSocket()
    const active = (value: boolean) => [
      {
        ...{ key: { type: 'ATTRIBUTE', key: 'active' }, valueType: 'BOOLEAN' },
        predicate: { type: 'BOOLEAN', operation: 'EQUAL', value: { defaultValue: value, dynamicValue: null } },
      },
    ]
    const devices = { type: 'entityType', entityType: 'DEVICE', resolveMultiple: true }
    const count = async (cmdId: number, keyFilters: object[]) => {
      socket.send({ type: 'ENTITY_COUNT', cmdId, query: { entityFilter: devices, keyFilters } })
      return (await socket.next<CountFrame>(cmdId)).count
    }
    const [all, on, off] = [await count(1, []), await count(2, active(true)), await count(3, active(false))]
    assert.deepEqual([all > 0, on + off], [true, all])
    const usage = await tenant.get<Readonly<Record<string, unknown>>>('/api/usage')
    assert.equal(usage['devices'], all)
    const entityFilter = { type: 'apiUsageState', resolveMultiple: false }
    const latestValues = [
      'transportApiState',
      'dbApiState',
      'jsExecutionApiState',
      'emailApiState',
      'alarmApiState',
    ].map((key) => ({ type: 'TIME_SERIES', key }))
    const pageLink = { page: 0, pageSize: 1, textSearch: null, dynamic: true, sortOrder: null }
    const query = { entityFilter, pageLink, keyFilters: [], entityFields: FIELDS, latestValues }
    socket.send({ type: 'ENTITY_DATA', cmdId: 4, query })
    const [state] = (await socket.next<DataFrame>(4)).data?.data ?? []
    assert.equal(state?.entityId.entityType, 'API_USAGE_STATE')
    const now = Date.now()
    const series = {
      keys: ['transportMsgCountHourly', 'storageDataPointsCountHourly'],
      interval: HOUR,
      limit: 50_000,
      agg: 'SUM',
    }
    const tsCmd = {
      ...series,
      startTs: now - 24 * HOUR,
      timeWindow: 25 * HOUR,
      intervalType: 'MILLISECONDS',
      timeZoneId: 'UTC',
    }
    socket.send({ type: 'ENTITY_DATA', cmdId: 4, tsCmd })
    const drawn = await socket.next<DataFrame>(4)
    assert.deepEqual(Object.keys(drawn.update?.[0]?.timeseries ?? {}).toSorted(), series.keys.toSorted())
    socket.close()
  })

  test('fields find entities of every type by their names, for whoever may see some', async () => {
    const types = [
      ...[
        'DEVICE',
        'ASSET',
        'ENTITY_VIEW',
        'TENANT',
        'CUSTOMER',
        'USER',
        'DASHBOARD',
        'RULE_CHAIN',
        'EDGE',
        'DEVICE_PROFILE',
      ],
      ...[
        'ASSET_PROFILE',
        'WIDGETS_BUNDLE',
        'WIDGET_TYPE',
        'TB_RESOURCE',
        'OTA_PACKAGE',
        'QUEUE_STATS',
        'API_USAGE_STATE',
      ],
    ]
    const pageLink = {
      ...{ page: 0, pageSize: 50, textSearch: '' },
      sortOrder: { key: { type: 'ENTITY_FIELD', key: 'name' }, direction: 'ASC' },
    }
    for (const front of [tenant, customer])
      for (const entityType of types) {
        const entityFilter = { type: 'entityName', entityType, entityNameFilter: '' }
        const query = { entityFilter, pageLink, entityFields: FIELDS, latestValues: [], keyFilters: [] }
        const answer = await front.rest.call('POST', '/api/entitiesQuery/find', query)
        assert.equal(answer.status, 200, `${entityType}: ${answer.text}`)
        const { data } = answer.json<{ data: readonly Shown[] }>()
        for (const { entityId, latest } of data)
          assert.deepEqual(
            [entityId.entityType, typeof latest?.['ENTITY_FIELD']?.['name']?.value],
            [entityType, 'string'],
          )
        if (front === tenant && ['DEVICE', 'CUSTOMER', 'USER', 'RULE_CHAIN', 'DEVICE_PROFILE'].includes(entityType))
          assert.ok(data.length > 0, entityType)
      }
    const list = 'pageSize=50&page=0&sortOrder=ASC'
    for (const path of [
      ...[
        `/api/tenant/devices?${list}&sortProperty=name&textSearch=&type=`,
        `/api/tenant/assets?${list}&sortProperty=name&type=default`,
      ],
      ...[
        `/api/customers?${list}&sortProperty=title`,
        `/api/users?${list}&sortProperty=email`,
        `/api/tenant/dashboards?${list}&sortProperty=title`,
      ],
      ...[
        `/api/ruleChains?${list}&sortProperty=name&type=CORE`,
        `/api/tenant/entityViews?${list}&sortProperty=name&type=`,
      ],
      ...[
        `/api/alarm/types?${list}&sortProperty=type`,
        `/api/deviceProfileInfos?${list}&sortProperty=name&transportType=`,
      ],
      ...[
        `/api/assetProfileInfos?${list}&sortProperty=name`,
        `/api/queues?${list}&sortProperty=name&serviceType=TB-RULE-ENGINE`,
      ],
      ...['/api/deviceProfile/names?activeOnly=true', '/api/assetProfile/names?activeOnly=false', '/api/device/types'],
      ...['/api/deviceProfile/devices/keys/timeseries', '/api/deviceProfile/devices/keys/attributes?deviceProfileId='],
      ...[
        `/api/resource/lwm2m/page?${list}&sortProperty=id`,
        '/api/resource/lwm2m?sortProperty=id&sortOrder=ASC&objectIds=3_1.0',
      ],
      ...[
        `/api/jobs?${list}&sortProperty=createdTime&types=&statuses=&entities=`,
        `/api/ai/model?${list}&sortProperty=name`,
      ],
    ])
      assert.equal((await tenant.rest.call('GET', path)).status, 200, path)
    const [device] = (await tenant.get<PageOf>(`/api/tenant/devices${tablePage('name')}`)).data
    assert.deepEqual(
      (await tenant.get<Row[]>(`/api/devices?deviceIds=${device?.id.id}`)).map(({ id }) => id),
      [device?.id],
    )
    const found = await tenant.post<{ timeseries: string[]; attribute: string[] }>(
      '/api/entitiesQuery/find/keys?timeseries=true&attributes=true&scope=SERVER_SCOPE',
      {
        ...{
          entityFilter: { type: 'singleEntity', singleEntity: device?.id },
          pageLink: { ...pageLink, pageSize: 100 },
        },
        ...{ entityFields: [], latestValues: [], keyFilters: [] },
      },
    )
    assert.ok(found.attribute.includes('active'))
  })

  test('the dialog of an alarm: comments, their change and their end, who may have it, who has it', async () => {
    const device = await tenant.post<Row>('/api/device', { name: 'With a dialog' })
    const alarm = await tenant.post<Row>('/api/alarm', { originator: device.id, type: 'Dialog', severity: 'MINOR' })
    const path = `/api/alarm/${alarm.id.id}`
    await tenant.post(`${path}/comment`, { alarmId: alarm.id, type: 'OTHER', comment: { text: 'First' } })
    const comments = async () => (await tenant.get<PageOf>(`${path}/comment${tablePage('createdTime')}`)).data
    const [comment] = await comments()
    assert.deepEqual(
      [comment?.['comment'], comment?.['email'], comment?.['type']],
      [{ text: 'First' }, DEMO_TENANT.username, 'OTHER'],
    )
    // As the list has it, with another text.
    await tenant.post(`${path}/comment`, {
      ...comment,
      comment: { ...(comment?.['comment'] as object), text: 'Changed' },
    })
    const [changed, ...others] = await comments()
    assert.deepEqual([others.length, (changed?.['comment'] as { text: string; edited: string }).text], [0, 'Changed'])
    const candidates = await tenant.get<PageOf>(
      `/api/users/assign/${alarm.id.id}?pageSize=50&page=0&textSearch=tenant&sortProperty=email&sortOrder=ASC`,
    )
    const [candidate] = candidates.data
    await tenant.post(`${path}/assign/${candidate?.id.id}`)
    const info = await tenant.get<Row>(`/api/alarm/info/${alarm.id.id}`)
    assert.equal((info['assignee'] as { email: string }).email, candidate?.['email'])
    const mine = await tenant.get<PageOf>(
      `/api/v2/alarms${tablePage('assignee', { assigneeId: candidate?.id.id ?? '' })}`,
    )
    assert.deepEqual(
      mine.data.map(({ id }) => id),
      [alarm.id],
    )
    // What the details show goes back whole.
    const saved = await tenant.post<Row>('/api/alarm', { ...info, details: { note: 'more' } })
    assert.deepEqual([saved.id, saved['details'], saved['assigneeId']], [alarm.id, { note: 'more' }, candidate?.id])
    await tenant.rest.expect('DELETE', `${path}/assign`)
    await tenant.post(`${path}/ack`)
    await tenant.post(`${path}/clear`)
    const texts = (await comments()).map(({ type }) => type)
    assert.ok(texts.filter((type) => type === 'SYSTEM').length >= 4, texts.join())
    await tenant.rest.expect('DELETE', `${path}/comment/${changed?.id.id}`)
    const deleted = (await comments()).find(({ id }) => id.id === changed?.id.id)
    assert.equal(deleted?.['type'], 'SYSTEM')
  })

  test('packages: made, uploaded, listed for a profile, given to it and to a device by their forms', async () => {
    const profile = await tenant.post<Row>('/api/deviceProfile', {
      name: 'Packaged',
      type: 'DEFAULT',
      transportType: 'DEFAULT',
    })
    const form = {
      ...{ title: 'fw', version: '1.0', tag: 'fw 1.0', type: 'FIRMWARE', deviceProfileId: profile.id, url: null },
      ...{ generateChecksum: true, isURL: false, additionalInfo: { description: '' }, checksum: '' },
    }
    const made = await tenant.post<Row>('/api/otaPackage', form)
    const bytes = Buffer.from('firmware')
    const checksum = createHash('sha256').update(bytes).digest('hex')
    const body = new FormData()
    body.set('file', new Blob([bytes]), 'fw.bin')
    const upload = await fetch(`${millrace.url}/api/otaPackage/${made.id.id}?checksumAlgorithm=SHA256`, {
      ...{ method: 'POST', body, headers: { 'x-authorization': `Bearer ${tenant.token}` } },
    })
    const uploaded = (await upload.json()) as Row
    assert.deepEqual([upload.status, uploaded['checksum'], uploaded['hasData']], [200, checksum, true])
    const columns = ['createdTime', 'title', 'version', 'tag', 'type', 'url', 'fileName', 'dataSize', 'checksum']
    for (const column of columns)
      assert.equal((await tenant.get<PageOf>(`/api/otaPackages${tablePage(column)}`)).totalElements, 1, column)
    const ofProfile = await tenant.get<PageOf>(`/api/otaPackages/${profile.id.id}/FIRMWARE${tablePage('title')}`)
    assert.deepEqual(
      ofProfile.data.map(({ id }) => id),
      [made.id],
    )
    const info = await tenant.get<Row>(`/api/otaPackage/info/${made.id.id}`)
    const described = await tenant.post<Row>('/api/otaPackage', { ...info, additionalInfo: { description: 'changed' } })
    assert.deepEqual({ ...described, additionalInfo: null }, { ...info, additionalInfo: null })
    const read = await tenant.get<Row>(`/api/deviceProfile/${profile.id.id}`)
    const given = await tenant.post<Row>('/api/deviceProfile', { ...read, firmwareId: made.id })
    assert.deepEqual(given['firmwareId'], made.id)
    const device = await tenant.post<Row>('/api/device', {
      name: 'Packaged',
      deviceProfileId: profile.id,
      firmwareId: made.id,
      softwareId: null,
    })
    const whole = await tenant.get<Row>(`/api/device/info/${device.id.id}`)
    assert.equal((await tenant.post<Row>('/api/device', { ...whole, firmwareId: null }))['firmwareId'], null)
  })

  test('a dashboard for everybody: its link logs in a visitor, who sees values and writes nothing', async () => {
    const device = await tenant.post<Row>('/api/device', { name: 'Public' })
    await tenant.post(`/api/plugins/telemetry/DEVICE/${device.id.id}/timeseries/ANY`, { level: 5 })
    const made = await tenant.post<Row>('/api/dashboard', { title: 'Public', configuration: { widgets: {} } })
    const dashboard = await tenant.post<Row & { assignedCustomers: readonly { customerId: Ref; public: boolean }[] }>(
      `/api/customer/public/dashboard/${made.id.id}`,
    )
    await tenant.post(`/api/customer/public/device/${device.id.id}`)
    const [everybody] = dashboard.assignedCustomers
    assert.equal(everybody?.public, true)
    const answer = await fetch(`${millrace.url}/api/auth/login/public`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ publicId: everybody?.customerId.id }),
    })
    const visitor = new FrontEnd(millrace, ((await answer.json()) as { token: string }).token)
    assert.equal((await visitor.get<Row>(`/api/dashboard/${made.id.id}`))['title'], 'Public')
    for (const path of [
      '/api/system/params',
      '/api/dashboard/serverTime',
      `/api/dashboard/info/${made.id.id}`,
      '/api/dashboard/maxDatapointsLimit',
    ])
      assert.equal((await visitor.rest.call('GET', path)).status, 200, path)
    const socket = await visitor.openSocket()
    const latestValues = [{ type: 'TIME_SERIES', key: 'level' }]
    const entityFilter = { type: 'deviceType', deviceTypes: ['default'], deviceNameFilter: '', resolveMultiple: true }
    const pageLink = { page: 0, pageSize: 1024, textSearch: null, dynamic: true, sortOrder: null }
    const query = { entityFilter, pageLink, keyFilters: [], entityFields: FIELDS, latestValues }
    socket.send({ type: 'ENTITY_DATA', cmdId: 1, query, latestCmd: { keys: latestValues } })
    const first = await socket.next<DataFrame>(1)
    assert.deepEqual(
      first.data?.data.map(({ entityId, latest }) => [entityId, latest?.['TIME_SERIES']?.['level']?.value]),
      [[device.id, '5']],
    )
    await tenant.post(`/api/plugins/telemetry/DEVICE/${device.id.id}/timeseries/ANY`, { level: 6 })
    assert.equal((await socket.next<DataFrame>(1)).update?.[0]?.latest?.['TIME_SERIES']?.['level']?.value, '6')
    assert.equal((await visitor.rest.call('POST', '/api/dashboard', { title: 'Mine' })).status, 403)
    socket.close()
  })
})
