import assert from 'node:assert/strict'
import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { long, raw, testTimeSeriesStore, write } from '../contract.ts'
import { openEmbeddedTimeSeries } from './store.ts'
import { freshDirectory, killClock } from './testkit.ts'

const root = await mkdtemp(join(tmpdir(), 'millrace-timeseries-'))
after(() => rm(root, { recursive: true, force: true }))

for (const durability of ['power-cut', 'process-death'] as const) {
  testTimeSeriesStore(`embedded, ${durability}`, () =>
    openEmbeddedTimeSeries({ directory: join(root, durability, 'deep'), durability, clock: killClock }),
  )
}

// Bounds so small that every write is moved into chunks at once.
testTimeSeriesStore('embedded, everything in chunks', () =>
  openEmbeddedTimeSeries({
    directory: join(root, 'chunks'),
    durability: 'process-death',
    clock: killClock,
    logSoftBytes: 1,
    logHardBytes: 2,
    segmentBytes: 64,
    maxTailPoints: 0,
    maxEntitiesInMemory: 2,
  }),
)

test('faults of the worker reach the caller as typed errors', async (t) => {
  const directory = freshDirectory(t)
  const store = await openEmbeddedTimeSeries({ directory, durability: 'process-death', clock: killClock })
  await assert.rejects(openEmbeddedTimeSeries({ directory, durability: 'process-death', clock: killClock }), {
    name: 'MillraceError',
    code: 'timeseries.IN_USE',
    fields: { directory },
  })
  await store.close()
  await assert.rejects(store.write([write('e', [long('k', 1, 1)])]), { code: 'group-commit.CLOSED' })
  await assert.rejects(store.latest('e', undefined), { code: 'timeseries.CLOSED' })
})

test('a store that can not be opened says why in one line', async (t) => {
  const directory = freshDirectory(t)
  await mkdir(join(directory, 'chunks.sqlite'), { recursive: true })
  await assert.rejects(openEmbeddedTimeSeries({ directory, durability: 'process-death', clock: killClock }), {
    message: /^[^\n]*unable to open database file$/,
  })
})

test('refuses more unanswered reads than its bound, and answers those it took', async (t) => {
  const options = {
    directory: freshDirectory(t),
    durability: 'process-death',
    clock: killClock,
    maxPendingReads: 2,
  } as const
  const store = await openEmbeddedTimeSeries(options)
  const reads = await Promise.allSettled(Array.from({ length: 5 }, () => store.keys('e')))
  assert.deepEqual(
    reads.map(({ status }) => status),
    ['fulfilled', 'fulfilled', 'rejected', 'rejected', 'rejected'],
  )
  await assert.doesNotReject(store.keys('e'))
  await store.close()
})

test('long texts count as the points that their bytes would be, where writes wait', async (t) => {
  const directory = freshDirectory(t)
  const options = { directory, durability: 'process-death', clock: killClock, maxPendingPoints: 10 } as const
  const store = await openEmbeddedTimeSeries(options)
  const text = (ts: number) =>
    store.write([write('e', [{ key: 'k', ts, type: 'STRING', value: 'x'.repeat(6 * 1024) }])])
  const writes = await Promise.allSettled([text(1), text(2), text(3)])
  assert.deepEqual(
    writes.map(({ status }) => status),
    ['fulfilled', 'rejected', 'rejected'],
  )
  await assert.doesNotReject(text(4))
  await store.close()
})

test('what comes while a group is written is the next one, after a rest', { timeout: 120_000 }, async (t) => {
  const options = { directory: freshDirectory(t), durability: 'power-cut', clock: killClock } as const
  const store = await openEmbeddedTimeSeries(options)
  for (let round = 0; round < 20; round++) {
    const first = store.write([write('e', [long('k', 2 * round, 1)])])
    await new Promise(setImmediate)
    await Promise.all([first, store.write([write('e', [long('k', 2 * round + 1, 1)])])])
  }
  const { value } = await store.history('e', raw(['k']))
  assert.equal(value.get('k')?.length, 40)
  await store.close()
})

test('long values under many keys do not fill the memory, and are not read all at once', async (t) => {
  const directory = freshDirectory(t)
  const options = {
    directory,
    durability: 'process-death',
    clock: killClock,
    workerHeapMiB: 64,
    maxAnswerPoints: 300_000,
  } as const
  const value = 'x'.repeat(2 ** 20)
  const keys = 160
  const store = await openEmbeddedTimeSeries(options)
  for (let key = 0; key < keys; key++)
    await store.write([write('e', [{ key: `k${key}`, ts: 1, type: 'STRING', value }])])
  await store.close()
  const again = await openEmbeddedTimeSeries(options)
  assert.equal((await again.keys('e')).length, keys)
  assert.equal((await again.latest('e', ['k0'])).value[0]?.value, value)
  await assert.rejects(again.latest('e', undefined), { code: 'timeseries.ANSWER_TOO_BIG' })
  await again.close()
})

test('a worker that dies rejects everybody who waits, says so once, and loses nothing acknowledged', async (t) => {
  const directory = freshDirectory(t)
  const fatal: Error[] = []
  const options = { directory, durability: 'process-death', clock: killClock } as const
  const onFatal = (error: Error) => fatal.push(error)
  const dying = await openEmbeddedTimeSeries({ ...options, workerHeapMiB: 16, onFatal })
  let acknowledged = 0
  const fillMemory = async () => {
    for (;;) {
      const points = Array.from({ length: 1000 }, (_, index) => long('k', acknowledged + index, index))
      await dying.write([
        write('e', [...points, { key: `t${acknowledged}`, ts: 1, type: 'STRING', value: 'x'.repeat(10_000) }]),
      ])
      acknowledged += 1000
    }
  }
  await assert.rejects(fillMemory(), { code: 'timeseries.WORKER_DIED', kind: 'retryable' })
  await assert.rejects(dying.keys('e'), { code: 'timeseries.WORKER_DIED' })
  await dying.close()
  assert.equal(fatal.length, 1)
  const store = await openEmbeddedTimeSeries(options)
  const { value } = await store.history('e', raw(['k'], { limit: 1e7 }))
  assert.ok((value.get('k')?.length ?? 0) >= acknowledged)
  assert.ok(acknowledged > 0)
  await store.close()
})
