/**
 * Nothing acknowledged is lost when the power goes: under MQTT QoS 1, HTTP and REST load the process is killed, and what it had
 * not synced vanishes with it, or survives by chance here and there; the start on what is left is cut too, within one of its
 * syncs, and so on; all is read back at the end.
 * `ROUNDS` sets how often (4 by default). The last test shows that the same cut loses points where the setting allows it.
 */
import assert from 'node:assert/strict'
import { readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { test, type TestContext } from 'node:test'
import { RestClient, login } from '../support/clients.ts'
import { take, type LedgerReport } from '../support/ledger.ts'
import { makePowerCutDisk, type PowerCutDisk } from '../support/power-cut/power-cut-disk.ts'
import { seededRandom } from '../support/seeded-random.ts'
import { startMillrace, type RunningMillrace } from '../support/start-millrace.ts'
import { compareAll, createDevices } from './fault-run.ts'
import { explicitTime, startLoad, type LoadedDevice } from './workload.ts'

const ROUNDS = Number(process.env['ROUNDS'] ?? 4)
const FEWEST_ACKNOWLEDGEMENTS = 500
const STEADY = 8
/** So many more upload as much as they can, so that segments of logs are filled and removed. */
const BULKY = 2
const UPLOAD_POINTS = 500
/** The first one takes some 25, one on data that is there fewer. */
const MAX_SYNCS_OF_A_START = 30
const BULK = 'b'.repeat(4_000)

interface Registered {
  readonly id: string
  readonly name: string
}

/** Who sends, and what was acknowledged of it. */
interface Senders {
  readonly steady: readonly LoadedDevice[]
  readonly bulky: readonly LoadedDevice[]
  readonly registered: Registered[]
}

for (const left of ['nothing', 'by chance some pages and names'] as const) {
  test(
    `D3: no acknowledged point, device or attribute is lost over ${ROUNDS} rounds of power cuts that leave ${left} of what was not synced`,
    { timeout: ROUNDS * 150_000 },
    async (context) => {
      const place = await placeFor(context)
      if (place === undefined) return
      const { disk, start } = place
      const random = seededRandom()
      const survivors = left === 'nothing' ? undefined : random
      let senders: Senders | undefined
      let acknowledged = 0
      for (let round = 1; round <= ROUNDS; round++) {
        const millrace = await start(disk.environment)
        senders ??= await createSenders(millrace, BULKY)
        acknowledged += await loadAndKill(millrace, senders, random.between(100, 900), FEWEST_ACKNOWLEDGEMENTS / ROUNDS)
        // Else the next start believes what the one that was killed had not synced. The first cut takes what a first start left so.
        if (round === 1 || random.next() < 0.5) await disk.cut(survivors)
        await startAndCut(place, random.between(1, MAX_SYNCS_OF_A_START))
        await disk.cut(survivors)
      }

      assert.ok(senders !== undefined)
      const removed = { link: await removedSegments(disk, 'link'), series: await removedSegments(disk, 'time-series') }
      const millrace = await start()
      const report = await compareAll(millrace, [...senders.steady, ...senders.bulky])
      const missing = await missingOf(millrace, senders.registered)
      const registered = senders.registered.length
      tell(
        context,
        random.seed,
        report,
        `${registered} devices registered meanwhile, lost ${missing.length}; segments removed: link ${removed.link}, time series ${removed.series}`,
      )
      assert.ok(acknowledged >= FEWEST_ACKNOWLEDGEMENTS, `void: only ${acknowledged} acknowledgements`)
      assert.ok(registered > 0, 'void: no devices were registered')
      assert.deepEqual(report.findings, [], `repeat with SEED=${random.seed}`)
      assert.deepEqual(missing, [], `repeat with SEED=${random.seed}`)
    },
  )
}

test(
  'D3: after a power cut within the first start the next one is as good',
  { timeout: ROUNDS * 150_000 },
  async (context) => {
    const place = await placeFor(context)
    if (place === undefined) return
    const { disk, start } = place
    const random = seededRandom()
    for (let round = 1; round <= ROUNDS; round++) {
      const sync = random.between(1, MAX_SYNCS_OF_A_START)
      await startAndCut(place, sync)
      await disk.cut(round % 2 === 0 ? random : undefined)
      const millrace = await start()
      const [device] = await createDevices(millrace, 1)
      assert.ok(device !== undefined)
      const load = await startLoad(millrace, [device])
      while (load.acknowledged() === 0) await delay(5)
      await load.end()
      const report = await compareAll(millrace, [device])
      tell(context, random.seed, report, `the first start was cut within sync ${sync}`)
      assert.deepEqual(report.findings, [], `repeat with SEED=${random.seed}`)
      await millrace.kill()
      await rm(join(disk.folder, 'data'), { recursive: true })
    }
  },
)

test(
  'D3: the same power cut loses acknowledged points with DURABILITY=process-death, as that setting says',
  { timeout: 600_000 },
  async (context) => {
    const place = await placeFor(context)
    if (place === undefined) return
    const { disk, start } = place
    const random = seededRandom()
    const settings = { DURABILITY: 'process-death' }
    const first = await start(settings)
    // Nothing bulky: a log that is cut behind the first segment refuses to start, which is no reading back.
    const senders = await createSenders(first, 0)
    await first.stop()

    const millrace = await start({ ...settings, ...disk.environment })
    await loadAndKill(millrace, senders, random.between(500, 900), 1)
    await disk.cut()
    const report = await compareAll(await start(settings), senders.steady)
    tell(context, random.seed, report, 'as is to be expected')
    assert.ok(report.lost > 0, 'the cut took nothing away: the test would not see a loss')
  },
)

interface Place {
  readonly disk: PowerCutDisk
  /** The data folder itself is made by the first start, so that its own name is at stake too. */
  readonly start: (environment?: Readonly<Record<string, string>>) => Promise<RunningMillrace>
}

async function placeFor(context: TestContext): Promise<Place | undefined> {
  const disk = await makePowerCutDisk(context)
  if (disk === undefined) return undefined
  const started: RunningMillrace[] = []
  context.after(async () => {
    await Promise.all(started.map((millrace) => millrace.kill()))
    await disk.remove()
  })
  return {
    disk,
    start: async (environment = {}) => {
      const millrace = await startMillrace({ dataDir: join(disk.folder, 'data'), environment })
      started.push(millrace)
      return millrace
    },
  }
}

/** A start that is cut within one of its syncs, or as soon as it is ready where it needs fewer. */
async function startAndCut({ disk, start }: Place, sync: number): Promise<void> {
  try {
    const millrace = await start(disk.environmentCutAt(sync))
    await millrace.kill()
  } catch (error) {
    if (!(error instanceof Error && error.message.startsWith('ended with SIGKILL'))) throw error
  }
}

async function createSenders(millrace: RunningMillrace, bulky: number): Promise<Senders> {
  const devices = await createDevices(millrace, STEADY + bulky)
  return { steady: devices.slice(0, STEADY), bulky: devices.slice(STEADY), registered: [] }
}

/** Returns the acknowledgements of steady devices in this round: it ends after the time, so many of them, and one registered device. */
async function loadAndKill(
  millrace: RunningMillrace,
  { steady, bulky, registered }: Senders,
  milliseconds: number,
  fewest: number,
): Promise<number> {
  const before = registered.length
  const rest = new RestClient(millrace, await login(millrace))
  const load = await startLoad(millrace, steady)
  const others = [registerUntilKilled(rest, registered), ...bulky.map((device) => uploadUntilKilled(millrace, device))]
  const began = performance.now()
  const lacks = (): boolean => load.acknowledged() < fewest || registered.length === before
  while (performance.now() - began < milliseconds || (lacks() && performance.now() - began < 120_000)) await delay(5)
  await millrace.kill()
  await Promise.all([load.end(), ...others])
  return load.acknowledged()
}

/** One upload is answered for all its points. */
async function uploadUntilKilled(millrace: RunningMillrace, { ledger }: LoadedDevice): Promise<void> {
  for (;;) {
    const values = Array.from({ length: UPLOAD_POINTS }, () => take(ledger))
    try {
      const response = await fetch(`${millrace.url}/api/v1/${ledger.token}/telemetry`, {
        method: 'POST',
        body: JSON.stringify(values.map((n) => ({ ts: explicitTime(n), values: { n, bulk: BULK } }))),
      })
      await response.arrayBuffer()
      if (response.status !== 200) throw new Error(`${ledger.name}: answered ${response.status}`)
      for (const value of values) ledger.acknowledged.add(value)
    } catch (error) {
      if (error instanceof TypeError) return // The process died under the request.
      throw error
    }
  }
}

/** Devices with a server attribute each; those whose every step was answered 200. A name is used once: its fate may be unknown. */
async function registerUntilKilled(rest: RestClient, registered: Registered[]): Promise<void> {
  for (;;) {
    const name = `registered at ${performance.now()}`
    try {
      const id = await rest.createDevice(name, name)
      await rest.expect('POST', `/api/plugins/telemetry/DEVICE/${id}/SERVER_SCOPE`, { name })
      registered.push({ id, name })
    } catch (error) {
      if (error instanceof TypeError) return // The process died under the request.
      throw error
    }
  }
}

/** What is not as it was answered. */
async function missingOf(millrace: RunningMillrace, registered: readonly Registered[]): Promise<string[]> {
  const rest = new RestClient(millrace, await login(millrace))
  const missing: string[] = []
  for (const { id, name } of registered) {
    const device = await rest.call('GET', `/api/device/${id}`)
    const found = device.status === 200 ? device.json<{ name: string }>().name : `answer ${device.status}`
    if (found !== name) missing.push(`device ${id} (${name}): ${found}`)
    const path = `/api/plugins/telemetry/DEVICE/${id}/values/attributes/SERVER_SCOPE?keys=name`
    const attributes = await rest.call('GET', path)
    if (!attributes.text.includes(`"${name}"`)) missing.push(`attribute of ${id} (${name}): ${attributes.text}`)
  }
  return missing
}

/** Segments that were there and are not any more, from the number of the oldest. */
async function removedSegments(disk: PowerCutDisk, log: 'link' | 'time-series'): Promise<number> {
  const names = await readdir(join(disk.folder, 'data', log))
  const numbers = names.flatMap((name) => /(\d{10})\.log$/.exec(name)?.[1] ?? []).map(Number)
  return Math.min(...numbers) - 1
}

function tell(context: TestContext, seed: number, report: LedgerReport, remark: string): void {
  context.diagnostic(
    `seed ${seed}: sent ${report.sent}, acknowledged ${report.acknowledged}, found ${report.found}, lost ${report.lost}, ` +
      `duplicated ${report.duplicated}, out of order ${report.outOfOrder}; ${remark}`,
  )
}
