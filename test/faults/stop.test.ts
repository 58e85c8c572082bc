/** A stop at full load: drained in time, exit code 0, and nothing that was acknowledged is missing at the next start. */
import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { test } from 'node:test'
import { DEMO_TOKEN } from '../support/clients.ts'
import { startMillrace } from '../support/start-millrace.ts'
import { compareAll, createDevices } from './fault-run.ts'
import { startLoad } from './workload.ts'

const FEWEST_ACKNOWLEDGEMENTS = 1000
const STOP_LIMIT_MS = 10_000

test('SIGTERM at full load stops it cleanly and loses nothing acknowledged', { timeout: 600_000 }, async (context) => {
  const dataDir = await mkdtemp(join(tmpdir(), 'millrace-stop-'))
  let millrace = await startMillrace({ dataDir })
  context.after(async () => {
    await millrace.kill()
    await rm(dataDir, { recursive: true, force: true })
  })
  const devices = await createDevices(millrace, 8)
  const load = await startLoad(millrace, devices)
  // One that waits for minutes, as devices do: it must not be waited for.
  const poll = fetch(`${millrace.url}/api/v1/${DEMO_TOKEN}/attributes/updates?timeout=60000`)
  for (let wait = 0; wait < 1000 && load.acknowledged() < FEWEST_ACKNOWLEDGEMENTS; wait++) await delay(20)

  const began = performance.now()
  const exitCode = await millrace.stop()
  const tookMs = Math.round(performance.now() - began)
  await load.end()
  context.diagnostic(`${load.acknowledged()} acknowledged, stopped within ${tookMs} ms`)
  assert.equal(exitCode, 0, millrace.log())
  assert.ok(tookMs < STOP_LIMIT_MS / 2, `the stop took ${tookMs} ms`)
  assert.doesNotMatch(millrace.log(), /"level":"error"/)
  assert.equal((await poll).status, 503)

  millrace = await startMillrace({ dataDir })
  const report = await compareAll(millrace, devices)
  assert.ok(report.acknowledged >= FEWEST_ACKNOWLEDGEMENTS, `void: only ${report.acknowledged} acknowledgements`)
  assert.deepEqual(report.findings, [])
  assert.doesNotMatch(millrace.log(), /"level":"error"/)
})
