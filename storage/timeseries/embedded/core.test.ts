import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import type { DataPoint } from '../../../model/value.ts'
import { long, raw, write } from '../contract.ts'
import type { Core } from './core.ts'
import { diskFiles, type LogFiles } from './log-files.ts'
import { coreOptions, freshDirectory, openCore, writeOperation } from './testkit.ts'

const run = (from: number, count: number): DataPoint[] =>
  Array.from({ length: count }, (_, index) => long('k', from + index, from + index))
const put = (core: Core, entity: string, points: readonly DataPoint[], ttlSeconds = 0, now = 0) =>
  core.write(writeOperation([write(entity, points, { ttlSeconds })], now), now)
const count = (core: Core, entity: string, now = 0) =>
  core.reads.history(entity, raw(['k'], { limit: 1e6 }), now).get('k')?.length ?? 0

function chunkCounts(directory: string): number {
  const file = new DatabaseSync(join(directory, 'chunks.sqlite'), { readOnly: true })
  const rows = file
    .prepare('SELECT (SELECT count(*) FROM chunk) AS chunks, (SELECT count(*) FROM chunk_index) AS places')
    .get()
  file.close()
  assert.equal(rows?.['chunks'], rows?.['places'])
  return Number(rows?.['chunks'])
}

test('the log stays within its bounds while points stream in, and nothing is lost', (t) => {
  const options = coreOptions(freshDirectory(t), { logSoftBytes: 20_000, logHardBytes: 40_000, segmentBytes: 5000 })
  const core = openCore(t, options)
  for (let round = 0; round < 300; round++) {
    for (let device = 0; device < 10; device++) put(core, `device ${device}`, run(round * 5, 5))
    core.tidy(0)
    assert.ok(core.figures().logBytes <= options.logHardBytes + options.segmentBytes)
  }
  for (let device = 0; device < 10; device++) assert.equal(count(core, `device ${device}`), 1500)
  assert.equal(core.figures().moveFailure, undefined)
})

test('an answer over the bound is refused instead of read into memory', (t) => {
  const core = openCore(t, coreOptions(freshDirectory(t), { maxAnswerPoints: 100 }))
  const both = [...run(0, 60), ...run(0, 60).map((point) => ({ ...point, key: 'l' }))]
  put(core, 'device', both)
  const answer = (limit: number) => core.reads.history('device', raw(['k', 'l'], { limit }), 0)
  assert.equal(answer(50).get('l')?.length, 50)
  assert.throws(() => answer(51), { code: 'timeseries.ANSWER_TOO_BIG', status: 400 })
  assert.throws(() => core.reads.history('device', raw(['k', 'l']), 0), { kind: 'invalid' })
  const text = (ts: number): DataPoint => ({ key: 't', ts, type: 'STRING', value: 'x'.repeat(64 * 10) })
  put(core, 'device', [text(1), text(2), ...Array.from({ length: 8 }, (_, index) => text(3 + index))])
  assert.equal(core.reads.history('device', raw(['t'], { limit: 9 }), 0).get('t')?.length, 9)
  assert.throws(() => core.reads.history('device', raw(['t'], { limit: 10 }), 0), { code: 'timeseries.ANSWER_TOO_BIG' })
})

test('chunks of long texts end before they are full, however they are put together', (t) => {
  const directory = freshDirectory(t)
  const core = openCore(t, coreOptions(directory, { logSoftBytes: 2 ** 24, logHardBytes: 2 ** 25 }))
  const length = 300_000
  const text = (ts: number): DataPoint => ({ key: 'k', ts, type: 'STRING', value: String(ts).padEnd(length, 'x') })
  for (let ts = 0; ts < 40; ts += 2) {
    put(core, 'device', [text(ts), text(ts + 1)])
    core.moveAll(0)
  }
  const found = core.reads.history('device', raw(['k'], { limit: 1000 }), 0).get('k') ?? []
  assert.deepEqual(
    found.map(({ value }) => String(value).replaceAll('x', '')),
    Array.from({ length: 40 }, (_, ts) => String(ts)),
  )
  core.close()
  // Three texts fit into a chunk; all forty in one is what the number of points alone would allow.
  assert.ok(chunkCounts(directory) >= 13, `${chunkCounts(directory)} chunks`)
})

