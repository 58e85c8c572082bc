import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type AddressInfo, type Socket } from 'node:net'
import { afterEach, beforeEach, test } from 'node:test'
import { entityId } from '../../model/entity-id.ts'
import type { JsonObject } from '../../model/json.ts'
import { USAGE, type UsageCounter } from '../../engine/usage/usage.ts'
import { onBothDatabases } from '../both-databases.testkit.ts'
import { createServices } from '../create-services.ts'
import { apiUsageStates } from '../entities/api-usage-state.ts'
import { assets } from '../entities/asset.ts'
import { notificationRules, notificationTargets, notificationTemplates } from '../entities/notification.ts'
import { tenantProfiles } from '../entities/tenant-profile.ts'
import { DEFAULT_LIMITS, type TenantLimits } from '../entities/tenant-limits.ts'
import { tenants } from '../entities/tenant.ts'
import { startTestMailServer } from '../mail/testkit.ts'
import { nextVisit, testVisits } from '../alarms/visits.testkit.ts'
import { nodeAlarms } from '../node-capabilities/alarms.ts'
import { nodeMail } from '../node-capabilities/mail.ts'
import { nodeTelemetry } from '../node-capabilities/telemetry.ts'
import { testOutbound } from '../outbound/testkit.ts'
import { testCatalogue, testRandom, testScripts, testSecrets, type TestPlatform } from '../testkit.ts'
import { meteredScripts } from './metered-scripts.ts'

const HOUR_MS = 3_600_000
/** Of the clock's time. */
const MONTH = Date.UTC(2023, 10)
const NEXT_MONTH = Date.UTC(2023, 11)

