/** The REST API as clients meet it, over real sockets. Error paths beside the happy ones. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { MillraceClient } from '../../clients/typescript/client.ts'
import { DEMO_CUSTOMER, DEMO_SYSADMIN, DEMO_TENANT, RestClient, login } from '../support/clients.ts'
import { startMillrace, type RunningMillrace } from '../support/start-millrace.ts'

const UNKNOWN_ID = '11111111-2222-4333-8444-555555555555'
const NULL_UUID = '13814000-1dd2-11b2-8080-808080808080'
const T = 1_700_000_000_000

interface ErrorBody {
  readonly status: number
  readonly message: string
  readonly errorCode: number
  readonly timestamp: number
}

describe('the REST API', () => {
  let millrace: RunningMillrace
  let client: MillraceClient
  let tenant: RestClient
  let customer: RestClient
  let sysadmin: RestClient

  before(async () => {
    millrace = await startMillrace()
    const clientOf = async (account: typeof DEMO_TENANT) => new RestClient(millrace, await login(millrace, account))
    tenant = await clientOf(DEMO_TENANT)
    customer = await clientOf(DEMO_CUSTOMER)
    sysadmin = await clientOf(DEMO_SYSADMIN)
    client = new MillraceClient({ url: millrace.url })
    await client.login(DEMO_TENANT.username, DEMO_TENANT.password)
  })
  after(() => millrace.stop())

  const refused = async (
    client: RestClient,
    method: string,
    path: string,
    body: unknown,
    status: number,
    errorCode: number,
    message: string | RegExp,
  ) => {
    const answer = await client.call(method, path, body)
    const error = answer.json<ErrorBody>()
    assert.deepEqual([answer.status, error.status, error.errorCode], [status, status, errorCode], answer.text)
    if (typeof message === 'string') assert.equal(error.message, message)
    else assert.match(error.message, message)
    assert.ok(Math.abs(error.timestamp - Date.now()) < 60_000)
  }

  test('logs in, says who that is, refreshes, changes nothing on logout of another session', async () => {
    const call = (path: string, body: object) =>
      fetch(millrace.url + path, {
        method: 'POST',
        body: JSON.stringify(body),
        headers: { 'content-type': 'application/json' },
      })
    const pair = (await (await call('/api/auth/login', DEMO_TENANT)).json()) as { token: string; refreshToken: string }
    const me = (token: string, header = 'x-authorization') =>
      fetch(`${millrace.url}/api/auth/user`, { headers: { [header]: token } })
    for (const [token, header] of [
      [pair.token],
      [`Bearer ${pair.token}`],
      [`Bearer ${pair.token}`, 'authorization'],
    ] as const) {
      const answer = await me(token, header)
      assert.equal(answer.status, 200)
      assert.equal(((await answer.json()) as { email: string }).email, DEMO_TENANT.username)
    }
    const renewed = (await (await call('/api/auth/token', { refreshToken: pair.refreshToken })).json()) as {
      token: string
    }
    const logout = await fetch(`${millrace.url}/api/auth/logout`, {
      method: 'POST',
      headers: { 'x-authorization': `Bearer ${pair.token}` },
    })
    assert.equal(logout.status, 200)
    assert.equal((await me(pair.token)).status, 401)
    assert.equal((await me(renewed.token)).status, 200)
    for (const body of [{ ...DEMO_TENANT, extra: 1 }, {}, { username: ' ', password: 'x' }]) {
      const answer = await call('/api/auth/login', body)
      const error = (await answer.json()) as ErrorBody
      assert.deepEqual([answer.status, error.errorCode, error.message], [401, 10, 'Authentication failed'])
    }
    assert.equal((await fetch(`${millrace.url}/api/auth/login`)).status, 401)
  })

  test('creates, reads, lists, changes and deletes a device with its credentials', async () => {
    const device = await client.postDevice({
      accessToken: 'REST_TOKEN_1',
      body: { name: 'rest-1', label: 'l', additionalInfo: { n: 1 } },
    })
    assert.equal(device.id.entityType, 'DEVICE')
    assert.equal(device.customerId.id, NULL_UUID)
    const deviceId = device.id.id
    const credentials = await client.getDeviceByDeviceIdCredentials({ deviceId })
    assert.equal(credentials.credentialsId, 'REST_TOKEN_1')
    await client.postDeviceCredentials({ body: { ...credentials, credentialsId: 'REST_TOKEN_2' } })
    const changed = await client.postDevice({ body: { ...device, label: 'new' } })
    assert.deepEqual([changed.label, changed.version], ['new', device.version + 1])
    const overtaken = { status: 409, errorCode: 35, message: /already changed by someone else/ }
    await assert.rejects(client.postDevice({ body: device }), overtaken)
    const page = await client.getTenantDevices({ pageSize: 1, page: 0, textSearch: 'REST-1' })
    assert.deepEqual([page.data.map(({ name }) => name), page.totalElements, page.hasNext], [['rest-1'], 1, false])
    assert.equal((await client.getTenantDevices({ deviceName: 'rest-1' })).id.id, deviceId)
    assert.equal(await client.deleteDeviceByDeviceId({ deviceId }), undefined)
    const gone = { status: 404, errorCode: 32, message: `Device with id [${deviceId}] is not found` }
    await assert.rejects(client.getDeviceByDeviceId({ deviceId }), gone)
  })

  test('refuses devices that cannot be, and leaves nothing of them', async () => {
    const device = await tenant.expect<{ id: { id: string } }>('POST', '/api/device?accessToken=TAKEN_TOKEN', {
      name: 'taken',
    })
    await refused(tenant, 'POST', '/api/device', { name: 'taken' }, 400, 31, 'Device with such name already exists!')
    await refused(tenant, 'POST', '/api/device', { name: ' ' }, 400, 31, 'Device name should be specified!')
    await refused(tenant, 'POST', '/api/device', {}, 400, 31, 'Device name should be specified!')
    await refused(tenant, 'POST', '/api/device', { name: '<b>x' }, 400, 31, 'Validation error: name is malformed')
    await refused(tenant, 'POST', '/api/device', '{"name":', 400, 31, /^JSON parse error/)
    await refused(tenant, 'POST', '/api/device', '', 400, 31, /body is missing/)
    await refused(tenant, 'POST', '/api/device', { name: { first: 5 } }, 400, 31, /name/)
    await refused(
      tenant,
      'POST',
      '/api/device',
      { id: { id: UNKNOWN_ID }, name: 'x' },
      404,
      32,
      `Device with id [${UNKNOWN_ID}] is not found`,
    )
    await refused(
      tenant,
      'POST',
      '/api/device?accessToken=TAKEN_TOKEN',
      { name: 'other' },
      400,
      31,
      /already assigned to another device/,
    )
    await refused(
      tenant,
      'GET',
      '/api/tenant/devices?deviceName=other',
      undefined,
      404,
      32,
      "Requested item wasn't found!",
    )
    await refused(tenant, 'GET', '/api/device/nonsense', undefined, 400, 31, 'Invalid UUID string: nonsense')
    await tenant.expect('DELETE', `/api/device/${device.id.id}`)
  })

  test('stores, shows, aggregates and deletes telemetry', async () => {
    const device = await tenant.expect<{ id: { id: string } }>('POST', '/api/device', { name: 'series' })
    const path = `/api/plugins/telemetry/DEVICE/${device.id.id}`
    const points = [1, 2.5, 4].map((value, index) => ({
      ts: T + index * 1000,
      values: { v: value, text: `t${index}` },
    }))
    assert.equal((await tenant.call('POST', `${path}/timeseries/ANY`, points)).status, 200)
    assert.equal(
      (await tenant.call('POST', `${path}/timeseries/ANY`, `{"ts":${T},"values":{"big":9007199254740993,"d":2.0}}`))
        .status,
      200,
    )
    const read = async (query: string) => (await tenant.call('GET', `${path}/values/timeseries?${query}`)).text
    const range = `startTs=${T}&endTs=${T + 3000}`
    assert.equal(
      await read('keys=v,big,d&useStrictDataTypes=true'),
      `{"v":[{"ts":${T + 2000},"value":4}],"big":[{"ts":${T},"value":9007199254740993}],"d":[{"ts":${T},"value":2.0}]}`,
    )
    assert.equal(
      await read(`keys=v,none&${range}&limit=2`),
      `{"v":[{"ts":${T + 2000},"value":"4"},{"ts":${T + 1000},"value":"2.5"}]}`,
    )
    assert.equal(
      await read(`keys=v&${range}&limit=1&orderBy=asc&useStrictDataTypes=true`),
      `{"v":[{"ts":${T},"value":1}]}`,
    )
    assert.equal(await read(`keys=v&${range}&agg=AVG&interval=3000`), `{"v":[{"ts":${T + 1500},"value":"2.5"}]}`)
    assert.match(await read('keys=absent'), /^\{"absent":\[\{"ts":\d+,"value":null\}\]\}$/)
    assert.deepEqual((JSON.parse((await tenant.call('GET', `${path}/keys/timeseries`)).text) as string[]).toSorted(), [
      'big',
      'd',
      'text',
      'v',
    ])
    assert.equal(
      (await tenant.call('DELETE', `${path}/timeseries/delete?keys=v&startTs=${T}&endTs=${T + 1000}`)).status,
      200,
    )
    assert.equal(await read(`keys=v&${range}&agg=COUNT&interval=3000`), `{"v":[{"ts":${T + 1500},"value":"2"}]}`)
    const texts: Readonly<Record<string, string>> = {
      [`GET ${path}/values/timeseries?keys=v&startTs=0&endTs=${T}&agg=AVG&interval=1000`]:
        'Incorrect TsKvQuery. Number of intervals is to high',
      [`GET ${path}/values/timeseries?keys=v&${range}&limit=0`]: 'Page size must not be less than one',
      [`GET ${path}/values/timeseries?keys=v&${range}&orderBy=up`]: "Invalid value 'up' for orders given",
      [`DELETE ${path}/timeseries/delete?deleteAllDataForKeys=true`]: 'Empty keys: []',
      [`DELETE ${path}/timeseries/delete`]: 'Empty keys: []',
      [`DELETE ${path}/timeseries/delete?keys=v`]: 'When deleteAllDataForKeys is false',
      [`POST ${path}/timeseries/ANY`]: 'Unable to parse time series payload: Invalid JSON body!',
    }
    for (const [call, text] of Object.entries(texts)) {
      const [method = '', where = ''] = call.split(' ')
      const answer = await tenant.call(method, where, method === 'POST' ? '{' : undefined)
      assert.equal(answer.status, 400)
      assert.ok(answer.text.startsWith(text), answer.text)
    }
    await refused(tenant, 'GET', `${path}/values/timeseries?keys=v&${range}&agg=MEDIAN`, undefined, 400, 31, /MEDIAN/)
    await refused(tenant, 'GET', `${path}/values/timeseries?keys=v&startTs=x&endTs=1`, undefined, 400, 31, /startTs/)
  })

  test('aggregates by every function and interval type, ascending, whatever limit and order say', async () => {
    const device = await tenant.expect<{ id: { id: string } }>('POST', '/api/device', { name: 'aggregated' })
    const path = `/api/plugins/telemetry/DEVICE/${device.id.id}`
    const points = [
      { ts: T, values: { long: 3, mixed: 1, text: 'b' } },
      { ts: T + 999, values: { long: 4, mixed: 2.5, text: 'a' } },
      { ts: T + 2000, values: { long: -7, mixed: true, text: 'c' } },
    ]
    await tenant.expect('POST', `${path}/timeseries/ANY`, points)
    const read = async (query: string) =>
      (await tenant.call('GET', `${path}/values/timeseries?startTs=${T}&endTs=${T + 2500}&${query}`)).text
    const of = (agg: string) =>
      read(`keys=long,mixed,text&agg=${agg}&interval=1000&useStrictDataTypes=true&limit=1&orderBy=DESC`)
    const shown = (key: string, first: string, second: string) =>
      `"${key}":[{"ts":${T + 500},"value":${first}},{"ts":${T + 2250},"value":${second}}]`
    const FUNCTIONS: Readonly<Record<string, string>> = {
      MIN: `${shown('long', '3', '-7')},"mixed":[{"ts":${T + 500},"value":1.0}],${shown('text', '"a"', '"c"')}`,
      MAX: `${shown('long', '4', '-7')},"mixed":[{"ts":${T + 500},"value":2.5}],${shown('text', '"b"', '"c"')}`,
      AVG: [shown('long', '3.5', '-7.0'), shown('mixed', '1.75', '0.0'), shown('text', '0.0', '0.0')].join(','),
      SUM: [shown('long', '7', '-7'), shown('mixed', '3.5', '0'), shown('text', '0', '0')].join(','),
      COUNT: [shown('long', '2', '1'), shown('mixed', '2', '1'), shown('text', '2', '1')].join(','),
    }
    for (const [agg, expected] of Object.entries(FUNCTIONS)) assert.equal(await of(agg), `{${expected}}`, agg)
    for (const type of ['WEEK', 'WEEK_ISO', 'MONTH', 'QUARTER']) {
      const whole = `{"long":[{"ts":${T + 1250},"value":"3"}]}`
      assert.equal(await read(`keys=long&agg=COUNT&intervalType=${type}&timeZone=UTC`), whole, type)
    }
    const newestFirst = await read('keys=long&agg=NONE&interval=1000&limit=2')
    assert.equal(newestFirst, `{"long":[{"ts":${T + 2000},"value":"-7"},{"ts":${T + 999},"value":"4"}]}`)
    const alias = await tenant.call('GET', `${path}/values/timeseries/history?keys=long&startTs=${T}&endTs=${T + 1}`)
    assert.equal(alias.text, `{"long":[{"ts":${T},"value":"3"}]}`)
    await refused(
      tenant,
      'GET',
      `${path}/values/timeseries?keys=long&startTs=1&endTs=2&agg=avg`,
      undefined,
      400,
      31,
      /avg/,
    )
  })

  test('deletes a latest value or keeps it, and puts the newest older point in its place where asked', async () => {
    const device = await tenant.expect<{ id: { id: string } }>('POST', '/api/device', { name: 'forgetful' })
    const path = `/api/plugins/telemetry/DEVICE/${device.id.id}`
    const points = [1, 2, 3].map((value) => ({ ts: T + value, values: { kept: value, gone: value, older: value } }))
    await tenant.expect('POST', `${path}/timeseries/ANY`, points)
    const last = `startTs=${T + 3}&endTs=${T + 4}`
    const remove = (query: string) => tenant.expect('DELETE', `${path}/timeseries/delete?${query}`)
    await remove(`keys=kept&${last}&deleteLatest=false`)
    await remove(`keys=gone&${last}`)
    await remove(`keys=older&${last}&rewriteLatestIfDeleted=true`)
    const { text } = await tenant.call('GET', `${path}/values/timeseries`)
    assert.equal(text, `{"kept":[{"ts":${T + 3},"value":"3"}],"older":[{"ts":${T + 2},"value":"2"}]}`)
    await remove('keys=older&deleteAllDataForKeys=true')
    const history = await tenant.call('GET', `${path}/values/timeseries?keys=kept,gone,older&startTs=0&endTs=${T + 9}`)
    const two = `[{"ts":${T + 2},"value":"2"},{"ts":${T + 1},"value":"1"}]`
    assert.equal(history.text, `{"kept":${two},"gone":${two}}`)
  })

  test('keeps data of tenants, customers and users for those who may, and says what is not there', async () => {
    type User = { id: { id: string }; tenantId: { id: string }; customerId: { id: string } }
    const user = await tenant.expect<User>('GET', '/api/auth/user')
    const { customerId } = await customer.expect<User>('GET', '/api/auth/user')
    const denied = "You don't have permission to perform this operation!"
    const saves: readonly (readonly [RestClient, string, number, string])[] = [
      [tenant, `CUSTOMER/${customerId.id}`, 200, ''],
      [tenant, `USER/${user.id.id}`, 200, ''],
      [tenant, `TENANT/${user.tenantId.id}`, 403, denied],
      [sysadmin, `TENANT/${user.tenantId.id}`, 200, ''],
      [sysadmin, `CUSTOMER/${customerId.id}`, 403, 'System administrator is not allowed to perform this operation!'],
      [customer, `CUSTOMER/${customerId.id}`, 403, denied],
      [customer, `TENANT/${user.tenantId.id}`, 403, 'Customer user is not allowed to perform this operation!'],
      [tenant, `ASSET/${UNKNOWN_ID}`, 404, "Asset with requested id wasn't found!"],
      [tenant, `DASHBOARD/${UNKNOWN_ID}`, 404, "Dashboard with requested id wasn't found!"],
      [tenant, `ALARM/${UNKNOWN_ID}`, 404, "Alarm with requested id wasn't found!"],
      [tenant, `ENTITY_VIEW/${UNKNOWN_ID}`, 404, "Entity-view with requested id wasn't found!"],
    ]
    for (const [client, entity, status, text] of saves) {
      for (const what of ['timeseries/ANY', 'SERVER_SCOPE']) {
        const answer = await client.call('POST', `/api/plugins/telemetry/${entity}/${what}`, { site: 1 })
        assert.deepEqual([answer.status, answer.text], [status, text], `${entity}/${what}`)
      }
    }
    for (const [client, entity] of [
      [customer, `CUSTOMER/${customerId.id}`],
      [tenant, `TENANT/${user.tenantId.id}`],
    ] as const) {
      const found = await client.call('GET', `/api/plugins/telemetry/${entity}/values/timeseries?keys=site`)
      assert.match(found.text, /^\{"site":\[\{"ts":\d+,"value":"1"\}\]\}$/)
      const attributes = `/api/plugins/telemetry/${entity}/values/attributes/SERVER_SCOPE`
      assert.equal((await client.expect<unknown[]>('GET', attributes)).length, 1)
    }
  })

  test('keeps attributes in three scopes, and lets nobody but the device write its own', async () => {
    const device = await tenant.expect<{ id: { id: string } }>('POST', '/api/device', { name: 'attributed' })
    const path = `/api/plugins/telemetry/DEVICE/${device.id.id}`
    assert.equal((await tenant.call('POST', `${path}/SHARED_SCOPE`, '{"limit":20.0,"mode":"eco"}')).status, 200)
    assert.equal((await tenant.call('POST', `${path}/attributes/SERVER_SCOPE`, { site: 'x' })).status, 200)
    const own = await tenant.call('POST', `${path}/CLIENT_SCOPE`, { a: 1 })
    assert.deepEqual([own.status, own.text], [400, 'Invalid scope: CLIENT_SCOPE'])
    const shared = await tenant.call('GET', `${path}/values/attributes/SHARED_SCOPE?keys=limit,absent`)
    assert.match(shared.text, /^\[\{"lastUpdateTs":\d+,"key":"limit","value":20\.0\}\]$/)
    assert.equal((await tenant.call('GET', `${path}/SHARED_SCOPE?keys=limit`)).text, shared.text)
    const keys = await tenant.expect<string[]>('GET', `${path}/keys/attributes`)
    for (const key of ['limit', 'mode', 'site']) assert.ok(keys.includes(key))
    assert.equal((await tenant.call('DELETE', `${path}/SHARED_SCOPE?keys=limit`)).status, 200)
    assert.deepEqual(await tenant.expect('GET', `${path}/values/attributes/SHARED_SCOPE?keys=limit`), [])
    await refused(tenant, 'GET', `${path}/values/attributes/NO_SCOPE`, undefined, 400, 31, /NO_SCOPE/)
  })

  test('tells who may not from what is not', async () => {
    const { id } = await tenant.expect<{ id: { id: string } }>('POST', '/api/device', { name: 'private' })
    const permission = "You don't have permission to perform this operation!"
    await refused(customer, 'GET', `/api/device/${id.id}`, undefined, 403, 20, permission)
    await refused(customer, 'POST', '/api/device', { name: 'x' }, 403, 20, permission)
    await refused(sysadmin, 'GET', `/api/device/${id.id}`, undefined, 403, 20, permission)
    await refused(tenant, 'GET', '/api/tenants?pageSize=10&page=0', undefined, 403, 20, permission)
    const texts: readonly (readonly [RestClient, string, number, string])[] = [
      [customer, id.id, 403, permission],
      [sysadmin, id.id, 403, 'System administrator is not allowed to perform this operation!'],
      [tenant, UNKNOWN_ID, 404, "Device with requested id wasn't found!"],
    ]
    for (const [client, deviceId, status, text] of texts) {
      const answer = await client.call('GET', `/api/plugins/telemetry/DEVICE/${deviceId}/values/timeseries?keys=a`)
      assert.deepEqual([answer.status, answer.text], [status, text])
    }
  })

  test('answers paths and methods nobody serves, and preflights of other origins', async () => {
    await refused(tenant, 'GET', '/api/nope', undefined, 404, 32, 'No static resource api/nope.')
    await refused(tenant, 'GET', '/api/auth/user/', undefined, 404, 32, 'No static resource api/auth/user/.')
    await refused(tenant, 'PUT', '/api/device', {}, 405, 31, "Request method 'PUT' is not supported")
    const nobody = await fetch(`${millrace.url}/api/nope`)
    assert.equal(nobody.status, 401)
    const preflight = await fetch(`${millrace.url}/api/device`, {
      method: 'OPTIONS',
      headers: { origin: 'http://dashboard.example', 'access-control-request-headers': 'x-authorization' },
    })
    assert.equal(preflight.status, 200)
    assert.equal(preflight.headers.get('access-control-allow-origin'), 'http://dashboard.example')
    assert.equal(preflight.headers.get('access-control-allow-headers'), 'x-authorization')
  })

  test('shows its health, its figures, and a page that runs nothing', async () => {
    const health = await fetch(`${millrace.url}/health`)
    assert.deepEqual([health.status, ((await health.json()) as { status: string }).status], [200, 'UP'])
    assert.match(await (await fetch(`${millrace.url}/metrics`)).text(), /^process_resident_memory_bytes /m)
    const page = await fetch(millrace.url, { headers: { accept: 'text/html' } })
    assert.match(page.headers.get('content-security-policy') ?? '', /default-src 'none'/)
    assert.match(await page.text(), /DEMO_THERMOMETER/)
  })

  test('refuses bodies beyond its limit and stays alive', async () => {
    const answer = await fetch(`${millrace.url}/api/device`, {
      method: 'POST',
      body: Buffer.alloc(17 * 1024 * 1024, 0x20),
      headers: { 'x-authorization': 'Bearer x' },
    }).then(
      (response) => response.status,
      () => 'connection closed',
    )
    assert.ok(answer === 413 || answer === 'connection closed', String(answer))
    assert.equal((await fetch(`${millrace.url}/health`)).status, 200)
  })
})
