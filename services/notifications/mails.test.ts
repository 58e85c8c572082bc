import assert from 'node:assert/strict'
import { afterEach, beforeEach, describe, test } from 'node:test'
import type { Principal } from '../../model/principal.ts'
import { CommitDoubts } from '../changes/commit-doubts.ts'
import { notificationRequests, notificationTargets, type NotificationRequest } from '../entities/notification.ts'
import { users } from '../entities/user.ts'
import { mailSettingsSchema } from '../mail/mail-settings.ts'
import type { SendText } from '../sms/tenant-sms.ts'
import { openTestPlatform, testRandom, type TestPlatform } from '../testkit.ts'
import { Delivery } from './delivery.ts'
import { DueRequests } from './due-requests.ts'

let platform: TestPlatform
beforeEach(async () => {
  platform = await openTestPlatform({ start: false })
})
afterEach(() => platform.close())

const SETTINGS = mailSettingsSchema.parse({ mailFrom: 'a@example.org', smtpHost: '127.0.0.1', smtpPort: 25 })
const requests = () => platform.services.declared.of(notificationRequests)

/** One process that sends; the mails go to `mail`, texts to `text`. */
function sender(mail: (to: string) => Promise<void>, senders = 8, text?: SendText): DueRequests {
  const { services, entities, clock } = platform
  const { inbox, recipients, settings } = services.notifications
  const delivery = new Delivery({
    ...{ declared: services.declared, inbox, recipients, settings, clock, random: testRandom },
    mail: { settings: () => Promise.resolve(SETTINGS), send: (_settings, { to }) => mail(to) },
    texts: {
      isSetUp: () => Promise.resolve(text !== undefined),
      send: text ?? (() => Promise.reject(new Error('no texts here'))),
    },
  })
  const doubts = new CommitDoubts(clock)
  const report = (text: string): void => assert.fail(text)
  return new DueRequests({
    entities,
    requests: requests(),
    delivery,
    inbox,
    doubts,
    clock,
    report,
    maxSent: 100,
    senders,
  })
}

/** A request that is due, by mail or text to so many users more than there are. */
async function newRequest(
  more: number,
  tenant = platform.tenant,
  method: 'EMAIL' | 'SMS' = 'EMAIL',
): Promise<NotificationRequest> {
  const { services, entities, clock } = platform
  const tenantId = tenant.tenantId ?? ''
  for (let count = 0; count < more; count++)
    await services.declared.of(users).saveByUser(tenant, {
      ...{ email: `more${count}@${tenantId}.local`, phone: '+15005550001', authority: 'TENANT_ADMIN' },
    })
  const configuration = { type: 'PLATFORM_USERS', usersFilter: { type: 'TENANT_ADMINISTRATORS' } }
  const target = await services.declared.of(notificationTargets).saveByUser(tenant, { name: 'all', configuration })
  const methods = { [method]: { enabled: true, subject: 'Hi', body: 'Text' } }
  const request = requests().fresh(tenantId, {
    targets: [target.id],
    template: { notificationType: 'GENERAL', configuration: { deliveryMethodsTemplates: methods } },
    status: 'PROCESSING',
    dueTime: clock.now(),
  })
  await entities.write([requests().insert(request)])
  return request
}

const statsOf = async ({ id }: NotificationRequest) => (await requests().findAnywhere(id))?.stats

test('who closes waits for the mail that is under way alone; the next process goes on behind it', async () => {
  const request = await newRequest(3)
  const mails: string[] = []
  const began = Promise.withResolvers<undefined>()
  const end = Promise.withResolvers<undefined>()
  const first = sender((to) => {
    mails.push(to)
    if (mails.length === 2) began.resolve(undefined)
    return mails.length === 2 ? end.promise : Promise.resolve()
  })
  first.run()
  await began.promise
  const closed = first.close()
  end.resolve(undefined)
  await closed
  assert.equal(mails.length, 2)
  const second = sender((to) => Promise.resolve(void mails.push(to)))
  second.run()
  await second.settled()
  await second.close()
  assert.equal(new Set(mails).size, 4)
  assert.equal(mails.length, 4)
  assert.deepEqual(await statsOf(request), { sent: { EMAIL: 4 }, errors: {}, totalErrors: 0, error: null })
})

