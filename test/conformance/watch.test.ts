/** The command that prints a device's telemetry, against a running server. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { after, before, describe, test } from 'node:test'
import { MILLRACE, PROJECT_ROOT, startMillrace, type RunningMillrace } from '../support/start-millrace.ts'

describe('watch', () => {
  let millrace: RunningMillrace
  before(async () => {
    millrace = await startMillrace()
  })
  after(() => millrace.stop())

  const watch = (...argv: string[]) =>
    spawnSync(process.execPath, [...MILLRACE, 'watch', '--url', millrace.url, ...argv], {
      cwd: PROJECT_ROOT,
      encoding: 'utf8',
      timeout: 120_000,
    })

  test('says that there is no device of the name', () => {
    const run = watch('Nobody')
    assert.equal(run.status, 1)
    assert.match(run.stderr, /^this tenant has no device named 'Nobody'$/m)
  })

  test('says that the password is wrong', () => {
    const run = watch('Demo Thermometer', '--password', 'wrong')
    assert.equal(run.status, 1)
    assert.match(run.stderr, /\/api\/auth\/login answered 401: Invalid username or password/)
  })
})
