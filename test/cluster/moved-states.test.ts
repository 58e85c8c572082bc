/**
 * An engine stands still with what its nodes changed on the line to PostgreSQL; another one takes its partitions and goes on; then the commit of the
 * old owner arrives. What came of the devices' values is what comes without the move, also for the next owner, which knows nothing but the store.
 */
import assert from 'node:assert/strict'
import { setTimeout as delay } from 'node:timers/promises'
import { test, type TestContext } from 'node:test'
import { addFields, findings, makeStatefulWorld, sendValues, type SendingDevice } from '../faults/node-state-run.ts'
import { drained } from '../faults/fault-run.ts'
import { RestClient, login } from '../support/clients.ts'
import { startFaultProxy } from '../support/fault-proxy.ts'
import { figure } from '../support/figure.ts'
import { OWNER_BUG, PLANTED_PRELOAD } from '../support/planted/index.ts'
import { requireServer, startNats, startPostgres } from '../support/servers/index.ts'
import { SLOWNESS } from '../support/slowness.ts'
import { natsAndPostgresEnvironment, startMember } from '../support/start-cluster.ts'
import type { RunningMillrace } from '../support/start-millrace.ts'

const DEVICES = 4
/** Conditions lasted and were repeated, and windows closed. */
const BEFORE = 15
const MORE = 12
const LIMIT_MS = 180_000 * SLOWNESS
/** For what an owner does in memory, and for what PostgreSQL does with a commit that arrives. */
const MOMENT_MS = 1500

/** What is wrong with what came of the values; undefined where there are no servers. */
async function moved(context: TestContext, planted: boolean): Promise<readonly string[] | undefined> {
  if (!requireServer(context, 'nats', 'postgres')) return undefined
  const [nats, postgres] = await Promise.all([startNats(), startPostgres()])
  context.after(() => Promise.all([nats.stop(), postgres.stop()]))
  const line = await startFaultProxy({ target: postgres.url })
  context.after(() => line.close())
  const direct = natsAndPostgresEnvironment({ nats: nats.url, postgres: postgres.url })
  const plan = planted ? { PLANTED_BUG: OWNER_BUG.name } : {}
  const engine = (url: string): Promise<RunningMillrace> => {
    const preload = planted ? [PLANTED_PRELOAD] : []
    return startMember({ ...direct, DATABASE_URL: url, ...plan }, ['engine'], {}, preload)
  }
  const front = await startMember(direct, ['api', 'transport'])
  context.after(() => front.stop())
  const old = await engine(line.url)
  // It may stand still where the test failed.
  context.after(() => old.kill())
  const rest = new RestClient(front, await login(front))
  const devices = await makeStatefulWorld(rest, DEVICES)
  await chainRuns(front, rest)
  await addFields(rest, devices, old)
  await sendMore(front, devices, BEFORE)
  await drained(old)
  const all = await owned(old)

  line.change({ stalled: true })
  await sendMore(front, devices, 1)
  await until(
    'the old owner to have them',
    async () => (await figure(old, 'millrace_queue_messages_in_flight')) >= DEVICES,
  )
  await delay(MOMENT_MS)
  process.kill(old.pid, 'SIGSTOP')
  const next = await engine(postgres.url)
  context.after(() => next.kill())
  await until(`the next engine to own all ${all}`, async () => (await owned(next)) === all)
  await sendMore(front, devices, MORE)
  await drained(next)
  assert.deepEqual(await findings(rest, devices, LIMIT_MS), [], 'the next owner goes on as without the move')

  const carried = line.carried.toServer
  await line.heal()
  await delay(MOMENT_MS)
  assert.ok(line.carried.toServer > carried, 'void: the old owner had nothing to commit')
  await next.kill()
  process.kill(old.pid, 'SIGCONT')
  await until(`the old engine to own all ${all} again`, async () => (await owned(old)) === all)
  await sendMore(front, devices, MORE)
  await drained(old)
  return findings(rest, devices, planted ? 0 : LIMIT_MS)
}

test('the commit of an old owner changes nothing: every result is as without the move', async (context) => {
  const found = await moved(context, false)
  if (found !== undefined) assert.deepEqual(found, [])
})

test(`planted: ${OWNER_BUG.name}, and caught`, async (context) => {
  const found = await moved(context, true)
  if (found === undefined) return
  assert.notEqual(found.length, 0, 'the checker does not see it')
  context.diagnostic(found[0] ?? '')
})

/** So many more of each device, one after the other. */
async function sendMore(front: RunningMillrace, devices: readonly SendingDevice[], count: number): Promise<void> {
  for (let sent = 0; sent < count; sent++) {
    const stop = new AbortController()
    const sending = Promise.all(devices.map((device) => sendValues(front, device, stop.signal)))
    // Each is on its way, and is the last.
    stop.abort()
    await sending
  }
}

/** The engine hears of the new root chain a moment after the API, another process, has answered: until then the former one takes what comes. */
async function chainRuns(front: RunningMillrace, rest: RestClient): Promise<void> {
  const probe = await rest.createDevice('probe', 'PROBE')
  await until('the engine to run the chain', async () => {
    await fetch(`${front.url}/api/v1/PROBE/telemetry`, { method: 'POST', body: '{"v":1}' })
    await delay(200)
    const path = `/api/plugins/telemetry/DEVICE/${probe}/values/timeseries?keys=delta`
    const { delta } = await rest.expect<{ delta?: readonly { value: string | null }[] }>('GET', path)
    return typeof delta?.[0]?.value === 'string'
  })
}

function owned(engine: RunningMillrace): Promise<number> {
  return figure(engine, 'millrace_link_owned_streams')
}

async function until(what: string, isSo: () => Promise<boolean>): Promise<void> {
  const deadline = performance.now() + LIMIT_MS
  while (!(await isSo())) {
    assert.ok(performance.now() < deadline, `waited ${LIMIT_MS} ms for ${what}`)
    await delay(100)
  }
}
