import assert from 'node:assert/strict'
import { appendFileSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { RunLog } from '../../support/run-log/index.ts'
import { FollowedRuns } from './followed-runs.ts'
import { holds } from './reading.ts'
import { takeRuns } from './runs.ts'

function logOf(context: TestContext) {
  const folder = mkdtempSync(join(tmpdir(), 'millrace-followed-'))
  context.after(() => rmSync(folder, { recursive: true }))
  const log = new RunLog(join(folder, 'runs'))
  return {
    log,
    append: (from: number, to: number): void => {
      const lines = Array.from({ length: to - from }, (_, index) => `m${from + index} p.1 1 1 device ${from + index}\n`)
      appendFileSync(log.file, lines.join(''))
    },
  }
}

test('runs are counted while they are logged, and each is taken once', async (context) => {
  const { log, append } = logOf(context)
  const followed = new FollowedRuns(log)
  append(0, 20_000)
  assert.ok(await holds(5_000, () => followed.ranOf('device') === 20_000))
  append(20_000, 30_000)
  const before = await followed.end()
  append(30_000, 30_100)
  const runs = (await takeRuns(log, [], 0, before)) ?? []
  assert.deepEqual(
    runs.map(({ value }) => value),
    Array.from({ length: 30_100 }, (_, value) => value),
  )
  assert.equal(followed.ranOf('somebody else'), 0)
})
