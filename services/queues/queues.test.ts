import { assetProfiles } from '../entities/asset-profile.ts'
import { deviceProfiles } from '../entities/device-profile.ts'
import assert from 'node:assert/strict'
import { DECLARED_TABLES } from '../entities/declared.ts'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { after, before, beforeEach, describe, test } from 'node:test'
import { NULL_UUID } from '../../model/entity-id.ts'
import type { Principal } from '../../model/principal.ts'
import { MIGRATIONS, migrate } from '../../storage/entities/sqlite/migrations.ts'
import { openSqliteDatabase } from '../../storage/entities/sqlite/sqlite-database.ts'
import { openEntityStore, type EntityStore } from '../../storage/entities/entity-store.ts'
import { MAX_QUEUES } from './queues.ts'
import type { QueueDraft } from './queues.ts'
import { seedQueues } from './shipped-queues.ts'
import { openTestPlatform, testRandom, TestClock, type TestPlatform } from '../testkit.ts'

const CHECKPOINT = 'org.thingsboard.rule.engine.flow.TbCheckpointNode'
const PAGE = { pageSize: 100, page: 0, sortProperty: 'name' } as const

function draft(name: string, change: Partial<QueueDraft> = {}): QueueDraft {
  return {
    name,
    pollInterval: 25,
    partitions: 10,
    packProcessingTimeout: 2000,
    submitStrategy: { type: 'BURST', batchSize: 1000 },
    processingStrategy: {
      type: 'SKIP_ALL_FAILURES',
      retries: 3,
      failurePercentage: 0,
      pauseBetweenRetries: 3,
      maxPauseBetweenRetries: 3,
    },
    ...change,
  }
}