test('a long latest value is read back whole, gives way to a newer one only, and is found damaged', (t) => {
  const directory = freshDirectory(t)
  const text = (ts: number): DataPoint => ({
    key: 'k',
    ts,
    type: 'JSON',
    value: JSON.stringify(`${ts} ${'ü'.repeat(100_000)}`),
  })
  const latest = (core: Core) => core.reads.latest('device', ['k']).get('k')?.[0]
  const core = openCore(t, coreOptions(directory))
  put(core, 'device', [text(5)])
  core.moveAll(0)
  assert.deepEqual(latest(core), { ts: 5, type: 'JSON', value: text(5).value, expiresAt: 0 })
  put(core, 'device', [text(4)])
  core.moveAll(0)
  core.close()
  const again = openCore(t, coreOptions(directory))
  assert.equal(latest(again)?.value, text(5).value)
  put(again, 'device', [text(4), text(6)])
  assert.equal(latest(again)?.value, text(6).value)
  again.moveAll(0)
  assert.deepEqual(again.reads.keys('device'), ['k'])
  again.close()
  const file = new DatabaseSync(join(directory, 'chunks.sqlite'))
  file.exec("UPDATE series SET latest = substr(latest, 1, 50000) || x'00' || substr(latest, 50002)")
  file.close()
  const damaged = openCore(t, coreOptions(directory))
  assert.throws(() => latest(damaged), { code: 'timeseries.LATEST_DAMAGED' })
  put(damaged, 'device', [long('k', 7, 7)])
  assert.equal(latest(damaged)?.value, 7)
})

test('small chunks of a slow series are put together', (t) => {
  const directory = freshDirectory(t)
  const core = openCore(t, coreOptions(directory))
  for (let round = 0; round < 64; round++) {
    put(core, 'slow', run(round * 10, 10))
    core.moveAll(0)
  }
  assert.equal(count(core, 'slow'), 640)
  core.close()
  assert.ok(chunkCounts(directory) <= 12, `${chunkCounts(directory)} chunks for 64 moves`)
})

test('chunks whose points have all expired are removed from the file', (t) => {
  const directory = freshDirectory(t)
  const core = openCore(t, coreOptions(directory))
  put(core, 'short', run(0, 3000), 10)
  put(core, 'long', run(0, 100))
  core.moveAll(0)
  assert.equal(count(core, 'short', 9_999), 3000)
  assert.equal(count(core, 'short', 10_000), 0)
  put(core, 'long', run(100, 1), 0, 11_000)
  core.moveAll(11_000)
  core.close()
  assert.equal(chunkCounts(directory), 2)
})

test('a deleted entity leaves no chunk behind', (t) => {
  const directory = freshDirectory(t)
  const core = openCore(t, coreOptions(directory))
  put(core, 'gone', run(0, 5000))
  core.moveAll(0)
  core.deleteEntity('gone', 0)
  core.close()
  assert.equal(chunkCounts(directory), 0)
})

const BOUNDS = { logSoftBytes: 20_000, logHardBytes: 60_000, segmentBytes: 5000 }
const DEVICES = 7

/** A text of a kilobyte that no compressor makes smaller than half. */
function text(ts: number): DataPoint {
  const noise = Array.from({ length: 16 }, (_, part) => createHash('sha256').update(`${ts}/${part}`).digest('hex'))
  return { key: 'k', ts, type: 'STRING', value: noise.join('') }
}

