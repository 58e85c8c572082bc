import assert from 'node:assert/strict'
import { afterEach, beforeEach, test } from 'node:test'
import { entityId } from '../../model/entity-id.ts'
import type { JsonObject } from '../../model/json.ts'
import type { Principal } from '../../model/principal.ts'
import { assets } from '../entities/asset.ts'
import { devices } from '../entities/device.ts'
import {
  notificationRequests,
  notificationRules,
  notificationTargets,
  notificationTemplates,
} from '../entities/notification.ts'
import { tenantProfiles } from '../entities/tenant-profile.ts'
import { openTestPlatform, type TestPlatform } from '../testkit.ts'
import type { TriggerType } from './rule-configs.ts'

let platform: TestPlatform
beforeEach(async () => {
  platform = await openTestPlatform()
})
afterEach(() => platform.close())

const declared = () => platform.services.declared

async function newTarget(usersFilter: JsonObject, by: Principal = platform.tenant): Promise<string> {
  const name = JSON.stringify(usersFilter).slice(0, 200)
  const configuration = { type: 'PLATFORM_USERS', usersFilter }
  return (await declared().of(notificationTargets).saveByUser(by, { name, configuration })).id
}

async function newRule(
  triggerType: TriggerType,
  text: string,
  triggerConfig: JsonObject,
  recipientsConfig: JsonObject,
  by: Principal = platform.tenant,
) {
  const web = { enabled: true, method: 'WEB', subject: triggerType, body: text }
  const template = await declared()
    .of(notificationTemplates)
    .saveByUser(by, {
      name: text,
      notificationType: triggerType,
      configuration: { deliveryMethodsTemplates: { WEB: web } },
    })
  return declared()
    .of(notificationRules)
    .saveByUser(by, { name: text, templateId: template.id, triggerType, triggerConfig, recipientsConfig })
}

/** What the inbox holds, by its words. */
async function told(user: Principal = platform.tenant): Promise<readonly unknown[]> {
  await platform.services.notifications.settled()
  const query = { page: 0, pageSize: 100, sortProperty: 'createdTime', sortOrder: 'ASC' } as const
  const { data } = await platform.services.notifications.inbox.page(user, false, query)
  return data.map(({ text }) => text).toSorted()
}

async function newAsset(name = 'pump'): Promise<string> {
  return (await declared().of(assets).saveByUser(platform.tenant, { name, type: 'pump' })).id
}

const raise = (assetId: string, severity: 'MAJOR' | 'CRITICAL' = 'MAJOR', type = 'Hot') =>
  platform.services.alarms.saveByUser(platform.tenant, { originator: entityId('ASSET', assetId), type, severity })

test('an alarm tells the first step at once and a later one when its time has come; the clear rule cancels the rest', async () => {
  const mine = await newTarget({ type: 'USER_LIST', usersIds: [platform.tenant.userId] })
  const theirs = await newTarget({ type: 'USER_LIST', usersIds: [platform.customer.userId] })
  await newRule(
    'ALARM',
    '${alarmType:upperCase} ${action} on ${alarmOriginatorName}: ${alarmSeverity}',
    { notifyOn: ['CREATED'], alarmTypes: ['Hot'], clearRule: { alarmStatuses: ['CLEARED'] } },
    { escalationTable: { 0: [mine], 60: [theirs], 3600: [theirs] } },
  )
  const asset = await newAsset()
  await raise(asset, 'MAJOR', 'Cold')
  const alarm = await raise(asset)
  assert.deepEqual(await told(), ['HOT created on pump: major'])
  assert.deepEqual(await told(platform.customer), [])
  platform.clock.time += 60_000
  platform.services.notifications.wake()
  assert.deepEqual(await told(platform.customer), ['HOT created on pump: major'])
  await platform.services.alarms.clearByUser(platform.tenant, alarm.id)
  assert.deepEqual(await told(), ['HOT cleared on pump: major', 'HOT created on pump: major'])
  assert.equal(await declared().of(notificationRequests).count(platform.tenantId, { status: 'SCHEDULED' }), 0)
})

test('alarms of rule chains, of another severity and severities that change are told as the rule says', async () => {
  const mine = await newTarget({ type: 'USER_LIST', usersIds: [platform.tenant.userId] })
  await newRule(
    'ALARM',
    '${action} ${alarmSeverity}',
    { notifyOn: ['SEVERITY_CHANGED', 'ACKNOWLEDGED'], alarmSeverities: ['CRITICAL'] },
    { escalationTable: { 0: [mine] } },
  )
  const originator = entityId('ASSET', await newAsset())
  const { alarms } = platform.services
  await alarms.createOrUpdate(platform.tenantId, { originator, type: 'Hot', severity: 'MINOR' })
  await alarms.createOrUpdate(platform.tenantId, { originator, type: 'Hot', severity: 'MAJOR' })
  const { alarm } = await alarms.createOrUpdate(platform.tenantId, { originator, type: 'Hot', severity: 'CRITICAL' })
  await alarms.ackByUser(platform.tenant, alarm.id)
  assert.deepEqual(await told(), ['acknowledged critical', 'severity changed critical'])
})