describe('queues', () => {
  let platform: TestPlatform
  let names: number
  const anotherTenant = (): Principal => ({ ...platform.tenant, tenantId: '99999999-9999-4999-8999-999999999999' })
  const fresh = (): string => `queue-${++names}`

  before(async () => {
    platform = await openTestPlatform()
    names = 0
  })
  after(() => platform.close())
  beforeEach(() => void platform.changes.splice(0))

  test('the shipped ones are there, and Main tries again what failed', async () => {
    const { services, systemAdministrator } = platform
    const { data } = await services.queues.page(systemAdministrator, PAGE)
    assert.deepEqual(
      data.map(({ name, topic, submitStrategy, processingStrategy: { type, retries } }) => [
        name,
        topic,
        submitStrategy.type,
        type,
        retries,
      ]),
      [
        ['HighPriority', 'tb_rule_engine.hp', 'BURST', 'RETRY_FAILED_AND_TIMED_OUT', 0],
        ['Main', 'tb_rule_engine.main', 'BURST', 'RETRY_FAILED_AND_TIMED_OUT', 10],
        ['SequentialByOriginator', 'tb_rule_engine.sq', 'SEQUENTIAL_BY_ORIGINATOR', 'RETRY_FAILED_AND_TIMED_OUT', 3],
      ],
    )
  })

  test('a tenant makes, changes and deletes its own, and the feed is told each time', async () => {
    const { services, tenant, tenantId, changes } = platform
    const name = fresh()
    const made = await services.queues.saveByUser(tenant, draft(name))
    assert.deepEqual([made.tenantId, made.topic, made.version], [tenantId, `tb_rule_engine.${name}`, 1])
    const { processingStrategy } = made
    const retrying = { ...processingStrategy, type: 'RETRY_ALL' } as const
    const changed = await services.queues.saveByUser(
      tenant,
      draft(name, { id: made.id, version: 1, processingStrategy: retrying }),
    )
    assert.equal((await services.queues.find(tenant, made.id))?.processingStrategy.type, 'RETRY_ALL')
    assert.equal(changed.topic, made.topic)
    await assert.rejects(services.queues.saveByUser(tenant, draft(name, { id: made.id, version: 1 })), { status: 409 })
    await services.queues.deleteByUser(tenant, made.id)
    assert.equal(await services.queues.find(tenant, made.id), undefined)
    const told = { kind: 'queue-changed', entity: { entityType: 'QUEUE', id: made.id }, tenantId }
    assert.deepEqual(changes, [told, told, told])
    const entity = { entityType: 'QUEUE', id: made.id }
    const filter = { tenantId, entity, startTime: 0, endTime: platform.clock.now(), actionTypes: [] }
    const audited = (await services.audit.page(filter, { page: 0, pageSize: 10 })).data
    assert.deepEqual(audited.map(({ actionType, actionStatus }) => `${actionType} ${actionStatus}`).toSorted(), [
      'ADDED SUCCESS',
      'DELETED SUCCESS',
      'UPDATED FAILURE',
      'UPDATED SUCCESS',
    ])
    assert.ok(audited.every(({ entityName }) => entityName === name))
  })

  test('two tenants may have one of the same name, and neither sees the other’s', async () => {
    const { services, tenant, tenantId, systemAdministrator } = platform
    const name = fresh()
    const mine = await services.queues.saveByUser(tenant, draft(name))
    const theirs = await services.queues.saveByUser(anotherTenant(), draft(name))
    assert.equal(await services.queues.find(tenant, theirs.id), undefined)
    assert.equal(await services.queues.find(systemAdministrator, mine.id), undefined)
    assert.equal((await services.queues.findByName(tenant, name))?.id, mine.id)
    assert.equal(await services.queues.findByName(systemAdministrator, name), undefined)
    const { data } = await services.queues.page(tenant, { ...PAGE, textSearch: name })
    assert.deepEqual(
      data.map(({ id }) => id),
      [mine.id],
    )
    assert.equal(await services.queues.linkName(tenantId, name), `${tenantId}.${name}`)
    // The other's queue as the link calls it is no name of a queue here.
    assert.equal(await services.queues.linkName(tenantId, `${theirs.tenantId}.${name}`), undefined)
    assert.equal(await services.queues.linkName(tenantId, 'Main'), 'Main')
    assert.equal(await services.queues.linkName(tenantId, 'nowhere'), undefined)
    await assert.rejects(services.queues.deleteByUser(tenant, theirs.id), { status: 403 })
    await assert.rejects(services.queues.saveByUser(tenant, draft(name, { id: theirs.id })), { status: 403 })
  })

  test('a name or topic of the system’s is taken for tenants, and one of a tenant’s for the system', async () => {
    const { services, tenant, systemAdministrator } = platform
    await assert.rejects(services.queues.saveByUser(tenant, draft('Main', { topic: 'other' })), {
      message: 'Queue with name: Main already exists!',
    })
    await assert.rejects(services.queues.saveByUser(tenant, draft(fresh(), { topic: 'tb_rule_engine.main' })), {
      message: 'Queue with topic: tb_rule_engine.main already exists!',
    })
    const { name } = await services.queues.saveByUser(tenant, draft(fresh()))
    await assert.rejects(services.queues.saveByUser(tenant, draft(name, { topic: 'another' })), { status: 400 })
    await assert.rejects(services.queues.saveByUser(systemAdministrator, draft(name)), { status: 400 })
  })

  test('a tenant may not touch the system’s, and nobody may delete Main', async () => {
    const { services, tenant, systemAdministrator } = platform
    const main = await services.queues.findByName(tenant, 'Main')
    assert.ok(main !== undefined)
    const { version: _version, ...same } = main
    await assert.rejects(services.queues.saveByUser(tenant, same), { status: 403 })
    await assert.rejects(services.queues.deleteByUser(tenant, main.id), { status: 403 })
    await assert.rejects(services.queues.deleteByUser(systemAdministrator, main.id), /Main cannot be deleted/)
    const { submitStrategy } = await services.queues.saveByUser(systemAdministrator, {
      ...same,
      submitStrategy: { type: 'SEQUENTIAL', batchSize: 0 },
    })
    assert.equal(submitStrategy.type, 'SEQUENTIAL')
  })

  test('one that profiles or rule nodes use is not deleted, and they are named', async () => {
    const { services, tenant, systemAdministrator } = platform
    const queue = await services.queues.saveByUser(tenant, draft(fresh()))
    const assetProfile = await services.declared
      .of(assetProfiles)
      .saveByUser(tenant, { name: fresh(), defaultQueueName: queue.name })
    await assert.rejects(services.queues.deleteByUser(tenant, queue.id), {
      message: `The queue referenced by the asset profiles cannot be deleted: ${assetProfile.name}`,
    })
    await services.declared.of(assetProfiles).deleteByUser(tenant, assetProfile.id)
    const profile = await services.declared
      .of(deviceProfiles)
      .saveByUser(tenant, { type: 'DEFAULT', transportType: 'DEFAULT', name: fresh(), defaultQueueName: queue.name })
    await assert.rejects(services.queues.deleteByUser(tenant, queue.id), {
      message: `The queue referenced by the device profiles cannot be deleted: ${profile.name}`,
    })
    await services.declared.of(deviceProfiles).deleteByUser(tenant, profile.id)
    const chain = await services.ruleChains.saveByUser(tenant, { name: 'uses it' })
    const node = { type: CHECKPOINT, name: 'check', queueName: queue.name, configuration: {}, configurationVersion: 1 }
    const graph = { ruleChainId: chain.id, firstNodeIndex: 0, nodes: [node], connections: [] }
    await services.ruleChains.saveGraphByUser(tenant, graph)
    await assert.rejects(services.queues.deleteByUser(tenant, queue.id), {
      message: 'The queue referenced by the rule nodes cannot be deleted: uses it: check',
    })
    await services.ruleChains.deleteByUser(tenant, chain.id)
    await services.queues.deleteByUser(tenant, queue.id)
    const system = await services.queues.saveByUser(systemAdministrator, draft(fresh()))
    const user = await services.declared
      .of(deviceProfiles)
      .saveByUser(tenant, { type: 'DEFAULT', transportType: 'DEFAULT', name: fresh(), defaultQueueName: system.name })
    await assert.rejects(
      services.queues.deleteByUser(systemAdministrator, system.id),
      (error: Error) => /device profiles/.test(error.message) && !error.message.includes(user.name),
    )
  })

  const strategy = draft('').processingStrategy
  for (const [what, change, text] of [
    ['a blank name', { name: ' ' }, 'Queue name should be specified!'],
    ['a name with a space', { name: 'a b' }, "contains a character other than ASCII alphanumerics, '.', '_' and '-'!"],
    ['a topic with a star', { topic: 'a.*' }, 'Queue topic contains a character'],
    ['a name without end', { name: 'x'.repeat(256) }, 'length must be equal or less than 255'],
    ['no poll interval', { pollInterval: 0 }, 'Queue poll interval should be more then 0!'],
    ['no partitions', { partitions: 0 }, 'Queue partitions should be more then 0!'],
    ['half a partition', { partitions: 1.5 }, 'Queue partitions should be more then 0!'],
    ['no timeout', { packProcessingTimeout: 0 }, 'Queue pack processing timeout should be more then 0!'],
    ['a timeout of months', { packProcessingTimeout: 1e10 }, "can't be more than 86400000!"],
    [
      'a batch of none',
      { submitStrategy: { type: 'BATCH', batchSize: 0 } },
      'Queue submit strategy batch size should be more then 0!',
    ],
    ['negative retries', { processingStrategy: { ...strategy, retries: -1 } }, "retries can't be less then 0!"],
    [
      'more than all failures',
      { processingStrategy: { ...strategy, failurePercentage: 101 } },
      'Queue processing strategy failure percentage should be in a range from 0 to 100!',
    ],
    [
      'a negative pause',
      { processingStrategy: { ...strategy, pauseBetweenRetries: -1 } },
      "Queue processing strategy pause between retries can't be less then 0!",
    ],
    [
      'a longest pause below the pause',
      { processingStrategy: { ...strategy, maxPauseBetweenRetries: 2 } },
      "Queue processing strategy MAX pause between retries can't be less then pause between retries!",
    ],
  ] as const satisfies readonly (readonly [string, Partial<QueueDraft>, string])[]) {
    test(`refuses ${what}`, async () => {
      const { services, tenant } = platform
      await assert.rejects(
        services.queues.saveByUser(tenant, draft(fresh(), change)),
        (error: Error & { status?: number }) => error.status === 400 && error.message.includes(text),
      )
    })
  }

  test('name and topic stay what they are', async () => {
    const { services, tenant } = platform
    const { id, name } = await services.queues.saveByUser(tenant, draft(fresh()))
    await assert.rejects(services.queues.saveByUser(tenant, draft('other', { id })), {
      message: "Queue name can't be changed!",
    })
    await assert.rejects(services.queues.saveByUser(tenant, draft(name, { id, topic: 'other' })), {
      message: "Queue topic can't be changed!",
    })
  })

  test('the system has none that is called as a tenant’s is on the link', async () => {
    const { services, systemAdministrator, tenantId } = platform
    await assert.rejects(services.queues.saveByUser(systemAdministrator, draft(`${tenantId}.Slow`)), { status: 400 })
  })

  test('a tenant has so many and no more', async () => {
    const { services } = platform
    const crowded = { ...platform.tenant, tenantId: '77777777-7777-4777-8777-777777777777' }
    for (let index = 0; index < MAX_QUEUES; index++) await services.queues.saveByUser(crowded, draft(`q${index}`))
    await assert.rejects(services.queues.saveByUser(crowded, draft('one-more')), /no more are allowed/)
  })
})

