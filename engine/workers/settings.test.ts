import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { changedSettings } from './settings.ts'

const PRESENT = {
  threads: 4,
  minThreads: 4,
  idleTimeoutMs: 60_000,
  concurrentTasks: 2,
  queueBound: 1000,
  batchMessages: 512,
  memoryLimitMb: 64,
  timeoutMs: 500,
}

describe('a change of the settings', () => {
  test('leaves what it does not name', () => {
    assert.deepEqual(changedSettings(PRESENT, { timeoutMs: 200 }), { ...PRESENT, timeoutMs: 200 })
  })

  test('carries the threads that stay along where all of them did, and never leaves more than there are', () => {
    assert.equal(changedSettings(PRESENT, { threads: 8 }).minThreads, 8)
    assert.equal(changedSettings({ ...PRESENT, minThreads: 2 }, { threads: 8 }).minThreads, 2)
    assert.equal(changedSettings({ ...PRESENT, minThreads: 3 }, { threads: 1 }).minThreads, 1)
  })

  test('is refused with the range of what it names', () => {
    for (const threads of [0, 257, 1.5, Number.NaN])
      assert.throws(() => changedSettings(PRESENT, { threads }), {
        code: 'workers.SETTING',
        message: 'threads: a whole number from 1 to 256 (threads) is expected',
      })
    assert.throws(() => changedSettings(PRESENT, { minThreads: 5 }), {
      code: 'workers.SETTINGS_CONFLICT',
      message: 'minThreads 5 is more than threads 4',
    })
  })
})