await onBothDatabases('the use of the API ', (open) => {
  let platform: TestPlatform
  beforeEach(async () => {
    platform = await open()
    await platform.services.usage.flush()
  })
  afterEach(() => platform.close())

  const state = async () => {
    const found = await platform.services.declared.of(apiUsageStates).findBy(platform.tenantId, {})
    assert.ok(found !== undefined)
    return found
  }
  /** The newest point of each key. */
  const series = async (): Promise<Readonly<Record<string, readonly [value: unknown, ts: number]>>> => {
    const { id } = await state()
    const { value } = await platform.timeSeries.latest(id)
    return Object.fromEntries(value.map((point) => [point.key, [point.value, point.ts] as const]))
  }
  const use = async (counter: UsageCounter, count: number): Promise<void> => {
    platform.services.meter.of(platform.tenantId).add(counter, count)
    await platform.services.usage.flush()
  }
  const limit = async (changed: Partial<TenantLimits>): Promise<void> => {
    const service = platform.services.declared.of(tenantProfiles)
    const [profile] = await service.findWhere([])
    assert.ok(profile !== undefined)
    const limits = { ...DEFAULT_LIMITS, ...changed }
    await service.saveByUser(platform.systemAdministrator, { ...profile, profileData: { limits } })
    await platform.services.usage.flush()
  }
  const tick = async (ms: number): Promise<void> => {
    platform.clock.time += ms
    platform.clock.runTimers()
    await platform.services.usage.flush()
  }
  const newAsset = async (name: string) =>
    entityId(
      'ASSET',
      (await platform.services.declared.of(assets).saveByUser(platform.tenant, { name, type: 'pump' })).id,
    )

  test('is a series for the month and one for the hour', async () => {
    const hour = platform.clock.time - (platform.clock.time % HOUR_MS)
    await use(USAGE.jsExecutions, 3)
    await use(USAGE.jsExecutions, 4)
    assert.deepEqual((await series())['jsExecutionCount'], [7, MONTH])
    assert.deepEqual((await series())['jsExecutionCountHourly'], [7, hour])
    platform.clock.time += HOUR_MS
    await use(USAGE.jsExecutions, 1)
    assert.deepEqual((await series())['jsExecutionCount'], [8, MONTH])
    assert.deepEqual((await series())['jsExecutionCountHourly'], [1, hour + HOUR_MS])
    assert.equal((await platform.services.usage.usedBy(platform.tenantId))[USAGE.jsExecutions], 8)
    assert.deepEqual(platform.reports, [])
  })

  test('is the sum over processes and survives a restart', async () => {
    const other = createServices({
      ...platform,
      ...{ random: testRandom, catalogue: testCatalogue, scripts: testScripts, attributeCacheBytes: 0 },
      ...testSecrets(),
      report: () => undefined,
    })
    other.meter.of(platform.tenantId).add(USAGE.emails, 2)
    platform.services.meter.of(platform.tenantId).add(USAGE.emails, 3)
    await Promise.all([platform.services.usage.flush(), other.usage.flush()])
    other.meter.of(platform.tenantId).add(USAGE.emails, 4)
    await other.close()
    assert.equal((await platform.services.usage.usedBy(platform.tenantId))[USAGE.emails], 9)
  })

  test('is counted again later where it could not be stored', async () => {
    const { usageCounts } = platform.entities
    const add = usageCounts.add.bind(usageCounts)
    usageCounts.add = () => Promise.reject(new Error('away'))
    await use(USAGE.jsExecutions, 3)
    assert.equal(platform.reports.length, 1)
    usageCounts.add = add
    await use(USAGE.jsExecutions, 1)
    assert.deepEqual((await series())['jsExecutionCount'], [4, MONTH])
  })

  test('is counted again later of every tenant, not of those alone whose group could not be stored', async () => {
    const { entities, services, tenantId } = platform
    const { usageCounts } = entities
    services.meter.forget(tenantId)
    for (let other = 0; other < 100; other++) services.meter.of(randomUUID()).add(USAGE.jsExecutions, 1)
    const add = usageCounts.add.bind(usageCounts)
    usageCounts.add = () => Promise.reject(new Error('away'))
    await use(USAGE.jsExecutions, 3)
    usageCounts.add = add
    await use(USAGE.jsExecutions, 1)
    assert.deepEqual((await series())['jsExecutionCount'], [4, MONTH])
  })

  test('beyond what a number holds stays at that, and holds up no other tenant', async () => {
    const { services, systemAdministrator, tenantId } = platform
    const other = await services.tenants.saveByUser(systemAdministrator, { title: 'Other' })
    for (let turn = 0; turn < 2; turn++) {
      // Points with the longest time to live, such as any device's message may ask for.
      services.meter.of(tenantId).add(USAGE.storageDataPointDays, 6e18)
      services.meter.of(other.id).add(USAGE.emails, 1)
      await services.usage.flush()
    }
    assert.deepEqual(platform.reports, [])
    assert.equal((await services.usage.usedBy(other.id))[USAGE.emails], 2)
    assert.deepEqual((await series())['storageDataPointsCount'], [Number.MAX_SAFE_INTEGER, MONTH])
  })

  test('of a group whose sums can not be read loses nothing of those behind, and is decided later', async () => {
    const { entities, services, tenantId } = platform
    const { usageCounts } = entities
    services.meter.forget(tenantId)
    for (let other = 0; other < 100; other++) services.meter.of(randomUUID()).add(USAGE.jsExecutions, 1)
    const of = usageCounts.of.bind(usageCounts)
    usageCounts.of = (ids) => {
      usageCounts.of = of
      return Promise.reject(new Error(`${ids.length} are away`))
    }
    await use(USAGE.jsExecutions, 3)
    assert.equal(platform.reports.length, 1)
    assert.deepEqual((await series())['jsExecutionCount'], [3, MONTH])
    await limit({ maxJSExecutions: 4 })
    usageCounts.of = () => {
      usageCounts.of = of
      return Promise.reject(new Error('away'))
    }
    await use(USAGE.jsExecutions, 1)
    await tick(HOUR_MS)
    assert.equal(services.meter.isDisabled(tenantId, 'JS'), true)
  })

  test('of a tenant that can not be decided leaves the others alone, and is decided later', async () => {
    const { services, systemAdministrator } = platform
    const { limits, meter } = services
    const made = await services.declared.of(tenants).saveByUser(systemAdministrator, { title: 'Other' })
    // In the order in which they are gone through.
    const [failing = '', other = ''] = [platform.tenantId, made.id].toSorted()
    const isDisabled = () => [failing, other].map((id) => meter.isDisabled(id, 'JS'))
    await limit({ maxJSExecutions: 1 })
    for (const id of [failing, other]) meter.of(id).add(USAGE.jsExecutions, 1)
    await services.usage.flush()
    assert.deepEqual(isDisabled(), [true, true])
    const of = limits.of.bind(limits)
    limits.of = (id) => (id === failing ? Promise.reject(new Error('away')) : of(id))
    await tick(NEXT_MONTH - platform.clock.time)
    assert.deepEqual(isDisabled(), [true, false])
    limits.of = of
    await tick(HOUR_MS)
    assert.deepEqual(isDisabled(), [false, false])
  })

  test('warns, ends a feature, and gives it back with a higher limit and with the next month', async () => {
    const { meter } = platform.services
    const isDisabled = () => meter.isDisabled(platform.tenantId, 'JS')
    await limit({ maxJSExecutions: 10 })
    assert.deepEqual((await series())['jsExecutionLimit']?.[0], 10)
    await use(USAGE.jsExecutions, 7)
    assert.equal((await state()).jsExecState, 'ENABLED')
    await use(USAGE.jsExecutions, 1)
    assert.deepEqual([(await state()).jsExecState, isDisabled()], ['WARNING', false])
    await use(USAGE.jsExecutions, 2)
    assert.deepEqual([(await state()).jsExecState, isDisabled()], ['DISABLED', true])
    assert.equal((await series())['jsExecutionApiState']?.[0], 'DISABLED')
    await limit({ maxJSExecutions: 100 })
    assert.deepEqual([(await state()).jsExecState, isDisabled()], ['ENABLED', false])
    await limit({ maxJSExecutions: 10 })
    assert.equal(isDisabled(), true)
    await tick(NEXT_MONTH - platform.clock.time)
    assert.deepEqual([(await state()).jsExecState, isDisabled()], ['ENABLED', false])
    assert.deepEqual((await series())['jsExecutionCount'], [0, NEXT_MONTH])
    assert.equal((await platform.services.usage.usedBy(platform.tenantId))[USAGE.jsExecutions], 0)
  })

  test('that is used up is known to a process that starts, and to others that run', async () => {
    const others = { random: testRandom, catalogue: testCatalogue, scripts: testScripts, attributeCacheBytes: 0 }
    const other = createServices({ ...platform, ...others, ...testSecrets(), report: () => undefined })
    await limit({ maxTransportMessages: 1 })
    await use(USAGE.transportMessages, 1)
    await other.usage.flush()
    assert.equal(other.meter.isDisabled(platform.tenantId, 'TRANSPORT'), true)
    await other.close()
    const later = createServices({ ...platform, ...others, ...testSecrets(), report: () => undefined })
    assert.equal(later.meter.isDisabled(platform.tenantId, 'TRANSPORT'), false)
    await later.usage.start()
    assert.equal(later.meter.isDisabled(platform.tenantId, 'TRANSPORT'), true)
    await later.close()
  })

  test('is told by a rule of the system and by mail', async () => {
    const { services, systemAdministrator, tenantId } = platform
    const mails = await startTestMailServer()
    const mail = { mailFrom: 'a@b.c', smtpProtocol: 'smtp', smtpHost: '127.0.0.1', smtpPort: mails.port, timeout: 5000 }
    await services.admin.settings.save(systemAdministrator, 'mail', mail)
    const tenant = await services.declared.of(tenants).findAnywhere(tenantId)
    await services.declared.of(tenants).saveByUser(systemAdministrator, { ...tenant, email: 'boss@acme.test' })
    const target = await services.declared.of(notificationTargets).saveByUser(systemAdministrator, {
      name: 'affected',
      configuration: { type: 'PLATFORM_USERS', usersFilter: { type: 'AFFECTED_TENANT_ADMINISTRATORS' } },
    })
    const body = '${feature} ${status}: ${currentValue}/${limit} ${unitLabel} of ${tenantName}'
    const web = { enabled: true, method: 'WEB', subject: 'x', body }
    const template = await services.declared.of(notificationTemplates).saveByUser(systemAdministrator, {
      ...{ name: 'x', notificationType: 'API_USAGE_LIMIT' },
      configuration: { deliveryMethodsTemplates: { WEB: web } },
    })
    const triggerConfig: JsonObject = { apiFeatures: ['ALARM'], notifyOn: ['WARNING', 'DISABLED'] }
    await services.declared.of(notificationRules).saveByUser(systemAdministrator, {
      ...{ name: 'x', templateId: template.id, triggerType: 'API_USAGE_LIMIT', triggerConfig },
      recipientsConfig: { targets: [target.id] },
    })
    await limit({ maxCreatedAlarms: 10, maxEmails: 1 })
    await use(USAGE.createdAlarms, 9)
    await use(USAGE.createdAlarms, 1)
    await use(USAGE.createdAlarms, 1)
    await use(USAGE.emails, 1)
    await services.notifications.settled()
    const query = { page: 0, pageSize: 10, sortProperty: 'createdTime', sortOrder: 'ASC' } as const
    const { data } = await services.notifications.inbox.page(platform.tenant, false, query)
    const title = tenant?.title ?? ''
    // What waits to be sent goes out first.
    await services.usage.close()
    assert.deepEqual(data.map(({ text }) => text).toSorted(), [
      `Alarms disabled: 10/10 alarm of ${title}`,
      `Alarms warning: 9/10 alarm of ${title}`,
    ])
    assert.deepEqual(
      mails.mails.map((text) => /^Subject: (.*)\r$/m.exec(text)?.[1]),
      ['Alarms is near its limit', 'Alarms is disabled', 'Email messages is disabled'],
    )
    await mails.close()
  })

  test('is stored while a mail server hangs', { timeout: 50_000 }, async (context) => {
    const { services, systemAdministrator, tenantId } = platform
    const sockets = new Set<Socket>()
    const silent = createServer((socket) => void sockets.add(socket))
    await once(silent.listen(0, '127.0.0.1'), 'listening')
    context.after(() => {
      silent.close()
      for (const socket of sockets) socket.destroy()
    })
    const { port } = silent.address() as AddressInfo
    const mail = { mailFrom: 'a@b.c', smtpProtocol: 'smtp', smtpHost: '127.0.0.1', smtpPort: port, timeout: 60_000 }
    await services.admin.settings.save(systemAdministrator, 'mail', mail)
    const tenant = await services.declared.of(tenants).findAnywhere(tenantId)
    await services.declared.of(tenants).saveByUser(systemAdministrator, { ...tenant, email: 'boss@acme.test' })
    await limit({ maxCreatedAlarms: 1 })
    await use(USAGE.createdAlarms, 1)
    await use(USAGE.emails, 2)
    assert.equal((await services.usage.usedBy(tenantId))[USAGE.emails], 2)
    for (const socket of sockets) socket.destroy()
  })

  test('that is used up refuses alarms, series, scripts and mails', async () => {
    const { services, tenantId, tenant } = platform
    const node = { tenantId, ruleNodeId: 'n', ruleNodeName: 'n', ruleChainId: 'c', ruleChainName: 'c' }
    const originator = await newAsset('pump')
    const draft = { originator, type: 'Hot', severity: 'MAJOR' } as const
    const alarms = nodeAlarms(services, testVisits(platform))(node)
    const raise = (type: string) =>
      alarms.createOrUpdate({ originator, type }, nextVisit(), () => ({ severity: 'MAJOR' }))
    const telemetry = nodeTelemetry(services, { owns: () => true })(node)
    const points = [{ key: 'a', type: 'LONG', value: 1, ts: 1 }] as const
    const save = (history = true) =>
      new Promise<Error | undefined>((resolve) =>
        telemetry.save(
          { tenantId, entity: originator, points, sequence: 0, ttlSeconds: 0, history, latest: true, notify: false },
          resolve,
        ),
      )
    const byUser = () => services.telemetry.saveByUser(tenant, originator, [{ ts: 1, entries: points }], 3 * 86_400)
    await raise('Hot')
    await save()
    await byUser()
    await services.usage.flush()
    const used = await services.usage.usedBy(tenantId)
    assert.deepEqual([used[USAGE.createdAlarms], used[USAGE.storageDataPointDays]], [1, 4])
    await limit({ maxCreatedAlarms: 1, maxDPStorageDays: 1, maxTbelExecutions: 1, maxEmails: 1 })
    const script = await meteredScripts(testScripts, services.meter).compile({
      ...{ language: 'TBEL', kind: 'filter', body: 'return true;', tenantId, ownerId: 'x' },
    })
    services.meter.of(tenantId).add(USAGE.tbelExecutions, 1)
    services.meter.of(tenantId).add(USAGE.emails, 1)
    await services.usage.flush()
    assert.equal((await raise('Hot'))?.result, 'updated')
    assert.equal(await raise('Cold'), undefined)
    await assert.rejects(services.alarms.saveByUser(tenant, { ...draft, type: 'Cold' }), { code: 'usage.ALARMS' })
    assert.match((await save())?.message ?? '', /^DB storage writes are disabled due to API limits!$/)
    assert.equal(await save(false), undefined)
    await assert.rejects(byUser(), { code: 'usage.STORAGE' })
    const refused: string[] = []
    const message = platform.link.messages[0] ?? assert.fail('no message')
    await script.runBatch([message], {
      value: () => assert.fail(),
      error: (_, { message: text }) => refused.push(text),
    })
    assert.deepEqual(refused, ['TBEL script execution is disabled due to API limits!'])
    assert.throws(() => script.run?.(message), { code: 'usage.SCRIPTS' })
    const mail = { to: 'a@b.c', subject: '', body: '', isHtml: false }
    await assert.rejects(nodeMail(services, testOutbound())(node).send(mail), { code: 'usage.EMAIL' })
  })

  test('has a state from the start for a new tenant, and none of a deleted one', async () => {
    const { services, systemAdministrator } = platform
    const made = await services.declared.of(tenants).saveByUser(systemAdministrator, { title: 'New' })
    const of = () => services.declared.of(apiUsageStates).findBy(made.id, {})
    assert.equal((await of())?.transportState, 'ENABLED')
    services.meter.of(made.id).add(USAGE.emails, 1)
    await services.usage.flush()
    services.meter.of(made.id).add(USAGE.emails, 1)
    await services.declared.of(tenants).deleteByUser(systemAdministrator, made.id)
    await services.usage.flush()
    assert.equal(await of(), undefined)
    assert.deepEqual(await platform.entities.usageCounts.of([made.id]), [])
  })

  test('tells how many devices are active', async () => {
    await tick(300_000)
    assert.deepEqual((await series())['inactiveDevicesCount'], [1, MONTH])
    assert.deepEqual((await series())['activeDevicesCount'], [0, MONTH])
  })
})
