/** A full disk below all stores: what does not fit is refused, nothing acknowledged is lost, and with room it goes on by itself. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeSync, openSync, closeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { test, type TestContext } from 'node:test'
import { RestClient, login } from '../support/clients.ts'
import { openLedger, take, type DeviceLedger } from '../support/ledger.ts'
import { startMillrace, type RunningMillrace } from '../support/start-millrace.ts'
import { until } from '../support/until.ts'
import { compareAll } from './fault-run.ts'
import { explicitTime } from './workload.ts'

const PADDING = 'x'.repeat(20_000)

/** Mounts a disk of its own; undefined, and a skip, where this user may not. */
function mountSmallDisk(context: TestContext): string | undefined {
  const directory = mkdtempSync(join(tmpdir(), 'millrace-full-'))
  const { status, stderr } = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=64m', 'tmpfs', directory], {
    encoding: 'utf8',
  })
  if (status === 0) return directory
  rmSync(directory, { recursive: true })
  const isRequired = process.env['REQUIRE_REAL'] === '1' && process.getuid?.() === 0
  assert.ok(!isRequired, `a disk of its own is required and can not be mounted: ${stderr}`)
  context.skip(`needs to mount a small disk: ${stderr ?? 'no mount here'}`)
  return undefined
}

function unmount(directory: string): void {
  assert.equal(spawnSync('umount', [directory]).status, 0)
  rmSync(directory, { recursive: true })
}

/** Takes all the room that is left. */
function fill(path: string): void {
  const file = openSync(path, 'w')
  try {
    for (const block of [1 << 20, 4096]) {
      const bytes = Buffer.alloc(block, 1)
      try {
        for (;;) writeSync(file, bytes)
      } catch (error) {
        assert.match(String(error), /ENOSPC/)
      }
    }
  } finally {
    closeSync(file)
  }
}

async function send(millrace: RunningMillrace, ledger: DeviceLedger): Promise<number> {
  const value = take(ledger)
  const response = await fetch(`${millrace.url}/api/v1/${ledger.token}/telemetry`, {
    method: 'POST',
    body: JSON.stringify({ ts: explicitTime(value), values: { n: value, padding: PADDING } }),
  })
  await response.arrayBuffer()
  if (response.status === 200) ledger.acknowledged.add(value)
  return response.status
}

test(
  'a full disk refuses, loses nothing acknowledged, and is left behind by itself',
  { timeout: 600_000 },
  async (context) => {
    const disk = mountSmallDisk(context)
    if (disk === undefined) return
    const started: RunningMillrace[] = []
    context.after(async () => {
      for (const each of started) await each.kill()
      unmount(disk)
    })
    const millrace = await startMillrace({ dataDir: join(disk, 'data') })
    started.push(millrace)
    const rest = new RestClient(millrace, await login(millrace))
    const ledger = openLedger('device', 'FULL_DISK', await rest.createDevice('full disk', 'FULL_DISK'))
    for (let count = 0; count < 50; count++) assert.equal(await send(millrace, ledger), 200)

    const ballast = join(disk, 'ballast')
    fill(ballast)
    let refused = 0
    for (let count = 0; count < 3000 && refused < 20; count++) {
      const status = await send(millrace, ledger)
      if (status === 200) continue
      assert.equal(status, 503, 'a refusal that says to come back')
      refused++
      await delay(20)
    }
    assert.ok(refused >= 20, 'the disk was never full')
    await until(() => /ENOSPC.*disk-failed/.test(millrace.log()))

    const before = ledger.acknowledged.size
    rmSync(ballast)
    const freed = performance.now()
    while (ledger.acknowledged.size < before + 50) {
      assert.ok(performance.now() - freed < 120_000, 'nothing is taken 120 s after there was room')
      if ((await send(millrace, ledger)) !== 200) await delay(50)
    }
    const report = await compareAll(millrace, [{ ledger, transport: 'HTTP', explicitTimes: true }])
    context.diagnostic(
      `sent ${report.sent}, acknowledged ${report.acknowledged}, refused ${refused}, found ${report.found}, lost ${report.lost}`,
    )
    assert.deepEqual(report.findings, [])
    assert.equal(await millrace.stop(), 0)
    // Whichever of the stores met the end of the disk first: the log names it, and says when that was over.
    assert.match(millrace.log(), /no space left on device|disk is full.*messages wait for what is away or full/)
    assert.match(millrace.log(), /disk-recovered|an outage is over/)
  },
)

test('a start on a full disk is refused in one sentence, and works once there is room', async (context) => {
  const disk = mountSmallDisk(context)
  if (disk === undefined) return
  const started: RunningMillrace[] = []
  context.after(async () => {
    for (const each of started) await each.kill()
    unmount(disk)
  })
  const dataDir = join(disk, 'data')
  const first = await startMillrace({ dataDir })
  started.push(first)
  assert.equal(await first.stop(), 0)
  const ballast = join(disk, 'ballast')
  fill(ballast)
  await assert.rejects(startMillrace({ dataDir }), (error: Error) => {
    assert.match(
      error.message,
      /^ended with 1 before it was ready:\nThe [a-z -]+ in DATA_DIR=\S+ can not be opened: .*\n$/,
    )
    return true
  })
  rmSync(ballast)
  const second = await startMillrace({ dataDir })
  started.push(second)
  assert.equal(await second.stop(), 0)
})