test('who took over a request goes on where it was noted; who lost it ends', async () => {
  const request = await newRequest(60)
  const mails: string[] = []
  const reached = Promise.withResolvers<undefined>()
  const stuck = Promise.withResolvers<undefined>()
  const first = sender((to) => {
    mails.push(to)
    if (mails.length === 55) reached.resolve(undefined)
    return mails.length === 55 ? stuck.promise : Promise.resolve()
  })
  first.run()
  await reached.promise
  platform.clock.time += 200_000
  const second = sender((to) => Promise.resolve(void mails.push(to)))
  second.run()
  await second.settled()
  await second.close()
  assert.equal(new Set(mails).size, 61)
  // The mails since the last note, no more.
  assert.equal(mails.length, 61 + 5)
  stuck.resolve(undefined)
  await first.settled()
  await first.close()
  assert.equal(mails.length, 61 + 5)
  assert.deepEqual(await statsOf(request), { sent: { EMAIL: 61 }, errors: {}, totalErrors: 0, error: null })
})

test('a mail server that never ends is left after a while', async () => {
  const request = await newRequest(0)
  const began = Promise.withResolvers<undefined>()
  const due = sender(() => {
    began.resolve(undefined)
    return Promise.withResolvers<undefined>().promise
  })
  due.run()
  await began.promise
  platform.clock.runTimers()
  await due.settled()
  await due.close()
  const stats = JSON.stringify(await statsOf(request))
  assert.match(stats, /mail server took longer than 45 s/)
})

test('so is a provider of texts, before another process sends the same text', async () => {
  const request = await newRequest(1, platform.tenant, 'SMS')
  const began = Promise.withResolvers<undefined>()
  const due = sender(
    () => Promise.resolve(),
    8,
    () => {
      began.resolve(undefined)
      return Promise.withResolvers<undefined>().promise
    },
  )
  due.run()
  await began.promise
  platform.clock.runTimers()
  await due.settled()
  await due.close()
  assert.match(JSON.stringify(await statsOf(request)), /SMS provider took longer than 45 s/)
})

describe('a mail server that hangs', () => {
  let other: Principal

  beforeEach(async () => {
    const { services, systemAdministrator, tenant } = platform
    const { id } = await services.tenants.saveByUser(systemAdministrator, { title: 'Other' })
    other = { ...tenant, tenantId: id }
  })

  const isOf = ({ tenantId }: Principal, to: string) => to.endsWith(`@${tenantId}.local`)

  test('does not hold up what another tenant sends meanwhile', async () => {
    const hung = Promise.withResolvers<undefined>()
    const began = Promise.withResolvers<undefined>()
    const told = Promise.withResolvers<undefined>()
    const due = sender((to) => {
      if (isOf(other, to)) return Promise.resolve(told.resolve(undefined))
      began.resolve(undefined)
      return hung.promise
    })
    await newRequest(1)
    due.run()
    await began.promise
    await newRequest(1, other)
    due.run()
    await told.promise
    hung.resolve(undefined)
    await due.close()
  })

  test('loses its turn to tenants that wait, and goes on when it is its tenant’s again', async () => {
    const order: string[] = []
    const first = Promise.withResolvers<undefined>()
    const began = Promise.withResolvers<undefined>()
    const due = sender((to) => {
      order.push(isOf(other, to) ? 'other' : 'own')
      began.resolve(undefined)
      return order.length === 1 ? first.promise : Promise.resolve()
    }, 1)
    const long = await newRequest(2)
    due.run()
    await began.promise
    await newRequest(1, other)
    due.run()
    await due.looked()
    platform.clock.time += 60_000
    first.resolve(undefined)
    await due.settled()
    await due.close()
    assert.deepEqual(order, ['own', 'other', 'own', 'own'])
    assert.deepEqual(await statsOf(long), { sent: { EMAIL: 3 }, errors: {}, totalErrors: 0, error: null })
  })
})
