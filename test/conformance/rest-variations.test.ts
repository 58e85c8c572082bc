/**
 * What front ends and client libraries ask for beside the recorded cases: all rows at once, lists by each of their columns, pages that open
 * although parts of the reference are not here (`rest-api.md` 3.2, 5.1, 6, 8, 15.5, 15.6, 16), and what is wrong in the reference's words.
 */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { DEMO_CUSTOMER, DEMO_SYSADMIN, DEMO_TENANT, RestClient, login } from '../support/clients.ts'
import { startMillrace, type RunningMillrace } from '../support/start-millrace.ts'

interface Listed {
  readonly data: readonly { readonly name?: string; readonly title?: string }[]
  readonly hasNext: boolean
}
interface Refusal {
  readonly message: string
  readonly errorCode: number
}
interface Saved {
  readonly id: { readonly id: string }
}

describe('the REST API, varied', () => {
  let millrace: RunningMillrace
  let tenant: RestClient
  let customer: RestClient
  let sysadmin: RestClient
  let deviceId: string

  before(async () => {
    millrace = await startMillrace({ environment: { REST_MAX_PAGE_SIZE: '100' } })
    const clientOf = async (account: typeof DEMO_TENANT) => new RestClient(millrace, await login(millrace, account))
    tenant = await clientOf(DEMO_TENANT)
    customer = await clientOf(DEMO_CUSTOMER)
    sysadmin = await clientOf(DEMO_SYSADMIN)
    const device = await tenant.call('POST', '/api/device', { name: 'Varied', additionalInfo: { gateway: true } })
    deviceId = device.json<Saved>().id.id
  })
  after(() => millrace.stop())

  const refused = async (method: string, path: string, body: unknown, status: number, message: string | RegExp) => {
    const answer = await tenant.call(method, path, body)
    assert.equal(answer.status, status, `${method} ${path}: ${answer.text}`)
    const said = answer.json<Refusal>()
    if (typeof message === 'string') assert.equal(said.message, message)
    else assert.match(said.message, message)
  }

  test('gives all rows to who asks for the largest page there is, and refuses where that is too much', async () => {
    const all = '/api/tenant/devices?pageSize=2147483647&page=0'
    const page = (await tenant.call('GET', all)).json<Listed>()
    assert.deepEqual([page.data.length > 0, page.hasNext], [true, false])
    for (let made = 0; made <= 100; made += 1)
      assert.equal((await tenant.call('POST', '/api/asset', { name: `Varied ${made}` })).status, 200)
    await refused('GET', all.replace('devices', 'assets'), undefined, 400, /at most 100: ask for several pages/)
    await refused('GET', all.replace('page=0', 'page=1'), undefined, 400, /at most 100: ask for several pages/)
  })

  test('sorts by what the columns of front ends and the members of entities are called', async () => {
    const lists = {
      '/api/tenant/devices': ['tenantId', 'customerId', 'deviceProfileId', 'version', 'label', 'type'],
      '/api/tenant/assetInfos': ['assetProfileId', 'customerTitle', 'assetProfileName'],
      '/api/deviceProfiles': ['description', 'default', 'isDefault', 'provisionType', 'defaultQueueName'],
      '/api/assetProfiles': ['description', 'default', 'isDefault'],
      '/api/ruleChains': ['type', 'root', 'debugMode'],
      '/api/widgetTypes': ['widgetType', 'tenantId', 'deprecated', 'fqn'],
      '/api/widgetsBundles': ['tenantId', 'order', 'scada'],
      '/api/resource': ['resourceType', 'resourceSubType', 'resourceKey', 'fileName', 'tenantId'],
      '/api/otaPackages': ['contentType', 'deviceProfileId', 'version', 'checksumAlgorithm'],
      '/api/tenant/entityViewInfos': ['startTimeMs', 'endTimeMs'],
      '/api/users': ['authority', 'phone', 'customerId'],
      '/api/alarms': ['acknowledged', 'cleared', 'assigneeId', 'originatorType', 'originatorName', 'status'],
      '/api/calculatedFields': ['type', 'entityType'],
      '/api/alarm/rules': ['entityType'],
      '/api/notifications': ['type', 'subject', 'text', 'status'],
      '/api/notification/rules': ['triggerType', 'templateName', 'enabled'],
      [`/api/rpc/persistent/device/${deviceId}`]: ['status'],
    }
    for (const [path, properties] of Object.entries(lists))
      for (const property of properties) {
        const answer = await tenant.call('GET', `${path}?pageSize=10&page=0&sortProperty=${property}&sortOrder=desc`)
        assert.equal(answer.status, 200, `${path} by ${property}: ${answer.text}`)
      }
    await refused('GET', '/api/users?pageSize=1&page=0&sortProperty=password', undefined, 400, 'Invalid sort property')
  })

  test('finds settings of the platform under one id, whether somebody saved them or not', async () => {
    const path = '/api/admin/settings'
    const unsaved = await sysadmin.expect<Saved>('GET', `${path}/general`)
    const saved = await sysadmin.expect<Saved>('POST', path, unsaved)
    assert.deepEqual([saved.id, (await sysadmin.expect<Saved>('GET', `${path}/general`)).id], [unsaved.id, unsaved.id])
  })

  test('refuses in the reference’s words what is no JSON for a device, no type of node, no type of entity', async () => {
    for (const path of ['/api/rpc/oneway', '/api/plugins/rpc/twoway'])
      await refused('POST', `${path}/${deviceId}`, '{', 400, 'Invalid request body')
    await refused('GET', '/api/components/NOPE', undefined, 400, /^Invalid value 'NOPE'/)
    // The platform's own nodes have a type that the reference does not know.
    assert.equal((await tenant.call('GET', '/api/components/ANALYTICS')).status, 200)
    await refused('GET', '/api/components?componentTypes=FILTER,NOPE', undefined, 400, /^Invalid value 'NOPE'/)
    const search = { parameters: { rootId: deviceId, rootType: 'DEVICE', direction: 'FROM' }, relationType: 'Contains' }
    for (const [path, member] of [
      ['/api/devices', 'deviceTypes'],
      ['/api/assets', 'assetTypes'],
      ['/api/entityViews', 'entityViewTypes'],
    ] as const) {
      await refused('POST', path, search, 404, "Requested item wasn't found!")
      const none = await tenant.call('POST', path, { ...search, [member]: [] })
      assert.deepEqual([none.status, none.text], [200, '[]'])
    }
  })

  test('says of paths of parts that are not here that they are none, not that a word is no id', async () => {
    for (const path of [
      '/api/tenant/edge?edgeName=x',
      '/api/tenant/edges',
      '/api/ruleChain/autoAssignToEdgeRuleChains',
    ])
      await refused('GET', path, undefined, 404, `No static resource ${path.slice(1).split('?')[0]}.`)
  })

  test('reads bodies and tables that begin with the byte order mark of clients on Windows', async () => {
    assert.equal((await tenant.call('POST', '/api/asset', '\ufeff{"name":"Marked"}')).status, 200)
    const mapping = { columns: [{ type: 'NAME' }], delimiter: ',', update: true, header: false }
    await tenant.expect('POST', '/api/asset/bulk_import', { file: '\ufeffMarked too\r\n', mapping })
    for (const name of ['Marked', 'Marked too'])
      assert.equal((await tenant.call('GET', `/api/tenant/assets?assetName=${encodeURIComponent(name)}`)).status, 200)
  })

  test('reads to the end of time as clients in Java write it', async () => {
    const path = `/api/plugins/telemetry/DEVICE/${deviceId}`
    assert.equal((await tenant.call('POST', `${path}/timeseries/ANY`, { ts: 1000, values: { end: 1 } })).status, 200)
    const history = await tenant.call('GET', `${path}/values/timeseries?keys=end&startTs=0&endTs=9223372036854775807`)
    assert.deepEqual([history.status, history.text], [200, '{"end":[{"ts":1000,"value":"1"}]}'])
    const logs = await tenant.call('GET', '/api/audit/logs?pageSize=1&page=0&startTime=0&endTime=9223372036854775807')
    assert.deepEqual([logs.status, logs.json<Listed>().data.length], [200, 1], logs.text)
    const alarms = await tenant.call('GET', '/api/v2/alarms?pageSize=1&page=0&endTime=9223372036854775807')
    assert.equal(alarms.status, 200, alarms.text)
  })

  test('shows the template that a notification request brought along with its name', async () => {
    const configuration = { type: 'PLATFORM_USERS', usersFilter: { type: 'ALL_USERS' } }
    const target = await tenant.expect<Saved>('POST', '/api/notification/target', { name: 'Varied', configuration })
    const text = { WEB: { method: 'WEB', enabled: true, subject: 'Hi', body: 'Text' } }
    const template = { name: 'Own', notificationType: 'GENERAL', configuration: { deliveryMethodsTemplates: text } }
    await tenant.expect('POST', '/api/notification/request', { targets: [target.id.id], template })
    const { data } = await tenant.expect<{ readonly data: readonly { readonly template: unknown }[] }>(
      'GET',
      '/api/notification/requests?pageSize=1&page=0',
    )
    assert.deepEqual(data[0]?.template, template)
  })

  test('hands out the file that starts a gateway, to those who may read its credentials', async () => {
    const path = `/api/device-connectivity/gateway-launch/${deviceId}/docker-compose/download`
    const file = await tenant.call('GET', path)
    assert.equal(file.status, 200, file.text)
    assert.match(file.text, /TB_GW_ACCESS_TOKEN=\w{20}"/)
    assert.equal((await customer.call('GET', path)).status, 403)
  })

  test('opens the pages of a front end: every call is answered', async () => {
    const me = (await tenant.call('GET', '/api/auth/user')).json<Saved>()
    const dashboard = (await tenant.call('POST', '/api/dashboard', { title: 'Varied' })).json<Saved>().id.id
    const page = 'pageSize=10&page=0'
    const everybody = [
      ...[
        '/api/auth/user',
        '/api/system/params',
        '/api/system/info',
        '/api/user/settings',
        '/api/dashboard/serverTime',
      ],
      ...['/api/user/settings/general', '/api/user/settings/QUICK_LINKS', '/api/dashboard/maxDatapointsLimit'],
      ...['/api/dashboard/home', '/api/dashboard/home/info', '/api/edges/enabled', '/api/uiSettings/helpBaseUrl'],
      ...['/api/notifications/unread/count?deliveryMethod=WEB', `/api/notifications?${page}&unreadOnly=true`],
      ...['/api/mobile/qr/settings', '/api/widgetsBundles', `/api/widgetTypes?${page}`],
    ]
    const ofTenant = [
      ...[`/api/user/${me.id.id}`, '/api/user/dashboards', `/api/user/dashboards/${dashboard}/visit`, '/api/usage'],
      ...[`/api/dashboard/${dashboard}?includeResources=true`, `/api/dashboard/info/${dashboard}`],
      ...['/api/deviceProfileInfos', '/api/assetProfileInfos', '/api/tenant/deviceInfos', '/api/tenant/assetInfos'].map(
        (path) => `${path}?${page}&sortProperty=name&sortOrder=ASC`,
      ),
      ...['/api/deviceProfileInfo/default', '/api/device/types', '/api/asset/types', '/api/entityView/types'],
      ...['/api/components?componentTypes=ENRICHMENT,FILTER,TRANSFORMATION,ACTION,EXTERNAL,FLOW&ruleChainType=CORE'],
      ...[`/api/queues?serviceType=TB-RULE-ENGINE&${page}`, `/api/images?${page}&includeSystemImages=true`],
      ...['/api/admin/repositorySettings/exists', '/api/admin/autoCommitSettings/exists', '/api/trendz/settings'],
      ...['/api/ruleChain/tbelEnabled', `/api/tenant/dashboards?${page}`, '/api/tenant/dashboard/home/info'],
    ]
    const ofSystem = ['/api/admin/updates', '/api/admin/systemInfo', '/api/admin/featuresInfo', '/api/2fa/settings']
    const oauth = [
      ...[`/api/domain/infos?${page}`, `/api/oauth2/client/infos?${page}`, '/api/oauth2/config/template'],
      ...[`/api/oauth2/client/list?clientIds=${deviceId}`, '/api/oauth2/loginProcessingUrl', '/api/edqs/state'],
      ...[`/api/mobile/app?${page}`, `/api/mobile/bundle/infos?${page}`],
    ]
    const asked: [RestClient, string][] = [
      ...[tenant, customer, sysadmin].flatMap((client) =>
        everybody.map((path): [RestClient, string] => [client, path]),
      ),
      ...ofTenant.map((path): [RestClient, string] => [tenant, path]),
      ...[...ofSystem, ...oauth].map((path): [RestClient, string] => [sysadmin, path]),
    ]
    for (const [client, path] of asked) {
      const { status, text } = await client.call('GET', path)
      assert.equal(status, 200, `${path}: ${text}`)
    }
    const clients = await fetch(`${millrace.url}/api/noauth/oauth2Clients?platform=WEB`, { method: 'POST' })
    assert.deepEqual([clients.status, await clients.json()], [200, []])
    const app = await fetch(`${millrace.url}/api/noauth/mobile?pkgName=org.example&platform=ANDROID`)
    assert.deepEqual(await app.json(), { oAuth2ClientLoginInfos: [], storeInfo: null, versionInfo: null })
    assert.equal((await customer.call('GET', '/api/trendz/settings')).status, 200)
  })

  test('answers calls about the service of entity queries and the repository, of which there are none', async () => {
    const state = await sysadmin.expect('GET', '/api/edqs/state')
    assert.deepEqual(state, { edqsReady: null, syncStatus: null, apiMode: null })
    const asked = await sysadmin.call('POST', '/api/edqs/system/request', { syncRequest: {}, apiEnabled: true })
    assert.deepEqual([asked.status, asked.text], [200, ''])
    assert.equal((await tenant.call('GET', '/api/edqs/state')).status, 403)
    const repository = await tenant.expect('GET', '/api/admin/repositorySettings/info')
    assert.deepEqual(repository, { configured: false, readOnly: null })
    const url = await tenant.call('GET', '/api/oauth2/loginProcessingUrl')
    assert.equal(url.text, '"/login/oauth2/code/"')
  })
})
