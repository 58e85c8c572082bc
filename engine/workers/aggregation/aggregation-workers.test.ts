import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { LatestColumnBuilder } from '../../../model/latest-column.ts'
import { ManualClock } from '../../../model/manual-clock.ts'
import { summarized, type SummaryJob } from '../../../model/group-summary.ts'
import { systemClock } from '../../../model/system-clock.ts'
import { createWorkerAdmin } from '../admin.ts'
import { createThreadPool } from '../thread-pool.ts'
import { AggregationWorkers, type SummaryPool } from './aggregation-workers.ts'
import { TenantTurns } from './tenant-turns.ts'

const TENANT = 't'

function job(size: number): SummaryJob {
  const column = new LatestColumnBuilder(size)
  for (let place = 0; place < size; place++) column.put(place, { type: 'DOUBLE', value: place / 10 })
  return {
    ...{ size, columns: [column.build()], rankings: [{ column: 0, count: 2, order: 'LOWEST' }] },
    metrics: [
      { column: 0, function: 'SUM' },
      { column: 0, function: 'PERCENTILE', percentile: 90 },
    ],
  }
}

describe('aggregation workers', () => {
  test('a small job is done at once, a large one by a thread, and both tell the same as the plain function', async () => {
    const workers = new AggregationWorkers({ clock: systemClock, threads: 1 })
    for (const size of [10, 60_000]) assert.deepEqual(await workers.summarize(job(size), TENANT), summarized(job(size)))
    const { inline, pooled, threads, entities } = workers.figures()
    assert.deepEqual({ inline, pooled, threads, entities }, { inline: 1, pooled: 1, threads: 1, entities: 60_010 })
    await workers.close()
  })

  test('no thread is there before the first large job', async () => {
    const workers = new AggregationWorkers({ clock: systemClock, threads: 2 })
    await workers.summarize(job(10), TENANT)
    assert.equal(workers.figures().threads, 0)
    await workers.close()
  })

  test('a job whose thread ended is asked once more, then it is an outage', async () => {
    let lost = 1
    const pool: SummaryPool = {
      run: async (asked) => {
        if (lost-- > 0) throw new Error('thread ended')
        return { result: summarized(asked), runMs: 1 }
      },
      threads: 1,
      close: async () => undefined,
    }
    const workers = new AggregationWorkers({ clock: systemClock, threads: 1, inlineUs: 0 }, () => pool)
    assert.deepEqual(await workers.summarize(job(5), TENANT), summarized(job(5)))
    lost = 2
    await assert.rejects(workers.summarize(job(5), TENANT), { code: 'aggregation.POOL_UNAVAILABLE', isOutage: true })
    await workers.close()
  })

  test('closing lets what waits end, and refuses later ones', async () => {
    const workers = new AggregationWorkers({ clock: systemClock, threads: 1 })
    const done: number[] = []
    const works = Array.from({ length: 5 }, (_, index) =>
      workers.inTurn('t', async () => void done.push((await workers.summarize(job(10 + index), TENANT)).entities)),
    )
    const closing = workers.close()
    await assert.rejects(
      workers.inTurn('t', async () => undefined),
      { code: 'aggregation.POOL_UNAVAILABLE' },
    )
    await Promise.all([...works, closing])
    assert.deepEqual(done, [10, 11, 12, 13, 14])
  })
})

/** Real threads: a job of one entity never ends there. */
function stuckThreads(): SummaryPool {
  return createThreadPool({
    entry: new URL('./stuck-thread.testkit.ts', import.meta.url),
    ...{ threads: 1, minThreads: 0, queueBound: 1, workerData: undefined },
  })
}

