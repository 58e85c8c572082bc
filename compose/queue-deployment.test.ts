import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, test } from 'node:test'
import { createChangeFeed } from '../engine/subscriptions/change-feed.ts'
import { openTestPlatform, TestClock, type TestPlatform } from '../services/testkit.ts'
import type { QueueDraft } from '../services/queues/queues.ts'
import { QueueDeployment } from './queue-deployment.ts'

const draft = (name: string): QueueDraft => ({
  name,
  pollInterval: 1,
  partitions: 1,
  packProcessingTimeout: 1,
  submitStrategy: { type: 'BURST', batchSize: 1 },
  processingStrategy: {
    type: 'RETRY_ALL',
    retries: 0,
    failurePercentage: 0,
    pauseBetweenRetries: 0,
    maxPauseBetweenRetries: 0,
  },
})

const SHIPPED = ['HighPriority', 'Main', 'SequentialByOriginator']

describe('queue deployment', () => {
  let platform: TestPlatform
  let clock: TestClock
  let deployment: QueueDeployment
  let applied: string[][]
  let errors: string[]
  let failures: Error[]
  /** What an application waits for before it is over. */
  let gate: Promise<void>

  before(async () => {
    platform = await openTestPlatform()
  })
  after(() => platform.close())

  beforeEach(async () => {
    await deployment?.close()
    clock = new TestClock()
    applied = []
    errors = []
    failures = []
    gate = Promise.resolve()
    const note = (_text: string, fields?: object): void => void errors.push(JSON.stringify(fields))
    deployment = new QueueDeployment({
      queues: platform.services.queues,
      clock,
      log: { debug: note, info: note, warn: note, error: note },
      runtime: {
        apply: async (queues) => {
          await gate
          const failure = failures.shift()
          if (failure !== undefined) throw failure
          applied.push(queues.map(({ name }) => name).toSorted())
        },
      },
    })
    platform.services.deployments.follow('QUEUE', () => deployment.settled())
    await deployment.start(platform.feed)
  })

  test('applies all at the start, and all again before a change is answered', async () => {
    assert.deepEqual(applied, [SHIPPED])
    const service = platform.services.queues
    const { id } = await service.saveByUser(platform.tenant, draft('Added'))
    assert.deepEqual(applied.at(-1), ['Added', ...SHIPPED])
    await service.deleteByUser(platform.tenant, id)
    assert.deepEqual(applied.at(-1), SHIPPED)
    assert.equal(applied.length, 3)
  })

  test('many changes while one is applied are applied together, the newest last', async () => {
    const { promise, resolve } = Promise.withResolvers<undefined>()
    gate = promise
    const service = platform.services.queues
    const names = ['a', 'b', 'c', 'd']
    const saves = names.map((name) => service.saveByUser(platform.tenant, draft(name)))
    const stored = async () => (await platform.services.queues.all()).length
    while ((await stored()) < SHIPPED.length + names.length) await new Promise((turn) => setImmediate(turn))
    resolve(undefined)
    const made = await Promise.all(saves)
    assert.deepEqual(applied.at(-1), [...SHIPPED, ...names].toSorted())
    assert.ok(applied.length <= 3, `${applied.length} applications`)
    for (const { id } of made) await service.deleteByUser(platform.tenant, id)
  })

  test('a failure is logged and tried again', async () => {
    failures = [new Error('store away')]
    const { id } = await platform.services.queues.saveByUser(platform.tenant, draft('Later'))
    assert.equal(applied.length, 1)
    await new Promise((turn) => setImmediate(turn))
    assert.deepEqual(errors, ['{"reason":"store away"}'])
    clock.runTimers()
    while (applied.length < 2) await new Promise((turn) => setImmediate(turn))
    assert.deepEqual(applied.at(-1), ['Later', ...SHIPPED].toSorted())
    await platform.services.queues.deleteByUser(platform.tenant, id)
  })

  test('hears nothing after it is closed', async () => {
    await deployment.close()
    const { id } = await platform.services.queues.saveByUser(platform.tenant, draft('Unheard'))
    await deployment.close()
    assert.equal(applied.length, 1)
    await platform.services.queues.deleteByUser(platform.tenant, id)
  })

  test('a start that can not read the records is refused', async () => {
    const broken = new QueueDeployment({
      queues: { ...platform.services.queues, all: () => Promise.reject(new Error('no records')) },
      clock,
      log: { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined },
      runtime: { apply: () => undefined },
    })
    await assert.rejects(broken.start(createChangeFeed(() => undefined)), /no records/)
    await broken.close()
  })
})