test('who an alarm is assigned to hears it; comments are told with their words', async () => {
  const affected = await newTarget({ type: 'AFFECTED_USER' })
  const mine = await newTarget({ type: 'USER_LIST', usersIds: [platform.tenant.userId] })
  const assignment = { notifyOn: ['ASSIGNED'] }
  await newRule('ALARM_ASSIGNMENT', '${userEmail} ${action} to ${assigneeEmail}', assignment, { targets: [affected] })
  await newRule('ALARM_COMMENT', '${comment} (${action})', { notifyOnCommentUpdate: false }, { targets: [mine] })
  const alarm = await raise(await newAsset())
  const { alarms } = platform.services
  const { email, userId } = platform.tenant
  await alarms.assignByUser(platform.tenant, alarm.id, userId)
  await alarms.assignByUser(platform.tenant, alarm.id, null)
  const { id } = await alarms.saveCommentByUser(platform.tenant, alarm.id, { comment: { text: 'look' } })
  await alarms.saveCommentByUser(platform.tenant, alarm.id, { id, comment: { text: 'look again' } })
  assert.deepEqual(await told(), ['look (added)', `${email} assigned to ${email}`])
})

test('entities are told of as they come, change and go, of the types that the rule names', async () => {
  const mine = await newTarget({ type: 'TENANT_ADMINISTRATORS' })
  const text = '${entityType} ${entityName} ${actionType} by ${userTitle}'
  await newRule('ENTITY_ACTION', text, { entityTypes: ['ASSET'], created: true, deleted: true }, { targets: [mine] })
  const id = await newAsset('a')
  await declared().of(assets).saveByUser(platform.tenant, { id, name: 'b', type: 'pump' })
  await declared().of(assets).deleteByUser(platform.tenant, id)
  await declared().of(devices).saveByUser(platform.tenant, { name: 'other', type: 'default' })
  const lines = await told()
  assert.deepEqual(
    lines.map((line) => String(line).split(' by ')[0]),
    ['Asset a added', 'Asset b deleted'],
  )
})

test('a device that becomes active or falls silent is told to the users of its customer', async () => {
  const owners = await newTarget({ type: 'ORIGINATOR_ENTITY_OWNER_USERS' })
  const config = { notifyOn: ['INACTIVE', 'ACTIVE'] }
  await newRule('DEVICE_ACTIVITY', '${deviceName} is ${eventType}', config, { targets: [owners] })
  const { customerId } = platform.customer
  const draft = { name: 'meter', type: 'default', customerId }
  const device = await declared().of(devices).saveByUser(platform.tenant, draft)
  const write = async (active: boolean): Promise<void> => {
    const entries = [
      { key: 'active', type: 'BOOLEAN', value: active } as const,
      { key: active ? 'lastActivityTime' : 'inactivityAlarmTime', type: 'LONG', value: 5 } as const,
    ]
    const to = { tenantId: platform.tenantId, entity: entityId('DEVICE', device.id), scope: 'SERVER_SCOPE' } as const
    await platform.services.attributes.save({
      ...to,
      entries,
      sequence: 0,
      store: true,
      notify: true,
      notifyDevice: false,
    })
    await platform.services.notificationWatch.settled()
  }
  await write(true)
  assert.deepEqual(await told(platform.customer), ['meter is active'])
  await write(false)
  assert.deepEqual((await told(platform.customer)).toSorted(), ['meter is active', 'meter is inactive'])
  assert.deepEqual(await told(), [])
})

test('the system hears once when a tenant comes near a limit, and so do its administrators', async () => {
  const { systemAdministrator } = platform
  const affected = await newTarget({ type: 'AFFECTED_TENANT_ADMINISTRATORS' }, systemAdministrator)
  const config = { entityTypes: ['ASSET'], threshold: 0.5 }
  const text = '${percents}% of ${limit} ${entityType:lowerCase}s'
  await newRule('ENTITIES_LIMIT', text, config, { targets: [affected] }, systemAdministrator)
  const [profile] = await declared().of(tenantProfiles).findWhere([])
  assert.ok(profile !== undefined)
  const { limits } = profile.profileData
  await declared()
    .of(tenantProfiles)
    .saveByUser(systemAdministrator, {
      ...profile,
      profileData: { ...profile.profileData, limits: { ...limits, maxAssets: 4 } },
    })
  for (const name of ['one', 'two', 'three']) await newAsset(name)
  assert.deepEqual(await told(), ['50% of 4 assets'])
})

