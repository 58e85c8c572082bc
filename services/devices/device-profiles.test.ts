import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, test } from 'node:test'
import { makeDefault } from '../entities/default-profile.ts'
import { deviceProfiles } from '../entities/device-profile.ts'
import { devices } from '../entities/device.ts'
import { openTestPlatform, type TestPlatform } from '../testkit.ts'

const KIND = { type: 'DEFAULT', transportType: 'DEFAULT' } as const

describe('device profiles', () => {
  let platform: TestPlatform
  const profiles = () => platform.services.declared.of(deviceProfiles)

  before(async () => {
    platform = await openTestPlatform()
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
    const made = await profiles().saveByUser(tenant, { ...KIND, name: 'pump', description: 'd' })
    assert.deepEqual([made.default, made.version, made.defaultQueueName], [false, 1, null])
    assert.deepEqual(changes, [])
    const changed = await profiles().saveByUser(tenant, {
      ...KIND,
      id: made.id,
      version: 1,
      name: 'pump',
      defaultQueueName: 'HighPriority',
      defaultRuleChainId: chain.id,
    })
    assert.deepEqual(await profiles().find(tenantId, made.id), changed)
    assert.deepEqual([changed.description, changed.version], [null, 2])
    assert.deepEqual(changed.profileData, made.profileData)
    const entity = { entityType: 'DEVICE_PROFILE', id: made.id } as const
    assert.deepEqual(changes, [{ kind: 'device-changed', entity, credentialsChanged: false }])
    await profiles().deleteByUser(tenant, made.id)
    assert.equal(await profiles().find(tenantId, made.id), undefined)
    assert.deepEqual(changes.at(-1), { kind: 'entity-deleted', entity, tenantId })
    assert.deepEqual(
      link.messages.map(({ type, originator, metadata }) => [type, originator, metadata['entityName']]),
      ['ENTITY_CREATED', 'ENTITY_UPDATED', 'ENTITY_DELETED'].map((type) => [type, entity, 'pump']),
    )
  })

  test('send the messages of their devices to their chain and queue, those about the device too', async () => {
    const { services, tenant, tenantId, link } = platform
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
    const profile = await profiles().saveByUser(tenant, { ...KIND, name: 'queued', defaultQueueName: queue.name })
    const device = await services.devices.saveByUser(tenant, { name: 'queued device', type: 'queued' }, 'QUEUED')
    const linkName = `${tenantId}.Slow`
    assert.equal((await services.devices.findByCredentials(['QUEUED'])).get('QUEUED')?.queueName, linkName)
    await services.attributes.saveByUser(tenant, { entityType: 'DEVICE', id: device.id }, 'SERVER_SCOPE', [
      { key: 'k', type: 'LONG', value: 1 },
    ])
    await services.declared.of(devices).deleteByUser(tenant, device.id)
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
    assert.equal((await profiles().findAnywhere(profile.id))?.defaultQueueName, 'Slow')
  })

  test('one is the default: made so by its own call, and never deleted', async () => {
    const { tenant, tenantId } = platform
    const former = await profiles().findBy(tenantId, { default: true })
    const profile = await profiles().saveByUser(tenant, { ...KIND, name: 'next default' })
    await assert.rejects(profiles().saveByUser(tenant, { ...KIND, name: 'x', default: true }), {
      message: 'Another default device profile is present in scope of current tenant!',
    })
    const chosen = await makeDefault(profiles(), tenant, profile.id)
    assert.deepEqual(await profiles().findBy(tenantId, { default: true }), chosen)
    assert.equal((await profiles().find(tenantId, former?.id ?? ''))?.default, false)
    assert.deepEqual(await makeDefault(profiles(), tenant, profile.id), chosen)
    await profiles().saveByUser(tenant, { ...KIND, id: profile.id, name: 'next default', default: true })
    await assert.rejects(profiles().deleteByUser(tenant, profile.id), {
      message: 'Deletion of Default Device Profile is prohibited!',
    })
  })

  test('refuse what is not there, what is another’s and what is not built', async () => {
    const { services, tenant } = platform
    const save = (change: object) => profiles().saveByUser(tenant, { ...KIND, name: 'refused', ...change })
    for (const [change, text] of [
      [{ name: ' ' }, /Device profile name should be specified!/],
      [{ name: 'default' }, /Device profile with such name already exists!/],
      [{ defaultQueueName: 'nowhere' }, /referencing to non-existent queue!/],
      [{ defaultRuleChainId: '88888888-8888-4888-8888-888888888888' }, /Can't assign non-existent rule chain!/],
      [{ type: undefined }, /Device profile type should be specified!/],
      [{ transportType: undefined }, /Device profile transport type should be specified!/],
    ] as const) {
      await assert.rejects(save(change), text)
    }
    const profile = await save({ name: 'mine' })
    await assert.rejects(save({ id: profile.id, name: 'mine', version: 5 }), { status: 409 })
    await services.devices.saveByUser(tenant, { name: 'holds it', deviceProfileId: profile.id })
    await assert.rejects(profiles().deleteByUser(tenant, profile.id), {
      message: 'The device profile referenced by the devices cannot be deleted!',
    })
  })
})
