/**
 * 10,000 reconnects a minute of devices whose sessions are kept, beside devices that behave: each finds its session, hears what it missed, and
 * nothing grows with the reconnects. `NOISY_SECONDS` makes it longer; `NOISY_P99=1`, on an idle machine, compares the rates of the others too.
 */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { test, type TestContext } from 'node:test'
import { Worker } from 'node:worker_threads'
import pg from 'pg'
import { z } from 'zod'
import { eventually } from '../conformance/wait.ts'
import { login, RestClient } from '../support/clients.ts'
import { figure } from '../support/figure.ts'
import { pacedPosts, type PacedPosts } from '../support/paced-posts.ts'
import { requireServer, startPostgres } from '../support/servers/index.ts'
import { startMillrace, type RunningMillrace } from '../support/start-millrace.ts'

const SECONDS = Number(process.env['NOISY_SECONDS'] ?? 8)
const DEVICES = 200
/** 10,000 a minute. */
const RECONNECTS_PER_SECOND = 167
/** A busy machine has no such storm: with fewer it is none. */
const FEWEST = 100
const COMPARES_RATES = process.env['NOISY_P99'] === '1'
const HEALTHY: PacedPosts = { name: 'HEALTHY', devices: 10, seconds: SECONDS, rate: 100 }
const MAX_GROWTH_MIB = 150
const TICKS_PER_SECOND = 100

const Counts = z.object({
  ...{ visits: z.number(), begun: z.number(), absent: z.number(), subscribed: z.number(), heard: z.number() },
  ...{ late: z.number(), broken: z.number(), targets: z.array(z.number()).optional() },
})

type Rows = () => Promise<number>

async function storm(context: TestContext, millrace: RunningMillrace, rows: Rows): Promise<void> {
  const rest = new RestClient(millrace, await login(millrace))
  for (let device = 0; device < HEALTHY.devices; device++)
    await rest.createDevice(`healthy ${device}`, `HEALTHY_${device}`)
  const ids: string[] = []
  for (let device = 0; device < DEVICES; device++) ids.push(await rest.createDevice(`kept ${device}`, `KEPT_${device}`))
  const tell = (id: string, target: number) =>
    rest.expect('POST', `/api/plugins/telemetry/DEVICE/${id}/SHARED_SCOPE`, { target })
  await pacedPosts(millrace, { ...HEALTHY, seconds: 1 })
  const idleSince = await processorMs(millrace.pid)
  const alone = await pacedPosts(millrace, HEALTHY)
  const aloneMs = (await processorMs(millrace.pid)) - idleSince

  const fleet = new Worker(join(import.meta.dirname, '..', 'support', 'kept-fleet.ts'), {
    workerData: { ports: [millrace.ports['mqtt']], devices: DEVICES, reconnectsPerSecond: RECONNECTS_PER_SECOND },
  })
  context.after(() => fleet.terminate())
  await once(fleet, 'online')
  // Each has its session before it counts.
  fleet.postMessage(0)
  const first: readonly unknown[] = await once(fleet, 'message')
  assert.equal(Counts.parse(first[0]).begun, DEVICES)
  const before = { mib: await residentMiB(millrace.pid), rows: await rows(), ms: await processorMs(millrace.pid) }
  fleet.postMessage('begin')
  const telling = (async () => {
    for (const [number, id] of ids.entries()) await tell(id, number + 1)
  })()
  const beside = await pacedPosts(millrace, HEALTHY)
  const besideMs = (await processorMs(millrace.pid)) - before.ms
  const told: Promise<readonly unknown[]> = once(fleet, 'message')
  fleet.postMessage('end')
  const counts = Counts.parse((await told)[0])
  await telling
  const after = { mib: await residentMiB(millrace.pid), rows: await rows() }
  const reconnects = counts.visits - DEVICES
  const perReconnectMs = Math.round(((besideMs - aloneMs) / reconnects) * 100) / 100
  context.diagnostic(JSON.stringify({ alone, beside, counts, before, after, reconnects, perReconnectMs }))

  assert.ok(reconnects >= FEWEST, `void: ${reconnects} reconnects`)
  assert.equal(counts.absent, 0, 'a session was lost')
  assert.equal(counts.broken, 0, 'a device was cut off')
  assert.equal(beside.refused, 0, 'devices that behave were refused')
  assert.equal(beside.acknowledged, beside.sent)
  assert.ok(
    !COMPARES_RATES || beside.acknowledged >= 0.9 * alone.acknowledged,
    `${beside.acknowledged} of ${alone.acknowledged} alone`,
  )
  assert.equal(after.rows, DEVICES, 'rows of sessions')
  assert.ok(after.mib - before.mib < MAX_GROWTH_MIB, `${before.mib} MiB before, ${after.mib} MiB after`)

  // What was said to each while it came and went has been heard by each, or is told the next time.
  for (const id of ids) await tell(id, DEVICES + 1)
  const heard: Promise<readonly unknown[]> = once(fleet, 'message')
  fleet.postMessage(DEVICES + 1)
  const last = Counts.parse((await heard)[0])
  assert.equal(last.absent, 0)
  assert.ok(last.targets?.every((target) => target === DEVICES + 1) === true)
  assert.equal(await figure(millrace, 'millrace_mqtt_kept_sessions'), DEVICES)
  await eventually(
    () => figure(millrace, 'millrace_mqtt_waiting_kept_sessions'),
    (waiting) => waiting === 0,
  )
}

test('10,000 reconnects a minute to kept sessions, on SQLite', { timeout: 600_000 }, async (context) => {
  const millrace = await startMillrace()
  context.after(() => millrace.stop())
  await storm(context, millrace, () => {
    const file = new DatabaseSync(join(millrace.dataDir, 'entities.sqlite'), { readOnly: true })
    const row = file.prepare('select count(*) as rows from device_session').get()
    file.close()
    return Promise.resolve(Number(row?.['rows']))
  })
})

test('10,000 reconnects a minute to kept sessions, on PostgreSQL', { timeout: 600_000 }, async (context) => {
  if (!requireServer(context, 'postgres')) return
  const postgres = await startPostgres()
  context.after(() => postgres.stop())
  const millrace = await startMillrace({
    environment: { DATABASE_ENTITIES_TYPE: 'postgres', DATABASE_URL: postgres.url },
  })
  context.after(() => millrace.stop())
  await storm(context, millrace, async () => {
    const client = new pg.Client(postgres.url)
    await client.connect()
    try {
      const { rows } = await client.query<{ rows: string }>('select count(*) as rows from device_session')
      return Number(rows[0]?.rows)
    } finally {
      await client.end()
    }
  })
})

async function residentMiB(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8')
  return Math.round(Number(/^VmRSS:\s+(\d+)/m.exec(status)?.[1]) / 1024)
}

/** Of all its threads. */
async function processorMs(pid: number): Promise<number> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8')
  // Behind the name of the program, which may have blanks: user and system time are the 14th and 15th of the line.
  const [user = '', system = ''] = stat
    .slice(stat.lastIndexOf(')') + 2)
    .split(' ')
    .slice(11, 13)
  return ((Number(user) + Number(system)) * 1000) / TICKS_PER_SECOND
}