test('of a change that came to nothing the limit is told at the next one, and only once', async () => {
  const { systemAdministrator } = platform
  const affected = await newTarget({ type: 'AFFECTED_TENANT_ADMINISTRATORS' }, systemAdministrator)
  const config = { entityTypes: ['ASSET'], threshold: 0.5 }
  await newRule('ENTITIES_LIMIT', 'near', config, { targets: [affected] }, systemAdministrator)
  const [profile] = await declared().of(tenantProfiles).findWhere([])
  assert.ok(profile !== undefined)
  const limits = { ...profile.profileData.limits, maxAssets: 4 }
  await declared()
    .of(tenantProfiles)
    .saveByUser(systemAdministrator, { ...profile, profileData: { ...profile.profileData, limits } })
  await newAsset('one')
  await assert.rejects(newAsset('one'), { code: 'entities.NAME_TAKEN' })
  platform.clock.time += 10_001
  await newAsset('two')
  platform.clock.time += 10_001
  await newAsset('three')
  assert.deepEqual(await told(), ['near'])
})

test('a rule that is switched off, or of another tenant’s trigger, tells nothing', async () => {
  const mine = await newTarget({ type: 'TENANT_ADMINISTRATORS' })
  const config = { entityTypes: ['ASSET'], created: true }
  const rule = await newRule('ENTITY_ACTION', 'added', config, { targets: [mine] })
  await newAsset('a')
  const { id, name, templateId, triggerType, triggerConfig, recipientsConfig } = rule
  const draft = { id, name, templateId, triggerType, triggerConfig, recipientsConfig }
  await declared()
    .of(notificationRules)
    .saveByUser(platform.tenant, { ...draft, enabled: false })
  await newAsset('b')
  assert.deepEqual(await told(), ['added'])
  const system = newRule('RATE_LIMITS', 'x', {}, { targets: [mine] })
  await assert.rejects(system, { message: 'Trigger type RATE_LIMITS is not available' })
})

test('what sets off more than the profile allows is told up to that', async () => {
  const mine = await newTarget({ type: 'TENANT_ADMINISTRATORS' })
  await newRule('ENTITY_ACTION', 'added', { entityTypes: ['ASSET'], created: true }, { targets: [mine] })
  const [profile] = await declared().of(tenantProfiles).findWhere([])
  assert.ok(profile !== undefined)
  const limits = { ...profile.profileData.limits, tenantNotificationRequestsPerRuleRateLimit: '2:60' }
  await declared()
    .of(tenantProfiles)
    .saveByUser(platform.systemAdministrator, { ...profile, profileData: { ...profile.profileData, limits } })
  for (const name of ['one', 'two', 'three']) await newAsset(name)
  assert.deepEqual(await told(), ['added', 'added'])
})

test('a target or a template that a rule uses can not go', async () => {
  const mine = await newTarget({ type: 'TENANT_ADMINISTRATORS' })
  const rule = await newRule('ENTITY_ACTION', 'added', { created: true }, { targets: [mine] })
  await assert.rejects(declared().of(notificationTargets).deleteByUser(platform.tenant, mine), {
    message: 'Recipients group is being used in notification rule',
  })
  await assert.rejects(declared().of(notificationTemplates).deleteByUser(platform.tenant, rule.templateId), {
    message: 'Notification template is referenced by notification rule',
  })
})

test('configurations that say nothing, or of what is not there, are refused', async () => {
  const mine = await newTarget({ type: 'TENANT_ADMINISTRATORS' })
  const system = await newTarget({ type: 'SYSTEM_ADMINISTRATORS' }, platform.systemAdministrator)
  let count = 0
  const refused = (config: JsonObject, recipients: JsonObject, message: RegExp) =>
    assert.rejects(newRule('ALARM', `rule ${++count}`, config, recipients), { message })
  await refused({ notifyOn: [] }, { escalationTable: { 0: [mine] } }, /triggerConfig.notifyOn/)
  await refused({ notifyOn: ['CREATED'] }, { escalationTable: {} }, /recipientsConfig.escalationTable/)
  await refused({ notifyOn: ['CREATED'] }, { escalationTable: { soon: [mine] } }, /recipientsConfig.escalationTable/)
  await refused({ notifyOn: ['CREATED'] }, { escalationTable: { 0: [system] } }, /no notification target/)
})
