/** What every entity store promises of queues, and of the device profiles that name them; part of `contract.ts`. */
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import type { Queue } from '../../model/entities.ts'
import { NULL_UUID } from '../../model/entity-id.ts'
import {
  chainOf,
  deviceOf,
  household,
  insertionOf,
  profileDeletion,
  profileInsertion,
  profileUpdate,
  nodeOf,
  queueOf,
  tokenOf,
  type Check,
} from './contract-testkit.ts'

export function testQueues(check: Check): void {
  check('a queue is read as it was written, changed version by version, and deleted', async (store) => {
    const { tenant } = await household(store)
    const queue = queueOf(tenant.id, 'Slow')
    await store.write(store.queues.insert(queue))
    assert.deepEqual(await store.queues.findAnywhere(queue.id), queue)
    const changed: Queue = {
      ...queue,
      version: 2,
      processingStrategy: { ...queue.processingStrategy, type: 'RETRY_ALL', retries: 7 },
      additionalInfo: { description: 'é' },
    }
    await store.write(store.queues.update(changed))
    assert.deepEqual(await store.queues.all(), [changed])
    await assert.rejects(store.write(store.queues.update(changed)), { code: 'entities.VERSION_CONFLICT' })
    await assert.rejects(store.write(store.queues.delete(queue)), { status: 409 })
    await store.write(store.queues.delete(changed))
    assert.equal(await store.queues.findAnywhere(queue.id), undefined)
  })

  check('a tenant sees its own queues and the system’s, by name its own first', async (store) => {
    const first = (await household(store)).tenant.id
    const second = (await household(store)).tenant.id
    const queues = [
      queueOf(NULL_UUID, 'Main'),
      queueOf(NULL_UUID, 'Slow'),
      queueOf(first, 'Slow'),
      queueOf(second, 'B'),
    ]
    await store.write(queues.flatMap((queue) => store.queues.insert(queue)))
    const page = async (tenantId: string) => {
      const found = await store.queues.page(tenantId, { pageSize: 9, page: 0, sortProperty: 'name' })
      return found.data.map(({ name }) => name)
    }
    assert.deepEqual(await page(first), ['Main', 'Slow', 'Slow'])
    assert.deepEqual(await page(second), ['B', 'Main', 'Slow'])
    assert.deepEqual(await page(NULL_UUID), ['Main', 'Slow'])
    assert.equal((await store.queues.findByName(first, 'Slow'))?.tenantId, first)
    assert.equal((await store.queues.findByName(second, 'Slow'))?.tenantId, NULL_UUID)
    assert.equal(await store.queues.findByName(first, 'B'), undefined)
    assert.deepEqual((await store.queues.owners('name', 'Slow')).toSorted(), [NULL_UUID, first].toSorted())
    assert.equal(await store.queues.count(first), 1)
  })

  check('a tenant has a queue’s name and topic once', async (store) => {
    const { tenant } = await household(store)
    const queue = queueOf(tenant.id, 'Slow')
    await store.write(store.queues.insert(queue))
    await assert.rejects(store.write(store.queues.insert({ ...queueOf(tenant.id, 'Slow'), topic: 'other' })), {
      message: 'Queue with name: Slow already exists!',
    })
    await assert.rejects(store.write(store.queues.insert({ ...queueOf(tenant.id, 'Other'), topic: queue.topic })), {
      message: `Queue with topic: ${queue.topic} already exists!`,
    })
    await store.write(store.queues.insertIfAbsent({ ...queueOf(tenant.id, 'Slow'), partitions: 99 }))
    assert.deepEqual(await store.queues.all(), [queue])
  })

  check('messages of a device go to the queue of its profile, the tenant’s own before the system’s', async (store) => {
    const { tenant, profile } = await household(store)
    const device = deviceOf(tenant, profile, 'queued')
    await store.write([
      insertionOf(store, device),
      ...store.deviceCredentials.insert(tokenOf(device, 'TOKEN')),
      ...store.queues.insert(queueOf(NULL_UUID, 'Slow')),
      profileUpdate(store, { ...profile, version: 2, defaultQueueName: 'Slow' }),
    ])
    const queueName = async () =>
      (await store.deviceCredentials.findDevices('ACCESS_TOKEN', ['TOKEN'])).get('TOKEN')?.queueName
    assert.equal(await queueName(), 'Slow')
    assert.deepEqual(await store.devices.destinationOf(device.id), { ruleChainId: null, queueName: 'Slow' })
    await store.write(store.queues.insert(queueOf(tenant.id, 'Slow')))
    assert.equal(await queueName(), `${tenant.id}.Slow`)
    assert.equal((await store.devices.destinationOf(device.id)).queueName, `${tenant.id}.Slow`)
  })

  check('knows the rule nodes that use a queue', async (store) => {
    const { tenant } = await household(store)
    const chain = chainOf(tenant, 'chain', false)
    const node = { ...nodeOf(chain, 'checkpoint'), queueName: 'Slow' }
    const graph = { ruleChainId: chain.id, version: 2, firstNodeIndex: 0, nodes: [node], connections: [] }
    await store.write([...store.ruleChains.insert(chain), ...store.ruleChains.replaceGraph(graph)])
    assert.deepEqual(await store.ruleChains.nodesUsingQueue('Slow', tenant.id), ['chain: checkpoint'])
    assert.deepEqual(await store.ruleChains.nodesUsingQueue('Slow'), ['chain: checkpoint'])
    assert.deepEqual(await store.ruleChains.nodesUsingQueue('Slow', randomUUID()), [])
  })
}

export function testDeviceProfiles(check: Check): void {
  check('of the profiles of a tenant one is the default', async (store) => {
    const { tenant, profile } = await household(store)
    const other = { ...profile, id: randomUUID(), name: 'other', default: false }
    await store.write([profileInsertion(store, other)])
    const chosen = { ...other, version: 2, default: true }
    await assert.rejects(store.write([profileUpdate(store, chosen)]), { code: 'entities.CONSTRAINT' })
    const former = { ...profile, version: 2, default: false }
    await store.write([profileUpdate(store, former), profileUpdate(store, chosen)])
    await store.write([insertionOf(store, deviceOf(tenant, former, 'device'))])
    await assert.rejects(store.write([profileDeletion(store, former)]), { code: 'entities.CONSTRAINT' })
  })
}