describe('the deadline of a job', () => {
  const options = { clock: systemClock, threads: 1, inlineUs: 0, timeoutMs: 1500 }

  void test('one that does not end is ended with its thread, counted and told, and what waits behind it is computed', async () => {
    const workers = new AggregationWorkers(options, stuckThreads)
    const stuck = assert.rejects(workers.summarize(job(1), TENANT), {
      ...{ code: 'aggregation.TIMED_OUT', kind: 'terminal', isTimeout: true },
      message: /more than 1500 ms .* \(AGGREGATION_TIMEOUT_MS\)/,
    })
    assert.deepEqual(await workers.summarize(job(5), 'other'), summarized(job(5)))
    await stuck
    assert.equal(workers.figures().timedOut, 1)
    await workers.close()
  })

  void test('an operator sees the pool, its threads and who keeps them busy', async () => {
    const workers = new AggregationWorkers(options, stuckThreads)
    await assert.rejects(workers.summarize(job(1), TENANT))
    await workers.summarize(job(5), 'other')
    const [pool] = createWorkerAdmin([workers]).pools()
    assert.ok(pool !== undefined)
    const { name, settings, tenants, waiting, running, work, busiestTenants } = pool
    assert.deepEqual([name, tenants, waiting, running], ['aggregation', 2, 0, 0])
    assert.equal(settings.timeoutMs, 1500)
    const { messages, batches, timeouts, errors, deaths } = work.totals
    assert.deepEqual(
      { messages, batches, timeouts, errors, deaths },
      { messages: 6, batches: 2, timeouts: 1, errors: 1, deaths: 0 },
    )
    assert.ok(work.utilisation > 0)
    assert.deepEqual(
      busiestTenants.map(({ tenantId }) => tenantId),
      [TENANT, 'other'],
    )
    await assert.rejects(createWorkerAdmin([workers]).resize('aggregation', { threads: 4 }), { code: 'workers.FIXED' })
    await workers.close()
  })
})

describe('turns of tenants', () => {
  /** Work that takes so long on a clock that stands. */
  function opened(places: number, waitingBound = 1_000) {
    const clock = new ManualClock()
    const turns = new TenantTurns({ clock, places, waitingBound })
    const begun: string[] = []
    const work = (tenant: string, ms: number) =>
      turns.run(tenant, async () => {
        begun.push(tenant)
        await new Promise<void>((resolve) => clock.after(ms, resolve))
      })
    return { clock, turns, begun, work }
  }

  test('work begins on a later turn of the event loop, never at once', async () => {
    const { clock, begun, work } = opened(2)
    const running = work('a', 0)
    assert.deepEqual(begun, [])
    await clock.settle()
    assert.deepEqual(begun, ['a'])
    await clock.advance(1)
    await running
  })

  test('one tenant has half of the places, and a thousand of its pieces hold up no other', async () => {
    const { clock, turns, begun, work } = opened(4)
    const noisy = Array.from({ length: 1_000 }, () => work('noisy', 100))
    await clock.settle()
    assert.equal(turns.running, 2)
    const quiet = work('quiet', 1)
    await clock.settle()
    assert.deepEqual(begun, ['noisy', 'noisy', 'quiet'])
    await clock.advance(1_000_000)
    await Promise.all([quiet, ...noisy])
    await turns.drained()
  })

  test('tenants have turns by the time that theirs took, not by their number', async () => {
    const { clock, begun, work } = opened(1)
    const all = Array.from({ length: 60 }, () => [work('slow', 30), work('quick', 10)]).flat()
    await clock.advance(900)
    const slow = begun.filter((tenant) => tenant === 'slow').length
    const quick = begun.length - slow
    assert.ok(quick >= 2 * slow && quick <= 4 * slow, `${quick} quick, ${slow} slow`)
    await clock.advance(1_000_000)
    await Promise.all(all)
  })

  test('what waits is bounded by tenant: one more is refused as an outage of its own, and others are taken', async () => {
    const { clock, work } = opened(1, 3)
    const taken = Array.from({ length: 3 }, () => work('a', 10))
    const limit = { code: 'aggregation.BUSY', isOutage: true, isOwnLimit: true }
    await assert.rejects(work('a', 10), limit)
    const other = work('b', 10)
    await clock.advance(1_000)
    await Promise.all([...taken, other])
  })

  test('work that fails gives its place to the next', async () => {
    const { clock, turns, work } = opened(1)
    const failed = turns.run('a', () => Promise.reject(new Error('failed')))
    const next = work('a', 1)
    await Promise.all([assert.rejects(failed, /failed/), clock.advance(100)])
    await next
    assert.deepEqual([turns.running, turns.waiting], [0, 0])
  })
})
