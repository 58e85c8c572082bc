/** Notifications as texts to the phones of their users. */
import assert from 'node:assert/strict'
import { afterEach, beforeEach, test } from 'node:test'
import { FEATURE, USAGE } from '../../engine/usage/usage.ts'
import type { JsonObject } from '../../model/json.ts'
import {
  notificationRequests,
  notificationTargets,
  notificationTemplates,
  type NotificationRequest,
} from '../entities/notification.ts'
import { users } from '../entities/user.ts'
import { testOutbound } from '../outbound/testkit.ts'
import { startTestCentre, type TestCentre } from '../sms/testkit.ts'
import { openTestPlatform, type TestPlatform } from '../testkit.ts'

let platform: TestPlatform
let centre: TestCentre
beforeEach(async () => {
  platform = await openTestPlatform({ outbound: testOutbound() })
  centre = await startTestCentre()
})
afterEach(async () => {
  await platform.close()
  centre.close()
})

const setUp = () =>
  platform.services.admin.save(platform.systemAdministrator, 'sms', {
    ...{ type: 'SMPP', protocolVersion: '3.4', host: '127.0.0.1', port: centre.port, systemId: 'me', password: 'p' },
  })

async function send(template: JsonObject): Promise<NotificationRequest> {
  const { declared, notifications } = platform.services
  const configuration = { type: 'PLATFORM_USERS', usersFilter: { type: 'TENANT_ADMINISTRATORS' } }
  const target = await declared
    .of(notificationTargets)
    .saveByUser(platform.tenant, { name: `all ${Math.random()}`, configuration })
  const { id } = await notifications.send(platform.tenant, {
    targets: [target.id],
    template: { notificationType: 'GENERAL', configuration: { deliveryMethodsTemplates: template } },
  })
  await notifications.settled()
  const request = await declared.of(notificationRequests).findAnywhere(id)
  assert.ok(request !== undefined)
  return request
}

const newUser = (email: string, phone: string) =>
  platform.services.declared.of(users).saveByUser(platform.tenant, { email, phone, authority: 'TENANT_ADMIN' })

test('each user with a phone is told in the words of the template; others are named with the reason', async () => {
  const { notifications } = platform.services
  assert.deepEqual(await notifications.deliveryMethods(), ['WEB'])
  await setUp()
  assert.deepEqual(await notifications.deliveryMethods(), ['WEB', 'SMS'])
  await newUser('ann@example.org', '+15005550001')
  await newUser('bob@example.org', ' +15005550002 ')
  await newUser('eve@example.org', '0500 555')
  const { stats } = await send({ SMS: { enabled: true, body: 'Hi ${recipientEmail}' } })
  assert.deepEqual(stats, {
    sent: { SMS: 2 },
    errors: {
      SMS: {
        [platform.tenant.email]: 'User does not have phone number',
        'eve@example.org': "'0500 555' is no phone number in the international form",
      },
    },
    ...{ totalErrors: 2, error: null },
  })
  assert.deepEqual(centre.texts.toSorted(), ['Hi ann@example.org', 'Hi bob@example.org'])
  const counts = platform.services.meter.take().get(platform.tenantId)
  assert.equal(counts?.[USAGE.sms], 2)
})

test('a tenant that may send no more sends none, and one in the inbox is there all the same', async () => {
  await setUp()
  await newUser('ann@example.org', '+15005550001')
  platform.services.meter.setDisabledOf(platform.tenantId, FEATURE.SMS)
  const { stats } = await send({ WEB: { enabled: true, body: 'B' }, SMS: { enabled: true, body: 'B' } })
  assert.deepEqual((stats as JsonObject)['sent'], { WEB: 2 })
  assert.equal((stats as JsonObject)['totalErrors'], 2)
  assert.deepEqual(centre.texts, [])
})

test('a process that ends sends the text that it has begun, and counts none as failed that is for the next one to send', async (t) => {
  await setUp()
  for (const number of [1, 2, 3]) await newUser(`user${number}@example.org`, `+1500555000${number}`)
  const { services } = platform
  const { settings } = services.admin
  const find = settings.find.bind(settings)
  let asked = 0
  let ended: Promise<void> | undefined
  t.mock.method(settings, 'find', (key: string) => {
    // Whether there is a provider has been asked twice before the first text needs to know which.
    if (key === 'sms' && ++asked === 3) ended = services.close()
    return find(key)
  })
  const request = await send({ SMS: { enabled: true, body: 'B' } })
  assert.ok(ended !== undefined)
  await ended
  assert.notEqual(centre.texts.length, 0)
  assert.doesNotMatch(JSON.stringify(request), /no SMS provider/)
})

test('a template for phones is at most 320 characters long', async () => {
  const templates = platform.services.declared.of(notificationTemplates)
  const save = (body: string) =>
    templates.saveByUser(platform.tenant, {
      ...{ name: `of ${body.length}`, notificationType: 'GENERAL' },
      configuration: { deliveryMethodsTemplates: { SMS: { enabled: true, body } } },
    })
  await save('x'.repeat(320))
  await assert.rejects(save('x'.repeat(321)), { message: /SMS\.body: cannot be longer than 320 chars/ })
})
