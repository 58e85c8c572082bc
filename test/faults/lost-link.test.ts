/** The folder of the link is lost, and with it the count of the log's messages: what devices write from then on takes effect. */
import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { DEMO_TOKEN } from '../support/clients.ts'
import { startMillrace, type RunningMillrace } from '../support/start-millrace.ts'

test(
  'issue-8 I: a device’s attribute takes effect after the folder of the link was lost',
  { timeout: 600_000 },
  async (context) => {
    const dataDir = await mkdtemp(join(tmpdir(), 'millrace-lost-'))
    let millrace = await startMillrace({ dataDir })
    context.after(async () => {
      await millrace.kill()
      await rm(dataDir, { recursive: true, force: true })
    })
    for (let value = 1; value <= 30; value++) await write(millrace, value)
    await reads(millrace, 30)
    await millrace.stop()
    await rm(join(dataDir, 'link'), { recursive: true })
    millrace = await startMillrace({ dataDir })
    await write(millrace, 31)
    await reads(millrace, 31)
  },
)

async function write(millrace: RunningMillrace, value: number): Promise<void> {
  const url = `${millrace.url}/api/v1/${DEMO_TOKEN}/attributes`
  const response = await fetch(url, { method: 'POST', body: JSON.stringify({ mark: value }) })
  assert.equal(response.status, 200)
}

async function reads(millrace: RunningMillrace, value: number): Promise<void> {
  let last: unknown
  for (let tries = 0; tries < 2400; tries++) {
    const response = await fetch(`${millrace.url}/api/v1/${DEMO_TOKEN}/attributes?clientKeys=mark`)
    last = ((await response.json()) as { client?: { mark?: unknown } }).client?.mark
    if (last === value) return
    await delay(25)
  }
  assert.fail(`the attribute is ${String(last)}, not ${value}`)
}
