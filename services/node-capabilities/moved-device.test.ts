import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { NodeIdentity } from '../../engine/rulechain/capabilities.ts'
import { entityId, type EntityId } from '../../model/entity-id.ts'
import { tenantProfiles } from '../entities/tenant-profile.ts'
import { testVisits } from '../alarms/visits.testkit.ts'
import { AggregationWorkers } from '../../engine/workers/aggregation/aggregation-workers.ts'
import { systemClock } from '../../model/system-clock.ts'
import { nodeCapabilitiesOf } from '../node-capabilities.ts'
import { testOutbound } from '../outbound/testkit.ts'
import { KnownEntities } from './known-entities.ts'
import { KnownRelations } from './known-relations.ts'
import { OwnEntities } from './own-entities.ts'
import { nodeTelemetry } from './telemetry.ts'
import { openTestPlatform, testScripts, type TestPlatform } from '../testkit.ts'

const GONE = { code: 'services.ITEM_NOT_FOUND' }
const SHARED = 'SHARED_SCOPE'

let platform: TestPlatform
let own: OwnEntities
let known: { readonly entities: KnownEntities; readonly relations: KnownRelations }
let other: string
let device: EntityId

before(async () => {
  platform = await openTestPlatform()
  own = new OwnEntities(platform.services, platform.feed)
  known = { entities: new KnownEntities(platform.feed), relations: new KnownRelations(platform.feed) }
  const { services, tenant, systemAdministrator } = platform
  await services.movedDevices.start()
  other = (await services.tenants.saveByUser(systemAdministrator, { title: 'Other' })).id
  const { id } = await services.devices.saveByUser(tenant, { name: 'moved' })
  device = entityId('DEVICE', id)
  await services.deviceMove.moveByUser(tenant, id, other)
  await services.movedDevices.settled()
})
after(async () => {
  own.close()
  known.entities.close()
  known.relations.close()
  await platform.close()
})

function capabilitiesOf(tenantId: string) {
  const node: NodeIdentity = { tenantId, ruleChainId: '', ruleChainName: '', ruleNodeId: '', ruleNodeName: '' }
  const owner = { report: () => false }
  const parts = {
    services: platform.services,
    scripts: testScripts,
    owner,
    own,
    known,
    outbound: testOutbound(),
    states: { of: () => assert.fail('no state here') },
    visits: testVisits(platform),
    aggregation: { workers: new AggregationWorkers({ clock: systemClock, threads: 1 }) },
  }
  const { attributes, calls, telemetry } = nodeCapabilitiesOf(parts)
  return { attributes: attributes(node), calls: calls(node), telemetry: telemetry(node) }
}

test('messages of its former tenant change nothing of a device that moved, and read nothing', async () => {
  const own = capabilitiesOf(other)
  const former = capabilitiesOf(platform.tenantId)
  const attribute = (tenantId: string) => ({
    ...({ tenantId, entity: device, scope: SHARED, entries: [{ key: 'a', type: 'STRING', value: tenantId }] } as const),
    ...{ sequence: 1, store: true, notify: true, notifyDevice: true },
  })
  await own.attributes.save(attribute(other))
  await assert.rejects(former.attributes.save({ ...attribute(platform.tenantId), sequence: 2 }), GONE)
  await assert.rejects(
    former.attributes.delete({ entity: device, scope: SHARED, keys: ['a'], notifyDevice: true }),
    GONE,
  )
  assert.deepEqual(await former.attributes.find(device, SHARED, ['a']), [])
  const [kept] = await own.attributes.find(device, SHARED, ['a'])
  assert.equal(kept?.value, other)
})

test('series and calls of the former tenant do not reach it', async () => {
  const own = capabilitiesOf(other)
  const former = capabilitiesOf(platform.tenantId)
  const saved = (tenantId: string, { telemetry } = tenantId === other ? own : former) =>
    new Promise<Error | undefined>((resolve) => {
      const points = [{ key: 't', type: 'LONG', value: 1, ts: 1 }] as const
      const kind = { ttlSeconds: 0, sequence: 1, history: true, latest: true, notify: true }
      telemetry.save({ tenantId, entity: device, points, ...kind }, resolve)
    })
  assert.equal(await saved(other), undefined)
  const before = platform.timeSeries.writes.length
  assert.match(String(await saved(platform.tenantId)), /not found/)
  assert.equal(platform.timeSeries.writes.length, before)
  const call = (tenantId: string) => ({
    ...{ id: 'call', tenantId, deviceId: device.id, method: 'm', params: '1', isOneway: true, isPersistent: false },
    ...{ expirationTime: platform.clock.now() + 5000, retries: null, additionalInfo: null, origin: '' },
  })
  await assert.rejects(former.calls.toDevice(call(platform.tenantId)), GONE)
  void own.calls.toDevice(call(other))
})