async function withFile(run: (file: string) => Promise<void>): Promise<void> {
  const folder = await mkdtemp(path.join(tmpdir(), 'millrace-queues-'))
  try {
    await run(path.join(folder, 'entities.db'))
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

const clock = new TestClock()
const seed = (entities: EntityStore) => seedQueues({ entities, clock, random: testRandom })
const namesIn = async (entities: EntityStore) => (await entities.queues.all()).map(({ name }) => name).toSorted()
const SHIPPED = ['HighPriority', 'Main', 'SequentialByOriginator']

test('a data folder of before there were queues gets them at its next start', async () => {
  await withFile(async (file) => {
    const old = await openSqliteDatabase({ file, synchronous: 'normal' })
    await migrate(old, file, 1, MIGRATIONS.slice(0, 1))
    await old.close()
    const entities = await openEntityStore({ file, durability: 'process-death', clock, tables: DECLARED_TABLES })
    await seed(entities)
    assert.deepEqual(await namesIn(entities), SHIPPED)
    assert.ok((await entities.queues.all()).every(({ tenantId }) => tenantId === NULL_UUID))
    await entities.close()
  })
})

test('the settings of Main count at the first start; what was changed or deleted since stays so', async () => {
  await withFile(async (file) => {
    const entities = await openEntityStore({ file, durability: 'process-death', clock, tables: DECLARED_TABLES })
    const main = { partitions: 3, packProcessingTimeoutMs: 500, retries: 2, pauseSeconds: 7, maxPauseSeconds: 5 }
    await seedQueues({ entities, clock, random: testRandom, main })
    const seeded = await entities.queues.findByName(NULL_UUID, 'Main')
    assert.ok(seeded !== undefined)
    const { retries, pauseBetweenRetries, maxPauseBetweenRetries } = seeded.processingStrategy
    assert.deepEqual([seeded.partitions, seeded.packProcessingTimeout, retries], [3, 500, 2])
    assert.deepEqual([pauseBetweenRetries, maxPauseBetweenRetries], [7, 7])
    const fast = await entities.queues.findByName(NULL_UUID, 'HighPriority')
    assert.ok(fast !== undefined)
    await entities.write(entities.queues.delete(fast))
    await seed(entities)
    assert.deepEqual(await namesIn(entities), ['Main', 'SequentialByOriginator'])
    assert.deepEqual(await entities.queues.findByName(NULL_UUID, 'Main'), seeded)
    await entities.close()
  })
})

test('two that start at once put each in once', async () => {
  await withFile(async (file) => {
    const entities = await openEntityStore({ file, durability: 'process-death', clock, tables: DECLARED_TABLES })
    await Promise.all([seed(entities), seed(entities)])
    assert.deepEqual(await namesIn(entities), SHIPPED)
    await entities.close()
  })
})
