import assert from 'node:assert/strict'
import { afterEach, beforeEach, test } from 'node:test'
import type { JsonObject } from '../../model/json.ts'
import { notificationRequests, notificationTargets, notificationTemplates } from '../entities/notification.ts'
import { NOTIFICATION_SETTINGS } from './settings.ts'
import { startTestMailServer } from '../mail/testkit.ts'
import { createServices } from '../create-services.ts'
import { openTestPlatform, testCatalogue, testRandom, testScripts, testSecrets, type TestPlatform } from '../testkit.ts'

let platform: TestPlatform
beforeEach(async () => {
  platform = await openTestPlatform()
})
afterEach(() => platform.close())

const notifications = () => platform.services.notifications
const inbox = () => notifications().inbox
const requests = () => platform.services.declared.of(notificationRequests)
const RESTARTED = {
  ...{ random: testRandom, catalogue: testCatalogue, scripts: testScripts, attributeCacheBytes: 0 },
  ...testSecrets(),
  report: (): void => undefined,
}
const PAGE = { page: 0, pageSize: 10 }
const newTarget = (name: string, usersFilter: JsonObject) =>
  platform.services.declared
    .of(notificationTargets)
    .saveByUser(platform.tenant, { name, configuration: { type: 'PLATFORM_USERS', usersFilter } })
const newTemplate = (subject: string) =>
  platform.services.declared.of(notificationTemplates).saveByUser(platform.tenant, {
    name: subject,
    configuration: { deliveryMethodsTemplates: { WEB: { enabled: true, subject, body: 'Hello ${recipientEmail}' } } },
  })

test('a request is in the inbox of each user of its targets once, and says what was sent', async () => {
  const all = await newTarget('all', { type: 'ALL_USERS' })
  const administrators = await newTarget('administrators', { type: 'TENANT_ADMINISTRATORS' })
  const template = await newTemplate('Hi')
  const request = await notifications().send(platform.tenant, {
    targets: [all.id, administrators.id],
    templateId: template.id,
  })
  assert.equal(request.status, 'PROCESSING')
  await notifications().settled()
  const sent = await requests().findAnywhere(request.id)
  assert.equal(sent?.status, 'SENT')
  assert.deepEqual(sent.stats, { sent: { WEB: 2 }, errors: {}, totalErrors: 0, error: null })
  const { data } = await inbox().page(platform.customer, true, PAGE)
  assert.deepEqual(
    data.map(({ subject, text, status }) => [subject, text, status]),
    [['Hi', `Hello ${platform.customer.email}`, 'SENT']],
  )
  assert.equal(await inbox().unreadCount(platform.tenant), 1)
  assert.equal(await inbox().unreadCount(platform.systemAdministrator), 0)
})

test('a target has what clients show of it', async () => {
  const save = (configuration: JsonObject) =>
    platform.services.declared.of(notificationTargets).saveByUser(platform.tenant, { name: 'target', configuration })
  const conversation = { type: 'PUBLIC_CHANNEL', id: 'C1', name: 'alarms' }
  for (const [configuration, member] of [
    [{ type: 'SLACK' }, 'conversation'],
    [{ type: 'SLACK', conversation: { ...conversation, id: '' } }, 'conversation.id'],
    [{ type: 'MICROSOFT_TEAMS', channelName: 'alarms' }, 'webhookUrl'],
  ] as const)
    await assert.rejects(save(configuration), {
      message: `Validation error: configuration.${member} must not be empty`,
    })
  await assert.rejects(save({ type: 'PIGEON' }), /one of PLATFORM_USERS, SLACK, MICROSOFT_TEAMS is expected/)
  await save({ type: 'SLACK', conversation })
})

