/**
 * The pages of administrators and of one's own account, as front ends call them: settings, queues, tenants, users, notifications, second factor,
 * phones; and those of parts that are not here. Source: `rest-api.md` 1, 11 to 13, 15.
 */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { DEMO_CUSTOMER, DEMO_SYSADMIN, DEMO_TENANT, RestClient, login } from '../support/clients.ts'
import { FrontEnd, tablePage, type PageOf, type Ref, type Row } from '../support/front-end.ts'
import { until } from '../support/until.ts'
import { startMillrace, type RunningMillrace } from '../support/start-millrace.ts'

describe('the pages of administrators and accounts', () => {
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

  test('settings of the platform are saved as they were read, each page by its own call', async () => {
    for (const key of ['general', 'mail', 'connectivity']) {
      const read = await sysadmin.get<Row>(`/api/admin/settings/${key}`)
      const saved = await sysadmin.post<Row>('/api/admin/settings', read)
      assert.deepEqual([saved.id, saved['jsonValue']], [read.id, read['jsonValue']], key)
      assert.deepEqual((await sysadmin.get<Row>(`/api/admin/settings/${key}`))['jsonValue'], read['jsonValue'], key)
    }
    for (const path of ['/api/admin/securitySettings', '/api/notification/settings']) {
      const read = await sysadmin.get<object>(path)
      assert.deepEqual(await sysadmin.post(path, read), read, path)
    }
    const jwt = await sysadmin.get<object>('/api/admin/jwtSettings')
    const pair = await sysadmin.post<{ token: string; refreshToken: string }>('/api/admin/jwtSettings', jwt)
    assert.equal((await new RestClient(millrace, pair.token).call('GET', '/api/auth/user')).status, 200)
    assert.deepEqual(await sysadmin.get('/api/admin/jwtSettings'), jwt)
    const unsaved = await sysadmin.rest.call('GET', '/api/admin/settings/sms')
    assert.deepEqual([unsaved.status, unsaved.json<{ errorCode: number }>().errorCode], [404, 32])
  })

  test('a queue of the form is saved as it was read', async () => {
    const [main] = (await sysadmin.get<PageOf>(`/api/queues${tablePage('name', { serviceType: 'TB-RULE-ENGINE' })}`))
      .data
    assert.ok(main)
    const { id: _id, createdTime: _time, topic: _topic, ...form } = main
    const additionalInfo = { customProperties: null, description: '', duplicateMsgToAllPartitions: false }
    const made = { ...form, name: 'Form', topic: 'tb_rule_engine.Form', additionalInfo, version: null }
    const queue = await sysadmin.post<Row>('/api/queues?serviceType=TB-RULE-ENGINE', made)
    const read = await sysadmin.get<Row>(`/api/queues/${queue.id.id}`)
    const changed = await sysadmin.post<Row>('/api/queues?serviceType=TB-RULE-ENGINE', { ...read, pollInterval: 30 })
    assert.deepEqual({ ...changed, version: 0 }, { ...read, pollInterval: 30, version: 0 })
    await sysadmin.rest.expect('DELETE', `/api/queues/${queue.id.id}`)
  })

  test('a tenant and its administrator, from the profile to the first log-in', async () => {
    const defaults = await sysadmin.get<Row>('/api/tenantProfileInfo/default')
    const tenantInfo = await sysadmin.post<Row>('/api/tenant', { title: 'Of a page', tenantProfileId: defaults.id })
    const table = await sysadmin.get<PageOf>(`/api/tenantInfos${tablePage('title', { textSearch: 'of a page' })}`)
    assert.deepEqual(
      table.data.map((row) => [row['title'], row['tenantProfileName']]),
      [['Of a page', defaults['name']]],
    )
    for (const sort of ['createdTime', 'title', 'email', 'country', 'city', 'tenantProfileName'])
      assert.equal((await sysadmin.rest.call('GET', `/api/tenantInfos${tablePage(sort)}`)).status, 200, sort)
    const user = {
      ...{ email: 'first@example.org', firstName: '', lastName: '', phone: '', authority: 'TENANT_ADMIN' },
      ...{ tenantId: tenantInfo.id, customerId: null },
      additionalInfo: { description: '', defaultDashboardId: null, defaultDashboardFullscreen: false },
    }
    const made = await sysadmin.post<Row>('/api/user?sendActivationMail=false', user)
    const link = await sysadmin.get<{ value: string; ttlMs: number }>(`/api/user/${made.id.id}/activationLinkInfo`)
    const activateToken = new URL(link.value).searchParams.get('activateToken')
    const activated = await fetch(`${millrace.url}/api/noauth/activate?sendActivationMail=false`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ activateToken, password: 'first of all' }),
    })
    const pair = (await activated.json()) as { token: string }
    const first = new FrontEnd(millrace, pair.token)
    assert.equal((await first.get<Row>(`/api/user/${made.id.id}`))['email'], 'first@example.org')
    assert.deepEqual((await first.get<PageOf>(`/api/tenant/deviceInfos${tablePage()}`)).data, [])
    assert.ok((await first.get<PageOf>(`/api/ruleChains${tablePage('name', { type: 'CORE' })}`)).totalElements > 0)
    const users = await sysadmin.get<PageOf>(`/api/tenant/${tenantInfo.id.id}/users${tablePage('email')}`)
    assert.deepEqual(
      users.data.map(({ id }) => id),
      [made.id],
    )
    // Log in as the user, and the switch that locks the account.
    await sysadmin.get(`/api/user/${made.id.id}/token`)
    await sysadmin.post(`/api/user/${made.id.id}/userCredentialsEnabled?userCredentialsEnabled=false`)
    const off = await sysadmin.get<Row & { additionalInfo: Readonly<Record<string, unknown>> }>(
      `/api/user/${made.id.id}`,
    )
    assert.deepEqual([off.additionalInfo['userCredentialsEnabled'], off.additionalInfo['userActivated']], [false, true])
    // The form sends back what the call put in beside: it is no setting of the user.
    await sysadmin.post('/api/user', { ...off, firstName: 'First' })
    await sysadmin.post(`/api/user/${made.id.id}/userCredentialsEnabled?userCredentialsEnabled=true`)
    const on = await sysadmin.get<Row & { additionalInfo: Readonly<Record<string, unknown>> }>(
      `/api/user/${made.id.id}`,
    )
    assert.deepEqual([on['firstName'], on.additionalInfo['userCredentialsEnabled']], ['First', true])
    await sysadmin.rest.expect('DELETE', `/api/tenant/${tenantInfo.id.id}`)
  })

  test('the hierarchy of a customer: users, devices, assets, dashboards, views, each table by its columns', async () => {
    const made = await tenant.post<Row>('/api/customer', {
      title: 'Hierarchy',
      additionalInfo: { description: '', homeDashboardId: null },
    })
    const { id } = made.id
    assert.deepEqual(await tenant.get(`/api/customer/${id}/shortInfo`), { title: 'Hierarchy', isPublic: false })
    const tables = {
      [`/api/customer/${id}/users`]: ['createdTime', 'firstName', 'lastName', 'email'],
      [`/api/customer/${id}/deviceInfos`]: ['createdTime', 'name', 'label', 'deviceProfileName'],
      [`/api/customer/${id}/assetInfos`]: ['createdTime', 'name', 'label', 'assetProfileName'],
      [`/api/customer/${id}/entityViewInfos`]: ['createdTime', 'name', 'type'],
      [`/api/customer/${id}/dashboards`]: ['createdTime', 'title'],
      '/api/customers': ['createdTime', 'title', 'email', 'country', 'city'],
      '/api/tenant/entityViewInfos': ['createdTime', 'name', 'type', 'customerTitle'],
    }
    for (const [path, columns] of Object.entries(tables))
      for (const column of columns) {
        const empty = { type: '', textSearch: '' }
        assert.equal(
          (await tenant.rest.call('GET', path + tablePage(column, empty))).status,
          200,
          `${path} by ${column}`,
        )
      }
    const mine = await customer.get<{ customerId: Ref }>('/api/auth/user')
    assert.equal(
      (await customer.rest.call('GET', `/api/customer/${mine.customerId.id}/dashboards${tablePage('title')}`)).status,
      200,
    )
    assert.equal((await customer.rest.call('GET', `/api/customer/${id}/dashboards${tablePage('title')}`)).status, 403)
  })

  test('the page of one’s own account: profile, settings, second factor, what one is told of', async () => {
    const { id } = await customer.get<Row>('/api/auth/user')
    const me = await customer.get<Row & { additionalInfo: object }>(`/api/user/${id.id}`)
    const additionalInfo = {
      ...me.additionalInfo,
      lang: 'uk_UA',
      homeDashboardId: null,
      homeDashboardHideToolbar: true,
    }
    const saved = await customer.post<Row & { additionalInfo: Readonly<Record<string, unknown>> }>('/api/user', {
      ...me,
      phone: '+380441234567',
      additionalInfo,
    })
    assert.deepEqual([saved['phone'], saved.additionalInfo['lang']], ['+380441234567', 'uk_UA'])
    await customer.rest.expect('PUT', '/api/user/settings', { openedMenuSections: ['/entities'] })
    const params = await customer.get<{ userSettings: object }>('/api/system/params')
    assert.deepEqual(params.userSettings, { openedMenuSections: ['/entities'] })
    await customer.rest.expect('PUT', '/api/user/settings/QUICK_LINKS', { links: ['devices'] })
    assert.deepEqual(await customer.get('/api/user/settings/QUICK_LINKS'), { links: ['devices'] })
    const wanted = await customer.get<object>('/api/notification/settings/user')
    assert.deepEqual(await customer.post('/api/notification/settings/user', wanted), wanted)
    assert.equal((await customer.rest.call('GET', '/api/2fa/account/settings')).status, 200)
    assert.deepEqual(await customer.get('/api/2fa/providers'), [])
    const policy = await fetch(`${millrace.url}/api/noauth/userPasswordPolicy`)
    assert.equal(policy.status, 200)
  })

  test('sets up a second factor in the dialogs, and logs in by it', async () => {
    // Nothing is there before somebody saves it: the form has what it begins with.
    assert.equal((await sysadmin.rest.call('GET', '/api/2fa/settings')).text, '')
    const offered = {
      useSystemTwoFactorAuthSettings: null,
      providers: [
        { providerType: 'TOTP', issuerName: 'Millrace' },
        { providerType: 'BACKUP_CODE', codesQuantity: 10 },
      ],
      ...{
        minVerificationCodeSendPeriod: 5,
        verificationCodeCheckRateLimit: null,
        maxVerificationFailuresBeforeUserLockout: 30,
      },
      ...{ totalAllowedTimeForVerification: 3600, enforceTwoFa: false, enforcedUsersFilter: null },
    }
    const saved = await sysadmin.post<object>('/api/2fa/settings', offered)
    assert.deepEqual(await sysadmin.post('/api/2fa/settings', saved), saved)
    assert.deepEqual(await tenant.get('/api/2fa/providers'), ['TOTP', 'BACKUP_CODE'])
    const generated = await tenant.post<{ authUrl: string }>('/api/2fa/account/config/generate?providerType=TOTP')
    assert.match(generated.authUrl, /^otpauth:\/\/totp\//)
    await tenant.post('/api/2fa/account/config/submit', generated)
    const wrong = await tenant.rest.call('POST', '/api/2fa/account/config?verificationCode=000000', generated)
    assert.equal(wrong.status, 400, wrong.text)
  })

  test('the center of notifications: recipients, templates, a request with its preview, rules', async () => {
    const configuration = {
      type: 'PLATFORM_USERS',
      description: '',
      usersFilter: { type: 'TENANT_ADMINISTRATORS', tenantsIds: null, tenantProfilesIds: null },
    }
    const target = await tenant.post<Row>('/api/notification/target', { name: 'Administrators', configuration })
    const action = {
      enabled: true,
      text: 'Open',
      linkType: 'LINK',
      link: '/devices',
      setEntityIdInState: true,
      dashboardId: null,
      dashboardState: null,
    }
    const web = {
      ...{ method: 'WEB', enabled: true, subject: 'To ${recipientEmail}', body: 'Text of ${recipientEmail}' },
      additionalConfig: { icon: { enabled: true, icon: 'info', color: '#757575' }, actionButtonConfig: action },
    }
    const template = {
      name: 'Told',
      notificationType: 'GENERAL',
      configuration: { deliveryMethodsTemplates: { WEB: web } },
    }
    const made = await tenant.post<Row>('/api/notification/template', template)
    const request = {
      targets: [target.id.id],
      templateId: made.id,
      template: null,
      additionalConfig: { sendingDelayInSec: 0 },
      info: null,
    }
    const preview = await tenant.post<{
      totalRecipientsCount: number
      processedTemplates: { WEB: { subject: string } }
    }>('/api/notification/request/preview?recipientsPreviewSize=20', request)
    assert.deepEqual(
      [preview.totalRecipientsCount, preview.processedTemplates.WEB.subject],
      [1, `To ${DEMO_TENANT.username}`],
    )
    await tenant.post('/api/notification/request', request)
    const page = `/api/notifications${tablePage('createdTime', { unreadOnly: 'false', deliveryMethod: 'WEB' })}`
    await until(async () => (await tenant.get<PageOf>(page)).totalElements > 0)
    const inbox = await tenant.get<PageOf>(page)
    assert.deepEqual(
      [inbox.data[0]?.['subject'], inbox.data[0]?.['text']],
      [`To ${DEMO_TENANT.username}`, `Text of ${DEMO_TENANT.username}`],
    )
    const rule = {
      ...{
        name: 'Of alarms',
        enabled: true,
        templateId: null,
        triggerType: 'ALARM',
        additionalConfig: { description: '' },
      },
      triggerConfig: {
        triggerType: 'ALARM',
        alarmTypes: null,
        alarmSeverities: null,
        notifyOn: ['CREATED'],
        clearRule: null,
      },
      recipientsConfig: { triggerType: 'ALARM', escalationTable: { 0: [target.id.id] } },
    }
    const alarmTemplate = await tenant.post<Row>('/api/notification/template', {
      ...template,
      name: 'Alarmed',
      notificationType: 'ALARM',
    })
    const saved = await tenant.post<Row>('/api/notification/rule', { ...rule, templateId: alarmTemplate.id })
    const read = await tenant.get<Row>(`/api/notification/rule/${saved.id.id}`)
    const off = await tenant.post<Row>('/api/notification/rule', { ...read, enabled: false })
    assert.deepEqual({ ...off, enabled: true, version: 0 }, { ...saved, version: 0 })
    const tables = {
      '/api/notification/targets': ['createdTime', 'name'],
      '/api/notification/templates': ['createdTime', 'name', 'notificationType'],
      '/api/notification/requests': ['createdTime', 'status'],
      '/api/notification/rules': ['createdTime', 'name', 'templateName', 'triggerType'],
    }
    for (const [path, columns] of Object.entries(tables))
      for (const column of columns) {
        const page = await tenant.get<PageOf>(path + tablePage(column, { notificationTypes: '', textSearch: '' }))
        assert.ok(page.totalElements > 0, `${path} by ${column}`)
      }
    assert.equal(
      (await tenant.get<PageOf>(`/api/notification/templates${tablePage('name', { notificationTypes: 'ALARM' })}`))
        .totalElements,
      1,
    )
    assert.deepEqual(
      (await tenant.get<Row[]>(`/api/notification/targets?ids=${target.id.id}`)).map(({ id }) => id),
      [target.id],
    )
  })

  test('a phone notes its session, and asks for what it shows', async () => {
    const headers = {
      'x-authorization': `Bearer ${customer.token}`,
      'X-Mobile-Token': 'token of a phone',
      'content-type': 'application/json',
    }
    const session = (method: string, body?: object) =>
      fetch(`${millrace.url}/api/user/mobile/session`, {
        method,
        headers,
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      })
    assert.equal((await session('GET')).status, 200)
    assert.equal((await session('POST', { fcmTokenTimestamp: 1_700_000_000_000 })).status, 200)
    assert.deepEqual(await (await session('GET')).json(), { fcmTokenTimestamp: 1_700_000_000_000 })
    assert.equal((await session('DELETE')).status, 200)
    for (const path of [
      ...[
        '/api/mobile/qr/settings',
        '/api/mobile/qr/deepLink',
        '/api/notifications/unread/count?deliveryMethod=MOBILE_APP',
      ],
      ...[`/api/notifications${tablePage('createdTime', { unreadOnly: 'true', deliveryMethod: 'MOBILE_APP' })}`],
      ...[
        `/api/v2/alarms${tablePage('createdTime', { statusList: 'ACTIVE', severityList: '', typeList: '', assigneeId: '' })}`,
      ],
      ...[`/api/alarm/types${tablePage('type')}`, `/api/deviceProfileInfos${tablePage('name')}`],
    ])
      assert.equal((await customer.rest.call('GET', path)).status, 200, path)
  })

  test('pages of parts that are not here say so in the form that every page understands', async () => {
    const unknown = '11111111-2222-4333-8444-555555555555'
    const tenants = [
      ['GET', '/api/admin/repositorySettings'],
      ['GET', '/api/admin/autoCommitSettings'],
      ['POST', '/api/admin/repositorySettings'],
      ['POST', '/api/admin/repositorySettings/checkAccess'],
      ['DELETE', '/api/admin/repositorySettings'],
      ['GET', '/api/entities/vc/branches'],
      ['GET', `/api/entities/vc/version${tablePage('timestamp', { branch: 'main' })}`],
      ['GET', `/api/entities/vc/version/DEVICE/${unknown}${tablePage('timestamp', { branch: 'main' })}`],
      ['POST', '/api/entities/vc/version'],
      ['GET', `/api/entities/vc/info/${unknown}/DEVICE/${unknown}`],
      ['GET', `/api/edge/${unknown}`],
      ['POST', '/api/edge'],
      ['GET', `/api/edges${tablePage('name')}`],
      ['GET', `/api/edge/${unknown}/devices${tablePage('name')}`],
      ['POST', '/api/trendz/settings'],
      ['POST', `/api/ruleChain/${unknown}/edgeTemplateRoot`],
      ['GET', `/api/edge/${unknown}/events${tablePage()}`],
    ] as const
    const systems = [
      ['POST', '/api/oauth2/client'],
      ['GET', `/api/oauth2/client/${unknown}`],
      ['POST', '/api/domain'],
      ['POST', '/api/mobile/qr/settings'],
      ['POST', '/api/mobile/app'],
      ['GET', `/api/mobile/bundle/info/${unknown}`],
      ['GET', `/api/domain/info/${unknown}`],
    ] as const
    const asked = [
      ...tenants.map((call) => [tenant, ...call] as const),
      ...systems.map((call) => [sysadmin, ...call] as const),
    ]
    for (const [front, method, path] of asked) {
      const answer = await front.rest.call(method, path, method === 'POST' ? {} : undefined)
      assert.ok([404, 405].includes(answer.status), `${method} ${path}: ${answer.status} ${answer.text}`)
      const refusal = answer.json<{ status: number; message: string; errorCode: number; timestamp: number }>()
      assert.deepEqual(
        [refusal.status, typeof refusal.message, typeof refusal.errorCode, typeof refusal.timestamp],
        [answer.status, 'string', 'number', 'number'],
        path,
      )
    }
  })
})
