/**
 * The pages of devices, as front ends call them: wizard, table, credentials, and the tabs of the details. Source: `rest-api.md` 3 to 6, 9, 10, 13.4, 15.5.
 */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { DEMO_CUSTOMER, DEMO_TENANT, login } from '../support/clients.ts'
import { FrontEnd, tablePage, type PageOf, type Ref, type Row } from '../support/front-end.ts'
import { startMillrace, type RunningMillrace } from '../support/start-millrace.ts'

const NULL_UUID = '13814000-1dd2-11b2-8080-808080808080'

interface Credentials extends Row {
  readonly credentialsType: string
  readonly credentialsId: string | null
  readonly credentialsValue: string | null
}

describe('the pages of devices', () => {
  let millrace: RunningMillrace
  let tenant: FrontEnd
  let customer: FrontEnd
  let customerId: Ref
  let tenantId: Ref

  before(async () => {
    millrace = await startMillrace()
    tenant = new FrontEnd(millrace, await login(millrace, DEMO_TENANT))
    customer = new FrontEnd(millrace, await login(millrace, DEMO_CUSTOMER))
    const me = await customer.get<{ customerId: Ref; tenantId: Ref }>('/api/auth/user')
    customerId = me.customerId
    tenantId = me.tenantId
  })
  after(() => millrace.stop())

  const wizard = (name: string, more: object = {}, credentials: object | null = {}) => ({
    device: {
      ...{ name, label: '', deviceProfileId: null, customerId: null },
      additionalInfo: { gateway: false, overwriteActivityTime: false, description: '' },
      ...more,
    },
    credentials,
  })

  test('the wizard makes a device of a profile for a customer, with credentials of each kind', async () => {
    const profile = await tenant.get<Row>('/api/deviceProfileInfo/default')
    const make = (name: string, credentials: object) =>
      tenant.post<Row>(
        '/api/device-with-credentials',
        wizard(name, { deviceProfileId: profile.id, customerId }, credentials),
      )
    const byToken = { credentialsType: 'ACCESS_TOKEN', credentialsId: 'WIZARD_TOKEN', credentialsValue: null }
    const device = await make('Wizard token', byToken)
    const info = await tenant.get<Row>(`/api/device/info/${device.id.id}`)
    assert.deepEqual(
      [info['customerTitle'], info['customerIsPublic'], info['deviceProfileName'], info['active']],
      ['Customer A', false, 'default', false],
    )
    const value = JSON.stringify({ clientId: null, userName: 'wizard', password: null })
    const basic = await make('Wizard basic', {
      ...{ credentialsType: 'MQTT_BASIC', credentialsId: null, credentialsValue: value },
    })
    const saved = await tenant.get<Credentials>(`/api/device/${basic.id.id}/credentials`)
    assert.deepEqual([saved.credentialsType, saved.credentialsId], ['MQTT_BASIC', 'wizard'])
    assert.deepEqual(JSON.parse(saved.credentialsValue ?? ''), { clientId: null, userName: 'wizard', password: null })
    // The dialog of credentials sends back all it read, with another kind.
    const changed = await tenant.post<Credentials>('/api/device/credentials', {
      ...saved,
      ...byToken,
      credentialsId: 'OTHER',
    })
    assert.deepEqual(
      [changed.credentialsType, changed.credentialsId, changed.credentialsValue, changed.version],
      ['ACCESS_TOKEN', 'OTHER', null, saved.version + 1],
    )
    const stale = await tenant.rest.call('POST', '/api/device/credentials', saved)
    assert.equal(stale.status, 409, stale.text)
    // Who skips the step of credentials saves the device alone.
    const plain = await tenant.post<Row>('/api/device', wizard('Wizard plain').device)
    assert.deepEqual([plain['customerId'], plain['type']], [{ entityType: 'CUSTOMER', id: NULL_UUID }, 'default'])
    for (const name of [device, basic, plain])
      assert.equal((await tenant.rest.call('DELETE', `/api/device/${name.id.id}`)).status, 200)
  })

  test('the table of a tenant and of a customer filters by what is chosen, and by nothing where that is empty', async () => {
    const profile = await tenant.post<Row>('/api/deviceProfile', {
      name: 'Table',
      type: 'DEFAULT',
      transportType: 'DEFAULT',
    })
    const device = await tenant.post<Row>('/api/device', { name: 'Table 100% one', deviceProfileId: profile.id })
    const tables = ['/api/tenant/deviceInfos', `/api/customer/${customerId.id}/deviceInfos`]
    await tenant.post(`/api/customer/${customerId.id}/device/${device.id.id}`)
    for (const table of tables) {
      const names = async (more: Readonly<Record<string, string>>) =>
        (await tenant.get<PageOf>(table + tablePage('name', more))).data.map(({ name }) => name)
      assert.deepEqual(await names({ deviceProfileId: profile.id.id, active: 'false' }), ['Table 100% one'])
      assert.deepEqual(await names({ deviceProfileId: profile.id.id, active: 'true' }), [])
      assert.ok((await names({ type: '', deviceProfileId: '', textSearch: '' })).length > 1)
      assert.deepEqual(await names({ textSearch: 'tABLE' }), ['Table 100% one'])
      for (const sort of ['createdTime', 'name', 'deviceProfileName', 'label', 'active', 'customerTitle'])
        assert.equal((await tenant.rest.call('GET', table + tablePage(sort))).status, 200, sort)
    }
    const made = await tenant.post<Row>(`/api/customer/public/device/${device.id.id}`)
    const shown = await tenant.get<Row>(`/api/device/info/${made.id.id}`)
    assert.deepEqual([shown['customerTitle'], shown['customerIsPublic']], ['Public', true])
    await tenant.rest.expect('DELETE', `/api/customer/device/${device.id.id}`)
    const counted = await tenant.get<number>(`/api/devices/count/FIRMWARE/${profile.id.id}`)
    assert.equal(counted, 1)
  })

  test('the dialog of connectivity shows how to send, and sees the device become active', async () => {
    const device = await tenant.post<Row>('/api/device', { name: 'Connected' })
    const commands = await tenant.get<Readonly<Record<string, Readonly<Record<string, unknown>>>>>(
      `/api/device-connectivity/${device.id.id}`,
    )
    assert.match(String(commands['http']?.['http']), /curl/)
    const socket = await tenant.openSocket()
    const target = { entityType: 'DEVICE', entityId: device.id.id }
    socket.send(
      { type: 'ATTRIBUTES', cmdId: 1, ...target, scope: 'SERVER_SCOPE', keys: 'active' },
      { type: 'TIMESERIES', cmdId: 2, ...target, scope: 'LATEST_TELEMETRY' },
    )
    interface Frame {
      readonly data: Readonly<Record<string, readonly (readonly [number, string])[]>>
    }
    assert.equal((await socket.next<Frame>(1)).data['active']?.[0]?.[1], 'false')
    await socket.next(2)
    const { credentialsId } = await tenant.get<Credentials>(`/api/device/${device.id.id}/credentials`)
    const sent = await fetch(`${millrace.url}/api/v1/${credentialsId}/telemetry`, {
      ...{ method: 'POST', headers: { 'content-type': 'application/json' }, body: '{"temperature":25}' },
    })
    assert.equal(sent.status, 200)
    assert.equal((await socket.next<Frame>(2)).data['temperature']?.[0]?.[1], '25')
    assert.equal((await socket.next<Frame>(1)).data['active']?.[0]?.[1], 'true')
    socket.close()
  })

  test('the tabs of the details: attributes, telemetry, alarms, events, relations, audit log, calculated fields', async () => {
    const device = await tenant.post<Row>('/api/device', { name: 'Details' })
    const { id } = device.id
    const path = `/api/plugins/telemetry/DEVICE/${id}`
    await tenant.post(`${path}/SERVER_SCOPE`, { a: 1, b: 'x', c: true })
    await tenant.post(`${path}/timeseries/LATEST_TELEMETRY`, { d: 2 })
    assert.deepEqual(
      (await tenant.get<string[]>(`${path}/keys/attributes/SERVER_SCOPE`)).filter((key) => key.length === 1).toSorted(),
      ['a', 'b', 'c'],
    )
    assert.deepEqual(await tenant.get(`${path}/keys/timeseries`), ['d'])
    await tenant.rest.expect('DELETE', `${path}/SERVER_SCOPE?keys=a,b`)
    const deletion = {
      keys: 'd',
      deleteAllDataForKeys: 'true',
      startTs: '',
      endTs: '',
      rewriteLatestIfDeleted: 'false',
      deleteLatest: 'true',
    }
    await tenant.rest.expect('DELETE', `${path}/timeseries/delete?${new URLSearchParams(deletion).toString()}`)
    assert.deepEqual(await tenant.get(`${path}/keys/timeseries`), [])

    const range = { startTime: '0', endTime: String(Date.now() + 60_000) }
    const alarm = await tenant.post<Row>('/api/alarm', { originator: device.id, type: 'Hot, dry', severity: 'MAJOR' })
    const alarms = async (more: Readonly<Record<string, string>>, sort = 'createdTime') =>
      (await tenant.get<PageOf>(`/api/v2/alarm/DEVICE/${id}${tablePage(sort, { ...range, ...more })}`)).totalElements
    assert.deepEqual(
      [await alarms({}), await alarms({ statusList: 'ACTIVE,UNACK', severityList: 'MAJOR,MINOR' })],
      [1, 1],
    )
    assert.deepEqual([await alarms({ statusList: 'CLEARED' }), await alarms({ assigneeId: tenantId.id })], [0, 0])
    for (const sort of ['createdTime', 'originatorName', 'type', 'severity', 'assignee', 'status', 'startTs'])
      assert.equal(await alarms({ statusList: '', severityList: '', typeList: '', assigneeId: '' }, sort), 1, sort)
    await tenant.get(`/api/alarm/info/${alarm.id.id}`)
    const blank = { searchStatus: '', status: 'ACTIVE_UNACK', fetchOriginator: 'true', ...range }
    assert.equal(
      (await tenant.get<PageOf>(`/api/alarm/DEVICE/${id}${tablePage('createdTime', blank)}`)).totalElements,
      1,
    )

    const events = async (filter: object) =>
      (
        await tenant.post<PageOf>(
          `/api/events/DEVICE/${id}${tablePage('createdTime', { ...range, tenantId: tenantId.id })}`,
          filter,
        )
      ).totalElements
    // A form whose fields are empty filters by none.
    const empty = { server: '', method: '', errorStr: '', event: '', status: '', isError: '', msgDirectionType: '' }
    const counts = { minMessagesProcessed: '', maxMessagesProcessed: null, minErrorsOccurred: '' }
    for (const eventType of ['ERROR', 'LC_EVENT', 'STATS', 'DEBUG_RULE_NODE', 'DEBUG_RULE_CHAIN'])
      assert.equal(await events({ ...empty, ...counts, eventType }), 0, eventType)

    const asset = await tenant.post<Row>('/api/asset', { name: 'Details', type: 'hall' })
    const relation = { from: asset.id, to: device.id, type: 'Contains', typeGroup: 'COMMON', additionalInfo: null }
    await tenant.post('/api/relation', relation)
    const to = await tenant.get<readonly Readonly<Record<string, unknown>>[]>(
      `/api/relations/info?toId=${id}&toType=DEVICE`,
    )
    assert.deepEqual(
      to.map(({ fromName, type }) => [fromName, type]),
      [['Details', 'Contains']],
    )
    // The dialog sends back what the table shows.
    await tenant.post('/api/relation', { ...to[0], additionalInfo: { note: 'changed' } })
    const query = {
      fromId: asset.id.id,
      fromType: 'ASSET',
      relationType: 'Contains',
      relationTypeGroup: 'COMMON',
      toId: id,
      toType: 'DEVICE',
    }
    const named = `/api/relation?${new URLSearchParams(query).toString()}`
    assert.deepEqual((await tenant.get<Row>(named))['additionalInfo'], { note: 'changed' })
    assert.equal((await tenant.rest.call('DELETE', named)).status, 200)

    for (const sort of ['createdTime', 'entityType', 'entityName', 'userName', 'actionType', 'actionStatus']) {
      const logs = await tenant.get<PageOf>(
        `/api/audit/logs/entity/DEVICE/${id}${tablePage(sort, { ...range, textSearch: '', actionTypes: '' })}`,
      )
      assert.ok(
        logs.data.some(({ actionType }) => actionType === 'ADDED'),
        sort,
      )
    }
    const fields = await tenant.get<PageOf>(`/api/DEVICE/${id}/calculatedFields${tablePage('name', { type: '' })}`)
    assert.equal(fields.totalElements, 0)
  })

  test('the widgets that control a device: calls one way and both, kept ones, and their table', async () => {
    const device = await tenant.post<Row>('/api/device', { name: 'Controlled' })
    const { id } = device.id
    const kept = {
      method: 'setValue',
      params: false,
      persistent: true,
      timeout: 5000,
      retries: null,
      requestUUID: null,
      additionalInfo: null,
    }
    const { rpcId } = await tenant.post<{ rpcId: string }>(`/api/rpc/oneway/${id}`, kept)
    const row = await tenant.get<Row>(`/api/rpc/persistent/${rpcId}`)
    assert.deepEqual([row['status'], row['deviceId']], ['QUEUED', device.id])
    const table = async (more: Readonly<Record<string, string>>) =>
      (await tenant.get<PageOf>(`/api/rpc/persistent/device/${id}${tablePage('createdTime', more)}`)).totalElements
    assert.deepEqual(
      [
        await table({}),
        await table({ rpcStatus: 'QUEUED' }),
        await table({ rpcStatus: 'EXPIRED' }),
        await table({ rpcStatus: '' }),
      ],
      [1, 1, 0, 1],
    )
    await tenant.rest.expect('DELETE', `/api/rpc/persistent/${rpcId}`)
    const late = await tenant.rest.call('POST', `/api/rpc/twoway/${id}`, {
      method: 'getValue',
      expirationTime: Date.now() - 1,
      persistent: false,
    })
    assert.equal(late.status, 504)
  })
})
