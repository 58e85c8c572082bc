import assert from 'node:assert/strict'
import { mkdtempSync, readdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { diskFiles, type LogFiles } from './log-files.ts'
import { SegmentLog } from './segment-log.ts'

function freshDirectory(t: TestContext): string {
  const directory = mkdtempSync(join(tmpdir(), 'millrace-log-'))
  t.after(() => {
    rmSync(directory, { recursive: true, force: true })
  })
  return directory
}

/** Opens the log and tells what it found. */
function openLog(directory: string, files: LogFiles = diskFiles, segmentBytes = 200) {
  const found: string[] = []
  const log = new SegmentLog({ directory, durability: 'power-cut', segmentBytes, files }, (record) => {
    found.push(record.payload.toString())
  })
  const append = (text: string) => log.append([Buffer.from(text)])
  return { log, found, append }
}

function segmentPaths(directory: string): string[] {
  return readdirSync(directory)
    .sort()
    .map((name) => join(directory, name))
}

const diskError = (code: string) => Object.assign(new Error(code), { code })

test('replays what was appended, in order, over many segments, and goes on counting', (t) => {
  const directory = freshDirectory(t)
  const first = openLog(directory)
  const texts = Array.from({ length: 40 }, (_, index) => `record ${index}`)
  const numbers = texts.map((text) => first.append(text))
  assert.deepEqual(
    numbers,
    texts.map((_, index) => index + 1),
  )
  first.log.close()
  assert.ok(segmentPaths(directory).length > 3)
  const second = openLog(directory)
  assert.deepEqual(second.found, texts)
  assert.equal(second.append('next'), 41)
  second.log.close()
})

test('a torn record at the end is cut, at every length it may have', (t) => {
  const directory = freshDirectory(t)
  const first = openLog(directory, diskFiles, 10_000)
  first.append('whole')
  first.append('torn')
  const end = first.log.bytes
  first.log.close()
  const [path = ''] = segmentPaths(directory)
  const bytes = readFileSync(path)
  for (let length = end - 1; length >= end - 19; length--) {
    // The file may end there, or go on with the zeros that were there before.
    for (const zeros of [0, 1, 5000]) {
      writeFileSync(path, Buffer.concat([bytes.subarray(0, length), Buffer.alloc(zeros)]))
      const again = openLog(directory, diskFiles, 10_000)
      assert.deepEqual(again.found, ['whole'], `cut to ${length}, then ${zeros} zeros`)
      assert.equal(again.append('again'), 2)
      again.log.close()
    }
  }
})

test('a segment that was only begun is dropped', (t) => {
  const directory = freshDirectory(t)
  const first = openLog(directory)
  first.append('kept')
  first.log.roll()
  first.log.close()
  truncateSync(segmentPaths(directory)[1] ?? '', 10)
  const again = openLog(directory)
  assert.deepEqual(again.found, ['kept'])
  assert.equal(again.append('next'), 2)
  again.log.close()
})

test('a flipped bit before whole records is damage with its place, never a silent end', (t) => {
  const directory = freshDirectory(t)
  const first = openLog(directory, diskFiles, 10_000)
  for (const text of ['one', 'two', 'three']) first.append(text)
  first.log.close()
  const [path = ''] = segmentPaths(directory)
  const bytes = readFileSync(path)
  const secondRecord = 36 + 16 + 3
  for (let at = secondRecord; at < secondRecord + 19; at++) {
    const damaged = Buffer.from(bytes)
    damaged[at] = (damaged[at] ?? 0) ^ 4
    writeFileSync(path, damaged)
    assert.throws(() => openLog(directory), {
      code: 'timeseries.LOG_DAMAGED',
      fields: { file: path, offset: secondRecord, reason: 'checksum mismatch' },
    })
  }
})

test('a missing segment and a cut one before the last are damage', (t) => {
  const directory = freshDirectory(t)
  const first = openLog(directory)
  for (let index = 0; index < 30; index++) first.append(`record ${index}`)
  first.log.close()
  const path = segmentPaths(directory)[1] ?? ''
  const bytes = readFileSync(path)
  truncateSync(path, bytes.length - 1)
  assert.throws(() => openLog(directory), { code: 'timeseries.LOG_DAMAGED' })
  rmSync(path)
  assert.throws(() => openLog(directory), /the segment is missing/)
})

test('drops only segments before the one named', (t) => {
  const directory = freshDirectory(t)
  const { log, append } = openLog(directory)
  for (let index = 0; index < 30; index++) append(`record ${index}`)
  log.dropBefore(3)
  assert.equal(log.oldestSegment, 3)
  log.dropBefore(Infinity)
  assert.equal(log.oldestSegment, log.currentSegment)
  log.close()
})

test('a full disk refuses the write as retryable, keeps nothing of it, and takes writes again when there is room', (t) => {
  const directory = freshDirectory(t)
  let full = false
  const files: LogFiles = {
    ...diskFiles,
    write(file, parts, position) {
      if (!full) {
        diskFiles.write(file, parts, position)
        return
      }
      // The disk takes a part of it first.
      diskFiles.write(file, [Buffer.concat(parts).subarray(0, 20)], position)
      throw diskError('ENOSPC')
    },
  }
  const { log, append } = openLog(directory, files)
  append('before')
  full = true
  for (let attempt = 0; attempt < 3; attempt++)
    assert.throws(() => append('refused'), { code: 'timeseries.DISK_FULL', kind: 'retryable' })
  full = false
  append('after')
  log.close()
  assert.deepEqual(openLog(directory).found, ['before', 'after'])
})

test('on a disk without room for space ahead a new segment takes records all the same', (t) => {
  const directory = freshDirectory(t)
  const files: LogFiles = {
    ...diskFiles,
    write(file, parts, position) {
      if (parts.reduce((sum, part) => sum + part.byteLength, 0) > 100) throw diskError('ENOSPC')
      diskFiles.write(file, parts, position)
    },
  }
  const { log, append } = openLog(directory, files)
  const texts = Array.from({ length: 20 }, (_, index) => `record ${index}`)
  for (const text of texts) append(text)
  assert.ok(log.currentSegment > 2)
  log.close()
  assert.deepEqual(openLog(directory, files).found, texts)
})

test('after a failed sync the segment is never trusted again: the record is refused and the next goes to a new one', (t) => {
  const directory = freshDirectory(t)
  let failing = false
  const synced: number[] = []
  const files: LogFiles = {
    ...diskFiles,
    sync(file) {
      if (failing) throw diskError('EIO')
      synced.push(file)
      diskFiles.sync(file)
    },
  }
  const { log, append } = openLog(directory, files)
  append('before')
  const segment = log.currentSegment
  failing = true
  // The second attempt must not be told "ok" by a sync that succeeds because the bytes were dropped: a new segment is tried.
  for (let attempt = 0; attempt < 2; attempt++)
    assert.throws(() => append('refused'), { code: 'timeseries.WRITE_FAILED', kind: 'retryable' })
  failing = false
  append('after')
  assert.ok(log.currentSegment > segment)
  log.close()
  assert.deepEqual(openLog(directory).found, ['before', 'after'])
})

test('the removal of each segment is durable before the next', (t) => {
  const directory = freshDirectory(t)
  const calls: string[] = []
  const files: LogFiles = {
    ...diskFiles,
    remove(path) {
      calls.push('remove')
      diskFiles.remove(path)
    },
    syncDirectory(path) {
      calls.push('sync')
      diskFiles.syncDirectory(path)
    },
  }
  const { log, append } = openLog(directory, files)
  while (log.currentSegment < 4) append('some text of a record that fills a segment')
  calls.length = 0
  log.dropBefore(4)
  log.close()
  assert.deepEqual(calls, ['remove', 'sync', 'remove', 'sync', 'remove', 'sync'])
})
