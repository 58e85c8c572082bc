/**
 * Backups under load, with everything killed (SIGKILL) at moments drawn by seed: the command that takes one, the server it takes it of, and the
 * command that restores it. What was acknowledged before a backup began is in it; a folder is a whole backup or none; a half restore is
 * refused. `ROUNDS` sets how often.
 */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { mkdtemp, open, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { test, type TestContext } from 'node:test'
import { RestClient, login } from '../support/clients.ts'
import { seededRandom } from '../support/seeded-random.ts'
import { MILLRACE, PROJECT_ROOT, startMillrace, type RunningMillrace } from '../support/start-millrace.ts'
import { acknowledgedByNow, compareAll, createDevices } from './fault-run.ts'
import { startLoad, type LoadedDevice } from './workload.ts'

const ROUNDS = Number(process.env['ROUNDS'] ?? 1)
const DEVICES = 8

interface Ended {
  readonly code: number | null
  readonly output: string
}

/** Runs one of the program's commands; with `killAfterMs` it may be killed on the way. */
async function run(
  args: readonly string[],
  environment: Readonly<Record<string, string>>,
  killAfterMs?: number,
): Promise<Ended> {
  const child = spawn(process.execPath, [...MILLRACE, ...args], {
    cwd: PROJECT_ROOT,
    env: { PATH: process.env['PATH'], HOME: process.env['HOME'], ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let output = ''
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => (output += text))
  const closed = once(child, 'close')
  const timer = killAfterMs === undefined ? undefined : setTimeout(() => child.kill('SIGKILL'), killAfterMs)
  await closed
  clearTimeout(timer)
  return { code: child.exitCode, output }
}

const backup = (millrace: RunningMillrace, folder: string, killAfterMs?: number) =>
  run(['backup', folder], { MILLRACE_URL: millrace.url }, killAfterMs)
const restore = (folder: string, dataDir: string, killAfterMs?: number) =>
  run(['restore', folder], { DATA_DIR: dataDir }, killAfterMs)

/** A device that changes an attribute all the time. */
function attributeLoad(millrace: RunningMillrace, token: string) {
  let stopped = false
  const running = (async () => {
    for (let value = 1; !stopped; value++) await postAttribute(millrace, token, value).catch(() => undefined)
  })()
  return () => {
    stopped = true
    return running
  }
}

async function postAttribute(millrace: RunningMillrace, token: string, value: number): Promise<void> {
  const response = await fetch(`${millrace.url}/api/v1/${token}/attributes`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ changing: value }),
  })
  await response.arrayBuffer()
  assert.equal(response.status, 200)
}

/** Everything of a restored folder is there, and goes on from there. */
async function checkRestored(dataDir: string, devices: readonly LoadedDevice[], context: TestContext): Promise<void> {
  const millrace = await startMillrace({ dataDir })
  try {
    const report = await compareAll(millrace, devices)
    context.diagnostic(`restored: acknowledged ${report.acknowledged}, found ${report.found}, lost ${report.lost}`)
    assert.deepEqual(report.findings, [])
    assert.ok(report.acknowledged > 0)
    const { token, deviceId } = devices[0]?.ledger ?? { token: '', deviceId: '' }
    await postAttribute(millrace, token, -1)
    const rest = new RestClient(millrace, await login(millrace))
    const path = `/api/plugins/telemetry/DEVICE/${deviceId}/values/attributes/CLIENT_SCOPE?keys=changing`
    for (let attempt = 0; ; attempt++) {
      const [found] = await rest.expect<{ value: unknown }[]>('GET', path)
      if (found?.value === -1) break
      assert.ok(attempt < 1200, `the attribute written after the restore is not there, but ${String(found?.value)}`)
      await delay(50)
    }
  } finally {
    await millrace.kill()
  }
}