test("an originator that a node put in must be the tenant's; one that a transport brought is not asked for", async () => {
  const { services, tenant } = platform
  const { id } = await services.devices.saveByUser(tenant, { name: 'never moved' })
  const entity = entityId('DEVICE', id)
  const { attributes, calls, telemetry } = capabilitiesOf(other)
  const points = [{ key: 't', type: 'LONG', value: 1, ts: 1 }] as const
  const kind = { ttlSeconds: 0, sequence: 1, history: true, latest: true, notify: true }
  const saved = (isOwn: boolean) =>
    new Promise<Error | undefined>((resolve) =>
      telemetry.save({ tenantId: other, entity, isOwn, points, ...kind }, resolve),
    )
  assert.match(String(await saved(false)), /not found/)
  const entries = [{ key: 'a', type: 'STRING', value: 'x' }] as const
  const flags = { sequence: 1, store: true, notify: true, notifyDevice: true }
  await assert.rejects(attributes.save({ tenantId: other, entity, scope: SHARED, entries, ...flags }), GONE)
  const draft = { id: 'call', tenantId: other, deviceId: id, method: 'm', params: '1', isOneway: true }
  const rest = { isPersistent: false, expirationTime: platform.clock.now() + 5000, retries: null, additionalInfo: null }
  await assert.rejects(calls.toDevice({ ...draft, ...rest, origin: '' }), GONE)
  assert.deepEqual((await platform.services.attributes.find(entity, SHARED, ['a'])).value, [])
  let questions = 0
  const asked: Pick<OwnEntities, 'owns'> = { owns: () => (questions++, false) }
  const trusting = nodeTelemetry(platform.services, asked)({ tenantId: platform.tenantId })
  const failed = await new Promise<Error | undefined>((resolve) =>
    trusting.save({ tenantId: platform.tenantId, entity, isOwn: true, points, ...kind }, resolve),
  )
  assert.equal(failed, undefined)
  assert.equal(questions, 0)
})

test("series that say nothing else are kept as long as the tenant's profile says", async () => {
  const { services, systemAdministrator, timeSeries, tenant, tenantId } = platform
  const { id } = await services.devices.saveByUser(tenant, { name: 'kept for days' })
  const { telemetry } = capabilitiesOf(tenantId)
  const points = [{ key: 't', type: 'LONG', value: 1, ts: 1 }] as const
  const kind = { sequence: 1, history: true, latest: true, notify: true }
  const saved = (ttlSeconds: number, isTtlOfProfile: boolean): Promise<Error | undefined> =>
    new Promise((resolve) => {
      const entity = entityId('DEVICE', id)
      telemetry.save({ tenantId, entity, points, ttlSeconds, isTtlOfProfile, ...kind }, resolve)
    })
  const profiles = services.declared.of(tenantProfiles)
  const tenantNow = await services.tenants.find(tenantId)
  const profile = await profiles.findAnywhere(tenantNow?.tenantProfileId ?? '')
  assert.ok(profile !== undefined)
  const { profileData } = profile
  const limits = { ...profileData.limits, defaultStorageTtlDays: 2 }
  await profiles.saveByUser(systemAdministrator, { ...profile, profileData: { ...profileData, limits } })
  for (const [ttl, isTtlOfProfile] of [
    [0, true],
    [0, true],
    [60, true],
    [0, false],
  ] as const)
    assert.equal(await saved(ttl, isTtlOfProfile), undefined)
  assert.deepEqual(
    timeSeries.writes
      .flat()
      .filter(({ entityId: of }) => of === id)
      .map(({ ttlSeconds }) => ttlSeconds),
    [172_800, 172_800, 60, 0],
  )
})