/** Writes until the chunks' share of the disk and then the log are full; tells how many points were taken. */
function fillUp(core: Core): number {
  let stored = 0
  const fill = () => {
    for (; stored < 5000; stored++) {
      put(core, `device ${stored % DEVICES}`, [text(stored)])
      core.tidy(0)
    }
  }
  assert.throws(fill, { code: 'timeseries.BACKLOG', kind: 'retryable' })
  assert.throws(fill, { code: 'timeseries.BACKLOG' })
  return stored
}

const countAll = (core: Core) =>
  Array.from({ length: DEVICES }, (_, device) => count(core, `device ${device}`)).reduce((a, b) => a + b)

test('where chunks find no room, writes go on until the log is full, then are refused; with room all is there', (t) => {
  const directory = freshDirectory(t)
  const tight = openCore(t, coreOptions(directory, { ...BOUNDS, maxDatabaseBytes: 20 * 16_384 }))
  const stored = fillUp(tight)
  assert.match(tight.figures().moveFailure ?? '', /full/)
  assert.equal(countAll(tight), stored, 'reads go on')
  tight.close()
  const roomy = openCore(t, coreOptions(directory, BOUNDS))
  assert.equal(countAll(roomy), stored)
  put(roomy, 'device 0', [text(1e6)])
  roomy.moveAll(0)
  assert.equal(countAll(roomy), stored + 1)
  assert.equal(roomy.figures().moveFailure, undefined)
})

test('deletes are taken by a full store and make room: it goes on by itself, and new series are where they belong', (t) => {
  const directory = freshDirectory(t)
  const core = openCore(t, coreOptions(directory, { ...BOUNDS, maxDatabaseBytes: 20 * 16_384 }))
  fillUp(core)
  const before = countAll(core)
  const gone = [0, 1, 2].map((device) => `device ${device}`)
  const removed = gone.reduce((sum, entity) => sum + count(core, entity), 0)
  for (const entity of gone) core.deleteEntity(entity, 0)
  for (let device = 0; device < 20; device++) {
    put(core, `new ${device}`, [text(device)])
    core.tidy(0)
  }
  const news = (opened: Core) =>
    Array.from({ length: 20 }, (_, device) => opened.reads.latest(`new ${device}`, ['k']).get('k')?.[0]?.value)
  const expected = Array.from({ length: 20 }, (_, device) => text(device).value)
  assert.deepEqual(news(core), expected)
  assert.equal(countAll(core), before - removed)
  assert.equal(core.figures().moveFailure, undefined)
  core.moveAll(0)
  core.close()
  const again = openCore(t, coreOptions(directory))
  assert.deepEqual(news(again), expected)
  assert.equal(countAll(again), before - removed)
})

test('new points over a packed chunk count in its sums at once', (t) => {
  const core = openCore(t, coreOptions(freshDirectory(t)))
  put(core, 'a', run(0, 1000))
  core.moveAll(0)
  put(core, 'a', [long('k', 500, 0), long('k', 2000, 7)])
  const query = raw(['k'], { agg: 'SUM', startTs: 0, endTs: 3000, borders: [0, 3000] })
  assert.equal(core.reads.history('a', query, 0).get('k')?.[0]?.value, 499_500 - 500 + 7)
})

test('a user’s write has the version it had when the log is read again, not a later one', (t) => {
  const options = coreOptions(freshDirectory(t), { logSoftBytes: 1, logHardBytes: 1e6, segmentBytes: 5000 })
  const core = openCore(t, options)
  const at = (sequence: number, value: number) =>
    core.write(writeOperation([write('device', [long('k', 5, value)], { sequence })]), 0)
  put(core, 'in the first segment', run(0, 3000))
  at(100, 1)
  at(0, 2)
  at(150, 3)
  // The first segment goes; the three writes are still in the log alone, together with what is known of positions.
  core.tidy(0)
  const latest = (opened: Core) => opened.reads.latest('device', ['k']).get('k')?.[0]?.value
  assert.equal(latest(core), 3)
  core.close()
  const again = openCore(t, options)
  assert.equal(latest(again), 3)
  // As a message before it would be, were it delivered again.
  again.write(writeOperation([write('device', [long('k', 5, 1)], { sequence: 149 })]), 0)
  assert.equal(latest(again), 3)
})

