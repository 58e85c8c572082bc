import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { test, type TestContext } from 'node:test'
import { long, raw, write } from '../contract.ts'
import type { Core } from './core.ts'
import { SegmentLog } from './segment-log.ts'
import { coreOptions, freshDirectory, openCore, writeOperation } from './testkit.ts'

const ENTITY = '00000000-0000-4000-8000-000000000001'
const points = (key: string, from: number, to: number) =>
  Array.from({ length: to - from }, (_, index) => long(key, from + index, from + index))

/** Three chunks of key `k` (0–999, 1000–1999, 2000–2999) and one of key `other`; the file is then changed by `damage`. */
function damagedStore(t: TestContext, damage: (file: DatabaseSync) => void, directory = freshDirectory(t)): Core {
  const core = openCore(t, coreOptions(directory))
  for (const from of [0, 1000, 2000]) {
    core.write(writeOperation([write(ENTITY, points('k', from, from + 1000))]), 0)
    core.moveAll(0)
  }
  core.write(writeOperation([write(ENTITY, points('other', 0, 10))]), 0)
  core.moveAll(0)
  core.close()
  const file = new DatabaseSync(join(directory, 'chunks.sqlite'))
  damage(file)
  file.close()
  return openCore(t, coreOptions(directory))
}

/** One bit of the data of the chunk that begins at 1000. */
function flipChunk(file: DatabaseSync): void {
  const row = file
    .prepare('SELECT id, data FROM chunk WHERE id = (SELECT chunk FROM chunk_index WHERE start_ts = 1000)')
    .get()
  const data = row?.['data']
  assert.ok(data instanceof Uint8Array)
  data[data.length >> 1] = (data[data.length >> 1] ?? 0) ^ 1
  file.prepare('UPDATE chunk SET data = ? WHERE id = ?').run(data, row?.['id'] ?? null)
}

const isNamed = {
  code: 'timeseries.CHUNK_DAMAGED',
  kind: 'terminal',
  message: /chunks\.sqlite, chunk \d+, entity .*0001, key k, times 1000 to 1999/,
}
const read = (core: Core, startTs: number, endTs: number, key = 'k') =>
  core.reads.history(ENTITY, raw([key], { startTs, endTs, limit: 10_000 }), 0).get(key)?.length

test('a damaged chunk is an error with its name, and everything else is served', (t) => {
  const core = damagedStore(t, flipChunk)
  assert.equal(read(core, 0, 1000), 1000)
  assert.equal(read(core, 2000, 3000), 1000)
  assert.equal(read(core, 0, 5000, 'other'), 10)
  assert.throws(() => read(core, 0, 3000), isNamed)
  assert.throws(() => read(core, 1999, 2000), isNamed)
  assert.equal(
    core.reads.history(ENTITY, raw(['k'], { order: 'DESC', limit: 1000 }), 0).get('k')?.length,
    1000,
    'the newest do not need it',
  )
})

test('a damaged summary is an error, never a wrong sum', (t) => {
  const core = damagedStore(t, (file) => {
    const row = file.prepare('SELECT summary FROM chunk_index WHERE start_ts = 1000').get()
    const summary = row?.['summary']
    assert.ok(summary instanceof Uint8Array)
    summary[5] = (summary[5] ?? 0) ^ 1
    file.prepare('UPDATE chunk_index SET summary = ? WHERE start_ts = 1000').run(summary)
  })
  const sum = (startTs: number, endTs: number) =>
    core.reads.history(ENTITY, raw(['k'], { agg: 'SUM', borders: [startTs, endTs], startTs, endTs }), 0).get('k')?.[0]
      ?.value
  assert.equal(sum(0, 1000), 499_500)
  assert.throws(() => sum(0, 3000), isNamed)
})