test('a target of users or of a customer names some, of the tenant', async () => {
  const nameless: readonly (readonly [JsonObject, string])[] = [
    [{ type: 'USER_LIST', usersIds: [] }, 'usersIds'],
    [{ type: 'CUSTOMER_USERS' }, 'customerId'],
  ]
  for (const [usersFilter, member] of nameless)
    await assert.rejects(newTarget('nobody', usersFilter), {
      message: `Validation error: configuration.usersFilter.${member} must not be empty`,
    })
  const nobody = '11111111-2222-4333-8444-555555555555'
  await assert.rejects(newTarget('nobody', { type: 'USER_LIST', usersIds: [nobody] }), { status: 404 })
  await assert.rejects(newTarget('nobody', { type: 'CUSTOMER_USERS', customerId: nobody }), { status: 404 })
  await assert.rejects(newTarget('above', { type: 'TENANT_ADMINISTRATORS', tenantsIds: [nobody] }), { status: 403 })
  await newTarget('own', { type: 'CUSTOMER_USERS', customerId: platform.customer.customerId ?? '' })
})

test('a template keeps its type, and one that the system needs one of is there once', async () => {
  const service = platform.services.declared.of(notificationTemplates)
  const { id, configuration } = await newTemplate('Hi')
  const other = { id, name: 'Hi', configuration, notificationType: 'ALARM' } as const
  await assert.rejects(service.saveByUser(platform.tenant, other), { message: 'Notification type cannot be updated' })
  const asking = { name: 'more', configuration, notificationType: 'ENTITIES_LIMIT_INCREASE_REQUEST' } as const
  await service.saveByUser(platform.systemAdministrator, asking)
  await assert.rejects(service.saveByUser(platform.systemAdministrator, { ...asking, name: 'again' }), {
    message: 'There can only be one notification template of this type',
  })
})

test('only whose it is reads and deletes a notification', async () => {
  const mine = await newTarget('mine', { type: 'USER_LIST', usersIds: [platform.tenant.userId] })
  const template = await newTemplate('Hi')
  await notifications().send(platform.tenant, { targets: [mine.id], templateId: template.id })
  await notifications().settled()
  const { data } = await inbox().page(platform.tenant, false, PAGE)
  const id = JSON.stringify(data[0]?.['id']).slice(-38, -2)
  await assert.rejects(inbox().markRead(platform.customer, id), { status: 404 })
  await assert.rejects(inbox().delete(platform.customer, id), { status: 404 })
  await inbox().markRead(platform.tenant, id)
  assert.equal(await inbox().unreadCount(platform.tenant), 0)
  await inbox().delete(platform.tenant, id)
  assert.equal((await inbox().page(platform.tenant, false, PAGE)).totalElements, 0)
})

test('a tenant reaches no user of the system, and what is not there is refused', async () => {
  const service = platform.services.declared.of(notificationTargets)
  /** As versions before let a tenant save it. */
  const stored = async (name: string, usersFilter: JsonObject) => {
    await assert.rejects(newTarget(name, usersFilter), { status: 403 })
    const target = service.fresh(platform.tenantId, { name, configuration: { type: 'PLATFORM_USERS', usersFilter } })
    await platform.entities.write([service.insert(target)])
    return target
  }
  const system = await stored('system', { type: 'SYSTEM_ADMINISTRATORS' })
  const listed = await stored('listed', { type: 'USER_LIST', usersIds: [platform.systemAdministrator.userId] })
  const reached = await notifications().recipients.find(platform.tenantId, [system.id, listed.id])
  assert.deepEqual(reached, { users: [], countByTarget: { system: 0, listed: 0 } })
  const template = await newTemplate('Hi')
  const unknown = { targets: [platform.tenantId], templateId: template.id }
  await assert.rejects(notifications().send(platform.tenant, unknown), { status: 400 })
  await assert.rejects(notifications().send(platform.tenant, { targets: [system.id] }), { status: 400 })
  const delay = { sendingDelayInSec: -1 }
  const never = { targets: [system.id], templateId: template.id, additionalConfig: delay }
  await assert.rejects(notifications().send(platform.tenant, never), { code: 'notifications.DELAY' })
})

