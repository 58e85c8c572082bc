import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, test } from 'node:test'
import { entityId } from '../../model/entity-id.ts'
import type { JsonObject } from '../../model/json.ts'
import { jobs, type Job } from '../entities/job.ts'
import { openTestPlatform, type TestPlatform } from '../testkit.ts'
import { Jobs } from './jobs.ts'

describe('jobs', () => {
  let platform: TestPlatform
  let runner: Jobs
  let count = 0

  before(async () => void (platform = await openTestPlatform({ start: false })))
  after(async () => {
    await runner.close()
    await platform.close()
  })
  beforeEach(() => {
    const { clock, entities, services } = platform
    const report = (text: string): void => assert.fail(text)
    runner = new Jobs({ declared: services.declared, entities, clock, report })
  })

  const submit = (configuration: JsonObject, key = `job ${++count}`): Promise<Job> => {
    const entity = entityId('TENANT', platform.tenantId)
    const draft = { type: 'DUMMY', key, entityId: entity, entityName: 'Demo', configuration } as const
    return runner.submitByUser(platform.tenant, draft)
  }

  const found = async ({ id }: Job): Promise<Job> => {
    const job = await platform.services.declared.of(jobs).findAnywhere(id)
    assert.ok(job !== undefined)
    return job
  }

  const runAll = async (): Promise<void> => {
    while (await runner.look());
  }

  test('are done in pieces, with how far they came, whoever goes on', async () => {
    const job = await submit({ successfulTasksCount: 250 })
    await runner.look()
    const first = await found(job)
    assert.deepEqual([first.status, first.result?.['successfulCount']], ['RUNNING', 100])
    const { clock, entities, services } = platform
    const other = new Jobs({ declared: services.declared, entities, clock, report: (text) => assert.fail(text) })
    // Both at once: one of them does the piece.
    await Promise.all([runner.look(), other.look()])
    assert.equal((await found(job)).result?.['successfulCount'], 200)
    await other.look()
    const last = await found(job)
    assert.deepEqual([last.status, last.result?.['successfulCount']], ['COMPLETED', 250])
    assert.equal(await other.look(), false)
  })

  test('tell what failed, and do that once more', async () => {
    const job = await submit({
      successfulTasksCount: 3,
      failedTasksCount: 2,
      permanentlyFailedTasksCount: 1,
      errors: ['no'],
    })
    await runAll()
    const failed = await found(job)
    assert.equal(failed.status, 'FAILED')
    const { successfulCount, failedCount, totalCount, results } = failed.result ?? {}
    assert.deepEqual([successfulCount, failedCount, totalCount], [3, 3, 6])
    assert.ok(Array.isArray(results) && results.length === 3)
    await runner.reprocessByUser(platform.tenant, job.id)
    await runAll()
    const again = (await found(job)).result ?? {}
    assert.deepEqual([again['successfulCount'], again['failedCount'], again['totalCount']], [2, 1, 3])
  })

  test('cost a piece what the piece is long, not the whole job', async () => {
    const job = await submit({ successfulTasksCount: 2 ** 40 })
    await runner.look()
    assert.equal((await found(job)).result?.['successfulCount'], 100)
    await runner.cancelByUser(platform.tenant, job.id)
  })

  test('that can not go on are told, and hold up nobody', async () => {
    const { clock, entities, services } = platform
    const told: unknown[] = []
    const broken = {
      ...entities,
      write: () => Promise.reject(new Error('the disk is full')),
    }
    const other = new Jobs({
      ...{ declared: services.declared, entities: broken, clock },
      report: (_text, facts) => void told.push(facts['error']),
    })
    const job = await submit({ successfulTasksCount: 1 })
    assert.equal(await other.look(), false)
    assert.deepEqual(told, ['the disk is full'])
    await runAll()
    assert.equal((await found(job)).status, 'COMPLETED')
  })

  test('end when they are cancelled, and only then or later may go', async () => {
    const job = await submit({ successfulTasksCount: 250 })
    await runner.look()
    await assert.rejects(runner.deleteByUser(platform.tenant, job.id), { code: 'jobs.NOT_ENDED' })
    await assert.rejects(runner.reprocessByUser(platform.tenant, job.id), { code: 'jobs.NOT_ENDED' })
    await runner.cancelByUser(platform.tenant, job.id)
    await runAll()
    const { status, result } = await found(job)
    assert.deepEqual([status, result?.['successfulCount'], result?.['discardedCount']], ['CANCELLED', 100, 150])
    await assert.rejects(runner.cancelByUser(platform.tenant, job.id), { code: 'jobs.ENDED' })
    await assert.rejects(runner.reprocessByUser(platform.tenant, job.id), { code: 'jobs.NOTHING_FAILED' })
    await runner.deleteByUser(platform.tenant, job.id)
    assert.equal(await platform.services.declared.of(jobs).findAnywhere(job.id), undefined)
  })

  test('wait for the one before them, of one key none beside it, and no more than a tenant may have', async () => {
    const one = await submit({ successfulTasksCount: 150 }, 'same')
    await assert.rejects(submit({}, 'same'), { code: 'jobs.UNDER_WAY' })
    platform.clock.time++
    const two = await submit({ successfulTasksCount: 1 })
    await runner.look()
    assert.deepEqual([(await found(one)).status, (await found(two)).status], ['RUNNING', 'QUEUED'])
    await runAll()
    assert.deepEqual([(await found(one)).status, (await found(two)).status], ['COMPLETED', 'COMPLETED'])
    for (let more = 0; more < 100; more++) await submit({})
    await assert.rejects(submit({}), { code: 'jobs.TOO_MANY' })
    await runAll()
  })
})