test(
  `a backup holds all that was acknowledged before it, whatever is killed, over ${ROUNDS} rounds`,
  { timeout: 600_000 + ROUNDS * 60_000 },
  async (context) => {
    const random = seededRandom()
    context.diagnostic(`seed ${random.seed}`)
    const root = await mkdtemp(join(tmpdir(), 'millrace-backup-'))
    const dataDir = join(root, 'data')
    let millrace = await startMillrace({ dataDir })
    context.after(async () => {
      await millrace.kill()
      await rm(root, { recursive: true, force: true })
    })
    const devices = await createDevices(millrace, DEVICES)
    const changing = devices[0]?.ledger.token ?? ''
    for (let round = 1; round <= ROUNDS; round++) {
      const place = (name: string) => join(root, `${name}-${round}`)
      const load = await startLoad(millrace, devices)
      const stopAttributes = attributeLoad(millrace, changing)
      await delay(random.between(200, 600))

      const inBackup = acknowledgedByNow(devices)
      const startedAt = performance.now()
      const good = await backup(millrace, place('good'))
      const tookMs = performance.now() - startedAt
      assert.equal(good.code, 0, good.output)

      // The command is killed: the server goes on, and takes the next backup.
      const killed = await backup(millrace, place('killed'), random.between(0, tookMs))
      const isWhole = existsSync(join(place('killed'), 'manifest.json'))
      assert.ok(isWhole || killed.code === null, killed.output)
      if (!isWhole) {
        const refused = await restore(place('killed'), place('never'))
        assert.equal(refused.code, 1)
        assert.match(refused.output, /holds no finished backup/)
      }

      // The server is killed: the command says so, and the server's own data is whole.
      const cutOff = backup(millrace, place('cut-off'))
      await delay(random.between(0, tookMs))
      await millrace.kill()
      const ended = await cutOff
      assert.ok(ended.code === 0 || !existsSync(join(place('cut-off'), 'manifest.json')), ended.output)
      await Promise.all([load.end(), stopAttributes()])
      millrace = await startMillrace({ dataDir })
      assert.equal(existsSync(join(dataDir, 'backup')), false, 'what the killed server had copied is gone')
      assert.deepEqual((await compareAll(millrace, devices)).findings, [])

      // The restore is killed: no server starts on the half of it; the next restore begins again.
      const half = await restore(place('good'), place('restored'), random.between(0, tookMs))
      if (existsSync(join(place('restored'), 'restoring'))) {
        await assert.rejects(startMillrace({ dataDir: place('restored') }), /holds a restore that did not end/)
      }
      if (half.code !== 0) {
        const again = await restore(place('good'), place('restored'))
        assert.ok(again.code === 0 || /is not empty/.test(again.output), again.output)
      }
      await checkRestored(place('restored'), inBackup, context)
    }
  },
)

test('a damaged backup is refused before anything is restored, and a folder with data is left alone', async (context) => {
  const root = await mkdtemp(join(tmpdir(), 'millrace-backup-'))
  const dataDir = join(root, 'data')
  const millrace = await startMillrace({ dataDir })
  context.after(async () => {
    await millrace.kill()
    await rm(root, { recursive: true, force: true })
  })
  const folder = join(root, 'backup')
  assert.equal((await backup(millrace, folder)).code, 0)
  assert.match((await backup(millrace, folder)).output, /is not empty/)
  const manifest = JSON.parse(await readFile(join(folder, 'manifest.json'), 'utf8')) as {
    manifest: { files: { path: string; bytes: number }[] }
  }
  const target = join(root, 'restored')
  for (const path of ['manifest.json', ...manifest.manifest.files.map((file) => join('data', file.path))]) {
    const undo = await flip(join(folder, path))
    const refused = await restore(folder, target)
    assert.equal(refused.code, 1, path)
    assert.match(refused.output, /is damaged/, path)
    assert.equal(existsSync(target), false, 'nothing was restored')
    await undo()
  }
  assert.match((await restore(folder, dataDir)).output, /is in use by another Millrace/)
  await millrace.kill()
  assert.match((await restore(folder, dataDir)).output, /is not empty/)
  assert.equal((await restore(folder, target)).code, 0)
})

/** Changes one bit in the middle; resolves with the way back. */
async function flip(path: string): Promise<() => Promise<void>> {
  const write = async (): Promise<void> => {
    const file = await open(path, 'r+')
    try {
      const at = Math.floor((await file.stat()).size / 2)
      const byte = Buffer.alloc(1)
      await file.read(byte, 0, 1, at)
      byte[0] = (byte[0] ?? 0) ^ 1
      await file.write(byte, 0, 1, at)
    } finally {
      await file.close()
    }
  }
  await write()
  return write
}
