import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { entityId, type EntityId } from '../../model/entity-id.ts'
import type {
  CapabilityName,
  CompleteSources,
  NodeCapabilities,
  NodeIdentity,
} from '../../engine/rulechain/capabilities.ts'
import { isLater } from '../../engine/rulechain/capabilities/soon.ts'
import { AggregationWorkers } from '../../engine/workers/aggregation/aggregation-workers.ts'
import { systemClock } from '../../model/system-clock.ts'
import { nextVisit, testVisits } from '../alarms/visits.testkit.ts'
import { onBothDatabases } from '../both-databases.testkit.ts'
import { assetProfiles } from '../entities/asset-profile.ts'
import { assets } from '../entities/asset.ts'
import { customers } from '../entities/customer.ts'
import { deviceProfiles } from '../entities/device-profile.ts'
import { devices } from '../entities/device.ts'
import { notificationRequests, notificationTargets, notificationTemplates } from '../entities/notification.ts'
import { entityViews } from '../entities/entity-view.ts'
import { nodeCapabilitiesOf } from '../node-capabilities.ts'
import { testOutbound } from '../outbound/testkit.ts'
import { insertTenant, type TestPlatform } from '../testkit.ts'
import { KnownEntities } from './known-entities.ts'
import { KnownRelations } from './known-relations.ts'
import { OwnEntities } from './own-entities.ts'

const OTHER_TENANT = '99999999-9999-4999-8999-999999999999'
const RULE_NODE_ID = '33333333-3333-4333-8333-333333333333'