test('the numbers that a move gave out are void when the disk is full in the middle of it', (t) => {
  const directory = freshDirectory(t)
  const core = openCore(t, coreOptions(directory, { maxDatabaseBytes: 20 * 16_384 }))
  put(core, 'old', [text(0)])
  core.moveAll(0)
  const big = Array.from({ length: 600 }, (_, index) => text(index))
  put(core, 'other', [long('k', 1, 1)])
  put(core, 'new', big)
  assert.throws(() => {
    core.moveAll(0)
  }, /full/)
  core.deleteEntity('new', 0)
  core.moveAll(0)
  core.close()
  const again = openCore(t, coreOptions(directory))
  assert.equal(count(again, 'other'), 1)
  assert.equal(again.reads.latest('other', ['k']).get('k')?.[0]?.value, 1)
  assert.equal(count(again, 'new'), 0)
  assert.equal(count(again, 'old'), 1)
})

test('a write that the disk refused is not visible, and the same write later is', (t) => {
  let full = false
  const files: LogFiles = {
    ...diskFiles,
    write(file, parts, position) {
      if (full) throw Object.assign(new Error('no space'), { code: 'ENOSPC' })
      diskFiles.write(file, parts, position)
    },
  }
  const core = openCore(t, coreOptions(freshDirectory(t), { files }))
  put(core, 'a', run(0, 1))
  full = true
  assert.throws(() => put(core, 'a', run(1, 5)), { code: 'timeseries.DISK_FULL', kind: 'retryable' })
  assert.equal(count(core, 'a'), 1)
  full = false
  put(core, 'a', run(1, 5))
  assert.equal(count(core, 'a'), 6)
})

test('of more chunks than are looked up at once none is left out, in either order, and whole decimals count as what they are', (t) => {
  const core = openCore(t, coreOptions(freshDirectory(t)))
  const points = Array.from({ length: 300 * 1024 }, (_, ts): DataPoint =>
    ts % 10 === 0 ? long('k', ts, ts / 10) : { key: 'k', ts, type: 'DOUBLE', value: ts / 10 },
  )
  for (let from = 0; from < points.length; from += 4096) put(core, 'device', points.slice(from, from + 4096))
  assert.ok(core.moveAll(0))
  for (const order of ['ASC', 'DESC'] as const) {
    const found = core.reads.history('device', raw(['k'], { limit: 1e6, order }), 0).get('k') ?? []
    const expected = order === 'ASC' ? points : points.toReversed()
    assert.equal(found.length, expected.length)
    // Not all at once: the difference of so many would be long in coming.
    for (const [index, { ts, type, value }] of found.entries()) {
      const wanted = expected[index]
      assert.ok(ts === wanted?.ts && type === wanted.type && value === wanted.value, `${order} ${index}: ${ts}`)
    }
  }
  // Uneven to the chunks: some lie in one bucket, most across a border.
  const borders = Array.from({ length: 208 }, (_, index) => index * 1500)
  for (const agg of ['SUM', 'COUNT', 'MAX'] as const)
    // The second time out of what the first has unpacked.
    for (let time = 0; time < 2; time++) {
      const found =
        core.reads.history('device', raw(['k'], { agg, startTs: 0, endTs: 310_500, borders }), 0).get('k') ?? []
      assert.equal(found.length, Math.ceil(points.length / 1500))
      for (const [bucket, { value }] of found.entries()) {
        const own = points.slice(bucket * 1500, (bucket + 1) * 1500)
        const sum = own.reduce((total, point) => total + Number(point.value), 0)
        const wanted = agg === 'SUM' ? sum : agg === 'COUNT' ? own.length : Number(own.at(-1)?.value)
        assert.ok(Math.abs(Number(value) - wanted) < 1e-4, `${agg} ${bucket}: ${String(value)} for ${wanted}`)
      }
    }
})
