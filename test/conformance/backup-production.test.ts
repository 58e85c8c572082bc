/**
 * The backup guide's way for the production shape, on real servers and under load: three NATS nodes, PostgreSQL and QuestDB are copied one after
 * the other while devices write, and restored into empty ones. What was acknowledged before the backup began is there, once and in order.
 * The order, the commands and the SQL are those of `docs/guides/backup.md`.
 */
import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { test, type TestContext } from 'node:test'
import { acknowledgedByNow, compareAll, createDevices } from '../faults/fault-run.ts'
import { startLoad } from '../faults/workload.ts'
import { RestClient, login } from '../support/clients.ts'
import { hasTool, skipUnless } from '../support/require-tool.ts'
import {
  requireOwnServer,
  startNatsCluster,
  startPostgres,
  startQuestDb,
  type QuestDbOptions,
  type RunningServer,
} from '../support/servers/index.ts'
import { productionEnvironment } from '../support/start-cluster.ts'
import { PROJECT_ROOT, startMillrace, type RunningMillrace } from '../support/start-millrace.ts'

const DEVICES = 8
/** Acknowledged before the backup begins. */
const ACKNOWLEDGED = 500
const skip = skipUnless(['psql', 'pg_dump', 'pg_restore'].every(hasTool), 'the client programs of PostgreSQL')

interface Servers {
  readonly postgres: RunningServer
  readonly questdb: RunningServer
  readonly environment: Readonly<Record<string, string>>
}

async function startServers(context: TestContext, questdb: QuestDbOptions = {}): Promise<Servers> {
  const [nats, postgres, history] = await Promise.all([startNatsCluster(3), startPostgres(), startQuestDb(questdb)])
  context.after(() => Promise.all([nats.stop(), postgres.stop(), history.stop()]))
  const urls = { nats: nats.url, postgres: postgres.url, questdb: history.url }
  const environment = { ...productionEnvironment(urls), NATS_REPLICAS: '3', NATS_SYNCED: 'always' }
  return { postgres, questdb: history, environment }
}

/** Throws with what the program wrote when it fails. */
async function run(
  folder: string,
  command: string,
  args: readonly string[],
  { input = '', environment = {} }: { input?: string; environment?: Readonly<Record<string, string>> } = {},
): Promise<void> {
  const child = spawn(command, args, { cwd: folder, env: { ...process.env, ...environment } })
  let output = ''
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => (output += text))
  child.stdin.end(input)
  await once(child, 'close')
  assert.equal(child.exitCode, 0, `${command} ${args.join(' ')}: ${output}`)
}

async function natsStreams(action: string, folder: string, environment: Readonly<Record<string, string>>) {
  const script = join(PROJECT_ROOT, 'scripts', 'nats-streams.ts')
  await run(folder, process.execPath, ['--disable-warning=ExperimentalWarning', script, action, 'nats'], {
    environment,
  })
}

async function questDb(server: RunningServer, statement: string): Promise<void> {
  const response = await fetch(`${server.url}/exec?query=${encodeURIComponent(statement)}`)
  assert.equal(response.status, 200, await response.text())
}

/** What QuestDB wrote after the checkpoint may vanish while it is copied, and nothing else. */
function copyLiving(from: string, to: string): void {
  const { stderr } = spawnSync('cp', ['-a', from, to], { encoding: 'utf8', env: { ...process.env, LC_ALL: 'C' } })
  const others = stderr.split('\n').filter((line) => line !== '' && !line.endsWith(': No such file or directory'))
  assert.deepEqual(others, [])
}

/** The folder then has `outbox.csv`, `nats`, `millrace.dump` and `questdb/data`. */
async function backup(folder: string, { postgres, questdb, environment }: Servers, copyOutbox: string): Promise<void> {
  await run(folder, 'psql', [postgres.url, '-c', copyOutbox])
  await natsStreams('backup', folder, environment)
  await run(folder, 'pg_dump', ['--format=custom', '--file=millrace.dump', postgres.url])
  await questDb(questdb, 'CHECKPOINT CREATE')
  copyLiving(questdb.dataDir, join(folder, 'questdb', 'data'))
  await questDb(questdb, 'CHECKPOINT RELEASE')
}

