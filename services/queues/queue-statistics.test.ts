import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { CountsByTenant } from '../../engine/queue/tenant-counts.ts'
import { queueStats } from '../entities/queue-stats.ts'
import { openTestPlatform, type TestPlatform } from '../testkit.ts'

const PAGE = { page: 0, pageSize: 10 } as const

describe('queue statistics', () => {
  let platform: TestPlatform
  before(async () => {
    platform = await openTestPlatform()
  })
  after(() => platform.close())

  test('are series of one entity for each tenant and queue', async () => {
    const { services, tenantId, timeSeries } = platform
    const counted = { successful: 2, retriedFailed: 0, retriedTimedOut: 1, failed: 1, timedOut: 0 }
    const all = ['Main', `${tenantId}.Own`].map((queueName) => ({ queueName, tenantId, counts: counted }))
    await services.queueStatistics.write([...all, { queueName: 'Main', tenantId: 'gone', counts: counted }])
    await services.queueStatistics.write(all)
    const { data } = await services.declared.of(queueStats).page(tenantId, {}, { ...PAGE, sortProperty: 'queueName' })
    assert.deepEqual(
      data.map(({ record }) => [record.queueName, record.serviceId]),
      [
        ['Main', 'sole'],
        ['Own', 'sole'],
      ],
    )
    const id = data[0]?.record.id
    const written = timeSeries.writes.flat().filter(({ entityId }) => entityId === id)
    assert.equal(written.length, 2)
    const values = Object.fromEntries(written[0]?.points.map(({ key, value }) => [key, value]) ?? [])
    assert.deepEqual(values, {
      ...{ totalMsgs: 4, successfulMsgs: 2, tmpFailed: 0, tmpTimeout: 1, failedMsgs: 1, timeoutMsgs: 0 },
    })
    assert.deepEqual(platform.reports, [])
  })

  test('count each tenant by itself, from the last time on', () => {
    const counts = new CountsByTenant()
    for (const tenantId of ['a', 'b', 'a']) counts.note(tenantId, 'successful')
    assert.deepEqual(
      [...counts.take()].map(([tenantId, { successful }]) => [tenantId, successful]),
      [
        ['a', 2],
        ['b', 1],
      ],
    )
    counts.note('a', 'timedOut')
    assert.deepEqual([...counts.take().keys()], ['a'])
    assert.equal(counts.take().size, 0)
  })
})