test('a delayed request waits in the table over a restart, is told when its time has come, and can be cancelled', async () => {
  const mine = await newTarget('mine', { type: 'USER_LIST', usersIds: [platform.tenant.userId] })
  const template = await newTemplate('Later')
  const draft = { targets: [mine.id], templateId: template.id, additionalConfig: { sendingDelayInSec: 60 } }
  const request = await notifications().send(platform.tenant, draft)
  const cancelled = await notifications().send(platform.tenant, draft)
  assert.equal(request.status, 'SCHEDULED')
  await assert.rejects(
    platform.services.declared.of(notificationTemplates).deleteByUser(platform.tenant, template.id),
    {
      message: 'Notification template is referenced by scheduled notification request',
    },
  )
  await assert.rejects(platform.services.declared.of(notificationTargets).deleteByUser(platform.tenant, mine.id), {
    message: 'Recipients group is referenced by scheduled notification request',
  })
  await notifications().deleteRequest(platform.tenant, cancelled.id)
  notifications().wake()
  await notifications().settled()
  assert.equal(await inbox().unreadCount(platform.tenant), 0)
  await platform.services.close()
  platform.clock.time += 60_000
  const restarted = createServices({ ...platform, ...RESTARTED })
  restarted.notifications.wake()
  await restarted.notifications.settled()
  await restarted.close()
  const { data } = await inbox().page(platform.tenant, true, PAGE)
  assert.deepEqual(
    data.map(({ subject }) => subject),
    ['Later'],
  )
  // With the request what it delivered goes.
  await notifications().deleteRequest(platform.tenant, request.id)
  assert.equal(await inbox().unreadCount(platform.tenant), 0)
})

test('who does not want a type by a way is not told by it', async () => {
  const all = await newTarget('all', { type: 'ALL_USERS' })
  const template = await newTemplate('Hi')
  const unwanted = { GENERAL: { enabled: true, enabledDeliveryMethods: { WEB: false } } }
  const saved = await notifications().settings.saveOfUser(platform.customer, { prefs: unwanted })
  assert.equal(saved.prefs.GENERAL?.enabledDeliveryMethods.WEB, false)
  assert.equal(saved.prefs.ALARM?.enabledDeliveryMethods.WEB, true)
  await notifications().send(platform.tenant, { targets: [all.id], templateId: template.id })
  await notifications().settled()
  assert.equal(await inbox().unreadCount(platform.customer), 0)
  assert.equal(await inbox().unreadCount(platform.tenant), 1)
})

test('a request is refused where a way of its template is not set up or reaches none of its targets', async () => {
  const all = await newTarget('all', { type: 'ALL_USERS' })
  const slack = await platform.services.declared.of(notificationTargets).saveByUser(platform.tenant, {
    name: 'slack',
    configuration: { type: 'SLACK', conversation: { type: 'PUBLIC_CHANNEL', id: 'C1', name: 'alarms' } },
  })
  const words = { enabled: true, subject: 'Hi', body: 'Text' }
  const send = (targetIds: readonly string[], deliveryMethodsTemplates: JsonObject) =>
    notifications().send(platform.tenant, {
      targets: targetIds,
      template: { notificationType: 'GENERAL', configuration: { deliveryMethodsTemplates } },
    })
  for (const [method, message] of [
    ['EMAIL', 'Mail server is not configured'],
    ['SMS', 'SMS provider is not configured'],
    ['SLACK', 'Slack is not configured'],
    ['MICROSOFT_TEAMS', 'Microsoft Teams is not served'],
    ['MOBILE_APP', 'Push-notifications to mobile are not configured'],
  ] as const)
    await assert.rejects(send([all.id, slack.id], { WEB: words, [method]: words }), { message, status: 400 })
  const nobody = { message: 'Recipients for web delivery method not chosen', status: 400 }
  await assert.rejects(send([slack.id], { WEB: words }), nobody)
  await assert.rejects(send([all.id], { WEB: { ...words, enabled: false } }), {
    message: 'No delivery methods to send notification with',
  })
  assert.equal(await requests().count(platform.tenantId, {}), 0)
  await send([slack.id, all.id], { WEB: words, SMS: { ...words, enabled: false } })
})

