import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, test } from 'node:test'
import type { Principal } from '../model/principal.ts'
import { openTestPlatform, type TestPlatform } from './testkit.ts'

describe('device profiles', () => {
  let platform: TestPlatform
  let stranger: Principal

  before(async () => {
    platform = await openTestPlatform()
    stranger = { ...platform.tenant, tenantId: '99999999-9999-4999-8999-999999999999' }
  })
  after(() => platform.close())
  beforeEach(() => {
    platform.changes.splice(0)
    platform.link.messages.splice(0)
  })

  test('are made, changed and deleted; the engine hears of it, and sessions of a change', async () => {
    const { services, tenant, tenantId, changes, link } = platform
    const chain = await services.ruleChains.saveByUser(tenant, { name: 'their chain' })
    link.messages.splice(0)
    changes.splice(0)
    const made = await services.deviceProfiles.saveByUser(tenant, { name: 'pump', description: 'd' })
    assert.deepEqual([made.isDefault, made.version, made.defaultQueueName], [false, 1, null])
    assert.deepEqual(changes, [])
    const changed = await services.deviceProfiles.saveByUser(tenant, {
      id: made.id,
      version: 1,
      name: 'pump',
      defaultQueueName: 'HighPriority',
      defaultRuleChainId: chain.id,
    })
    assert.deepEqual(await services.deviceProfiles.find(tenantId, made.id), changed)
    assert.deepEqual([changed.description, changed.version], [null, 2])
    assert.deepEqual(changed.profileData, made.profileData)
    const entity = { entityType: 'DEVICE_PROFILE', id: made.id } as const
    assert.deepEqual(changes, [{ kind: 'device-changed', entity, credentialsChanged: false }])
    await services.deviceProfiles.deleteByUser(tenant, made.id)
    assert.equal(await services.deviceProfiles.find(tenantId, made.id), undefined)
    assert.deepEqual(changes.at(-1), { kind: 'entity-deleted', entity, tenantId })
    assert.deepEqual(
      link.messages.map(({ type, originator, metadata }) => [type, originator, metadata['entityName']]),
      ['ENTITY_CREATED', 'ENTITY_UPDATED', 'ENTITY_DELETED'].map((type) => [type, entity, 'pump']),
    )
  })

  test('send the messages of their devices to their chain and queue, those about the device too', async () => {
    const { services, entities, tenant, tenantId, link } = platform
    const queue = await services.queues.saveByUser(tenant, {
      name: 'Slow',
      pollInterval: 1,
      partitions: 1,
      packProcessingTimeout: 1,
      submitStrategy: { type: 'BURST', batchSize: 1 },
      processingStrategy: {
        type: 'SKIP_ALL_FAILURES',
        retries: 0,
        failurePercentage: 0,
        pauseBetweenRetries: 0,
        maxPauseBetweenRetries: 0,
      },
    })
    const profile = await services.deviceProfiles.saveByUser(tenant, { name: 'queued', defaultQueueName: queue.name })
    const device = await services.devices.saveByUser(tenant, { name: 'queued device', type: 'queued' }, 'QUEUED')
    const linkName = `${tenantId}.Slow`
    assert.equal((await services.devices.findByAccessTokens(['QUEUED'])).get('QUEUED')?.queueName, linkName)
    await services.attributes.saveByUser(tenant, { entityType: 'DEVICE', id: device.id }, 'SERVER_SCOPE', [
      { key: 'k', type: 'LONG', value: 1 },
    ])
    await services.devices.deleteByUser(tenant, device.id)
    assert.deepEqual(
      link.messages
        .filter(({ originator }) => originator.id === device.id)
        .map(({ type, queueName }) => [type, queueName]),
      [
        ['ENTITY_CREATED', linkName],
        ['ATTRIBUTES_UPDATED', linkName],
        ['ENTITY_DELETED', linkName],
      ],
    )
    assert.equal((await entities.deviceProfiles.findAnywhere(profile.id))?.defaultQueueName, 'Slow')
  })

  test('one is the default: made so by its own call, and never deleted', async () => {
    const { services, tenant, tenantId } = platform
    const former = await services.deviceProfiles.findDefault(tenantId)
    const profile = await services.deviceProfiles.saveByUser(tenant, { name: 'next default' })
    await assert.rejects(services.deviceProfiles.saveByUser(tenant, { name: 'x', isDefault: true }), {
      message: 'Another default device profile is present in scope of current tenant!',
    })
    const chosen = await services.deviceProfiles.setDefaultByUser(tenant, profile.id)
    assert.deepEqual(await services.deviceProfiles.findDefault(tenantId), chosen)
    assert.equal((await services.deviceProfiles.find(tenantId, former.id))?.isDefault, false)
    assert.deepEqual(await services.deviceProfiles.setDefaultByUser(tenant, profile.id), chosen)
    await services.deviceProfiles.saveByUser(tenant, { id: profile.id, name: 'next default', isDefault: true })
    await assert.rejects(services.deviceProfiles.deleteByUser(tenant, profile.id), {
      message: 'Deletion of Default Device Profile is prohibited!',
    })
  })

  test('refuse what is not there, what is another’s and what is not built', async () => {
    const { services, tenant } = platform
    const save = (change: object) => services.deviceProfiles.saveByUser(tenant, { name: 'refused', ...change })
    for (const [change, text] of [
      [{ name: ' ' }, /Device profile name should be specified!/],
      [{ name: 'default' }, /Device profile with such name already exists!/],
      [{ defaultQueueName: 'nowhere' }, /referencing to unknown queue/],
      [{ defaultRuleChainId: '88888888-8888-4888-8888-888888888888' }, /Can't assign non-existent rule chain!/],
      [{ transportType: 'MQTT' }, /transport type MQTT are not supported/],
      [{ provisionType: 'ALLOW_CREATE_NEW_DEVICES' }, /are not supported: use DISABLED/],
    ] as const) {
      await assert.rejects(save(change), text)
    }
    const profile = await save({ name: 'mine' })
    await assert.rejects(save({ id: profile.id, name: 'mine', version: 5 }), { status: 409 })
    await assert.rejects(services.deviceProfiles.saveByUser(stranger, { id: profile.id, name: 'theirs' }), {
      status: 403,
    })
    await assert.rejects(services.deviceProfiles.deleteByUser(stranger, profile.id), { status: 403 })
    await services.devices.saveByUser(tenant, { name: 'holds it', deviceProfileId: profile.id })
    await assert.rejects(services.deviceProfiles.deleteByUser(tenant, profile.id), {
      message: 'The device profile referenced by the devices cannot be deleted!',
    })
  })
})
