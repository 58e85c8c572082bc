/**
 * What rule nodes remember outlives the process: alarm rules with durations and repetitions, deltas, windows, delays and deduplication under load, killed
 * (SIGKILL) at random times, end with the results of a run without kills. `ROUNDS` sets how often.
 */
import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { test } from 'node:test'
import { RestClient, login } from '../support/clients.ts'
import { seededRandom } from '../support/seeded-random.ts'
import { SLOWNESS } from '../support/slowness.ts'
import { startMillrace, type RunningMillrace } from '../support/start-millrace.ts'
import { drained } from './fault-run.ts'
import { addFields, findings, makeStatefulWorld, resolveUnknown, sendValues } from './node-state-run.ts'

const ROUNDS = Number(process.env['ROUNDS'] ?? 3)
const DEVICES = 4
/** Of each device: all alarms were raised and cleared more than once, and windows closed. */
const FEWEST_VALUES = 40
const SETTLED_WITHIN_MS = 90_000 * SLOWNESS

test(
  `what nodes remember gives over ${ROUNDS} kills under load what it gives without`,
  { timeout: (300_000 + ROUNDS * 60_000) * SLOWNESS },
  async (context) => {
    const random = seededRandom()
    const dataDir = await mkdtemp(join(tmpdir(), 'millrace-node-state-'))
    let millrace: RunningMillrace | undefined
    context.after(async () => {
      await millrace?.kill()
      await rm(dataDir, { recursive: true, force: true })
    })
    millrace = await startMillrace({ dataDir })
    const rest = new RestClient(millrace, await login(millrace))
    const devices = await makeStatefulWorld(rest, DEVICES)
    await addFields(rest, devices, millrace)
    let unknown = 0
    for (let round = 1; round <= ROUNDS + 1; round++) {
      const running = millrace
      const stop = new AbortController()
      const sending = Promise.all(devices.map((device) => sendValues(running, device, stop.signal)))
      // The first kill may meet the first value of each device.
      await delay(random.between(round === 1 ? 10 : 100, round === 1 ? 100 : 1500))
      if (round > ROUNDS) {
        while (devices.some(({ accepted }) => accepted < FEWEST_VALUES)) await delay(20)
        stop.abort()
        await sending
        break
      }
      await running.kill()
      await sending
      millrace = await startMillrace({ dataDir })
      await drained(millrace)
      unknown += devices.filter((device) => device.unknown !== undefined).length
      await resolveUnknown(new RestClient(millrace, await login(millrace)), devices)
    }
    await drained(millrace)
    const found = await findings(new RestClient(millrace, await login(millrace)), devices, SETTLED_WITHIN_MS)
    const accepted = devices.map((device) => device.accepted)
    context.diagnostic(
      `seed ${random.seed}: ${ROUNDS} kills, values of each device ${accepted.join(', ')}, ${unknown} unknown at a kill`,
    )
    assert.deepEqual(found, [], `repeat with SEED=${random.seed}`)
  },
)