test('mails go to a mail server where one is set; without one the request says so', async () => {
  const mine = await newTarget('mine', { type: 'USER_LIST', usersIds: [platform.tenant.userId] })
  const template = {
    notificationType: 'GENERAL',
    configuration: {
      deliveryMethodsTemplates: {
        EMAIL: { enabled: true, subject: 'For ${recipientEmail:upperCase}', body: '<b>${recipientTitle}</b>' },
      },
    },
  }
  const draft = { targets: [mine.id], template }
  const statsOf = async ({ id }: { readonly id: string }) => {
    await notifications().settled()
    return (await requests().findAnywhere(id))?.stats
  }
  const sendAndRead = async () => statsOf(await notifications().send(platform.tenant, draft))
  const reason = 'Mail server is not configured'
  await assert.rejects(sendAndRead(), { message: reason })
  // As a rule makes it: nobody hears of a refusal.
  const made = requests().fresh(platform.tenantId, { ...draft, status: 'PROCESSING', dueTime: platform.clock.now() })
  await platform.entities.write([requests().insert(made)])
  notifications().wake()
  assert.deepEqual(await statsOf(made), { sent: {}, errors: { EMAIL: { '': reason } }, totalErrors: 1, error: null })
  const server = await startTestMailServer()
  try {
    const settings = { mailFrom: 'millrace@example.org', smtpHost: '127.0.0.1', smtpPort: server.port }
    await platform.services.admin.save(platform.systemAdministrator, 'mail', settings)
    assert.deepEqual(await sendAndRead(), { sent: { EMAIL: 1 }, errors: {}, totalErrors: 0, error: null })
    assert.match(server.mails[0] ?? '', new RegExp(`Subject: For ${platform.tenant.email.toUpperCase()}`))
    assert.match(server.mails[0] ?? '', /<b>/)
  } finally {
    await server.close()
  }
})

test('old notifications and requests go, those that wait stay', async () => {
  const mine = await newTarget('mine', { type: 'USER_LIST', usersIds: [platform.tenant.userId] })
  const template = await newTemplate('Old')
  const draft = { targets: [mine.id], templateId: template.id }
  await notifications().send(platform.tenant, draft)
  await notifications().settled()
  const waiting = { ...draft, additionalConfig: { sendingDelayInSec: 604_800 } }
  const scheduled = await notifications().send(platform.tenant, waiting)
  platform.clock.time += 31 * 86_400_000
  await notifications().cleanUp()
  assert.equal(await inbox().unreadCount(platform.tenant), 0)
  assert.deepEqual(
    (await requests().findAllBy(platform.tenantId, {})).map(({ id }) => id),
    [scheduled.id],
  )
})

test('a preview says whom a request would reach, and sends nothing', async () => {
  const all = await newTarget('all', { type: 'ALL_USERS' })
  const template = await newTemplate('Hi')
  const preview = await notifications().preview(platform.tenant, { targets: [all.id], templateId: template.id }, 1)
  assert.deepEqual(
    [preview['totalRecipientsCount'], preview['recipientsCountByTarget'], preview['processedTemplates']],
    [2, { all: 2 }, { WEB: { enabled: true, method: 'WEB', subject: 'Hi', body: `Hello ${platform.tenant.email}` } }],
  )
  assert.equal((await requests().page(platform.tenantId, {}, PAGE)).totalElements, 0)
})