test('writes into a damaged range are taken, and the range says so until it is deleted, after a restart too', (t) => {
  const directory = freshDirectory(t)
  const first = damagedStore(t, flipChunk, directory)
  first.write(writeOperation([write(ENTITY, [long('k', 1500, -1), long('k', 3000, 3000)])]), 0)
  first.moveAll(0)
  first.close()
  const core = openCore(t, coreOptions(directory))
  assert.equal(core.figures().damagedChunks, 1)
  assert.throws(() => read(core, 1500, 1501), isNamed)
  assert.equal(read(core, 2000, 4000), 1001)
  const sum = (startTs: number, endTs: number) =>
    core.reads.history(ENTITY, raw(['k'], { agg: 'SUM', borders: [startTs, endTs], startTs, endTs }), 0)
  assert.throws(() => sum(0, 5000), isNamed, 'nor is there a sum without what is gone')
  assert.throws(() => sum(1000, 3000), isNamed)
  assert.equal(sum(2000, 3000).get('k')?.[0]?.value, 2_499_500)
  const range = { entityId: ENTITY, keys: ['k'], startTs: 1000, endTs: 2000, deleteLatest: false, rewriteLatest: false }
  core.delete(range, 0)
  assert.equal(core.figures().damagedChunks, 0)
  assert.equal(read(core, 0, 5000), 2001)
})

test('a damaged latest value is an error until a new one takes its place', (t) => {
  const core = damagedStore(t, (file) => {
    file.exec("UPDATE series SET latest = x'0102030405060708' WHERE key = (SELECT id FROM key WHERE name = 'k')")
  })
  assert.throws(() => core.reads.latest(ENTITY, ['k']), { code: 'timeseries.LATEST_DAMAGED' })
  assert.equal(core.reads.latest(ENTITY, ['other']).get('other')?.[0]?.value, 9)
  core.write(writeOperation([write(ENTITY, [long('k', 4000, 1)])]), 0)
  assert.equal(core.reads.latest(ENTITY, ['k']).get('k')?.[0]?.value, 1)
})

test('a file that is no database stops the open with its name', (t) => {
  const directory = freshDirectory(t)
  writeFileSync(join(directory, 'chunks.sqlite'), 'no database at all'.repeat(100))
  assert.throws(() => openCore(t, coreOptions(directory)), {
    code: 'timeseries.DATABASE_DAMAGED',
    message: /chunks\.sqlite/,
  })
})

test('a directory in use is refused', (t) => {
  const directory = freshDirectory(t)
  const core = openCore(t, coreOptions(directory))
  core.write(writeOperation([write(ENTITY, points('k', 0, 1))]), 0)
  assert.throws(() => openCore(t, coreOptions(directory)), { code: 'timeseries.IN_USE' })
})

test('where memory cannot follow the log the store says that it is broken, and the next open follows it', (t) => {
  const directory = freshDirectory(t)
  const change = (sql: string) => {
    const file = new DatabaseSync(join(directory, 'chunks.sqlite'))
    file.exec(sql)
    file.close()
  }
  openCore(t, coreOptions(directory)).close()
  change('ALTER TABLE entity RENAME TO mislaid')
  const core = openCore(t, coreOptions(directory))
  assert.throws(() => core.write(writeOperation([write(ENTITY, points('k', 0, 3))]), 0), /no such table/)
  assert.match(core.broken?.message ?? '', /no such table/)
  core.close()
  change('ALTER TABLE mislaid RENAME TO entity')
  assert.equal(read(openCore(t, coreOptions(directory)), 0, 10), 3)
})

test('damage in the very last record is told after a close in order, and only there taken for a torn one', (t) => {
  const directory = freshDirectory(t)
  const first = openCore(t, coreOptions(directory))
  first.write(writeOperation([write(ENTITY, points('k', 0, 3))]), 0)
  first.write(writeOperation([write(ENTITY, points('k', 3, 6))]), 0)
  first.close()
  const path = join(directory, '0000000001.log')
  const whole = readFileSync(path)
  const size = new SegmentLog({ ...coreOptions(directory) }, () => undefined).bytes
  const flipped = Buffer.from(whole)
  flipped[size - 2] = (flipped[size - 2] ?? 0) ^ 1
  writeFileSync(path, flipped)
  const isNamedLog = { code: 'timeseries.LOG_DAMAGED', message: /0000000001\.log at byte \d+/ }
  assert.throws(() => openCore(t, coreOptions(directory)), isNamedLog)
  assert.throws(() => openCore(t, coreOptions(directory)), isNamedLog, 'nor is it cut by an open that was refused')
  writeFileSync(path, whole)
  assert.equal(read(openCore(t, coreOptions(directory)), 0, 10), 6)
})