async function restore(context: TestContext, folder: string, repair: string): Promise<Servers> {
  await writeFile(join(folder, 'questdb', 'data', '_restore'), '')
  const servers = await startServers(context, { dataDir: join(folder, 'questdb') })
  await natsStreams('restore', folder, servers.environment)
  await run(folder, 'pg_restore', ['--no-owner', `--dbname=${servers.postgres.url}`, 'millrace.dump'])
  await run(folder, 'psql', [servers.postgres.url, '-v', 'ON_ERROR_STOP=1'], { input: repair })
  return servers
}

async function postAttribute(millrace: RunningMillrace, token: string, value: number): Promise<void> {
  const body = JSON.stringify({ changing: value })
  const response = await fetch(`${millrace.url}/api/v1/${token}/attributes`, { method: 'POST', body })
  assert.equal(response.status, 200, await response.text())
}

async function attributeBecomes(millrace: RunningMillrace, deviceId: string, value: number): Promise<void> {
  const rest = new RestClient(millrace, await login(millrace))
  const path = `/api/plugins/telemetry/DEVICE/${deviceId}/values/attributes/CLIENT_SCOPE?keys=changing`
  for (let attempt = 0; ; attempt++) {
    const [found] = await rest.expect<{ value: unknown }[]>('GET', path)
    if (found?.value === value) return
    assert.ok(attempt < 1200, `the attribute is ${String(found?.value)} and not ${value}`)
    await delay(50)
  }
}

test(
  'issue-8 4: copies of NATS, QuestDB and PostgreSQL that were made under load hold all that was acknowledged before',
  { skip, timeout: 600_000 },
  async (context) => {
    if (!requireOwnServer(context, 'nats', 'postgres', 'questdb')) return
    const guide = await readFile(join(PROJECT_ROOT, 'docs', 'guides', 'backup.md'), 'utf8')
    const copyOutbox = /psql -c "(.*)"`/.exec(guide)?.[1] ?? ''
    const repair = /```sql\n([^`]*)```/.exec(guide)?.[1] ?? ''
    const folder = await mkdtemp(join(tmpdir(), 'millrace-production-backup-'))
    context.after(() => rm(folder, { recursive: true, force: true }))
    await mkdir(join(folder, 'questdb'))

    const source = await startServers(context)
    const before = await startMillrace({ environment: source.environment, timeoutMs: 120_000 })
    context.after(() => before.kill())
    const devices = await createDevices(before, DEVICES)
    const { token, deviceId } = devices[0]?.ledger ?? { token: '', deviceId: '' }
    const load = await startLoad(before, devices)
    while (load.acknowledged() < ACKNOWLEDGED) await delay(20)
    await postAttribute(before, token, 1)

    const inBackup = acknowledgedByNow(devices)
    const startedAt = performance.now()
    await backup(folder, source, copyOutbox)
    const tookMs = performance.now() - startedAt
    const during = load.acknowledged() - ACKNOWLEDGED
    assert.ok(during > 0, 'devices went on meanwhile')
    await load.end()
    await before.kill()

    const restored = await restore(context, folder, repair)
    const after = await startMillrace({ environment: restored.environment, timeoutMs: 120_000 })
    context.after(() => after.kill())
    const report = await compareAll(after, inBackup)
    context.diagnostic(
      `backup in ${Math.round(tookMs)} ms; acknowledged before ${report.acknowledged}, meanwhile ${during}; found ${report.found}, lost ${report.lost}`,
    )
    assert.deepEqual(report.findings, [])
    assert.ok(report.acknowledged >= ACKNOWLEDGED)
    await attributeBecomes(after, deviceId, 1)
    await postAttribute(after, token, 2)
    await attributeBecomes(after, deviceId, 2)
  },
)