test('who asks for more entities reaches the system administrators', async () => {
  await notifications().askForMore(platform.tenant, 'DEVICE')
  const { data } = await inbox().page(platform.systemAdministrator, true, PAGE)
  assert.equal(data[0]?.['type'], 'ENTITIES_LIMIT_INCREASE_REQUEST')
  assert.match(JSON.stringify(data[0]['text']), /maximum number of devices/)
})

test('who asks for more entities again is heard once a day, of each type', async () => {
  const count = async () => (await inbox().page(platform.systemAdministrator, true, PAGE)).totalElements
  await Promise.all([1, 2, 3].map(() => notifications().askForMore(platform.tenant, 'DEVICE')))
  await notifications().askForMore(platform.tenant, 'DEVICE')
  assert.equal(await count(), 1)
  await notifications().askForMore(platform.tenant, 'ASSET')
  assert.equal(await count(), 2)
  platform.clock.time += 86_400_000
  await notifications().askForMore(platform.tenant, 'DEVICE')
  assert.equal(await count(), 3)
})

test('a secret of the settings is neither shown nor stored as it is, and stays where a save leaves it out', async () => {
  const { settings } = notifications()
  const secret = 'xoxb-very-secret'
  const saved = await settings.save(platform.tenantId, {
    deliveryMethodsConfigs: { SLACK: { method: 'SLACK', botToken: secret } },
  })
  assert.deepEqual(saved, { deliveryMethodsConfigs: { SLACK: { method: 'SLACK' } } })
  const rows = platform.entities.rows(NOTIFICATION_SETTINGS, { taken: {}, overtaken: () => new Error('overtaken') })
  const stored = async () => String((await rows.find([]))?.['value'])
  const before = await stored()
  assert.ok(!before.includes(secret))
  await settings.save(platform.tenantId, { deliveryMethodsConfigs: { SLACK: { method: 'SLACK' } } })
  assert.equal(await stored(), before)
})

test('each template of a method has its name', async () => {
  const templates = platform.services.declared.of(notificationTemplates)
  const deliveryMethodsTemplates = { WEB: { enabled: true, body: 'b' }, EMAIL: { enabled: false } }
  const draft = { name: 'named', notificationType: 'GENERAL' as const, configuration: { deliveryMethodsTemplates } }
  const { configuration } = await templates.saveByUser(platform.tenant, draft)
  assert.deepEqual(configuration, {
    deliveryMethodsTemplates: {
      WEB: { enabled: true, body: 'b', method: 'WEB' },
      EMAIL: { enabled: false, method: 'EMAIL' },
    },
  })
})

test('a template that is in use has a text, by itself and in a request; a filter is one of those there are', async () => {
  const { declared } = platform.services
  const templateWith = (template: JsonObject) => ({
    notificationType: 'GENERAL' as const,
    configuration: { deliveryMethodsTemplates: { WEB: template, EMAIL: { enabled: false } } },
  })
  const refused = {
    code: 'notifications.CONFIGURATION',
    message: 'Validation error: configuration.deliveryMethodsTemplates.WEB.body must not be empty',
  }
  for (const template of [
    { enabled: true, subject: 'Hi' },
    { enabled: true, body: ' ' },
  ]) {
    const draft = { name: 'empty', ...templateWith(template) }
    await assert.rejects(declared.of(notificationTemplates).saveByUser(platform.tenant, draft), refused)
    const request = { targets: [], template: templateWith(template) }
    await assert.rejects(notifications().send(platform.tenant, request), refused)
  }
  const whole = { name: 'whole', ...templateWith({ enabled: true, body: 'Text' }) }
  assert.ok(await declared.of(notificationTemplates).saveByUser(platform.tenant, whole))
  const configuration = { type: 'PLATFORM_USERS', usersFilter: { type: 'STRANGERS' } }
  await assert.rejects(
    declared.of(notificationTargets).saveByUser(platform.tenant, { name: 'odd', configuration }),
    /configuration.usersFilter.type: one of ALL_USERS/,
  )
})
