/**
 * Nothing acknowledged is lost: the process is killed (SIGKILL) again and again under load over MQTT QoS 1 and 2, a gateway, Sparkplug,
 * HTTP, CoAP and LwM2M, started again on the same data, and read back. `ROUNDS` sets how often (5 by default), `TRANSPORT` one protocol alone,
 * such as LWM2M; a run with fewer than 500 acknowledgements a kill is void, or where `ACKNOWLEDGED` says so, with fewer than that of any protocol.
 * `npm run test:kills` asks for 20 kills and 10,000 of each.
 */
import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { test } from 'node:test'
import { DEMO_TOKEN } from '../support/clients.ts'
import { seededRandom } from '../support/seeded-random.ts'
import { SLOWNESS } from '../support/slowness.ts'
import { startMillrace, type RunningMillrace } from '../support/start-millrace.ts'
import { compareAll, createDevices, drained, TRANSPORTS } from './fault-run.ts'
import { startLoad, type LoadedDevice } from './workload.ts'

const ROUNDS = Number(process.env['ROUNDS'] ?? 5)
const FEWEST_A_ROUND = 500
/** Of each protocol, in all rounds. */
const OF_EACH = Number(process.env['ACKNOWLEDGED'] ?? ROUNDS + 1)
const LONGEST_ROUND_MS = 180_000 * SLOWNESS
const DEVICES = 16
const { TRANSPORT } = process.env
const LOADED = TRANSPORTS.filter((each) => TRANSPORT === undefined || each === TRANSPORT)

test(
  `no acknowledged point is lost, doubled or out of order over ${ROUNDS} kills under load`,
  { timeout: (600_000 + OF_EACH * 100) * SLOWNESS },
  async (context) => {
    assert.notEqual(LOADED.length, 0, `TRANSPORT is one of ${TRANSPORTS.join(', ')}`)
    const random = seededRandom()
    const dataDir = await mkdtemp(join(tmpdir(), 'millrace-kill-'))
    let millrace: RunningMillrace | undefined
    context.after(async () => {
      await millrace?.kill()
      await rm(dataDir, { recursive: true, force: true })
    })
    millrace = await startMillrace({ dataDir })
    const devices = await createDevices(millrace, DEVICES, LOADED)
    let slowestStartMs = 0

    for (let round = 1; round <= ROUNDS; round++) {
      const load = await startLoad(millrace, devices)
      const hasEnough = () => load.acknowledged() >= FEWEST_A_ROUND && fewest(devices) * ROUNDS >= OF_EACH * round
      await acknowledgementsOrTime(hasEnough, random.between(300, 1200))
      await millrace.kill()
      await load.end()
      millrace = await startMillrace({ dataDir })
      slowestStartMs = Math.max(slowestStartMs, millrace.startMs)
    }

    const report = await compareAll(millrace, devices)
    context.diagnostic(
      `seed ${random.seed}: sent ${report.sent}, acknowledged ${report.acknowledged}, found ${report.found}, lost ${report.lost}, ` +
        `duplicated ${report.duplicated}, out of order ${report.outOfOrder}, slowest restart ${Math.round(slowestStartMs)} ms`,
    )
    for (const transport of new Set(devices.map((device) => device.transport))) {
      const count = acknowledgedOf(devices, transport)
      context.diagnostic(`${transport}: ${count} acknowledged`)
      assert.ok(count >= OF_EACH, `void: ${transport} has ${count} acknowledgements`)
    }
    assert.ok(report.acknowledged >= FEWEST_A_ROUND * ROUNDS, `void: only ${report.acknowledged} acknowledgements`)
    assert.deepEqual(report.findings, [], `repeat with SEED=${random.seed}`)
  },
)

test('what was settled before a kill has no effect again after it', { timeout: 600_000 }, async (context) => {
  const dataDir = await mkdtemp(join(tmpdir(), 'millrace-settled-'))
  let millrace = await startMillrace({ dataDir })
  context.after(async () => {
    await millrace.kill()
    await rm(dataDir, { recursive: true, force: true })
  })
  await installLoggingChain(millrace)
  const markers = 20
  for (let marker = 1; marker <= markers; marker++) await post(millrace, { temperature: 1000 + marker })
  await logged(millrace, 1000 + markers)
  await drained(millrace)
  await millrace.kill()

  millrace = await startMillrace({ dataDir })
  await post(millrace, { temperature: 2000 })
  await logged(millrace, 2000)
  for (let marker = 1; marker <= markers; marker++) {
    assert.ok(
      !hasMarker(millrace, 1000 + marker),
      `message ${marker} was settled before the kill and had its effect again`,
    )
  }
})

function acknowledgedOf(devices: readonly LoadedDevice[], transport: LoadedDevice['transport']): number {
  const own = devices.filter((device) => device.transport === transport)
  return own.reduce((sum, { ledger }) => sum + ledger.acknowledged.size, 0)
}

/** Of the protocol that has the fewest. */
function fewest(devices: readonly LoadedDevice[]): number {
  return Math.min(...devices.map(({ transport }) => acknowledgedOf(devices, transport)))
}

/** Waits for as many acknowledgements as a round is to have, so that every round counts, and then for the random moment. */
async function acknowledgementsOrTime(hasEnough: () => boolean, milliseconds: number): Promise<void> {
  const began = performance.now()
  while (!hasEnough() && performance.now() - began < LONGEST_ROUND_MS) await delay(5)
  await delay(milliseconds)
}

async function installLoggingChain(millrace: RunningMillrace): Promise<void> {
  const { installChain } = await import('../../commands/install-chain.ts')
  const code = await installChain([
    'examples/temperature-filter.json',
    '--url',
    millrace.url,
    '--user',
    'tenant@millrace.local',
    '--password',
    'tenant',
    '--root',
  ])
  assert.equal(code, 0)
}

async function post(millrace: RunningMillrace, values: Readonly<Record<string, unknown>>): Promise<void> {
  const response = await fetch(`${millrace.url}/api/v1/${DEMO_TOKEN}/telemetry`, {
    method: 'POST',
    body: JSON.stringify(values),
  })
  assert.equal(response.status, 200)
}

function hasMarker(millrace: RunningMillrace, value: number): boolean {
  return new RegExp(`temperature\\W+${value}\\b`).test(millrace.log())
}

async function logged(millrace: RunningMillrace, value: number): Promise<void> {
  for (let attempt = 0; attempt < 2400; attempt++) {
    if (hasMarker(millrace, value)) return
    await delay(25)
  }
  assert.fail(`the log node wrote no line for ${value} within 60 s:\n${millrace.log()}`)
}