await onBothDatabases('what nodes may ask for ', (open) => {
  let platform: TestPlatform
  let own: OwnEntities
  let known: { readonly entities: KnownEntities; readonly relations: KnownRelations }
  let made = 0
  const reports: unknown[] = []

  before(async () => {
    platform = await open()
    own = new OwnEntities(platform.services, platform.feed)
    known = { entities: new KnownEntities(platform.feed), relations: new KnownRelations(platform.feed) }
    await platform.entities.write([insertTenant(platform.entities, OTHER_TENANT, 'Other')])
  })
  after(async () => {
    own.close()
    known.entities.close()
    known.relations.close()
    await platform.close()
  })

  function capability<Name extends CapabilityName>(name: Name, tenantId = platform.tenantId): NodeCapabilities[Name] {
    const owner = { report: (...report: unknown[]) => reports.push(report) > 0 }
    const scripts = { compile: () => assert.fail('no script here') }
    const node: NodeIdentity = {
      ...{ tenantId, ruleChainId: '22222222-2222-4222-8222-222222222222', ruleChainName: 'chain' },
      ...{ ruleNodeId: RULE_NODE_ID, ruleNodeName: 'node' },
    }
    const states = { of: () => assert.fail('no state here') }
    const remembered = { own, known, states, visits: testVisits(platform) }
    const parts = {
      ...{ ...remembered, services: platform.services, scripts, owner, outbound: testOutbound() },
      aggregation: { workers: new AggregationWorkers({ clock: systemClock, threads: 1 }) },
    }
    const source: CompleteSources[Name] = nodeCapabilitiesOf(parts)[name]
    return source(node)
  }

  async function device(): Promise<EntityId> {
    const { id } = await platform.services.devices.saveByUser(platform.tenant, {
      ...{ name: `node device ${++made}`, label: 'L', type: 'meter', additionalInfo: { description: 'd' } },
    })
    return entityId('DEVICE', id)
  }

  test('an entity is found by id and by name, with its profile and owner, and by no other tenant', async () => {
    const id = await device()
    const found = await capability('entities').find(id)
    assert.deepEqual(
      [found?.id, found?.type, found?.label, found?.profile?.name, found?.customerId, found?.additionalInfo],
      [id, 'meter', 'L', 'meter', null, { description: 'd' }],
    )
    assert.deepEqual(found?.owner, entityId('TENANT', platform.tenantId))
    assert.equal(found.json['label'], 'L')
    assert.deepEqual((await capability('entities').findByName('DEVICE', found.name))?.id, id)
    assert.equal(await capability('entities', OTHER_TENANT).find(id), undefined)
    assert.equal(await capability('entities', OTHER_TENANT).findByName('DEVICE', found.name), undefined)
    const tenant = await capability('entities').find(entityId('TENANT', platform.tenantId))
    assert.notEqual(tenant?.name, '')
    assert.equal(await capability('entities').find(entityId('TENANT', OTHER_TENANT)), undefined)
  })

  /** Whether it is answered at once. */
  const isKept = (entity: EntityId): boolean => !isLater(capability('entities').find(entity))
  const seen = (entity: EntityId) => capability('entities').find(entity)

  test('an entity that was asked for is at hand until it changes, or what it names does', async () => {
    const { services, tenant, tenantId } = platform
    const made = await services.declared.of(deviceProfiles).saveByUser(tenant, {
      ...{ name: 'sort of meter', type: 'DEFAULT', transportType: 'DEFAULT' },
    })
    const profile = { ...made }
    const customer = await services.declared.of(customers).saveByUser(tenant, { title: 'Owner of meters' })
    const owner = { id: customer.id, title: customer.title }
    const { id } = await services.devices.saveByUser(tenant, { name: 'at hand', deviceProfileId: profile.id })
    const entity = entityId('DEVICE', id)
    const other = await device()
    await seen(other)
    await seen(entity)
    assert.equal(isKept(entity), true)
    assert.equal(isLater(capability('entities', OTHER_TENANT).find(entity)), true)

    await services.declared.of(devices).assignByUser(tenant, id, owner)
    assert.equal((await seen(entity))?.customerId, customer.id)
    const profileOf = () => seen(entityId('DEVICE_PROFILE', profile.id))
    await profileOf()
    assert.equal(isKept(entityId('DEVICE_PROFILE', profile.id)), true)
    const stored = await services.declared.of(deviceProfiles).find(tenantId, profile.id)
    await services.declared.of(deviceProfiles).saveByUser(tenant, { ...stored, name: 'another sort' })
    assert.equal((await seen(entity))?.type, 'another sort')
    assert.equal((await profileOf())?.name, 'another sort')
    await services.declared.of(customers).deleteByUser(tenant, customer.id)
    assert.equal((await seen(entity))?.customerId, null)
    assert.equal(isKept(other), true)

    platform.feed.publish({ kind: 'device-changed', entity, credentialsChanged: false })
    assert.equal(isKept(entity), false)
    await services.declared.of(devices).deleteByUser(tenant, id)
    assert.equal(await seen(entity), undefined)
  })

  test('so are assets with their profile, customers and the tenant', async () => {
    const { services, tenant, systemAdministrator, tenantId } = platform
    const profiles = services.declared.of(assetProfiles)
    const { id: profileId } = await profiles.saveByUser(tenant, { name: 'sort of hall' })
    const { id: assetId } = await services.declared.of(assets).saveByUser(tenant, {
      ...{ name: 'hall at hand', assetProfileId: profileId },
    })
    const asset = entityId('ASSET', assetId)
    await seen(asset)
    assert.equal(isKept(asset), true)
    await seen(entityId('ASSET_PROFILE', profileId))
    const profile = await profiles.find(tenantId, profileId)
    await profiles.saveByUser(tenant, { ...profile, name: 'another sort of hall' })
    assert.equal((await seen(asset))?.type, 'another sort of hall')
    assert.equal((await seen(entityId('ASSET_PROFILE', profileId)))?.name, 'another sort of hall')

    const saved = await services.declared.of(customers).saveByUser(tenant, { title: 'Kept' })
    const customer = entityId('CUSTOMER', saved.id)
    await seen(customer)
    await services.declared.of(customers).saveByUser(tenant, { ...saved, title: 'Renamed' })
    assert.equal((await seen(customer))?.name, 'Renamed')

    const self = entityId('TENANT', tenantId)
    await seen(self)
    assert.equal(isKept(self), true)
    const record = await services.tenants.find(tenantId)
    await services.tenants.saveByUser(systemAdministrator, { ...record, title: 'Tenant, renamed' })
    assert.equal((await seen(self))?.name, 'Tenant, renamed')
    if (record !== undefined)
      await services.tenants.saveByUser(systemAdministrator, { id: tenantId, title: record.title })
  })

  test('relations that were asked for are at hand until one of the tenant changes', async () => {
    const [from, to] = [await device(), await device()]
    const relations = capability('relations')
    const common = { typeGroup: 'COMMON', additionalInfo: null } as const
    const query = { direction: 'FROM', maxLevel: 1, fetchLastLevelOnly: false, filters: [] } as const
    const asked = async () => ({
      isThere: await relations.exists({ from, to, type: 'Feeds' }),
      list: (await relations.list(from, 'FROM', 'Feeds')).length,
      found: (await relations.find(from, query)).map(({ id }) => id),
      backwards: (await relations.list(to, 'TO')).length,
    })
    const none = { isThere: false, list: 0, found: [], backwards: 0 }
    const one = { isThere: true, list: 1, found: [to.id], backwards: 1 }
    assert.deepEqual(await asked(), none)
    assert.equal(isLater(relations.find(from, query)), false)
    assert.equal(isLater(capability('relations', OTHER_TENANT).find(from, query)), true)
    const { relations: service } = platform.services
    await service.saveByUser(platform.tenant, { from, to, type: 'Feeds', ...common })
    assert.deepEqual(await asked(), one)
    await service.deleteByUser(platform.tenant, { from, to, type: 'Feeds', typeGroup: 'COMMON' })
    assert.deepEqual(await asked(), none)
    await relations.create({ from, to, type: 'Feeds' })
    assert.deepEqual(await asked(), one)
    await relations.delete({ from, to, type: 'Feeds' })
    assert.deepEqual(await asked(), none)
    await relations.create({ from, to, type: 'Feeds' })
    await asked()
    await service.deleteAllByUser(platform.tenant, from)
    assert.deepEqual(await asked(), none)
    await relations.create({ from, to, type: 'Feeds' })
    assert.deepEqual(await asked(), one)
    await platform.services.declared.of(devices).deleteByUser(platform.tenant, to.id)
    assert.deepEqual(await asked(), none)
  })

  test('what is missing is created once, and told with nothing but the node', async () => {
    const entities = capability('entities')
    const first = await entities.findOrCreate('ASSET', 'made by a node', 'building')
    assert.deepEqual([first.isNew, first.entity.type, first.entity.name], [true, 'building', 'made by a node'])
    const message = await platform.link.published('ENTITY_CREATED', first.entity.id.id)
    assert.deepEqual(message.metadata, { ruleNodeId: RULE_NODE_ID })
    assert.deepEqual(await entities.findOrCreate('ASSET', 'made by a node'), { ...first, isNew: false })
    const both = await Promise.all(['x', 'x'].map(() => entities.findOrCreate('CUSTOMER', 'raced for')))
    assert.deepEqual(both.map(({ isNew }) => isNew).sort(), [false, true])
  })

  test('assigning and unassigning say nothing to the rule engine', async () => {
    const entities = capability('entities')
    const id = { ...(await device()), entityType: 'DEVICE' } as const
    const { entity: customer } = await entities.findOrCreate('CUSTOMER', 'who gets it')
    const before = platform.link.messages.length
    await entities.assignToCustomer(id, customer.id.id)
    await entities.assignToCustomer(id, customer.id.id)
    assert.deepEqual((await entities.find(id))?.owner, customer.id)
    await entities.unassignFromCustomer(id, undefined)
    await entities.unassignFromCustomer(id, undefined)
    assert.equal((await entities.find(id))?.customerId, null)
    assert.equal(platform.link.messages.length, before)
    await assert.rejects(async () => capability('entities', OTHER_TENANT).assignToCustomer(id, customer.id.id))
  })

  test('credentials of a device', async () => {
    const id = await device()
    assert.equal((await capability('entities').credentialsOf(id.id))?.credentialsType, 'ACCESS_TOKEN')
    assert.equal(await capability('entities', OTHER_TENANT).credentialsOf(id.id), undefined)
  })

  test('relations are made, found over levels and deleted, within the tenant', async () => {
    const relations = capability('relations')
    const [a, b] = [await device(), await device()]
    const asset = entityId(
      'ASSET',
      (await capability('entities').findOrCreate('ASSET', 'root of relations')).entity.id.id,
    )
    const contains = (from: EntityId, to: EntityId) => ({ from, to, type: 'Contains' })
    assert.equal(await relations.create(contains(asset, a)), true)
    assert.equal(await relations.create(contains(asset, a)), false)
    assert.equal(await relations.create(contains(a, b)), true)
    assert.equal(await relations.exists(contains(asset, a)), true)
    assert.equal(await relations.exists(contains(a, asset)), false)
    const levels = { direction: 'FROM', maxLevel: 0, fetchLastLevelOnly: false } as const
    const filters = [{ relationType: 'Contains', entityTypes: [] }]
    assert.deepEqual(await relations.find(asset, { ...levels, filters }), [a, b])
    assert.deepEqual(await relations.find(asset, { ...levels, fetchLastLevelOnly: true, filters }), [b])
    const related = { ...levels, relationType: 'Contains' }
    assert.deepEqual(await relations.relatedDevices(asset, { ...related, deviceTypes: ['meter'] }), [a, b])
    assert.deepEqual(await relations.relatedDevices(asset, { ...related, deviceTypes: ['other'] }), [])
    assert.deepEqual(await capability('relations', OTHER_TENANT).find(asset, { ...levels, filters }), [])
    await assert.rejects(async () => capability('relations', OTHER_TENANT).create(contains(a, asset)))
    // What users add to a relation may be large, and is not kept.
    assert.deepEqual(await relations.list(asset, 'FROM', 'Contains'), [contains(asset, a)])
    assert.equal(await relations.delete(contains(asset, a)), true)
    assert.equal(await relations.delete(contains(asset, a)), false)
  })

  test('attributes are known at once when they were read before, and another tenant reads none', async () => {
    const id = await device()
    const attributes = capability('attributes')
    const entries = [{ key: 'limit', type: 'LONG', value: 5 }] as const
    await attributes.save({
      ...{ tenantId: platform.tenantId, entity: id, scope: 'SERVER_SCOPE', entries, sequence: 0 },
      ...{ store: true, notify: false, notifyDevice: false },
    })
    const read = await attributes.find(id, 'SERVER_SCOPE', ['limit'])
    assert.equal(read[0]?.value, 5)
    assert.ok(!(attributes.find(id, 'SERVER_SCOPE', ['limit']) instanceof Promise))
    assert.deepEqual(await capability('attributes', OTHER_TENANT).find(id, 'SERVER_SCOPE', []), [])
    const others = { entity: id, scope: 'SERVER_SCOPE', keys: ['limit'], notifyDevice: false } as const
    await assert.rejects(capability('attributes', OTHER_TENANT).delete(others), /not found/i)
    await attributes.delete({ entity: id, scope: 'SERVER_SCOPE', keys: ['limit'], notifyDevice: true })
    assert.deepEqual(await attributes.find(id, 'SERVER_SCOPE', ['limit']), [])
  })

  test("latest values and series are the tenant's", async () => {
    const id = await device()
    await platform.services.telemetry.saveByUser(
      platform.tenant,
      id,
      [{ ts: 5, entries: [{ key: 'temperature', type: 'LONG', value: 7 }] }],
      0,
    )
    assert.equal((await capability('history').latest(id, ['temperature']))[0]?.value, 7)
    assert.deepEqual(await capability('history', OTHER_TENANT).latest(id, ['temperature']), [])
    const range = { keys: ['temperature'], startTs: 0, endTs: 10, limit: 1, order: 'ASC', agg: 'NONE' } as const
    assert.equal((await capability('history').series(id, range)).size, 0)
    assert.equal((await capability('history', OTHER_TENANT).series(id, range)).size, 0)
  })

  test('an alarm is created, updated, raised and cleared', async () => {
    const originator = await device()
    const alarms = capability('alarms')
    const hot = { originator, type: 'Hot' }
    const created = await alarms.createOrUpdate(hot, nextVisit(), () => ({ severity: 'MINOR', details: { a: 1 } }))
    assert.ok(created !== undefined)
    assert.deepEqual(
      [created.result, created.alarm.status, created.alarm.details],
      ['created', 'ACTIVE_UNACK', { a: 1 }],
    )
    assert.equal((await alarms.createOrUpdate(hot, nextVisit(), () => ({ severity: 'MINOR' })))?.result, 'updated')
    const raised = await alarms.createOrUpdate(hot, nextVisit(), () => ({ severity: 'MAJOR' }))
    assert.deepEqual([raised?.result, raised?.previousSeverity], ['severity updated', 'MINOR'])
    assert.equal((await alarms.findActive(originator, 'Hot'))?.id, created.alarm.id)
    const others = capability('alarms', OTHER_TENANT)
    assert.equal(await others.find(created.alarm.id), undefined)
    assert.equal(await others.findActive(originator, 'Hot'), undefined)
    assert.equal(await others.clear(hot, nextVisit(), () => ({})), undefined)
    const cleared = await alarms.clear(hot, nextVisit(), () => ({ details: { done: true } }))
    assert.deepEqual([cleared?.status, cleared?.details], ['CLEARED_UNACK', { done: true }])
    assert.equal(await alarms.clear(hot, nextVisit(), () => ({})), undefined)
  })

  test('the views of an entity', async () => {
    const source = await device()
    const view = await platform.services.declared.of(entityViews).saveByUser(platform.tenant, {
      ...{ name: 'view of a node', type: 'view', entityId: source, startTimeMs: 1, endTimeMs: 2 },
      keys: { timeseries: ['t'], attributes: { cs: [], ss: ['s'], sh: [] } },
    })
    assert.deepEqual(await capability('views').of(source), [
      {
        ...{ id: entityId('ENTITY_VIEW', view.id), source, startTimeMs: 1, endTimeMs: 2 },
        ...{ timeseries: ['t'], attributes: { cs: [], ss: ['s'], sh: [] } },
      },
    ])
    assert.deepEqual(await capability('views', OTHER_TENANT).of(source), [])
  })

  test('the state of a device goes to its owner, of the tenant only', async () => {
    const { id } = await device()
    await capability('deviceState').report(id, 'connect', 12)
    assert.deepEqual(reports, [[id, 'connect', 12]])
    await assert.rejects(capability('deviceState', OTHER_TENANT).report(id, 'connect', 12), /not found/i)
  })

  test("a notification needs the tenant's own template", async () => {
    const request = {
      ...{ visit: 'v', templateId: RULE_NODE_ID, targetIds: [], originator: entityId('TENANT', platform.tenantId) },
      ...{ customerId: null, messageType: 'ALARM', values: {} },
    }
    await assert.rejects(capability('notifications').send(request), /not found/i)
  })

  test("the token for Slack is that of the tenant's own settings, opened", async () => {
    const { settings } = platform.services.notifications
    assert.equal(await capability('notifications').slackToken(), undefined)
    await settings.save(platform.tenantId, {
      deliveryMethodsConfigs: { SLACK: { method: 'SLACK', botToken: 'xoxb-1' } },
    })
    assert.equal(await capability('notifications').slackToken(), 'xoxb-1')
    assert.equal(await capability('notifications', OTHER_TENANT).slackToken(), undefined)
  })

  test('a notification is asked for once by each visit, however often its message comes', async () => {
    const { declared } = platform.services
    const { id: templateId } = await declared.of(notificationTemplates).saveByUser(platform.tenant, {
      name: 'told once',
      configuration: { deliveryMethodsTemplates: { WEB: { enabled: true, subject: 'S', body: 'B' } } },
    })
    const { id: targetId } = await declared.of(notificationTargets).saveByUser(platform.tenant, {
      ...{ name: 'all', configuration: { type: 'PLATFORM_USERS', usersFilter: { type: 'ALL_USERS' } } },
    })
    const request = {
      ...{ templateId, targetIds: [targetId], originator: entityId('TENANT', platform.tenantId) },
      ...{ customerId: null, messageType: 'ALARM', values: {} },
    }
    for (const visit of ['one', 'one', 'two']) await capability('notifications').send({ ...request, visit })
    await platform.services.notifications.settled()
    await capability('notifications').send({ ...request, visit: 'one' })
    await platform.services.notifications.settled()
    const stored = await declared
      .of(notificationRequests)
      .findWhere([{ column: 'tenant_id', is: platform.tenantId }], 10)
    assert.equal(stored.filter((one) => one.templateId === templateId).length, 2)
  })

  test('mail without a server is refused', async () => {
    const mail = { to: 'a@example.org', subject: 's', body: 'b', isHtml: false }
    await assert.rejects(capability('mail').send(mail), /No mail server/)
  })
})
