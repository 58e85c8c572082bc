import assert from 'node:assert/strict'
import { afterEach, beforeEach, test } from 'node:test'
import type { JsonObject } from '../../model/json.ts'
import { notificationTargets, notificationTemplates } from '../entities/notification.ts'
import { openTestPlatform, type TestPlatform } from '../testkit.ts'

let platform: TestPlatform
beforeEach(async () => {
  platform = await openTestPlatform()
})
afterEach(() => platform.close())

const notifications = () => platform.services.content.notifications
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
  assert.deepEqual(request.stats, { sent: { WEB: 2 }, errors: {}, totalErrors: 0, error: null })
  const { data } = await notifications().page(platform.customer, true, PAGE)
  assert.deepEqual(
    data.map(({ subject, text, status }) => [subject, text, status]),
    [['Hi', `Hello ${platform.customer.email}`, 'SENT']],
  )
  assert.equal(await notifications().unreadCount(platform.tenant), 1)
  assert.equal(await notifications().unreadCount(platform.systemAdministrator), 0)
})

test('only whose it is reads and deletes a notification', async () => {
  const mine = await newTarget('mine', { type: 'USER_LIST', usersIds: [platform.tenant.userId] })
  const template = await newTemplate('Hi')
  await notifications().send(platform.tenant, { targets: [mine.id], templateId: template.id })
  const { data } = await notifications().page(platform.tenant, false, PAGE)
  const id = JSON.stringify(data[0]?.['id']).slice(-38, -2)
  await assert.rejects(notifications().markRead(platform.customer, id), { status: 404 })
  await assert.rejects(notifications().delete(platform.customer, id), { status: 404 })
  await notifications().markRead(platform.tenant, id)
  assert.equal(await notifications().unreadCount(platform.tenant), 0)
  await notifications().delete(platform.tenant, id)
  assert.equal((await notifications().page(platform.tenant, false, PAGE)).totalElements, 0)
})

test('a tenant reaches no user of the system, and what is not there is refused', async () => {
  const system = await newTarget('system', { type: 'SYSTEM_ADMINISTRATORS' })
  const listed = await newTarget('listed', { type: 'USER_LIST', usersIds: [platform.systemAdministrator.userId] })
  assert.deepEqual(await notifications().recipientsOf(platform.tenantId, [system.id, listed.id]), [])
  const template = await newTemplate('Hi')
  const unknown = { targets: [platform.tenantId], templateId: template.id }
  await assert.rejects(notifications().send(platform.tenant, unknown), { status: 400 })
  await assert.rejects(notifications().send(platform.tenant, { targets: [system.id] }), { status: 400 })
  const later = { targets: [system.id], templateId: template.id, additionalConfig: { sendingDelayInSec: 5 } }
  await assert.rejects(notifications().send(platform.tenant, later), { code: 'notifications.DELAYED' })
})
